//! Arguments that several commands take: data, and nothing else. What is made of them is in [`session`](super::session).

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use tfoci::address::Hostname;

use super::host;

/// What every command takes.
#[derive(Args)]
#[command(next_help_heading = "Global options")]
pub(super) struct Globals {
    /// How to print the result
    #[arg(long, value_enum, default_value_t, global = true)]
    pub(super) format: Format,
    /// Print nothing but the result and errors
    #[arg(short, long, global = true)]
    pub(super) quiet: bool,
    /// Print more: lines in place of bars, and decisions; twice: every request
    #[arg(short, long, action = clap::ArgAction::Count, global = true, conflicts_with = "quiet")]
    pub(super) verbose: u8,
    /// When to use colour [NO_COLOR and CLICOLOR_FORCE are honoured]
    #[arg(long, value_enum, default_value_t, global = true)]
    pub(super) color: Color,
    /// Draw no bars
    #[arg(long, global = true)]
    pub(super) no_progress: bool,
    /// How many packages to transfer at once [default: 4, or 8 for mirror]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64), global = true)]
    pub(super) jobs: Option<u8>,
    /// The host of addresses that have two parts
    #[arg(long, value_name = "HOST", env = "TFOCI_DEFAULT_HOST", default_value = tfoci::address::DEFAULT_HOST, global = true)]
    pub(super) default_host: Hostname,
    /// The store address names one repository, whatever the provider
    #[arg(long, global = true)]
    pub(super) exact_repository: bool,
    #[command(flatten)]
    pub(super) network: Network,
    #[command(flatten)]
    pub(super) access: Access,
}

/// How registries are reached. The short help, which has to fit a screen, leaves what is seldom used to the long one.
#[derive(Args)]
#[command(next_help_heading = "Network options")]
pub(super) struct Network {
    /// Further certificate authorities, in PEM; may be repeated
    #[arg(long, value_name = "FILE", global = true)]
    pub(super) ca_file: Vec<PathBuf>,
    /// Show this certificate, in PEM, to this host and no other; may be repeated
    #[arg(long, value_name = "HOST=FILE", global = true, hide_short_help = true)]
    pub(super) client_cert: Vec<String>,
    /// Its private key, in PEM, if that is in a file of its own; may be repeated
    #[arg(long, value_name = "HOST=FILE", global = true, hide_short_help = true)]
    pub(super) client_key: Vec<String>,
    /// Speak to this host without TLS; may be repeated
    #[arg(
        long,
        value_name = "HOST",
        value_parser = host::host,
        global = true,
    )]
    pub(super) plain_http: Vec<String>,
    /// Do not check this host's certificate; may be repeated
    #[arg(
        long,
        value_name = "HOST",
        value_parser = host::host,
        global = true,
    )]
    pub(super) insecure_skip_tls_verify: Vec<String>,
    /// Follow references to this host even at private addresses; may be repeated
    #[arg(
        long,
        value_name = "HOST",
        value_parser = host::host,
        global = true,
    )]
    pub(super) allow_private: Vec<String>,
    /// For how many seconds a server may be silent
    ///
    /// Within them it has to give or take 64 KiB of a body, or the end. Manifests and other documents have five times as long in all.
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

/// Where to look for credentials. The short help, which has to fit a screen, leaves these to the long one.
#[derive(Args)]
#[command(next_help_heading = "Network options")]
pub(super) struct Access {
    /// The only file of registry credentials to use [otherwise those of docker and podman]
    #[arg(long, value_name = "FILE", global = true, hide_short_help = true)]
    pub(super) authfile: Option<PathBuf>,
    /// The CLI configuration of tofu or terraform [otherwise where they look for it]
    #[arg(long, value_name = "FILE", global = true, hide_short_help = true)]
    pub(super) cli_config: Option<PathBuf>,
}

/// How a result is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people and shells
    #[default]
    Text,
    /// One document
    Json,
}

/// When colour is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    /// On a terminal
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Which signatures are trusted.
#[derive(Args)]
#[command(next_help_heading = "Trust")]
pub(super) struct Trust {
    /// Trust file: which keys may sign for which providers
    #[arg(long, value_name = "FILE")]
    pub(super) trust: Option<PathBuf>,
    /// Public keys that may sign; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(super) key: Vec<PathBuf>,
}

/// The demands on what is read from a store.
///
/// It comes last among the arguments of a command: its heading holds for whatever follows.
#[derive(Args)]
#[command(next_help_heading = "Trust")]
pub(super) struct ReadTrust {
    #[command(flatten)]
    pub(super) trust: Trust,
    /// Refuse whatever is not signed by a pinned key
    #[arg(long)]
    pub(super) require_pinned: bool,
}

impl ReadTrust {
    /// Whether any of these options is given.
    pub(super) fn is_given(&self) -> bool {
        self.require_pinned || self.trust.trust.is_some() || !self.trust.key.is_empty()
    }
}
