//! From a tag down: the index of a version, its packages, its evidence, and back to a release.
//!
//! Everything here reads through [`ReadStore`], so it serves every kind of store, and judges what it reads as clients do.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use super::{At, Error, ReadStore};
use crate::address::ProviderAddr;
use crate::authentication::{Anchor, Note};
use crate::blob::proven;
use crate::oci::{
    Descriptor, Evidence, Index, Layer, Part, RawManifest, Refusal, Repository, Tag, manifest,
};
use crate::platform::Platform;
use crate::release::{Document, Expected, KeyRing, Package, Release, canonical_file_name};
use crate::trust::limits;
use crate::version::Version;

/// The most bytes of a layer of evidence: any of them may be the one with keys, which may be the largest.
const LARGEST_DOCUMENT: u64 = limits::KEYS;
/// How many manifests of an index are read at once.
const ABREAST: usize = 8;

/// A version's index as it is stored and as it reads.
#[derive(Clone, Debug)]
pub struct Artifact {
    /// The document.
    pub raw: RawManifest,
    /// What it says.
    pub index: Index,
}

/// One platform of an artifact.
#[derive(Clone, Debug)]
pub struct StoredPackage {
    /// What it is built for.
    pub platform: Platform,
    /// The entry of the index.
    pub entry: Descriptor,
    /// What its manifest says.
    pub layer: Layer,
}

/// Evidence with its documents, and its manifest.
#[derive(Clone, Debug)]
pub struct StoredEvidence {
    /// The manifest.
    pub raw: RawManifest,
    /// The documents.
    pub evidence: Evidence<Vec<u8>>,
}

/// Reads the index under a version's tag; `None` if there is no such tag.
///
/// # Errors
/// The store's, or the reason for which clients refuse the index.
pub async fn artifact<S: ReadStore>(
    store: &S,
    repository: &Repository,
    tag: &Tag,
) -> Result<Option<Artifact>, Error> {
    let Some(raw) = store.manifest(repository, At::Tag(tag)).await? else {
        return Ok(None);
    };
    Ok(Some(Artifact {
        index: Index::read(&raw)?,
        raw,
    }))
}

/// Reads the platform manifest of one entry.
///
/// # Errors
/// The store's, or the reason for which clients refuse the platform.
pub async fn package<S: ReadStore>(
    store: &S,
    repository: &Repository,
    platform: &Platform,
    entry: &Descriptor,
) -> Result<StoredPackage, Error> {
    let what = Part::Manifest;
    let digest = entry.leads_to(what)?.digest;
    let raw = store.manifest(repository, At::Entry(entry)).await?;
    let layer = manifest::read(&raw.ok_or(Error::Missing { what, digest })?, platform)?;
    Ok(StoredPackage {
        platform: platform.clone(),
        entry: entry.clone(),
        layer,
    })
}

/// Reads the packages of an index for the platforms that are wanted, sorted by platform. The manifest of each is read: what an entry
/// says about its zip proves nothing.
///
/// # Errors
/// As [`package`], for the first platform that has one.
pub async fn packages<S: ReadStore>(
    store: &S,
    repository: &Repository,
    index: &Index,
    is_wanted: impl Fn(&Platform) -> bool,
) -> Result<Vec<StoredPackage>, Error> {
    let mut wanted = index.platforms()?;
    wanted.retain(|(platform, _)| is_wanted(platform));
    let reads = wanted
        .iter()
        .map(|(platform, entry)| package(store, repository, platform, entry));
    let reads: Vec<_> = reads.collect();
    stream::iter(reads).buffered(ABREAST).try_collect().await
}

/// Reads the evidence of a version; `None` if there is none.
///
/// # Errors
/// The store's, or what makes the evidence unusable.
pub async fn evidence<S: ReadStore>(
    store: &S,
    repository: &Repository,
    tag: &Tag,
) -> Result<Option<StoredEvidence>, Error> {
    let Some(raw) = store.manifest(repository, At::Tag(tag)).await? else {
        return Ok(None);
    };
    let read = Evidence::read(&raw)?;
    let evidence = Evidence {
        checksums: document(store, repository, read.checksums).await?,
        signature: document(store, repository, read.signature).await?,
        keys: document(store, repository, read.keys).await?,
        protocols: read.protocols,
    };
    Ok(Some(StoredEvidence { raw, evidence }))
}

async fn document<S: ReadStore>(
    store: &S,
    repository: &Repository,
    expected: Option<Expected>,
) -> Result<Option<Vec<u8>>, Error> {
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
    let body = proven(&store.blob(repository, expected))
        .await
        .map_err(unusable)?;
    body.collect(expected.size)
        .await
        .map(Some)
        .map_err(unusable)
}

/// What a store holds of a version, as a release: the same shape in which an origin offers one, so that the same
/// checks serve both. Its keys are anchored in nothing but the store.
pub fn release<L>(
    provider: &ProviderAddr,
    version: &Version,
    packages: Vec<Package<L>>,
    evidence: Option<Evidence<Vec<u8>>>,
) -> Release<L> {
    let named = |name: &str, bytes| Document {
        name: name.to_owned(),
        bytes,
    };
    let evidence = evidence.unwrap_or_else(|| Evidence {
        checksums: None,
        signature: None,
        keys: None,
        protocols: crate::release::Protocols::default(),
    });
    Release {
        provider: provider.clone(),
        version: version.clone(),
        protocols: evidence.protocols,
        checksums: evidence
            .checksums
            .map(|bytes| named("checksum document in the evidence", bytes)),
        signatures: evidence
            .signature
            .map(|bytes| named("signature in the evidence", bytes))
            .into_iter()
            .collect(),
        keys: evidence
            .keys
            .map(|bytes| KeyRing {
                name: "key in the evidence".to_owned(),
                bytes,
                anchor: Anchor::Embedded,
            })
            .into_iter()
            .collect(),
        packages,
        notes: Vec::new(),
    }
}

impl StoredPackage {
    /// This package as a release has it, at some location.
    pub fn at<L>(&self, provider: &ProviderAddr, version: &Version, location: L) -> Package<L> {
        let canonical = || canonical_file_name(provider, version, &self.platform);
        Package {
            platform: self.platform.clone(),
            file_name: self.layer.title.clone().unwrap_or_else(canonical),
            expected: self.layer.expected,
            location,
        }
    }
}

impl Artifact {
    /// What clients let pass in the index and in these packages.
    pub fn notes(&self, packages: &[StoredPackage]) -> Vec<Note> {
        let layers = packages.iter().flat_map(|package| &package.layer.notes);
        let mut notes: Vec<Note> = self.index.notes().iter().chain(layers).copied().collect();
        notes.sort_unstable();
        notes.dedup();
        notes
    }

    /// The entry for a platform.
    ///
    /// # Errors
    /// The reason for which a client on that platform refuses.
    pub fn entry(&self, platform: &Platform) -> Result<&Descriptor, Refusal> {
        self.index.select(platform)
    }
}
