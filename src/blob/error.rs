//! Bytes that could not be read.

use crate::archive;
use crate::digest::Digest;
use crate::disk;
use crate::error::Category;
use crate::http;

/// Bytes that could not be read, or are not the expected ones.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file could not be read.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    /// The network.
    #[error(transparent)]
    Http(#[from] http::Error),
    /// The bytes are not there.
    #[error("the bytes are not there")]
    Missing,
    /// The store or source that has the bytes does not give them. Both stand behind blobs in the order of modules, so that
    /// the type of the cause cannot be named here; what is done about it hangs on its category.
    #[error("the bytes are not given")]
    NotGiven {
        /// What kind of problem it is.
        category: Category,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// More bytes than expected.
    #[error("there are more bytes than expected\n  expected {expected} bytes\n  received more")]
    Longer {
        /// The expected size in bytes.
        expected: u64,
    },
    /// Fewer bytes than expected.
    #[error(
        "there are fewer bytes than expected\n  expected {expected} bytes\n  received {received} bytes"
    )]
    Shorter {
        /// The expected size in bytes.
        expected: u64,
        /// How many came.
        received: u64,
    },
    /// Other bytes than expected.
    #[error("the bytes do not match their digest\n  expected {expected}\n  received {received}")]
    Digest {
        /// What was promised.
        expected: Digest,
        /// What came.
        received: Digest,
    },
    /// The bytes are those that were expected, and no package.
    #[error(transparent)]
    Archive(#[from] archive::Error),
    /// More bytes than anything of its kind may have.
    #[error(
        "there are more bytes than the limit\n  expected at most {limit} bytes\n  received more"
    )]
    Limit {
        /// The limit in bytes.
        limit: u64,
    },
}

impl Error {
    /// A word for what is wrong with the bytes; `None` where this machine could not read them.
    pub fn fault(&self) -> Option<&'static str> {
        match self {
            Self::Disk(_) | Self::Http(_) | Self::NotGiven { .. } => None,
            Self::Missing => Some("missing"),
            Self::Limit { .. } => Some("too-large"),
            Self::Longer { .. } | Self::Shorter { .. } => Some("size-mismatch"),
            Self::Digest { .. } => Some("digest-mismatch"),
            Self::Archive(_) => Some("malformed"),
        }
    }

    /// Whether the same bytes may come through a moment later.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Http(error) if error.is_passing())
    }

    /// What kind of problem it is.
    pub fn category(&self) -> Category {
        match self {
            Self::Disk(error) => error.category(),
            Self::Http(error) => error.category(),
            Self::NotGiven { category, .. } => *category,
            Self::Missing => Category::NotFound,
            Self::Archive(error) => error.category(),
            Self::Limit { .. } => Category::Malformed,
            Self::Longer { .. } | Self::Shorter { .. } | Self::Digest { .. } => Category::Untrusted,
        }
    }
}
