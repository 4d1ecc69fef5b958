//! What messages call the subject of a request to a registry.

use std::fmt;

/// What a request to a registry is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requested {
    /// The version of the registry's API, which `/v2/` answers.
    Version,
    /// A page of a list.
    List(Listed),
    /// A manifest or an index.
    Manifest,
    /// A blob that is read.
    Blob,
    /// A blob that is written.
    Upload,
}

impl fmt::Display for Requested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version => f.write_str("registry's version"),
            Self::List(list) => list.fmt(f),
            Self::Manifest => f.write_str("manifest"),
            Self::Blob => f.write_str("blob"),
            Self::Upload => f.write_str("upload"),
        }
    }
}

/// A list that a registry serves page by page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// The tags of a repository.
    Tags,
    /// The repositories of a registry.
    Repositories,
}

impl Listed {
    /// The name of the items, which is also the member of each page that has them.
    pub fn items(self) -> &'static str {
        match self {
            Self::Tags => "tags",
            Self::Repositories => "repositories",
        }
    }
}

impl fmt::Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "list of {}", self.items())
    }
}
