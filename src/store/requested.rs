//! What messages call the subject of a request to a registry.

use std::fmt;

/// What a request to a registry is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requested {
    /// The version of the registry's API, which `/v2/` answers.
    Version,
    /// A page of the list of a registry's repositories.
    Repositories,
    /// A page of the list of a repository's tags.
    Tags,
    /// A page of the list of what is attached to a manifest.
    Referrers,
    /// A manifest or an index that is read.
    Manifest,
    /// A manifest or an index that is written.
    NewManifest,
    /// A manifest that is deleted.
    Deletion,
    /// A blob that is read.
    Blob,
    /// A blob that is written.
    Upload,
}

impl Requested {
    /// Whether it is for one repository and its parts.
    pub(super) fn is_in_repository(self) -> bool {
        !matches!(self, Self::Version | Self::Repositories)
    }

    /// The permission that the request needs, for a message.
    pub(super) fn action(self) -> &'static str {
        match self {
            Self::NewManifest | Self::Upload => "push to",
            Self::Deletion => "delete from",
            _ => "pull from",
        }
    }
}

impl fmt::Display for Requested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Version => "registry's version",
            Self::Repositories => "list of repositories",
            Self::Tags => "list of tags",
            Self::Referrers => "list of referrers",
            Self::Manifest | Self::NewManifest | Self::Deletion => "manifest",
            Self::Blob => "blob",
            Self::Upload => "upload",
        })
    }
}
