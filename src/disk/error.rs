//! Errors of local files and directories.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Category, Hint, printable_path};

/// An error about a local file or directory.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    /// The system reported an error.
    #[error("cannot {action} {}", printable_path(.path))]
    Io {
        /// What tfoci could not do. Messages show the path after it.
        action: &'static str,
        /// The file or directory; for one that has a hidden name, the directory above it.
        path: PathBuf,
        source: io::Error,
    },
    /// A temporary file could not be created, written or read.
    #[error("cannot {action} a temporary file in {}", printable_path(.directory))]
    TempFile {
        action: &'static str,
        /// The system's directory for temporary files.
        directory: PathBuf,
        source: io::Error,
    },
    /// A directory, device, pipe or socket where a regular file was expected.
    #[error("{} is not a regular file", printable_path(.path))]
    Special { path: PathBuf },
    /// A file where a directory was expected.
    #[error("{} is a file, expected a directory", printable_path(.path))]
    NotDirectory { path: PathBuf },
    /// A symbolic link where only a file is read.
    #[error("{} is a symbolic link, which is not followed", printable_path(.path))]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// A file that was verified before is another one after it was read.
    #[error("{} changed while it was read", printable_path(.path))]
    Changed { path: PathBuf },
    /// A file is larger than the limit for its kind.
    #[error("cannot read {}\n  expected at most {limit} bytes\n  received {}", printable_path(.path), or_more(*.size))]
    TooLarge {
        path: PathBuf,
        limit: u64,
        /// The size of the file in bytes; `None` for pipes.
        size: Option<u64>,
    },
}

/// The refusal of a symbolic link where another user may have put it.
pub(super) fn link() -> io::Error {
    io::Error::other("it is a symbolic link, and none is followed here")
}

fn or_more(size: Option<u64>) -> String {
    size.map_or_else(|| "more".to_owned(), |size| format!("{size} bytes"))
}

impl Error {
    /// An error of the system about a path.
    pub fn at(action: &'static str, path: &Path, source: io::Error) -> Self {
        if source.kind() == io::ErrorKind::NotADirectory
            && let Some(file) = path.ancestors().find(|path| path.is_file())
        {
            let path = file.to_owned();
            return Self::NotDirectory { path };
        }
        Self::Io {
            action,
            path: path.to_owned(),
            source,
        }
    }

    /// An error of the system about one of several steps, such as to open a directory on the way to a file.
    pub fn at_use(path: &Path, source: io::Error) -> Self {
        Self::at("use", path, source)
    }

    /// An error about a path that refers to something other than a regular file.
    pub fn special(path: &Path) -> Self {
        Self::Special {
            path: path.to_owned(),
        }
    }

    /// Whether the file or directory does not exist.
    pub fn is_not_found(&self) -> bool {
        match self {
            Self::Io { source, .. } => source.kind() == io::ErrorKind::NotFound,
            _ => false,
        }
    }

    /// The category that decides the exit code.
    pub fn category(&self) -> Category {
        match self {
            Self::Io { .. } if self.is_not_found() => Category::NotFound,
            Self::Io { .. } | Self::TempFile { .. } | Self::NotDirectory { .. } => Category::Local,
            Self::Changed { .. } => Category::Untrusted,
            Self::Link { .. } | Self::Special { .. } | Self::TooLarge { .. } => Category::Malformed,
        }
    }
}

/// Converts the error about a file or directory that does not exist into `None`.
///
/// # Errors
/// Any other error.
pub fn if_exists<T>(result: Result<T, Error>) -> Result<Option<T>, Error> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

impl Hint for Error {
    fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Io { path, source, .. } if source.kind() == io::ErrorKind::NotFound => {
                let has_home = path.iter().any(|part| part == "~");
                has_home.then_some("tfoci does not expand `~`: write the whole path")?
            }
            Self::TempFile { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
                "TMPDIR names another directory for temporary files"
            }
            _ => return None,
        };
        Some(text.to_owned())
    }
}
