//! Errors of configurations.

use std::path::PathBuf;

use super::Position;
use crate::config::module;
use crate::disk;
use crate::error::{Category, printable, printable_path};
use crate::json;

/// A configuration that cannot be read.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    /// A file or directory cannot be read, or the root module does not exist.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    /// The root module is a file.
    #[error("{} is not a configuration\n  expected a directory\n  received a file", printable_path(.path))]
    File { path: PathBuf },
    /// A configuration file whose name is not text. Clients read it.
    #[error("the name of {} is not UTF-8 text", printable_path(.path))]
    FileName { path: PathBuf },
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
    /// The client's list of downloaded modules is not one.
    #[error("{} cannot be read\n  not valid JSON at line {line}", printable_path(.path))]
    ModulesJson { path: PathBuf, line: usize },
    /// That list can be read in two ways, or in none.
    #[error("{} cannot be read\n  {mistake}", printable_path(.path))]
    ModulesJsonContent { path: PathBuf, mistake: Mistake },
    /// The entry of a local module in `modules.json` leads to another directory, which clients would read.
    #[error("modules.json has another directory for a local module\n  expected {}\n  received {}\n  called in {}",
        printable_path(.directory), printable_path(.recorded), printable_path(.caller))]
    Redirected {
        /// The directory that the source leads to.
        directory: PathBuf,
        /// That of the entry.
        recorded: PathBuf,
        /// The directory of the module that calls it.
        caller: PathBuf,
    },
    /// A strict reader has to know that a downloaded module is the one that is called.
    #[error("modules.json may be about another module than the one that is called\n  source {}\n  called in {}", printable(.address), printable_path(.caller))]
    Uncertain {
        /// The source, as written.
        address: String,
        /// The directory of the module that calls it.
        caller: PathBuf,
    },
    /// OpenTofu computes which module is called.
    #[error("the source or version of a module is an expression, which tfoci does not compute\n  received {}\n  in {position}", printable(.expression))]
    Computed {
        /// The expression, as written.
        expression: String,
        position: Position,
    },
    /// A local state that clients refuse, too.
    #[error("the state {} cannot be read", printable_path(.path))]
    State { path: PathBuf, source: json::Error },
    /// More than any real configuration requires.
    #[error("a configuration requires more than {limit} providers\n  in {position}")]
    TooMuchRequired {
        /// The largest number that is accepted.
        limit: usize,
        /// The statement that exceeds it.
        position: Position,
    },
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

/// Why the content of `modules.json` is refused. Clients would read it in another way than it looks, or refuse it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Mistake {
    #[error("it has no list `Modules` of objects with `Key`, `Source` and `Dir` as text")]
    Shape,
    /// Clients read names without regard to case, and take the last.
    #[error("clients read the member `{}` as `{expected}`", printable(.received))]
    Member {
        expected: &'static str,
        received: String,
    },
    #[error("an object has two members `{name}`")]
    Twice { name: &'static str },
    #[error("two entries are about the module `{}`", printable(.key))]
    Entries { key: String },
    /// Clients never write such a path.
    #[error("the directory `{}` of the module `{}` is not in its shortest form, which clients write", printable(.directory), printable(.key))]
    Directory { directory: String, key: String },
}

impl Error {
    /// The category that decides the exit code.
    pub fn category(&self) -> Category {
        match self {
            Self::Disk(error) => error.category(),
            Self::File { .. } | Self::Missing { .. } | Self::Empty { .. } => Category::NotFound,
            Self::Many { .. }
            | Self::ModulesJson { .. }
            | Self::ModulesJsonContent { .. }
            | Self::Redirected { .. }
            | Self::Uncertain { .. }
            | Self::Computed { .. }
            | Self::TooMuchRequired { .. }
            | Self::FileName { .. } => Category::Malformed,
            Self::Module { source, .. } => source.category(),
            Self::State { source, .. } => source.category(),
        }
    }
}
