//! Why a blob was not written to a store, and whether the source or the store caused it.

use super::Error;
use crate::blob;
use crate::error::Category;

/// Why a blob was not written to a store.
#[derive(Debug, thiserror::Error)]
pub enum PutError {
    /// The store failed or refused the blob.
    #[error(transparent)]
    Store(Error),
    /// The source failed, or gave wrong bytes.
    #[error(transparent)]
    Source(blob::Error),
}

impl PutError {
    /// The category that decides the exit code.
    pub fn category(&self) -> Category {
        match self {
            Self::Store(error) => error.category(),
            Self::Source(error) => error.category(),
        }
    }
}

impl<E: Into<Error>> From<E> for PutError {
    fn from(error: E) -> Self {
        Self::Store(error.into())
    }
}
