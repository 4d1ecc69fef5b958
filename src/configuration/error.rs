//! Errors of configurations.

use std::path::PathBuf;

use super::Position;
use crate::config::module;
use crate::disk;
use crate::error::{Category, Hint, printable, printable_path};

/// A configuration that cannot be read.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    /// A file or directory cannot be read, or the root module does not exist.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    /// A called module does not exist.
    #[error("a called module is missing\n  expected {}\n  source {}\n  called in {position}", printable_path(.directory), printable(.address))]
    Missing {
        /// The directory of the module.
        directory: PathBuf,
        /// The source, as written.
        address: String,
        /// The call.
        position: Position,
    },
    /// A directory without configuration files.
    #[error("no configuration is in {}\n  expected files such as main.tf", printable_path(.directory))]
    Empty { directory: PathBuf },
    /// The client's list of installed modules is not one, or has a path that clients never write.
    #[error("{} is not a list of modules as clients write it", printable_path(.path))]
    ModulesJson { path: PathBuf },
    /// A limit was exceeded.
    #[error("{} has more than {limit} {what}", printable_path(.directory))]
    Many {
        directory: PathBuf,
        /// The noun for what exceeds the limit, such as `files`.
        what: &'static str,
        /// The largest number that is accepted.
        limit: u64,
    },
    /// A module with invalid configuration, which clients refuse too.
    #[error("the module in {} cannot be read", printable_path(.directory))]
    Module {
        /// The directory of the module.
        directory: PathBuf,
        /// The cause, with file and line.
        source: Box<module::Error>,
    },
}

impl Error {
    /// The category that decides the exit code.
    pub fn category(&self) -> Category {
        match self {
            Self::Disk(error) => error.category(),
            Self::Missing { .. } | Self::Empty { .. } => Category::NotFound,
            Self::Many { .. } | Self::ModulesJson { .. } => Category::Malformed,
            Self::Module { source, .. } => source.category(),
        }
    }
}

impl Hint for Error {
    fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Disk(error) => return error.hint(),
            Self::Empty { .. } => {
                "name a provider, such as `acme/demo`, or the directory of a configuration"
            }
            Self::ModulesJson { .. } => {
                "the client writes no such file: remove it, and run `get` again"
            }
            _ => return None,
        };
        Some(text.to_owned())
    }
}
