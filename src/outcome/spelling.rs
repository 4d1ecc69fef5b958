//! Other spellings of the path of a package.

use std::path::PathBuf;

use crate::error::printable_path;

/// Why clients may take another package than the one that tfoci installs.
#[allow(missing_docs, reason = "the message of a variant names its fields")]
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A path that clients normalise to that of the package.
    #[error("clients read another path as that of this package\n  expected {}\n  received {}", printable_path(.expected), printable_path(.received))]
    Other {
        expected: PathBuf,
        received: PathBuf,
    },
    /// More entries than any real mirror has, so that a search would take too long.
    #[error("the directory {} has too many entries to find other spellings of this package\n  expected at most {limit}\n  received more", printable_path(.path))]
    TooManyEntries { path: PathBuf, limit: usize },
}
