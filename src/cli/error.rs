//! Errors of commands: everything that can stop one.
//!
//! The library states facts; [`hints`](super::hints) adds which option would help.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tfoci::address;
use tfoci::config;
use tfoci::credentials;
use tfoci::error::{Category, printable, printable_path};
use tfoci::event::Subject;
use tfoci::lockfile;
use tfoci::outcome::Failure;
use tfoci::platform;
use tfoci::selection;
use tfoci::source;
use tfoci::trust;

/// Why a command did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub(super) enum CommandError {
    /// An argument that is no provider address.
    #[error(transparent)]
    Address(#[from] address::Error),
    /// An argument that is no provider with constraints.
    #[error(transparent)]
    Selection(#[from] selection::Error),
    /// An argument that is no pattern.
    #[error(transparent)]
    Pattern(#[from] address::pattern::Error),
    /// An argument that is no platform.
    #[error(transparent)]
    Platform(#[from] platform::Error),
    /// An argument that is no source.
    #[error(transparent)]
    Source(#[from] source::SourceAddrError),
    /// One version was needed.
    #[error("`{}` does not name one version\n  expected ADDR@VERSION", printable(.text))]
    OneVersion { text: String },
    /// An annotation that cannot be set.
    #[error("`{}` is not an annotation that can be set\n  expected KEY=VALUE", printable(.text))]
    Annotation { text: String },
    /// An annotation that belongs to the artifact.
    #[error("the annotation `{key}` is tfoci's own")]
    OwnAnnotation { key: String },
    /// Without addresses, and the store cannot list.
    #[error("no provider is named, and this store cannot list those that it has")]
    NoSelection,
    /// `--platform` by itself.
    #[error(
        "`--platform` would change the index of a version, and so its digest\n  pins of digests and later copies rely on it"
    )]
    Filter,
    /// A trust file that cannot be read as one.
    #[error("{} is not a trust file", printable_path(.path))]
    TrustFile {
        path: PathBuf,
        source: Box<trust::Error>,
    },
    /// A mirror file names a trust file that is not there.
    #[error("there is no trust file {}\n  named by `trust` in {}", printable_path(.path), printable_path(.file))]
    NoSuchTrustFile { path: PathBuf, file: PathBuf },
    /// A trust file that cannot be changed.
    #[error(transparent)]
    Trust(#[from] trust::Error),
    /// Keys that should be pinned, and are not.
    #[error("new keys are not pinned in {}\n  {}", printable_path(.path), .keys.join("\n  "))]
    NotPinned {
        path: PathBuf,
        keys: Vec<String>,
        source: Box<CommandError>,
    },
    /// A mirror file that cannot be read as one.
    #[error("{} is not a mirror file", printable_path(.path))]
    MirrorFile {
        path: PathBuf,
        source: Box<config::mirror::Error>,
    },
    /// A lock file that clients would not read either.
    #[error("{} is not a lock file", printable_path(.path))]
    LockFile {
        path: PathBuf,
        source: Box<lockfile::Error>,
    },
    /// A configuration that cannot be understood.
    #[error(transparent)]
    Configuration(#[from] source::tree::Error),
    /// Keys are to be written, and nothing says where.
    #[error("there is no trust file into which new keys could be written")]
    NoTrustFile,
    /// No destination is named.
    #[error("nothing says where to mirror {provider}")]
    NoDestination {
        provider: Box<address::ProviderAddr>,
    },
    /// Credentials that cannot be read or kept.
    #[error(transparent)]
    Credentials(#[from] credentials::Error),
    /// A name that cannot be sent.
    #[error("`{}` cannot be the name of a user\n  expected text without a colon", printable(.username))]
    Username { username: String },
    /// There is no terminal to ask for a password on.
    #[error("there is no terminal to ask for the password")]
    NoTerminal,
    /// There is no password where it should be.
    #[error("no password was given\n  expected one line of text, at most 65536 bytes")]
    NoPassword,
    /// A client certificate or key that is for no host.
    #[error("`{}` does not say for which host it is\n  expected HOST=FILE", printable(.text))]
    OfHost { text: String },
    /// A client's key without its certificate.
    #[error("there is a client key for {}, and no client certificate", printable(.host))]
    LoneKey { host: String },
    /// A journey that did not get through.
    #[error(transparent)]
    Journey(#[from] Failure),
    /// A version that was not mirrored. Who mirrors it is not its author, so the hints are others.
    #[error(transparent)]
    Mirroring(Failure),
    /// A version that lock files refuse.
    #[error("{failure}{}", locked_by(.files))]
    NotLocked {
        failure: Failure,
        files: BTreeSet<PathBuf>,
    },
}

fn locked_by(files: &BTreeSet<PathBuf>) -> String {
    let line = |file: &PathBuf| format!("\n  locked by {}", printable_path(file));
    files.iter().map(line).collect()
}

impl CommandError {
    /// A trust file that cannot be used.
    pub(super) fn trust_file(path: &Path, source: trust::Error) -> Self {
        Self::TrustFile {
            path: path.to_owned(),
            source: Box::new(source),
        }
    }

    /// What kind of failure it is: an argument that cannot be meant is a usage error, whatever it is about.
    pub(super) fn category(&self) -> Category {
        match self {
            Self::Journey(failure) | Self::Mirroring(failure) | Self::NotLocked { failure, .. } => {
                failure.category()
            }
            Self::NotPinned { source, .. } => source.category(),
            Self::Trust(error) => error.category(),
            Self::Credentials(error) => error.category(),
            Self::Configuration(error) => error.category(),
            Self::NoSuchTrustFile { .. } => Category::NotFound,
            _ => Category::Usage,
        }
    }

    /// What a failed journey was about.
    pub(super) fn subject(&self) -> Option<&Subject> {
        match self {
            Self::Journey(failure) | Self::Mirroring(failure) | Self::NotLocked { failure, .. } => {
                failure.subject.as_ref()
            }
            _ => None,
        }
    }
}
