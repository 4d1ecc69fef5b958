//! Errors of commands.
//!
//! The errors state facts; [`Hint`](tfoci::error::Hint) suggests one option or command that helps.

mod common_failure;
mod construction;
mod hint;

use std::collections::BTreeSet;
use std::path::PathBuf;

pub(super) use common_failure::CommonFailure;
pub(super) use construction::named_by;
pub(super) use construction::required_by;
use construction::{causes, locked_by};
use tfoci::digest;
use tfoci::error::{Category, printable_path};
use tfoci::lock;
use tfoci::lockfile;
use tfoci::outcome::Failure;
use tfoci::platform;
use tfoci::selection;
use tfoci::source;
use tfoci::trust;
use tfoci::{address, config, configuration, credentials};

/// An error that ends a command, or one of its providers.
#[derive(Debug, thiserror::Error)]
pub(super) enum CommandError {
    /// What tfoci does not do, or does not find, with these arguments.
    #[error("{message}")]
    Plain {
        category: Category,
        message: String,
        hint: Option<String>,
    },
    /// All providers of a store were to be read, and it has none. A server may fill it.
    #[error("{message}")]
    Empty {
        message: String,
        advice: &'static str,
    },
    /// An operation failed.
    #[error(transparent)]
    Failed(#[from] Failure),
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
    /// The digest in an argument is malformed.
    #[error(transparent)]
    Digest(#[from] digest::Error),
    /// The trust file does not parse.
    #[error("{} is not a trust file", printable_path(.path))]
    TrustFile {
        path: PathBuf,
        source: Box<trust::Error>,
    },
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
    /// A key file that has no usable key.
    #[error("{error}\n  named by {named_by}")]
    KeyFile {
        error: trust::Error,
        named_by: String,
        is_trust_file: bool,
    },
    /// The mirror file does not parse.
    #[error("{} is not a mirror file", printable_path(.path))]
    MirrorFile {
        path: PathBuf,
        source: Box<config::mirror::Error>,
    },
    /// The lock file does not parse. `tofu` and `terraform` reject it too.
    #[error("{} is not a lock file", printable_path(.path))]
    LockFile {
        path: PathBuf,
        source: Box<lockfile::Error>,
    },
    /// The configuration cannot be read or evaluated.
    #[error(transparent)]
    Configuration(#[from] configuration::Error),
    /// `--require-pinned` without pins.
    #[error("`--require-pinned` needs keys\n  expected --trust FILE or --key FILE")]
    NoPins,
    /// The server cannot start.
    #[error(transparent)]
    Serve(#[from] tfoci::serve::Error),
    /// Credentials cannot be read or stored.
    #[error(transparent)]
    Credentials(#[from] credentials::Error),
    /// A file that an option or another file names cannot be read.
    #[error("{failure}{}\n  named by {named_by}", causes(.failure))]
    File { failure: Failure, named_by: String },
    /// A file of credentials that an option names cannot be used.
    #[error("{error}{}\n  named by {named_by}", causes(.error))]
    Named {
        error: credentials::Error,
        named_by: &'static str,
    },
    /// No version of a provider satisfies the constraints of a configuration.
    #[error("{failure}{}{}", causes(.failure), required_by(.stated))]
    NotSelected {
        failure: Failure,
        stated: Vec<String>,
    },
    /// A lock file cannot be updated.
    #[error(transparent)]
    LockTarget(#[from] lock::target::Error),
    /// A lock file refuses the version.
    #[error("{failure}{}", locked_by(.files))]
    NotLocked {
        failure: Failure,
        files: BTreeSet<PathBuf>,
    },
}
