//! Errors of blobs.

use crate::archive;
use crate::digest::Digest;
use crate::disk;
use crate::error::Category;
use crate::http;

/// A blob that could not be read, or has other bytes than expected.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    /// A file could not be read.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    /// A request failed.
    #[error(transparent)]
    Http(#[from] http::Error),
    /// The source does not have the blob.
    #[error("the blob is missing")]
    Missing,
    /// The store or source could not read the blob.
    #[error(transparent)]
    NotGiven(Unread),
    #[error("there are more bytes than expected\n  expected {expected} bytes\n  received more")]
    Longer { expected: u64 },
    /// The stream ended early.
    #[error(
        "there are fewer bytes than expected\n  expected {expected} bytes\n  received {received} bytes"
    )]
    Shorter { expected: u64, received: u64 },
    /// Other bytes than expected.
    #[error("the bytes do not match their digest\n  expected {expected}\n  received {received}")]
    Digest {
        /// The digest that was announced.
        expected: Digest,
        /// The digest of the received bytes.
        received: Digest,
    },
    /// The bytes match the digest, but are not a zip.
    #[error(transparent)]
    Archive(#[from] archive::Error),
}

/// The error of a store or source that could not read a blob. This module cannot name their error types, which come later in the order of
/// modules, so the cause is boxed; [`crate::outcome::PackageError`] takes it out again.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the blob")]
pub struct Unread {
    /// The category of `source`.
    pub category: Category,
    /// The error of the store or source.
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

impl Error {
    /// A stable word for what is wrong with the bytes; `None` if they could not be read.
    pub fn fault(&self) -> Option<&'static str> {
        match self {
            Self::Disk(_) | Self::Http(_) | Self::NotGiven(_) => None,
            Self::Missing => Some("missing"),
            Self::Longer { .. } | Self::Shorter { .. } => Some("size-mismatch"),
            Self::Digest { .. } => Some("digest-mismatch"),
            Self::Archive(_) => Some("malformed"),
        }
    }

    /// Whether the same read may succeed later.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Http(error) if error.is_transient())
    }

    /// The category that decides the exit code.
    pub fn category(&self) -> Category {
        match self {
            Self::Disk(error) => error.category(),
            Self::Http(error) => error.category(),
            Self::NotGiven(unread) => unread.category,
            Self::Missing => Category::NotFound,
            Self::Archive(error) => error.category(),
            Self::Longer { .. } | Self::Shorter { .. } | Self::Digest { .. } => Category::Untrusted,
        }
    }
}
