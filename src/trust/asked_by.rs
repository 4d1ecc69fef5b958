//! What asked for keys: a line of a trust file, or an option.

use std::fmt;
use std::path::PathBuf;

use crate::error::printable_path;

/// What asked for certain keys.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum AskedBy {
    /// An entry of a trust file.
    TrustFile {
        /// The path as the user named it; empty if it is not known.
        path: PathBuf,
        /// The line of its first key, from 1.
        line: usize,
    },
    /// The option `--key`.
    Option,
}

/// `trust.toml, line 3`, or `--key`.
impl fmt::Display for AskedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TrustFile { path, line, .. } if path.as_os_str().is_empty() => {
                write!(f, "the trust file, line {line}")
            }
            Self::TrustFile { path, line, .. } => {
                write!(f, "{}, line {line}", printable_path(path))
            }
            Self::Option => f.write_str("--key"),
        }
    }
}

/// ` (named by …)`, or nothing.
pub(super) fn named_by(asked_by: Option<&AskedBy>) -> String {
    asked_by.map_or_else(String::new, |asked_by| format!(" (named by {asked_by})"))
}
