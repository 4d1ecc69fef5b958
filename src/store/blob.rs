//! A blob in a store.

use super::Error;
use super::bundle::BundleBlob;
use super::registry::RegistryBlob;
use crate::blob::{BlobInfo, BlobLocation, BlobSource, Body, File, Opened, proven};
use crate::disk::Blocks;
use crate::oci::{Descriptor, LARGEST_READ, Part, RawManifest, Refusal};

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

impl StoreBlob {
    /// All bytes, at most `limit`.
    pub(super) async fn read(&self, what: Part, limit: u64) -> Result<Vec<u8>, Error> {
        let expected = self.expected();
        Refusal::check_size(what, limit, expected.size)?;
        let bytes = match proven(self).await {
            Ok(body) => body.collect(expected.size).await,
            Err(error) => Err(error),
        };
        bytes.map_err(|source| Error::reading(what, expected.digest, source))
    }

    /// The manifest or index that a descriptor refers to; `None` if it is missing.
    pub(super) async fn document(
        &self,
        entry: &Descriptor,
        what: Part,
    ) -> Result<Option<RawManifest>, Error> {
        match self.read(what, LARGEST_READ).await {
            Ok(bytes) => Ok(Some(RawManifest {
                media_type: entry.media_type.clone(),
                artifact_type: entry.artifact_type.clone(),
                bytes: bytes.into(),
                expected: self.expected(),
            })),
            Err(Error::Missing { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
