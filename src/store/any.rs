//! The store: a closed set of kinds, of which the store address decides one.
//!
//! Everything that a store returns is verified and limited in size: a manifest's bytes match the requested digest, and a blob is
//! verified while it streams. Journeys do not use a [`Store`] itself but one of its repositories, [`super::Repo`] or
//! [`super::RepoMut`], so that code that only reads cannot write.

use super::layout::LayoutBlob;
use super::registry::RegistryBlob;
use super::{At, Error, Layout, Move, Put, PutError, Registry, Tagged};
use crate::blob::{self, BlobLocation, BlobSource, Body};
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
#[derive(Clone, Debug)]
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

impl Store {
    /// The names of a repository's tags as the store lists them, sorted; `None` if the repository does not exist. Other tools may have
    /// written names that are not valid tags.
    pub(super) async fn tags(&self, repository: &Repository) -> Result<Option<Vec<String>>, Error> {
        match self {
            Self::Layout(layout) => layout.tags(repository),
            Self::Registry(registry) => registry.tags(repository).await,
        }
    }

    /// A manifest or index; `None` if it does not exist.
    pub(super) async fn manifest(
        &self,
        repository: &Repository,
        at: At<'_>,
    ) -> Result<Option<RawManifest>, Error> {
        either!(self, store => store.manifest(repository, at).await)
    }

    /// The digest that a tag refers to; `None` if there is no such tag. The manifest itself is not read and may be damaged.
    pub(super) async fn digest(
        &self,
        repository: &Repository,
        tag: &Tag,
    ) -> Result<Option<Digest>, Error> {
        match self {
            Self::Layout(layout) => layout.digest(repository, tag),
            Self::Registry(registry) => registry.digest(repository, tag).await,
        }
    }

    /// A blob. Whether it exists is only known when it is opened.
    pub(super) fn blob(&self, repository: &Repository, expected: Expected) -> StoreBlob {
        match self {
            Self::Layout(store) => StoreBlob::Layout(store.blob(repository, expected)),
            Self::Registry(store) => StoreBlob::Registry(store.blob(repository, expected)),
        }
    }

    /// The full name of a repository, with the store's prefix.
    pub(super) fn name(&self, repository: &Repository) -> String {
        match self {
            Self::Layout(layout) => layout.name(repository),
            Self::Registry(_) => repository.to_string(),
        }
    }

    /// Whether the store itself refuses a manifest that refers to missing blobs or manifests. If so, tfoci does not check the parts
    /// of a tagged artifact one by one.
    pub(super) fn refuses_incomplete(&self) -> bool {
        match self {
            // Users and other tools can delete files from a directory.
            Self::Layout(_) => false,
            Self::Registry(_) => true,
        }
    }

    /// Whether the store may accept evidence, as far as is known. If it has refused evidence once, tfoci does not send it again.
    pub(super) fn takes_evidence(&self, repository: &Repository) -> bool {
        match self {
            Self::Layout(_) => true,
            Self::Registry(registry) => registry.takes_evidence(repository),
        }
    }

    /// Locks a repository against other writers until the lock is dropped; `None` if the store needs no lock. The methods below may
    /// only be called while the lock is held.
    pub(super) async fn lock(
        &self,
        repository: &Repository,
        reporter: &dyn Reporter,
    ) -> Result<Option<disk::Lock>, Error> {
        match self {
            Self::Layout(layout) => layout.lock(repository, reporter).await.map(Some),
            Self::Registry(_) => Ok(None),
        }
    }

    /// Whether the store has a blob of this digest and size. Its bytes are not checked.
    pub(super) async fn has_blob(
        &self,
        repository: &Repository,
        expected: &Expected,
    ) -> Result<bool, Error> {
        match self {
            Self::Layout(layout) => Ok(layout.has_blob(repository, expected)),
            Self::Registry(registry) => registry.has_blob(repository, expected).await,
        }
    }

    /// Stores a blob unless it exists. Wrong bytes are never stored.
    pub(super) async fn put_blob<B: BlobSource>(
        &self,
        repository: &Repository,
        blob: &B,
    ) -> Result<Put, PutError> {
        either!(self, store => store.put_blob(repository, blob).await)
    }

    /// Stores a small blob that probably does not exist: sending it to a registry costs no more than checking for it.
    pub(super) async fn put_new_blob<B: BlobSource>(
        &self,
        repository: &Repository,
        blob: &B,
    ) -> Result<Put, PutError> {
        match self {
            Self::Layout(layout) => layout.put_blob(repository, blob).await,
            Self::Registry(registry) => registry.put_new_blob(repository, blob).await,
        }
    }

    /// Stores a manifest or index, without a tag.
    pub(super) async fn put_manifest(
        &self,
        repository: &Repository,
        manifest: &RawManifest,
    ) -> Result<(), Error> {
        match self {
            Self::Layout(layout) => layout.put_manifest(repository, manifest),
            Self::Registry(registry) => registry.put_manifest(repository, manifest).await,
        }
    }

    /// Stores manifests and moves tags to them, in the given order, atomically if the store can. A tag only moves if it still refers to
    /// the digest that it was last seen with.
    pub(super) async fn tag(
        &self,
        repository: &Repository,
        moves: &[Move<'_>],
    ) -> Result<Tagged, Error> {
        match self {
            Self::Layout(layout) => layout.tag(repository, moves),
            Self::Registry(registry) => registry.tag(repository, moves).await,
        }
    }

    /// Removes blobs and manifests that no tag refers to any more. Registries have garbage collectors of their own.
    pub(super) async fn sweep(&self, repository: &Repository) -> Result<(), Error> {
        match self {
            Self::Layout(layout) => layout.sweep(repository).await,
            Self::Registry(_) => Ok(()),
        }
    }
}

impl BlobSource for StoreBlob {
    fn expected(&self) -> Expected {
        either!(self, blob => blob.expected())
    }

    fn may_end_early(&self) -> bool {
        either!(self, blob => blob.may_end_early())
    }

    fn location(&self) -> Option<BlobLocation<'_>> {
        either!(self, blob => blob.location())
    }

    async fn open(&self, from: u64) -> Result<Body, blob::Error> {
        either!(self, blob => blob.open(from).await)
    }
}
