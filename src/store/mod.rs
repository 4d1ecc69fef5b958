//! Stores: where artifacts are kept.
//!
//! Reading and writing are separate traits, so that code with only a [`ReadStore`] cannot write. Everything that a store returns is
//! verified and limited in size: a manifest's bytes match the requested digest, and a blob is verified while it streams.
//!
//! | store | address | |
//! | --- | --- | --- |
//! | [`Layout`] | `oci-layout:DIR` | OCI image layouts on disk, one for each provider |
//! | [`Registry`] | `REGISTRY/REPOSITORY` | OCI registries |

pub mod any;
pub mod artifact;
pub mod endpoint;
mod error;
pub mod layout;
mod put_error;
pub mod registry;
mod repo;

pub use any::Store;
pub use artifact::{Artifact, StoredEvidence, StoredPackage};
pub use endpoint::Endpoint;
pub use error::Error;
pub use layout::Layout;
pub use put_error::PutError;
pub use registry::Registry;
pub use repo::{Repo, RepoMut};

use std::future::Future;

use crate::blob::BlobSource;
use crate::digest::Digest;
use crate::disk;
use crate::event::Reporter;
use crate::oci::{Descriptor, Part, RawManifest, Repository, Tag};
use crate::release::Expected;

/// A store that can be read.
pub trait ReadStore: Clone + Send + Sync + 'static {
    /// A blob of this store, as a source to read from.
    type Blob: BlobSource;

    /// All repositories, if the store can list them.
    fn repositories(&self) -> impl Future<Output = Result<Listing, Error>> + Send;

    /// The names of a repository's tags as the store lists them, sorted; `None` if the repository does not exist. Other tools may have
    /// written names that are not valid tags.
    fn tags(
        &self,
        repository: &Repository,
    ) -> impl Future<Output = Result<Option<Vec<String>>, Error>> + Send;

    /// A manifest or index; `None` if it does not exist.
    fn manifest(
        &self,
        repository: &Repository,
        at: At<'_>,
    ) -> impl Future<Output = Result<Option<RawManifest>, Error>> + Send;

    /// The digest that a tag refers to; `None` if there is no such tag. The manifest itself is not read and may be damaged.
    fn digest(
        &self,
        repository: &Repository,
        tag: &Tag,
    ) -> impl Future<Output = Result<Option<Digest>, Error>> + Send;

    /// A blob. Whether it exists is only known when it is opened.
    fn blob(&self, repository: &Repository, expected: Expected) -> Self::Blob;

    /// The full name of a repository, with the store's prefix.
    fn name(&self, repository: &Repository) -> String;

    /// The full reference of an artifact: `REPOSITORY:TAG@DIGEST` with the store's prefix.
    fn reference(&self, repository: &Repository, tag: &Tag, digest: &Digest) -> String {
        format!("{}:{tag}@{digest}", self.name(repository))
    }
}

/// A store that can be written. The caller must hold the repository's lock while it writes.
pub trait WriteStore: ReadStore {
    /// Whether the store itself refuses a manifest that refers to missing blobs or manifests. If so, tfoci does not check the parts
    /// of a tagged artifact one by one.
    fn keeps_whole(&self) -> bool;

    /// Whether the store may accept evidence, as far as is known. If it has refused evidence once, tfoci does not send it again.
    fn takes_evidence(&self, _repository: &Repository) -> bool {
        true
    }

    /// Locks a repository against other writers until the lock is dropped; `None` if the store needs no lock.
    fn lock(
        &self,
        repository: &Repository,
        reporter: &dyn Reporter,
    ) -> impl Future<Output = Result<Option<disk::Lock>, Error>> + Send;

    /// Whether the store has a blob of this digest and size. Its bytes are not checked.
    fn has_blob(
        &self,
        repository: &Repository,
        expected: &Expected,
    ) -> impl Future<Output = Result<bool, Error>> + Send;

    /// Stores a blob unless it exists. Wrong bytes are never stored.
    fn put_blob<B: BlobSource>(
        &self,
        repository: &Repository,
        blob: &B,
    ) -> impl Future<Output = Result<Put, PutError>> + Send;

    /// Stores a small blob that probably does not exist: sending it costs no more than checking for it.
    fn put_new_blob<B: BlobSource>(
        &self,
        repository: &Repository,
        blob: &B,
    ) -> impl Future<Output = Result<Put, PutError>> + Send {
        self.put_blob(repository, blob)
    }

    /// Stores a manifest or index, without a tag.
    fn put_manifest(
        &self,
        repository: &Repository,
        manifest: &RawManifest,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    /// Stores manifests and moves tags to them, in the given order, atomically if the store can. A tag only moves if it still refers to
    /// the digest that it was last seen with.
    fn tag(
        &self,
        repository: &Repository,
        moves: &[Move<'_>],
    ) -> impl Future<Output = Result<Tagged, Error>> + Send;

    /// Removes blobs and manifests that no tag refers to any more, if the store does not do so itself.
    fn sweep(&self, repository: &Repository) -> impl Future<Output = Result<(), Error>> + Send;
}

/// How to find a manifest.
#[derive(Clone, Copy, Debug)]
pub enum At<'a> {
    /// The one that a tag refers to.
    Tag(&'a Tag),
    /// The one that an index entry refers to.
    Entry(&'a Descriptor),
}

impl At<'_> {
    /// The part of an artifact that the manifest is.
    pub fn part(self) -> Part {
        match self {
            Self::Tag(tag) if tag.is_evidence() => Part::Evidence,
            Self::Tag(_) => Part::Index,
            Self::Entry(_) => Part::Manifest,
        }
    }
}

/// The repositories of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listing {
    /// All of them, sorted.
    Listed(Vec<Repository>),
    /// The store cannot list its repositories.
    Unsupported,
}

/// The outcome of storing a blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// Its bytes were written.
    Stored,
    /// It already existed.
    Present,
    /// It existed elsewhere, and is now shared by a mount or hard link.
    Mounted,
}

/// A tag to move.
#[derive(Clone, Copy, Debug)]
pub struct Move<'a> {
    /// The tag.
    pub tag: &'a Tag,
    /// The manifest that it will refer to.
    pub to: &'a RawManifest,
    /// The digest that it referred to when it was last read; `None` if it did not exist.
    pub was: Option<&'a Digest>,
}

/// The outcome of moving tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tagged {
    /// All tags moved.
    Moved,
    /// Another writer moved a tag in the meantime. That tag and those after it did not move.
    Conflict,
}
