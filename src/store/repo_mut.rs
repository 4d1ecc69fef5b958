//! One repository of a store, for writing. Only commands that write get one.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::time::Duration;

use super::layout::LayoutLock;
use super::registry::Lookup;
use super::{BundleError, Error, Move, PutError, Repo, Store, Tagged};
use crate::blob::BlobSource;
use crate::digest::Digest;
use crate::event::{Reporter, Transfer};
use crate::oci::{RawManifest, Repository, Tag, TagNames};
use crate::release::Expected;

/// A repository that can also be written. Wrong bytes are never stored.
#[derive(Clone, Debug)]
pub struct RepoMut {
    repo: Repo,
    /// Whether the address of the store maps other providers to this repository too.
    pub(super) may_be_shared: bool,
}

impl Deref for RepoMut {
    type Target = Repo;

    fn deref(&self) -> &Repo {
        &self.repo
    }
}

impl RepoMut {
    /// A writable repository of a store.
    pub fn new(store: Store, name: Repository) -> Self {
        Self {
            repo: Repo::new(store, name),
            may_be_shared: false,
        }
    }

    /// The repository that was read before, for writing.
    ///
    /// # Errors
    /// It is in a bundle.
    pub fn of(repo: Repo) -> Result<Self, Error> {
        if matches!(repo.store, Store::Bundle(_)) {
            return Err(BundleError::ReadOnly.into());
        }
        Ok(Self {
            repo,
            may_be_shared: false,
        })
    }

    /// Whether other providers may have versions in the repository.
    pub fn may_be_shared(&self) -> bool {
        self.may_be_shared
    }

    /// Whether the store refuses a manifest that refers to missing parts. If so, tfoci does not check the parts of a tagged artifact one by one.
    pub fn refuses_incomplete(&self) -> bool {
        // Users and other tools can delete files from a directory.
        matches!(self.store, Store::Registry(_))
    }

    /// Whether the store has accepted evidence in this run, or refused it; `None` if neither is known. tfoci sends no evidence after a refusal.
    pub fn takes_evidence(&self) -> Option<bool> {
        match &self.store {
            Store::Layout(_) | Store::Bundle(_) => Some(true),
            Store::Registry(registry) => registry.takes_evidence(&self.name),
        }
    }

    /// Whether a store with these tags may turn out to refuse evidence. One version then finds out before the others begin.
    pub fn may_refuse_evidence(&self, tags: &TagNames) -> bool {
        self.takes_evidence().is_none() && !tags.has_evidence()
    }

    /// Locks the repository against other processes until the lock is dropped; `None` if the store needs no lock. Tasks of this process share the
    /// lock, but a task that calls [`RepoMut::sweep`] has to be `alone`. The methods below may only be called while the lock is held.
    ///
    /// # Errors
    /// The store fails.
    pub async fn lock(
        &self,
        alone: bool,
        reporter: &dyn Reporter,
    ) -> Result<Option<LayoutLock>, Error> {
        match &self.store {
            Store::Layout(layout) => layout.lock(&self.name, alone, reporter).await.map(Some),
            Store::Registry(_) | Store::Bundle(_) => Ok(None),
        }
    }

    /// Whether the store has a blob of this digest and size. Its bytes are not checked.
    ///
    /// # Errors
    /// The store fails.
    pub async fn has_blob(&self, expected: &Expected) -> Result<bool, Error> {
        match &self.store {
            Store::Layout(layout) => Ok(layout.has_blob(&self.name, expected)),
            Store::Registry(registry) => self.session(registry).await?.has_blob(expected).await,
            Store::Bundle(_) => Err(BundleError::ReadOnly.into()),
        }
    }

    /// Stores a blob unless it exists. `lookup` tells how a registry finds out; a layout always looks first.
    ///
    /// # Errors
    /// The store fails, or the source fails or gives wrong bytes.
    pub async fn put_blob<B: BlobSource>(
        &self,
        blob: &B,
        lookup: Lookup,
    ) -> Result<Transfer, PutError<B::Failure>> {
        match &self.store {
            Store::Layout(layout) => layout.put_blob(&self.name, blob).await,
            Store::Registry(registry) => {
                let session = self.session(registry).await?;
                session.put_blob(blob, lookup).await
            }
            Store::Bundle(_) => Err(BundleError::ReadOnly.into()),
        }
    }

    /// Stores a manifest or index without a tag.
    ///
    /// # Errors
    /// The store fails.
    pub async fn put_manifest(&self, manifest: &RawManifest) -> Result<(), Error> {
        match &self.store {
            Store::Layout(layout) => layout.put_manifest(&self.name, manifest),
            Store::Registry(registry) => {
                let session = self.session(registry).await?;
                session.put_manifest(manifest).await
            }
            Store::Bundle(_) => Err(BundleError::ReadOnly.into()),
        }
    }

    /// Writes what is `below` some tags, stores manifests and moves the tags to them in the given order, atomically if the store can. Each moves only
    /// if it still refers to the digest that it was last seen with. In a registry, moved tags are read again if others may write them too: after
    /// this time, or a longer one if moving them took long.
    ///
    /// # Errors
    /// The store fails.
    pub async fn tag(
        &self,
        below: impl Future<Output = Result<(), Error>>,
        moves: &[Move<'_>],
        look_again: Option<Duration>,
    ) -> Result<Tagged, Error> {
        match &self.store {
            Store::Layout(layout) => {
                below.await?;
                layout.tag(&self.name, moves).await
            }
            Store::Registry(registry) => {
                let session = self.session(registry).await?;
                session.tag(below, moves, look_again).await
            }
            Store::Bundle(_) => Err(BundleError::ReadOnly.into()),
        }
    }

    /// Deletes a manifest of a registry with all of its tags, unless it is gone already. In a layout, [`RepoMut::forget`] does.
    ///
    /// # Errors
    /// The registry fails, or does not delete.
    pub async fn delete(&self, digest: &Digest) -> Result<(), Error> {
        match &self.store {
            Store::Layout(_) => Ok(()),
            Store::Registry(registry) => self.session(registry).await?.delete(digest).await,
            Store::Bundle(_) => Err(BundleError::ReadOnly.into()),
        }
    }

    /// Forgets tags of a layout, and manifests without a tag, and sweeps it. In a registry, [`RepoMut::delete`] does.
    ///
    /// # Errors
    /// The store fails. If what stays cannot be read, nothing was forgotten.
    pub async fn forget(&self, tags: &[Tag], manifests: &BTreeSet<Digest>) -> Result<(), Error> {
        match &self.store {
            Store::Layout(layout) => layout.forget(&self.name, tags, manifests).await,
            Store::Registry(_) | Store::Bundle(_) => Ok(()),
        }
    }

    /// Removes blobs and manifests that no tag refers to any more. Registries have garbage collectors of their own.
    ///
    /// # Errors
    /// The store fails.
    pub async fn sweep(&self) -> Result<(), Error> {
        match &self.store {
            Store::Layout(layout) => layout.sweep(&self.name).await,
            Store::Registry(_) | Store::Bundle(_) => Ok(()),
        }
    }
}
