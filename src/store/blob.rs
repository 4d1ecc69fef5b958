//! A blob in a store.

use super::Error;
use super::layout::LayoutBlob;
use super::registry::RegistryBlob;
use crate::blob::{BlobInfo, BlobSource, Opened};

/// A blob in a store of any kind.
#[derive(Clone, Debug)]
pub enum StoreBlob {
    /// In a directory of this machine.
    Layout(LayoutBlob),
    /// Behind a registry's API.
    Registry(RegistryBlob),
}

impl BlobSource for StoreBlob {
    type Failure = Error;

    fn info(&self) -> BlobInfo<'_> {
        match self {
            Self::Layout(blob) => blob.info(),
            Self::Registry(blob) => blob.info(),
        }
    }

    async fn open(&self, from: u64) -> Opened<Error> {
        match self {
            Self::Layout(blob) => blob.open(from).await,
            Self::Registry(blob) => blob.open(from).await,
        }
    }
}
