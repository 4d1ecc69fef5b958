//! A blob in a store.

use super::Error;
use super::bundle::BundleBlob;
use super::registry::RegistryBlob;
use crate::blob::{BlobInfo, BlobLocation, BlobSource, Body, File, Opened};
use crate::disk::Blocks;

/// A blob in a store of any kind.
#[derive(Clone, Debug)]
pub enum StoreBlob {
    /// In a directory of this machine.
    Layout(File),
    /// Behind a registry's API.
    Registry(RegistryBlob),
    /// In a bundle.
    Bundle(BundleBlob),
}

impl BlobSource for StoreBlob {
    type Failure = Error;

    fn info(&self) -> BlobInfo<'_> {
        match self {
            Self::Layout(file) => BlobInfo {
                location: Some(BlobLocation::InFile(&file.path)),
                ..file.info()
            },
            Self::Registry(blob) => blob.info(),
            Self::Bundle(blob) => blob.info(),
        }
    }

    async fn open(&self, from: u64) -> Opened<Error> {
        match self {
            Self::Layout(file) => Ok(Body::of_file(Blocks::open_unlinked(&file.path, from)?)),
            Self::Registry(blob) => blob.open(from).await,
            Self::Bundle(blob) => blob.open(from).await,
        }
    }
}
