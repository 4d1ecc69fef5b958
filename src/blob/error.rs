//! Errors of blobs.

use crate::archive;
use crate::digest::Digest;
use crate::disk;
use crate::error::{Category, Hint};
use crate::http;

/// Why a blob could not be read from its source.
#[derive(Debug, thiserror::Error)]
pub enum ReadError<F> {
    /// The origin or the store did not give the blob.
    #[error(transparent)]
    Source(F),
    /// The bytes could not be read, or are not the expected ones.
    #[error(transparent)]
    Blob(Error),
}

/// Bytes that could not be read, or that are not the expected ones.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    /// A file could not be read.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    #[error(transparent)]
    Http(#[from] http::Error),
    /// The source does not have the blob.
    #[error("the blob is missing")]
    Missing,
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

impl<F, E: Into<Error>> From<E> for ReadError<F> {
    fn from(error: E) -> Self {
        Self::Blob(error.into())
    }
}

impl<F> ReadError<F> {
    /// Whether the same read may succeed later.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Blob(Error::Http(error)) if error.is_transient())
    }
}

impl Error {
    /// Whether the bytes are missing or wrong. Otherwise they could not be read, which says nothing about them.
    pub fn is_damage(&self) -> bool {
        !matches!(self, Self::Disk(_) | Self::Http(_))
    }

    /// The category that decides the exit code.
    pub fn category(&self) -> Category {
        match self {
            Self::Disk(error) => error.category(),
            Self::Http(error) => error.category(),
            Self::Missing => Category::NotFound,
            Self::Archive(error) => error.category(),
            Self::Longer { .. } | Self::Shorter { .. } | Self::Digest { .. } => Category::Untrusted,
        }
    }
}

impl Hint for Error {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Disk(error) => error.hint(),
            Self::Http(error) => error.hint(),
            Self::Archive(_) | Self::Missing => None,
            Self::Longer { .. } | Self::Shorter { .. } | Self::Digest { .. } => {
                Some("the source is broken, or a proxy changes packages".to_owned())
            }
        }
    }
}
