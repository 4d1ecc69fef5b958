//! Errors of descriptors.

use crate::digest;
use crate::release::LARGEST_BLOB;

/// A descriptor with an invalid digest or size.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum DescriptorError {
    /// The digest is invalid.
    #[error(transparent)]
    Digest(#[from] digest::Error),
    #[error("the size {size} is negative")]
    Size { size: i64 },
    /// Nothing is so large.
    #[error("the size {size} is larger than {LARGEST_BLOB}, the most that is read")]
    Large { size: u64 },
}
