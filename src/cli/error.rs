//! Errors of commands.
//!
//! The errors state facts; [`hints`](super::hints) suggests options that help.

mod category;
mod common_failure;
mod construction;
mod journey_failure;
mod lock_difference;
pub(super) mod phrases;
mod unusable;

use std::collections::BTreeSet;
use std::path::PathBuf;

pub(super) use common_failure::CommonFailure;
pub(super) use journey_failure::{Journey, JourneyFailure};
pub(super) use lock_difference::LockDifference;
use phrases::{beside, causes, locked_by, repositories, required_by};
use tfoci::digest;
use tfoci::error::{printable, printable_path};
use tfoci::lock;
use tfoci::lockfile;
use tfoci::outcome::Failure;
use tfoci::platform;
use tfoci::selection;
use tfoci::shown::Shown;
use tfoci::source;
use tfoci::text;
use tfoci::trust;
use tfoci::{address, config, configuration, credentials};
pub(super) use unusable::Unusable;

/// The longest password in bytes. Tokens of cloud registries have a few thousand bytes.
pub(super) const LONGEST_PASSWORD: u64 = 64 << 10;

/// An error that ends a command, or one of its providers.
#[derive(Debug, thiserror::Error)]
pub(super) enum CommandError {
    /// The threads of the process cannot be started.
    #[error("the system starts no threads for tfoci")]
    NoThreads { source: std::io::Error },
    /// An argument is not a provider address.
    #[error(transparent)]
    Address(#[from] address::Error),
    /// An argument is not a provider address with constraints.
    #[error(transparent)]
    Selection(#[from] selection::Error),
    /// An argument is not a pattern of addresses.
    #[error(transparent)]
    Pattern(#[from] address::pattern::Error),
    /// An argument is not a platform.
    #[error(transparent)]
    Platform(#[from] platform::Error),
    /// An argument is not a source.
    #[error(transparent)]
    Source(#[from] source::SourceAddrError),
    /// The command needs one version, and the argument names none.
    #[error("`{}` does not name one version\n  expected ADDR@VERSION", printable(.text))]
    OneVersion { text: String },
    /// The digest in an argument is malformed.
    #[error(transparent)]
    Digest(#[from] digest::Error),
    /// The tag of a reference is not that of a version.
    #[error("`{}` does not refer to a version\n  expected REPOSITORY:VERSION@DIGEST, as `push` prints it", printable(.text))]
    Reference { text: String },
    /// Neither an index nor the name of its repository names the provider.
    #[error("the index at {} does not name its provider", printable(.reference))]
    UnknownProvider { reference: String },
    /// An address without a store.
    #[error("nothing says which store to read {}", .provider.as_ref().map_or_else(|| "from".to_owned(), |provider| format!("{provider} from")))]
    NoStore {
        provider: Option<Box<address::ProviderAddr>>,
    },
    /// `--from` beside references, which name their stores.
    #[error("`--from` names a store, and so does each reference")]
    TwoStores,
    /// A command about a provider, whose argument names no version.
    #[error("`{command}` takes an address without a version\n  expected {provider}\n  received {}", printable(.text))]
    NoVersionWanted {
        command: &'static str,
        text: String,
        provider: Box<address::ProviderAddr>,
        /// Whether the argument names one version.
        is_exact: bool,
    },
    #[error("`{}` is not an annotation that can be set\n  expected KEY=VALUE", printable(.text))]
    Annotation { text: String },
    /// tfoci writes this annotation itself.
    #[error("the annotation `{key}` is tfoci's own")]
    OwnAnnotation { key: String },
    /// A page that `tfoci help` does not have.
    #[error("there is no command and no help topic `{}`", printable(.text))]
    Topic { text: String, meant: Option<String> },
    /// The command names no providers, and the store cannot list its providers.
    #[error("no provider is named, and `{}` cannot list those that it has", printable(.store))]
    NoSelection {
        store: String,
        /// Whether the store is meant to be a registry, and a directory has this path.
        is_directory: bool,
    },
    /// `tfoci mirror` without arguments.
    #[error("no provider is named")]
    NothingToMirror,
    /// No version of a provider satisfies the trust options.
    #[error("{provider} ({}): {}", printable(.repository), if *.left_out == 1 { "the only version did not verify".to_owned() } else { format!("none of the {left_out} versions verified") })]
    NothingProven {
        provider: Box<address::ProviderAddr>,
        repository: String,
        left_out: usize,
        /// Whether the reasons were listed.
        is_listed: bool,
    },
    /// All providers of a registry were to be read, and none of its repositories belongs to a provider.
    #[error("no repository of the registry matches {}{}", printable(.template), repositories(*.others, .example.as_deref()))]
    NoRepositoryMatches {
        template: String,
        /// The number of its repositories.
        others: usize,
        /// One of them.
        example: Option<String>,
    },
    /// All providers of a directory were to be read, and it has none.
    #[error("no provider is in {}\n  expected an OCI layout in DIR/HOSTNAME/NAMESPACE/TYPE", printable(.store))]
    EmptyStore {
        store: String,
        /// The directory, if it is a filesystem mirror.
        mirror: Option<PathBuf>,
        /// The directory that is probably meant.
        meant: Option<PathBuf>,
    },
    /// A reference without a digest. The name of its repository differs from the provider that the index names.
    #[error("the index names {provider}, and `{}` is not one of its repositories\n  expected REPOSITORY:VERSION@DIGEST, as `push` prints it", printable(.reference))]
    NeedsDigest {
        reference: String,
        provider: Box<address::ProviderAddr>,
    },
    /// `install --into` a store, or a site in one.
    #[error("`{}` is a store\n  expected {expected}", printable_path(.into))]
    IntoStore {
        into: PathBuf,
        expected: &'static str,
    },
    /// `site` without its directory.
    #[error("`{}` is the address of a provider\n  expected DIR, the directory of the files", printable(.address))]
    NoSiteDirectory { address: String },
    /// The files of a store would lie among those of something else.
    #[error("{} is {what}, and no store\n  expected a directory of layouts, or a new one", printable_path(.path))]
    OtherDirectory { path: PathBuf, what: &'static str },
    /// A source of releases in the place of a store.
    #[error("`{}` is not a store\n  expected oci-layout:DIR, or a registry's repository template", printable(.text))]
    NotAStore { text: String },
    /// Terraform as the client of an OCI registry.
    #[error(
        "terraform cannot install from an OCI registry\n  expected `--into DIR` for a filesystem mirror, `--url URL` for a network mirror, or `--client tofu`"
    )]
    NoOci,
    /// A client that would have to read an OCI layout.
    #[error("clients cannot install from {}\n  expected a registry, or `--into DIR` or `--url URL`", printable(.text))]
    NoClientReads { text: String },
    /// A configuration with which no client could install.
    #[error(transparent)]
    Unusable(#[from] Unusable),
    /// A text that is not the URL of a network mirror.
    #[error("`{text}` is not a URL from which clients install\n  expected https://HOST/PATH/")]
    MirrorUrl { text: Shown },
    /// `--platform` without `--rebuild-index`.
    #[error(
        "`--platform` would change the index of a version, and so its digest\n  pins of digests and later copies rely on it"
    )]
    Filter,
    /// The trust file does not parse.
    #[error("{} is not a trust file", printable_path(.path))]
    TrustFile {
        path: PathBuf,
        source: Box<trust::Error>,
    },
    /// A mirror file names a trust file that does not exist.
    #[error("there is no trust file {}\n  named by `trust` in {}", printable_path(.path), printable_path(.file))]
    NoSuchTrustFile { path: PathBuf, file: PathBuf },
    /// The trust file cannot be edited.
    #[error(transparent)]
    Trust(#[from] trust::Error),
    /// `--pin-new` could not write all new keys.
    #[error("new keys are not pinned in {}\n  {}", printable_path(.path), .keys.join("\n  "))]
    NotPinned {
        path: PathBuf,
        keys: Vec<String>,
        source: Box<CommandError>,
    },
    /// A file of keys in place of a trust file.
    #[error("{} is not a trust file\n  received an armored OpenPGP key", printable_path(.path))]
    KeyAsTrust { path: PathBuf },
    /// A key file that has no usable key.
    #[error("{error}\n  named by {named_by}")]
    KeyFile {
        error: trust::Error,
        named_by: String,
        is_trust_file: bool,
    },
    /// A fingerprint or key id where the file of a key is expected.
    #[error("`--key` takes a file of public keys\n  received the fingerprint {}", printable(.text))]
    KeyNotFile { text: String },
    /// The mirror file does not parse.
    #[error("{} is not a mirror file", printable_path(.path))]
    MirrorFile {
        path: PathBuf,
        source: Box<config::mirror::Error>,
        /// The host of addresses without one, which the file has to name all the same.
        default_host: address::Hostname,
    },
    /// The lock file does not parse. `tofu` and `terraform` reject it too.
    #[error("{} is not a lock file", printable_path(.path))]
    LockFile {
        path: PathBuf,
        source: Box<lockfile::Error>,
    },
    /// A directory without a lock file.
    #[error("no lock file is in {}\n  expected .terraform.lock.hcl\n  named by --from-lock", printable_path(.directory))]
    NoLockFile { directory: PathBuf },
    /// No directory that `--recursive` finds has a lock file.
    #[error("no lock file is in {} or below it", printable_path(.0))]
    NothingLocked(PathBuf),
    /// The configuration cannot be read or evaluated.
    #[error(transparent)]
    Configuration(#[from] configuration::Error),
    /// The same for `mirror --from-config`. This variant exists for its hint: `mirror` has no `--chdir`.
    #[error(transparent)]
    ConfigurationToMirror(configuration::Error),
    /// `--pin-new` without a trust file.
    #[error("there is no trust file into which new keys could be written")]
    NoTrustFile,
    /// Neither the command line nor the mirror file names a destination.
    #[error("nothing says where to mirror {provider}{}", beside(.file))]
    NoDestination {
        provider: Box<address::ProviderAddr>,
        /// The mirror file that is named too.
        file: Option<PathBuf>,
        /// Whether that file has the provider.
        is_in_file: bool,
    },
    /// `serve` without a certificate.
    #[error(
        "nothing says how clients reach this server safely\n  expected --tls-cert and --tls-key, or --plain-http behind a proxy"
    )]
    NoTls {
        /// The host of a `--plain-http`, which is for the store and not for the server.
        plain_host: Option<String>,
    },
    /// `serve` with a certificate, and a URL without TLS.
    #[error(
        "`{url}` does not use TLS, and this server has a certificate\n  expected https in `--url`"
    )]
    PlainUrl { url: String },
    /// `serve` with a certificate and `--plain-http`.
    #[error("`--plain-http` and a certificate exclude each other")]
    TlsAndPlain,
    /// `--require-pinned` without pins.
    #[error("`--require-pinned` needs keys\n  expected --trust FILE or --key FILE")]
    NoPins,
    /// A store of one repository for `serve` or `list`.
    #[error("{} names one repository for several providers", printable(.text))]
    OneRepository {
        text: String,
        /// Whether `--exact-repository` says so, and not the address.
        is_exact: bool,
    },
    /// A store without host names for `serve`.
    #[error("{} has no `${{hostname}}`, so that each host would have the same providers\n  expected --registry-host, the host of these providers", printable(.text))]
    EveryHost { text: String },
    /// Several versions in one `--exclude`, whose constraints all have to hold.
    #[error("`--exclude {}` matches no version: one version has to satisfy all of its constraints", printable(.text))]
    NoExclusion { text: String },
    /// The server cannot start.
    #[error(transparent)]
    Serve(#[from] tfoci::serve::Error),
    /// The file of the certificate has the key, and that of the key the certificate.
    #[error("{error}{}", causes(.error))]
    SwappedTls {
        error: tfoci::serve::Error,
        /// The file that has the certificate.
        certificate: PathBuf,
        /// The file that has the key.
        key: PathBuf,
    },
    /// Credentials cannot be read or stored.
    #[error(transparent)]
    Credentials(#[from] credentials::Error),
    /// A username that HTTP basic authentication cannot send.
    #[error("`{}` cannot be the name of a user\n  expected text without a colon", printable(.username))]
    Username { username: String },
    /// The registry refused the credentials of `login`.
    #[error("the registry refused the username and password that you gave\n  registry {}\n  answered {status}", printable(.registry))]
    WrongPassword { registry: String, status: u16 },
    /// `--password-stdin` without `--username`: stdin has only the password.
    #[error("`--password-stdin` needs `--username NAME`")]
    NoUsername,
    /// stdin is not a terminal, so `login` cannot ask for the username or password.
    #[error("login needs a terminal to ask for the username or password")]
    NoTerminal,
    /// stdin contains no usable password.
    #[error("no password was given\n  expected one line of text, at most {LONGEST_PASSWORD} bytes")]
    NoPassword,
    /// A client certificate or key without a host.
    #[error("`{}` does not say for which host it is\n  expected HOST=FILE", printable(.text))]
    OfHost { text: String },
    /// A client key without a certificate.
    #[error("there is a client key for {}, and no client certificate", printable(.host))]
    LoneKey { host: String },
    /// A type alone where `push` needs the address of a provider that is the user's own.
    #[error("`{}` is a type without a host and namespace\n  expected HOST/NAMESPACE/{}, such as {}", .0.type_name(), .0.type_name(), .0)]
    PushedType(address::ProviderAddr),
    /// A file that an option or another file names cannot be read.
    #[error("{failure}{}\n  named by {named_by}", causes(.failure))]
    File { failure: Failure, named_by: String },
    /// A file that an option names is not text in UTF-8.
    #[error("{} is {mistake}\n  named by {named_by}", printable_path(.path))]
    NotText {
        path: PathBuf,
        mistake: text::Error,
        named_by: String,
    },
    /// A file of credentials that an option names cannot be used.
    #[error("{error}{}\n  named by {named_by}", causes(.error))]
    Named {
        error: credentials::Error,
        named_by: &'static str,
    },
    /// An operation failed.
    #[error(transparent)]
    Journey(#[from] JourneyFailure),
    /// No version of a provider satisfies the constraints of a configuration.
    #[error("{failure}{}{}", causes(.failure), required_by(.stated))]
    NotSelected {
        failure: Failure,
        stated: Vec<String>,
    },
    /// A lock file cannot be updated.
    #[error(transparent)]
    LockTarget(#[from] lock::target::Error),
    /// Trust options for the list of versions of a source.
    #[error(
        "`{option}` verifies the versions of a store\n  received {from}, whose list of versions proves nothing"
    )]
    ListedOnly { option: &'static str, from: Shown },
    /// `install --locked`, and the lock file has other providers than the configuration.
    #[error("{} does not lock what the configuration requires\n  {difference}", printable_path(.path))]
    LockDiffers {
        path: PathBuf,
        difference: LockDifference,
    },
    /// A link in place of the client's directory.
    #[error("{} is a link, which could lead anywhere", printable_path(.link))]
    DataLink { link: PathBuf },
    /// `--lock-file` with several directories.
    #[error("`--lock-file` names the lock file of one directory\n  received several `--chdir`")]
    OneLockFile,
    /// Some directories are of `tofu`, and some of `terraform`. Each client has its own CLI configuration.
    #[error("the directories are of different clients\n  tofu: {}\n  terraform: {}", printable_path(.tofu), printable_path(.terraform))]
    TwoClients { tofu: PathBuf, terraform: PathBuf },
    /// A module that the client has not downloaded.
    #[error("{} calls a module that is not on this disk\n  {source_address}", printable_path(.directory))]
    ModuleMissing {
        directory: PathBuf,
        source_address: String,
        client: lockfile::Client,
    },
    /// An address that the configuration does not require.
    #[error("{} does not require {provider}", printable_path(.directory))]
    NotRequired {
        provider: Box<address::ProviderAddr>,
        directory: PathBuf,
    },
    /// Two arguments with the same address, of which a lock file has one version.
    #[error("{0} is named twice")]
    NamedTwice(Box<address::ProviderAddr>),
    /// No installation method of the CLI configuration is for a provider.
    #[error("no installation method is for {provider}\n  in {}", printable_path(.file))]
    NoMethod {
        provider: Box<address::ProviderAddr>,
        file: PathBuf,
    },
    /// A lock file refuses the version.
    #[error("{failure}{}", locked_by(.files))]
    NotLocked {
        failure: Failure,
        files: BTreeSet<PathBuf>,
    },
}
