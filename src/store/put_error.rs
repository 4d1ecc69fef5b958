//! Why a blob did not get into a store, and on which side.

use super::Error;
use crate::blob;
use crate::error::Category;

/// Why a blob did not get into a store.
#[derive(Debug, thiserror::Error)]
pub enum PutError {
    /// The store cannot take it.
    #[error(transparent)]
    Store(Error),
    /// Its source does not give the bytes, or gives others.
    #[error(transparent)]
    Source(blob::Error),
}

impl PutError {
    /// What kind of problem it is.
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
