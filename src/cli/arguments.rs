//! Arguments that several commands share. They are plain data; [`session`](super::session) builds clients, credentials, stores and policies
//! from them.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use tfoci::address::Hostname;

use super::host;

/// The headings of options in the help of several commands.
pub(super) const ACCESS: &str = "Access";
pub(super) const DESTINATION: &str = "Destination";
pub(super) const PULL_THROUGH: &str = "Pull-through";
pub(super) const SELECTION: &str = "Selection";
pub(super) const SERVER: &str = "Server";

/// What `--from` names if it is each provider's origin.
pub(in crate::cli) const ORIGIN: &str = "origin";

/// The most packages at once. Each holds connections to the source and to every destination, and servers limit the connections of a client.
const MOST_JOBS: i64 = 64;

/// Options that every command has.
#[derive(Args)]
#[command(next_help_heading = "Global options")]
pub(super) struct Globals {
    /// How to print the result
    #[arg(long, value_enum, default_value_t, global = true)]
    pub(super) format: Format,
    /// Print nothing but the result and errors
    #[arg(short, long, global = true)]
    pub(super) quiet: bool,
    /// Print each package, and reasons of decisions; -vv prints every request
    #[arg(short, long, action = clap::ArgAction::Count, global = true, conflicts_with = "quiet")]
    pub(super) verbose: u8,
    /// When to use colour [NO_COLOR and CLICOLOR_FORCE are honoured]
    #[arg(long, value_enum, default_value_t, global = true)]
    pub(super) color: Color,
    /// Show no progress bars
    #[arg(long, global = true)]
    pub(super) no_progress: bool,
    /// How many packages to transfer at once [default: 4, or 8 for mirror]
    ///
    /// This counts the packages of all versions and providers. Small requests, such as those for manifests, have a limit of their own.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=MOST_JOBS), global = true)]
    pub(super) jobs: Option<u8>,
    /// The host of addresses of the form NAMESPACE/TYPE [default: registry.opentofu.org]
    #[arg(long, value_name = "HOST", env = "TFOCI_DEFAULT_HOST", global = true)]
    pub(super) default_host: Option<Hostname>,
    /// Use the store address as the name of one repository
    #[arg(long, global = true)]
    pub(super) exact_repository: bool,
    #[command(flatten)]
    pub(super) network: Network,
    #[command(flatten)]
    pub(super) access: CredentialFiles,
}

/// Options for connections. The short help must fit on a screen, so rarely used options appear only in the long help.
#[derive(Args)]
#[command(next_help_heading = "Network options")]
pub(super) struct Network {
    /// Certificate authorities (PEM) besides the system's; may be repeated
    #[arg(long, value_name = "FILE", global = true)]
    pub(super) ca_file: Vec<PathBuf>,
    /// Client certificate (PEM), sent to this host only; may be repeated
    #[arg(long, value_name = "HOST=FILE", global = true, hide_short_help = true)]
    pub(super) client_cert: Vec<String>,
    /// Private key (PEM) of the client certificate, if in a separate file; may be repeated
    #[arg(long, value_name = "HOST=FILE", global = true, hide_short_help = true)]
    pub(super) client_key: Vec<String>,
    /// Use plain HTTP for this host; may be repeated
    ///
    /// HOST means all ports of the host, and HOST:PORT only that one.
    #[arg(
        long,
        value_name = "HOST",
        value_parser = host::host,
        global = true,
    )]
    pub(super) plain_http: Vec<String>,
    /// Do not verify the certificate of this host; may be repeated
    ///
    /// HOST means all ports of the host, and HOST:PORT only that one.
    #[arg(
        long,
        value_name = "HOST",
        value_parser = host::host,
        global = true,
    )]
    pub(super) insecure_skip_tls_verify: Vec<String>,
    /// Reach this host at a private address, whoever names it; may be repeated
    #[arg(
        long,
        value_name = "HOST",
        env = "TFOCI_ALLOW_PRIVATE",
        value_delimiter = ',',
        value_parser = host::host,
        global = true,
    )]
    pub(super) allow_private: Vec<String>,
    /// Seconds that a server may be silent
    ///
    /// Within this time it must send or accept 64 KiB of a body, or finish it. Manifests and other documents may take five times as
    /// long in total. A connection must be made within a quarter of it.
    #[arg(
        long,
        value_name = "SECONDS",
        env = "TFOCI_TIMEOUT",
        default_value = "60",
        value_parser = clap::value_parser!(u16).range(1..),
        global = true,
        hide_short_help = true,
    )]
    pub(super) timeout: u16,
}

/// Files that contain credentials. The short help must fit on a screen, so these options appear only in the long help.
#[derive(Args)]
#[command(next_help_heading = "Network options")]
pub(super) struct CredentialFiles {
    /// File of registry credentials to use instead of the files of docker and podman
    #[arg(long, value_name = "FILE", global = true, hide_short_help = true)]
    pub(super) authfile: Option<PathBuf>,
    /// CLI configuration of tofu or terraform to use instead of the default one
    #[arg(long, value_name = "FILE", global = true, hide_short_help = true)]
    pub(super) cli_config: Option<PathBuf>,
}

/// The format of results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Text for people and shells
    #[default]
    Text,
    /// One JSON document
    Json,
    /// Test cases in JUnit's XML: findings of `verify` and `doctor`
    Junit,
    /// Comma-separated values: the inventory of `list --long`
    Csv,
}

/// When colour is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    /// If stderr is a terminal
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Which signatures are trusted.
#[derive(Args, Clone)]
#[command(next_help_heading = "Trust")]
pub(super) struct Trust {
    /// Trust file: which keys may sign for which providers
    #[arg(long, value_name = "FILE")]
    pub(super) trust: Option<PathBuf>,
    /// File of public keys that may sign; may be repeated
    ///
    /// They may sign for every provider, instead of the key files that the trust file names.
    #[arg(long, value_name = "FILE")]
    pub(super) key: Vec<PathBuf>,
}

/// Who attests the versions that a command verifies.
#[derive(Args, Clone)]
#[command(next_help_heading = "Attestation")]
pub(super) struct Attest {
    /// Attest the versions that this run verifies, with this private key
    ///
    /// The PEM of an unencrypted key in PKCS#8, ECDSA P-256 or Ed25519. Only a version whose key is pinned, or comes from its origin, is attested.
    /// `tfoci help trust` says what that proves.
    #[arg(
        long,
        value_name = "KEY",
        allow_hyphen_values = true,
        hide_short_help = true
    )]
    pub(super) attest: Option<PathBuf>,
    /// The URI that names this mirror in its attestations
    ///
    /// Without --attest, TFOCI_ATTEST_KEY has the PEM of the key.
    #[arg(long, value_name = "URI", hide_short_help = true)]
    pub(super) attest_id: Option<String>,
}

/// Trust options of commands that read from a store.
///
/// Flatten it after all other arguments: clap applies its help heading to every argument that follows.
#[derive(Args)]
#[command(next_help_heading = "Trust")]
pub(super) struct ReadTrust {
    #[command(flatten)]
    pub(super) trust: Trust,
    /// Refuse versions that are not signed by a pinned key
    #[arg(long)]
    pub(super) require_pinned: bool,
}
