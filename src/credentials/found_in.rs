//! Where a credential was found.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::error::{printable, printable_path};

/// Where a credential was found. The text is for messages.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FoundIn {
    /// In the input of the user, for an option or after a prompt.
    CommandLine,
    /// In the environment variable of this name.
    Variable(String),
    /// In this entry of a file.
    File(FileEntry),
    /// In a helper of docker, which an entry of a file names.
    Helper {
        /// Such as `docker-credential-pass`.
        program: String,
        /// The entry that names it.
        named_by: FileEntry,
    },
    /// In the token helper of the CLI configuration, a program of this name.
    TokenHelper(String),
}

/// An entry of a file with credentials.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileEntry {
    /// The path of the file.
    pub path: PathBuf,
    /// The name of the entry as the file has it, such as `credentials "example.com"` or `machine example.com`.
    pub entry: String,
}

impl FileEntry {
    /// An entry of the file at a path.
    pub(super) fn new(path: &Path, entry: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            entry: entry.into(),
        }
    }
}

impl fmt::Display for FileEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, entry } = self;
        write!(f, "{} ({})", printable_path(path), printable(entry))
    }
}

impl fmt::Display for FoundIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CommandLine => f.write_str("the command line"),
            Self::Variable(name) => f.write_str(&printable(name)),
            Self::File(entry) => entry.fmt(f),
            Self::Helper { program, named_by } => write!(f, "{program}, named by {named_by}"),
            Self::TokenHelper(program) => f.write_str(&printable(program)),
        }
    }
}
