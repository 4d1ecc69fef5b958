//! Stores: where artifacts live.
//!
//! Reading and writing are two traits, so that what only reads cannot write by its type. Whatever a store returns is verified and
//! bounded: a manifest's bytes match the digest by which it was asked for, and a blob's are proved while they flow.
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
    /// A blob of this store, as a source for another place.
    type Blob: BlobSource;

    /// All repositories, where the store can tell.
    fn repositories(&self) -> impl Future<Output = Result<Listing, Error>> + Send;

    /// The names of a repository's tags as the store lists them, sorted; `None` if the repository is not there. Whoever wrote them
    /// need not have kept to the grammar of tags.
    fn tags(
        &self,
        repository: &Repository,
    ) -> impl Future<Output = Result<Option<Vec<String>>, Error>> + Send;

    /// A manifest or index; `None` if it is not there.
    fn manifest(
        &self,
        repository: &Repository,
        at: At<'_>,
    ) -> impl Future<Output = Result<Option<RawManifest>, Error>> + Send;

    /// Where a tag stands, without reading what is there: it may be damaged.
    fn digest(
        &self,
        repository: &Repository,
        tag: &Tag,
    ) -> impl Future<Output = Result<Option<Digest>, Error>> + Send;

    /// A blob, which may turn out not to be there when it is opened.
    fn blob(&self, repository: &Repository, expected: Expected) -> Self::Blob;

    /// How people and scripts name a repository, with the store's own prefix.
    fn name(&self, repository: &Repository) -> String;

    /// How people and scripts name what this store holds: `REPOSITORY:TAG@DIGEST` with the store's own prefix.
    fn reference(&self, repository: &Repository, tag: &Tag, digest: &Digest) -> String {
        format!("{}:{tag}@{digest}", self.name(repository))
    }
}

/// A store that can be written. Whoever writes holds the repository's lock.
pub trait WriteStore: ReadStore {
    /// Whether the store itself refuses a manifest whose parts are not there, so that what a tag leads to need not be
    /// looked for part by part.
    fn keeps_whole(&self) -> bool;

    /// Whether evidence may be brought here, as far as is known: a store that has refused it once is not asked again.
    fn takes_evidence(&self, _repository: &Repository) -> bool {
        true
    }

    /// Keeps other writers out of a repository until dropped, where the store cannot do so by itself.
    fn lock(
        &self,
        repository: &Repository,
        reporter: &dyn Reporter,
    ) -> impl Future<Output = Result<Option<disk::Lock>, Error>> + Send;

    /// Whether a blob is there, judged by its name and size.
    fn has_blob(
        &self,
        repository: &Repository,
        expected: &Expected,
    ) -> impl Future<Output = Result<bool, Error>> + Send;

    /// Stores a blob unless it is there. Wrong bytes are never stored.
    fn put_blob<B: BlobSource>(
        &self,
        repository: &Repository,
        blob: &B,
    ) -> impl Future<Output = Result<Put, PutError>> + Send;

    /// Stores a small blob that is hardly there: to send it costs no more than to look for it.
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

    /// Stores manifests and lets tags stand for them, in the given order and at once where the store can, if each tag still stands
    /// where it was last seen.
    fn tag(
        &self,
        repository: &Repository,
        moves: &[Move<'_>],
    ) -> impl Future<Output = Result<Tagged, Error>> + Send;

    /// Removes what no tag leads to any more, where the store does not do so by itself.
    fn sweep(&self, repository: &Repository) -> impl Future<Output = Result<(), Error>> + Send;
}

/// Which manifest.
#[derive(Clone, Copy, Debug)]
pub enum At<'a> {
    /// What a tag stands for.
    Tag(&'a Tag),
    /// What an index entry points at.
    Entry(&'a Descriptor),
}

impl At<'_> {
    /// Which part of an artifact is there.
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
    /// The store cannot tell.
    Unsupported,
}

/// How a blob came to be in a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// Its bytes were written.
    Stored,
    /// It was there.
    Present,
    /// It was in another repository, and is shared.
    Mounted,
}

/// A tag on its way to a manifest.
#[derive(Clone, Copy, Debug)]
pub struct Move<'a> {
    /// The tag.
    pub tag: &'a Tag,
    /// Where it shall stand.
    pub to: &'a RawManifest,
    /// Where it stood when it was last read.
    pub was: Option<&'a Digest>,
}

/// What came of moving tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tagged {
    /// They stand where they shall.
    Moved,
    /// Somebody else moved one in the meantime; none was moved after it.
    Conflict,
}
