//! A version in the store that is read, read and verified.

use futures_util::{FutureExt as _, future};

use crate::blob::{BlobSource as _, Memory};
use crate::examine::{StoredProvider, TrustOptions};
use crate::oci::evidence::EVIDENCE;
use crate::oci::{EMPTY_BYTES, Index, PROVIDER, RawManifest, Tag};
use crate::outcome::Problem;
use crate::publish::{Blob, ContentGraph, Error};
use crate::release::{Expected, Release};
use crate::store::{self, Artifact, At, StoreBlob, StoredPackage};
use crate::trust::Verified;
use crate::version::Version;

/// One version, with every document that its tags refer to.
#[derive(Debug)]
pub(super) struct WholeVersion {
    pub(super) index: ContentGraph<Expected>,
    pub(super) evidence: Option<ContentGraph<Expected>>,
    /// The version as a verified release.
    pub(super) release: Verified<Release<StoreBlob>>,
    /// The digests of the platform manifests, as the index spells them.
    manifests: Vec<String>,
}

impl WholeVersion {
    /// Reads a version with all of its documents, and verifies it.
    pub(super) async fn read(
        from: &StoredProvider,
        version: &Version,
        trust: &TrustOptions,
    ) -> Result<Self, Error> {
        let (tag, evidence_tag) = (Tag::of_version(version)?, Tag::of_evidence(version)?);
        let stored = async {
            let artifact = artifact(from, version, &tag).await?;
            let index = ContentGraph::read(&from.repo, artifact.raw.clone()).await;
            Ok::<_, Error>((artifact, index.map_err(Error::in_source)?))
        };
        let found = from.repo.evidence(&evidence_tag).map(Ok);
        let ((artifact, index), found) = future::try_join(stored, found).await?;
        let packages = packages(&index, &artifact.index).map_err(Error::in_source)?;
        let manifests = packages.iter().map(|package| package.entry.digest.clone());
        let manifests = manifests.collect();
        let stored = (artifact, packages);
        let examined = from.verify_packages(version, stored, found, trust).await;
        let examined = examined.map_err(Error::in_source)?;
        let release = examined.proof.map_err(Error::in_source)?;
        let evidence = match examined.evidence {
            None => None,
            Some(raw) => Some(evidence(from, raw).await?),
        };
        Ok(Self {
            index,
            evidence,
            release,
            manifests,
        })
    }

    /// The problem if the version contains documents or blobs that no signature covers; the caller decides whether to refuse it.
    pub(super) fn unproven(&self) -> Option<Problem> {
        let contents = || std::iter::once(&self.index).chain(&self.evidence);
        let blobs = contents().flat_map(|content| unproven(content, &self.release));
        let manifests = contents().flat_map(|content| content.manifests.iter().flatten());
        let manifests = manifests.map(|manifest| manifest.expected.digest);
        let manifests = manifests.filter(|digest| !self.manifests.contains(&digest.to_string()));
        let first = blobs.map(|blob| blob.digest).chain(manifests).next()?;
        Some(Problem::Unproven { first })
    }
}

/// The blobs that are neither packages, documents of the evidence, nor the empty config: no signature covers them.
pub(super) fn unproven<B>(content: &ContentGraph<Expected>, release: &Release<B>) -> Vec<Expected> {
    let proven: Vec<Expected> = documents_in_memory(release)
        .iter()
        .map(Memory::expected)
        .chain(release.packages.iter().map(|package| package.expected))
        .collect();
    let blobs = content.blobs.iter();
    blobs
        .filter(|blob| !proven.contains(blob))
        .copied()
        .collect()
}

/// The blobs whose bytes are already in memory: the documents of the evidence, and the empty config.
pub(super) fn documents_in_memory<B>(release: &Release<B>) -> Vec<Memory> {
    let Release {
        checksums,
        signatures,
        keys,
        ..
    } = release;
    let documents = checksums.iter().chain(signatures);
    let read = documents.map(|document| &*document.bytes);
    let keys = keys.iter().map(|ring| &*ring.bytes);
    read.chain(keys)
        .chain([EMPTY_BYTES])
        .map(|bytes| Memory::new(bytes.to_vec()))
        .collect()
}

/// The index of a version, as it will be written to the destination.
pub(super) async fn artifact(
    from: &StoredProvider,
    version: &Version,
    tag: &Tag,
) -> Result<Artifact, Error> {
    let raw = from.repo.manifest(At::Tag(tag)).await;
    let absent = || Problem::no_version(version);
    let raw = raw.map_err(Error::in_source)?;
    let raw = raw.ok_or_else(|| Error::in_source(absent()))?;
    let index =
        Index::read(&raw).map_err(|refusal| Error::in_source(store::Error::from(refusal)))?;
    match Problem::of_another(&index, &from.provider) {
        Some(problem) => Err(Error::in_source(problem)),
        None => Ok(Artifact {
            raw: tagged(raw, PROVIDER),
            index,
        }),
    }
}

/// The evidence of a version, as it will be written to the destination.
pub(super) async fn evidence(
    from: &StoredProvider,
    raw: RawManifest,
) -> Result<ContentGraph<Expected>, Error> {
    let content = ContentGraph::read(&from.repo, tagged(raw, EVIDENCE)).await;
    content.map_err(Error::in_source)
}

/// A manifest as a tag will refer to it: with the digest that registries compute, and the artifact type that layouts record.
fn tagged(raw: RawManifest, artifact_type: &str) -> RawManifest {
    RawManifest {
        artifact_type: Some(artifact_type.to_owned()),
        expected: Expected::of(&raw.bytes),
        ..raw
    }
}

/// The packages of an index, from manifests that were already read.
fn packages(
    content: &ContentGraph<Expected>,
    index: &Index,
) -> Result<Vec<StoredPackage>, store::Error> {
    let packages = index
        .platforms()?
        .into_iter()
        .map(|(platform, entry)| StoredPackage::read(&platform, entry, content.manifest(entry)));
    packages.collect()
}

/// The content to publish: without the packages, and with the bytes that were already read. The empty config is not read, since
/// some tools refer to it without storing it.
pub(super) fn without_packages(
    content: &ContentGraph<Expected>,
    release: &Release<StoreBlob>,
    from: &StoredProvider,
) -> ContentGraph<Blob<StoreBlob>> {
    let (packages, documents_in_memory) = (&release.packages, documents_in_memory(release));
    let is_package = |blob: &&Expected| packages.iter().any(|one| one.expected == **blob);
    let others = content.blobs.iter().filter(|blob| !is_package(blob));
    let others = others.map(|expected| {
        let stored = from.repo.blob(*expected);
        let mut documents_in_memory = documents_in_memory.iter();
        match documents_in_memory.find(|memory| memory.expected() == *expected) {
            None => Blob::Unproven(stored),
            Some(bytes) => Blob::Read {
                bytes: bytes.clone(),
                stored: Some(stored),
                is_likely_there: true,
            },
        }
    });
    ContentGraph {
        root: content.root.clone(),
        manifests: content.manifests.clone(),
        blobs: others.collect(),
    }
}
