//! Why a blob was not written to a store, and whether the source or the store caused it.

use super::Error;
use crate::blob::ReadError;

/// Why a blob was not written to a store.
#[derive(Debug, thiserror::Error)]
pub enum PutError<F> {
    /// The store failed or refused the blob.
    #[error(transparent)]
    Store(Error),
    /// The source failed, or gave wrong bytes.
    #[error(transparent)]
    Source(ReadError<F>),
}

impl<F, E: Into<Error>> From<E> for PutError<F> {
    fn from(error: E) -> Self {
        Self::Store(error.into())
    }
}
