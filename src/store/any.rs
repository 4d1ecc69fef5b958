//! A store of any kind. The kinds are a closed set, and the store address decides which one it is.

use super::layout::LayoutBlob;
use super::registry::RegistryBlob;
use super::{
    At, Error, Layout, Listing, Move, Put, PutError, ReadStore, Registry, Tagged, WriteStore,
};
use crate::blob::{self, BlobSource, Body, Kept};
use crate::digest::Digest;
use crate::disk;
use crate::event::Reporter;
use crate::oci::{RawManifest, Repository, Tag};
use crate::release::Expected;

/// A store of any kind.
#[derive(Clone, Debug)]
pub enum Store {
    /// OCI image layouts on disk.
    Layout(Layout),
    /// OCI registries.
    Registry(Registry),
}

/// A blob in a store of any kind.
#[derive(Clone)]
pub enum StoreBlob {
    /// A file of a layout.
    Layout(LayoutBlob),
    /// A blob of a registry.
    Registry(RegistryBlob),
}

/// Calls the same method on whichever variant it is.
macro_rules! either {
    ($self:expr, $store:ident => $said:expr) => {
        match $self {
            Self::Layout($store) => $said,
            Self::Registry($store) => $said,
        }
    };
}

impl ReadStore for Store {
    type Blob = StoreBlob;

    async fn repositories(&self) -> Result<Listing, Error> {
        either!(self, store => store.repositories().await)
    }

    async fn tags(&self, repository: &Repository) -> Result<Option<Vec<String>>, Error> {
        either!(self, store => store.tags(repository).await)
    }

    async fn manifest(
        &self,
        repository: &Repository,
        at: At<'_>,
    ) -> Result<Option<RawManifest>, Error> {
        either!(self, store => store.manifest(repository, at).await)
    }

    async fn digest(&self, repository: &Repository, tag: &Tag) -> Result<Option<Digest>, Error> {
        either!(self, store => store.digest(repository, tag).await)
    }

    fn blob(&self, repository: &Repository, expected: Expected) -> StoreBlob {
        match self {
            Self::Layout(store) => StoreBlob::Layout(store.blob(repository, expected)),
            Self::Registry(store) => StoreBlob::Registry(store.blob(repository, expected)),
        }
    }

    fn name(&self, repository: &Repository) -> String {
        either!(self, store => store.name(repository))
    }
}

impl WriteStore for Store {
    fn keeps_whole(&self) -> bool {
        either!(self, store => store.keeps_whole())
    }

    fn takes_evidence(&self, repository: &Repository) -> bool {
        either!(self, store => store.takes_evidence(repository))
    }

    async fn lock(
        &self,
        repository: &Repository,
        reporter: &dyn Reporter,
    ) -> Result<Option<disk::Lock>, Error> {
        either!(self, store => store.lock(repository, reporter).await)
    }

    async fn has_blob(&self, repository: &Repository, expected: &Expected) -> Result<bool, Error> {
        either!(self, store => store.has_blob(repository, expected).await)
    }

    async fn put_blob<B: BlobSource>(
        &self,
        repository: &Repository,
        blob: &B,
    ) -> Result<Put, PutError> {
        either!(self, store => store.put_blob(repository, blob).await)
    }

    async fn put_new_blob<B: BlobSource>(
        &self,
        repository: &Repository,
        blob: &B,
    ) -> Result<Put, PutError> {
        either!(self, store => store.put_new_blob(repository, blob).await)
    }

    async fn put_manifest(
        &self,
        repository: &Repository,
        manifest: &RawManifest,
    ) -> Result<(), Error> {
        either!(self, store => store.put_manifest(repository, manifest).await)
    }

    async fn tag(&self, repository: &Repository, moves: &[Move<'_>]) -> Result<Tagged, Error> {
        either!(self, store => store.tag(repository, moves).await)
    }

    async fn sweep(&self, repository: &Repository) -> Result<(), Error> {
        either!(self, store => store.sweep(repository).await)
    }
}

impl BlobSource for StoreBlob {
    fn expected(&self) -> Expected {
        either!(self, blob => blob.expected())
    }

    fn can_be_cut(&self) -> bool {
        either!(self, blob => blob.can_be_cut())
    }

    fn kept(&self) -> Option<Kept<'_>> {
        either!(self, blob => blob.kept())
    }

    async fn open(&self, from: u64) -> Result<Body, blob::Error> {
        either!(self, blob => blob.open(from).await)
    }
}
