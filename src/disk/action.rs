//! The verbs in errors about files.

use std::fmt;

/// What tfoci could not do. Messages show the path after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Action {
    Create,
    /// The new directory has a hidden name, so messages show the directory above it.
    CreateDirectory,
    /// As [`Action::CreateDirectory`], for a file.
    CreateFile,
    List,
    Lock,
    Read,
    Remove,
    Sync,
    /// One of several steps, such as to open a directory on the way to a file.
    Use,
    Write,
    WriteManualPages,
    WriteResult,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Create => "create",
            Self::CreateDirectory => "create a directory in",
            Self::CreateFile => "create a file in",
            Self::List => "list",
            Self::Lock => "lock",
            Self::Read => "read",
            Self::Remove => "remove",
            Self::Sync => "sync",
            Self::Use => "use",
            Self::Write => "write",
            Self::WriteManualPages => "write manual pages into",
            Self::WriteResult => "write the result to",
        })
    }
}
