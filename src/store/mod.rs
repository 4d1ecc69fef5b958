//! Stores: where artifacts live.
//!
//! Reading and writing are two traits, so that what only reads cannot write by its type. Whatever a store returns is verified and
//! bounded: a manifest's bytes match the digest by which it was asked for, and a blob's are proved while they flow.
//!
//! | store | address | |
//! | --- | --- | --- |
//! | [`Layout`] | `oci-layout:DIR` | OCI image layouts on disk, one for each provider |

pub mod endpoint;
pub mod graph;
pub mod layout;

pub use endpoint::Endpoint;
pub use layout::Layout;

use std::future::Future;
use std::path::PathBuf;

use crate::blob::{self, BlobSource};
use crate::digest::Digest;
use crate::disk;
use crate::error::Category;
use crate::event::Reporter;
use crate::oci::{self, Descriptor, Part, RawManifest, Refusal, Repository, Tag};
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
    ) -> impl Future<Output = Result<Put, Error>> + Send;

    /// Stores a manifest or index, without a tag.
    fn put_manifest(
        &self,
        repository: &Repository,
        manifest: &RawManifest,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    /// Moves tags, in the given order and at once where the store can, if each still stands where it was last seen.
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

/// Something that a store could not do, or would not.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// This machine.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    /// Bytes that cannot be had, or are not the right ones.
    #[error("the {what} {digest} cannot be used")]
    Blob {
        /// What the bytes are.
        what: Part,
        /// Their digest.
        digest: Digest,
        /// What is wrong with them.
        source: blob::Error,
    },
    /// Something that clients would refuse.
    #[error(transparent)]
    Refusal(#[from] Refusal),
    /// Something that cannot be written.
    #[error(transparent)]
    Oci(#[from] oci::Error),
    /// A descriptor leads nowhere.
    #[error("the {what} {digest} is missing")]
    Missing {
        /// What is missing.
        what: Part,
        /// Its digest.
        digest: Digest,
    },
    /// A document is larger than anything of its kind.
    #[error("the {what} is too large\n  expected at most {limit} bytes\n  received {size} bytes")]
    TooLarge {
        /// Which document.
        what: Part,
        /// The limit in bytes.
        limit: u64,
        /// Its declared size in bytes.
        size: u64,
    },
    /// The `index.json` of a layout cannot be understood.
    #[error("{} is not the index of an OCI image layout", .path.display())]
    LayoutIndex {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        source: oci::json::Error,
    },
    /// The `index.json` of a layout cannot be written, which nothing that was read or built here can cause.
    #[error("{} cannot be written", .path.display())]
    Unwritten {
        /// The file.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
    /// A directory has an `index.json`, and no file `oci-layout` that says what it is.
    #[error("{} is not the mark of an OCI image layout\n  expected {}", .path.display(), String::from_utf8_lossy(oci::tags::LAYOUT))]
    Marker {
        /// The file.
        path: PathBuf,
    },
    /// A directory that is itself a repository was given as the root of many.
    #[error("{} is itself an OCI image layout\n  expected a directory of layouts", .path.display())]
    IsRepository {
        /// The directory.
        path: PathBuf,
    },
    /// Nothing is where a store should be read.
    #[error("there is no OCI image layout in {}", .path.display())]
    NoStore {
        /// The directory.
        path: PathBuf,
    },
}

impl Error {
    /// Bytes that could not be read: absent, or not the right ones.
    pub fn reading(what: Part, digest: Digest, source: blob::Error) -> Self {
        match source {
            blob::Error::Disk(error) if error.is_not_found() => Self::Missing { what, digest },
            source => Self::Blob {
                what,
                digest,
                source,
            },
        }
    }

    /// A short, stable name for what is wrong with the artifact, `PART-WHAT`; `None` where it is not the artifact's fault.
    pub fn code(&self) -> Option<String> {
        let (what, fault) = match self {
            Self::Refusal(refusal) => return Some(refusal.code()),
            Self::Blob { what, source, .. } => (what, source.fault()?),
            Self::Missing { what, .. } => (what, "missing"),
            Self::TooLarge { what, .. } => (what, "too-large"),
            _ => return None,
        };
        Some(format!("{}-{fault}", what.as_str()))
    }

    /// What kind of problem it is.
    pub fn category(&self) -> Category {
        match self {
            Self::Disk(error) => error.category(),
            Self::Blob { source, .. } => source.category(),
            Self::Refusal(refusal) => refusal.category(),
            Self::Oci(_)
            | Self::LayoutIndex { .. }
            | Self::Unwritten { .. }
            | Self::Marker { .. }
            | Self::TooLarge { .. } => Category::Malformed,
            Self::Missing { .. } | Self::NoStore { .. } => Category::NotFound,
            Self::IsRepository { .. } => Category::Usage,
        }
    }
}
