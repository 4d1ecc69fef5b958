//! Why a descriptor cannot be followed.

use crate::digest;

/// A descriptor with an invalid digest or size.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum DescriptorError {
    /// The digest cannot be used.
    #[error(transparent)]
    Digest(#[from] digest::Error),
    /// The size is negative.
    #[error("the size {size} is negative")]
    Size { size: i64 },
}
