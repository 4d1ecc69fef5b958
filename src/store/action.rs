//! Actions on repositories.

use std::fmt;

/// An action on a repository that a registry permits or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// To read blobs, manifests and lists of tags.
    Pull,
    /// To upload blobs and manifests, and to move tags.
    Push,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pull => "pull from",
            Self::Push => "push to",
        })
    }
}
