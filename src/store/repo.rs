//! One repository of a store, and everything that is read or written there.
//!
//! [`Repo`] reads, from a tag down to the documents of the evidence, and judges what it reads as clients do. [`RepoMut`] also
//! writes; only journeys that write are given one.

use std::fmt;
use std::ops::Deref;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use super::artifact::{Artifact, StoredEvidence, StoredPackage};
use super::{At, Error, Move, Put, PutError, ReadStore, Tagged, WriteStore};
use crate::blob::{BlobSource, proven};
use crate::digest::Digest;
use crate::disk;
use crate::event::Reporter;
use crate::oci::{Descriptor, Evidence, Index, Part, RawManifest, Repository, Tag, manifest};
use crate::platform::Platform;
use crate::release::Expected;
use crate::trust::limits;

/// The most bytes of a layer of evidence: any of them may be the one with keys, which may be the largest.
const LARGEST_DOCUMENT: u64 = limits::KEYS;
/// How many manifests of an index are read at once.
const CONCURRENT_READS: usize = 8;

/// A repository that can be read.
#[derive(Clone, Debug)]
pub struct Repo<S> {
    /// The store that it is in.
    pub store: S,
    /// Its name in that store.
    pub name: Repository,
}

/// A repository that can also be written.
#[derive(Clone, Debug)]
pub struct RepoMut<S>(Repo<S>);

impl<S: ReadStore> Repo<S> {
    /// The names of its tags, sorted; `None` if there is no such repository.
    ///
    /// # Errors
    /// The store's.
    pub async fn tags(&self) -> Result<Option<Vec<String>>, Error> {
        self.store.tags(&self.name).await
    }

    /// A manifest or index; `None` if it is not there.
    ///
    /// # Errors
    /// The store's, or that it is damaged.
    pub async fn manifest(&self, at: At<'_>) -> Result<Option<RawManifest>, Error> {
        self.store.manifest(&self.name, at).await
    }

    /// What a tag stands for, although that may be damaged; `None` if there is no such tag.
    ///
    /// # Errors
    /// The store's.
    pub async fn digest(&self, tag: &Tag) -> Result<Option<Digest>, Error> {
        self.store.digest(&self.name, tag).await
    }

    /// A blob, which may turn out not to be there when it is opened.
    pub fn blob(&self, expected: Expected) -> S::Blob {
        self.store.blob(&self.name, expected)
    }

    /// `REPOSITORY:TAG@DIGEST` with the store's own prefix.
    pub fn reference(&self, tag: &Tag, digest: &Digest) -> String {
        self.store.reference(&self.name, tag, digest)
    }

    /// The index under a version's tag; `None` if there is no such tag.
    ///
    /// # Errors
    /// The store's, or the reason for which clients refuse the index.
    pub async fn artifact(&self, tag: &Tag) -> Result<Option<Artifact>, Error> {
        let Some(raw) = self.manifest(At::Tag(tag)).await? else {
            return Ok(None);
        };
        Ok(Some(Artifact {
            index: Index::read(&raw)?,
            raw,
        }))
    }

    /// The package that an entry of an index leads to, by its platform manifest.
    ///
    /// # Errors
    /// The store's, or the reason for which clients refuse the platform.
    pub async fn package(
        &self,
        platform: &Platform,
        entry: &Descriptor,
    ) -> Result<StoredPackage, Error> {
        let what = Part::Manifest;
        let digest = entry.leads_to(what)?.digest;
        let raw = self.manifest(At::Entry(entry)).await?;
        let layer = manifest::read(&raw.ok_or(Error::Missing { what, digest })?, platform)?;
        Ok(StoredPackage {
            platform: platform.clone(),
            entry: entry.clone(),
            layer,
        })
    }

    /// The packages of an index for the wanted platforms, sorted by platform. The manifest of each is read: what an entry says about
    /// its zip proves nothing.
    ///
    /// # Errors
    /// As [`Repo::package`], for the first platform that has one.
    pub async fn packages(
        &self,
        index: &Index,
        is_wanted: impl Fn(&Platform) -> bool,
    ) -> Result<Vec<StoredPackage>, Error> {
        let mut wanted = index.platforms()?;
        wanted.retain(|(platform, _)| is_wanted(platform));
        let reads = wanted
            .iter()
            .map(|(platform, entry)| self.package(platform, entry));
        let reads: Vec<_> = reads.collect();
        let reads = stream::iter(reads).buffered(CONCURRENT_READS);
        reads.try_collect().await
    }

    /// The evidence of a version with its documents; `None` if there is none.
    ///
    /// # Errors
    /// The store's, or what makes the evidence unusable.
    pub async fn evidence(&self, tag: &Tag) -> Result<Option<StoredEvidence>, Error> {
        let Some(raw) = self.manifest(At::Tag(tag)).await? else {
            return Ok(None);
        };
        let read = Evidence::read(&raw)?;
        let evidence = Evidence {
            checksums: self.document(read.checksums).await?,
            signature: self.document(read.signature).await?,
            keys: self.document(read.keys).await?,
            protocols: read.protocols,
        };
        Ok(Some(StoredEvidence { raw, evidence }))
    }

    async fn document(&self, expected: Option<Expected>) -> Result<Option<Vec<u8>>, Error> {
        const WHAT: Part = Part::Evidence;
        let Some(expected) = expected else {
            return Ok(None);
        };
        if expected.size > LARGEST_DOCUMENT {
            return Err(Error::TooLarge {
                what: WHAT,
                limit: LARGEST_DOCUMENT,
                size: expected.size,
            });
        }
        let unusable = |source| Error::reading(WHAT, expected.digest, source);
        let body = proven(&self.blob(expected)).await.map_err(unusable)?;
        let bytes = body.collect(expected.size).await;
        bytes.map(Some).map_err(unusable)
    }
}

/// As people and scripts write it, with the store's own prefix.
impl<S: ReadStore> fmt::Display for Repo<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.store.name(&self.name))
    }
}

impl<S> Deref for RepoMut<S> {
    type Target = Repo<S>;

    fn deref(&self) -> &Repo<S> {
        &self.0
    }
}

impl<S: WriteStore> RepoMut<S> {
    /// A repository of a store that may be written.
    pub fn new(store: S, name: Repository) -> Self {
        Self(Repo { store, name })
    }

    /// Whether the store refuses a manifest whose parts are not there, see [`WriteStore::keeps_whole`].
    pub fn keeps_whole(&self) -> bool {
        self.store.keeps_whole()
    }

    /// Whether evidence may be brought here, as far as is known.
    pub fn takes_evidence(&self) -> bool {
        self.store.takes_evidence(&self.name)
    }

    /// Keeps other writers out until dropped, where the store needs that.
    ///
    /// # Errors
    /// The store's.
    pub async fn lock(&self, reporter: &dyn Reporter) -> Result<Option<disk::Lock>, Error> {
        self.store.lock(&self.name, reporter).await
    }

    /// Whether a blob is there, judged by its digest and size.
    ///
    /// # Errors
    /// The store's.
    pub async fn has_blob(&self, expected: &Expected) -> Result<bool, Error> {
        self.store.has_blob(&self.name, expected).await
    }

    /// Stores a blob unless it is there.
    ///
    /// # Errors
    /// The store's, or that the source does not give the right bytes.
    pub async fn put_blob<B: BlobSource>(&self, blob: &B) -> Result<Put, PutError> {
        self.store.put_blob(&self.name, blob).await
    }

    /// As [`RepoMut::put_blob`], for a small blob that is hardly there: it is sent without being looked for.
    ///
    /// # Errors
    /// As [`RepoMut::put_blob`].
    pub async fn put_new_blob<B: BlobSource>(&self, blob: &B) -> Result<Put, PutError> {
        self.store.put_new_blob(&self.name, blob).await
    }

    /// Stores a manifest or index without a tag.
    ///
    /// # Errors
    /// The store's.
    pub async fn put_manifest(&self, manifest: &RawManifest) -> Result<(), Error> {
        self.store.put_manifest(&self.name, manifest).await
    }

    /// Moves tags in the given order, each if it still stands where it was last seen.
    ///
    /// # Errors
    /// The store's.
    pub async fn tag(&self, moves: &[Move<'_>]) -> Result<Tagged, Error> {
        self.store.tag(&self.name, moves).await
    }

    /// Removes what no tag leads to any more, where the store does not do so by itself.
    ///
    /// # Errors
    /// The store's.
    pub async fn sweep(&self) -> Result<(), Error> {
        self.store.sweep(&self.name).await
    }
}
