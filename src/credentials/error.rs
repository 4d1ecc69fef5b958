//! Errors of credentials.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{FoundIn, netrc};
use crate::config;
use crate::disk;
use crate::error::{Category, Hint, printable, printable_path};
use crate::shown::Shown;

/// Credentials that cannot be used or stored. Messages contain neither secrets nor the output of a helper.
#[derive(Clone, Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the variants say what their fields are")]
pub enum Error {
    /// A file cannot be read or written.
    #[error(transparent)]
    Disk(Arc<disk::Error>),
    /// A file is not JSON as docker and podman write it. The parser's own error is not shown, because it may quote a secret.
    #[error("{} is not a file of credentials\n  expected a JSON object, as docker and podman write it\n  at line {line}, column {column}", printable_path(.path))]
    DockerConfig {
        path: PathBuf,
        line: usize,
        column: usize,
    },
    /// A CLI configuration cannot be used.
    #[error("{} is not a CLI configuration", printable_path(.path))]
    CliConfig {
        path: PathBuf,
        source: Arc<config::Error>,
    },
    /// The entry for a registry cannot be used.
    #[error("the entry `{}` of {} cannot be used: {error}", printable(.key), printable_path(.path))]
    Entry {
        key: String,
        path: PathBuf,
        error: &'static str,
    },
    /// A helper is not installed, or cannot be started.
    #[error("{helper} cannot be started")]
    HelperStart {
        helper: String,
        source: Arc<io::Error>,
    },
    /// A helper failed, or did not end in time.
    #[error("{helper} failed: {why}")]
    HelperFailed {
        helper: String,
        /// Its exit status or the time limit.
        why: String,
    },
    /// The output of a helper violates its protocol, or is too long.
    #[error("{helper} answered with something other than credentials")]
    HelperAnswer { helper: String },
    /// A token contains characters that an HTTP header cannot contain.
    #[error("the token from {found_in} holds characters that cannot be sent")]
    UnsendableToken { found_in: FoundIn },
    /// A `.netrc` cannot be parsed.
    #[error("{} is not a .netrc", printable_path(.path))]
    Netrc {
        path: PathBuf,
        source: netrc::NetrcError,
    },
    /// There is no home directory, and no option or variable names a file to store credentials in.
    #[error("there is no home directory to keep credentials in")]
    NoHome,
    /// An argument is not a registry.
    #[error("`{}` is not a registry\n  expected HOST or HOST:PORT", without_user(.text))]
    NotARegistry { text: String },
}

/// Without the userinfo of a URL, which may be a password.
fn without_user(text: &str) -> String {
    match text.contains('@') {
        true => Shown::from(text).to_string(),
        false => printable(text),
    }
}

impl From<disk::Error> for Error {
    fn from(error: disk::Error) -> Self {
        Self::Disk(Arc::new(error))
    }
}

impl Error {
    /// An error of a docker or podman file.
    pub(super) fn docker_config(path: &Path, error: &serde_json::Error) -> Self {
        Self::DockerConfig {
            path: path.to_owned(),
            line: error.line(),
            column: error.column(),
        }
    }

    /// Whether the error is that a file does not exist.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Disk(error) if error.is_not_found())
    }

    /// Whether the program of a helper does not exist.
    pub(super) fn is_missing_helper(&self) -> bool {
        matches!(self, Self::HelperStart { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// The category that decides the exit code.
    pub fn category(&self) -> Category {
        match self {
            Self::Disk(error) => error.category(),
            Self::DockerConfig { .. }
            | Self::CliConfig { .. }
            | Self::Entry { .. }
            | Self::HelperAnswer { .. }
            | Self::UnsendableToken { .. }
            | Self::Netrc { .. } => Category::Malformed,
            Self::HelperStart { .. } | Self::HelperFailed { .. } | Self::NoHome => Category::Local,
            Self::NotARegistry { .. } => Category::Usage,
        }
    }
}

impl Hint for Error {
    fn hint(&self) -> Option<String> {
        match self {
            Self::HelperStart { helper, .. } => Some(format!(
                "install {}, or take it out of the file that names it",
                printable(helper)
            )),
            Self::Disk(error) if !matches!(**error, disk::Error::NotDirectory { .. }) => {
                error.hint()
            }
            // A container may have no home directory.
            Self::NoHome | Self::Disk(_) => {
                Some("`--authfile FILE` names another file of credentials".to_owned())
            }
            _ => None,
        }
    }
}
