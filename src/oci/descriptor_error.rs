//! Errors of descriptors.

use crate::digest;

/// A descriptor with an invalid digest or size.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum DescriptorError {
    /// The digest is invalid.
    #[error(transparent)]
    Digest(#[from] digest::Error),
    /// The size is negative.
    #[error("the size {size} is negative")]
    Size { size: i64 },
}
