//! Parcels: one version as it lies in the store that is copied from, read and judged.

use crate::blob::{BlobSource, Body, Error, Kept, Memory};
use crate::digest::Digest;
use crate::examine::{Belief, Shelf};
use crate::oci::evidence::EVIDENCE;
use crate::oci::{EMPTY_BYTES, Index, PROVIDER, Part, RawManifest, Tag, manifest};
use crate::outcome::Problem;
use crate::release::{Expected, Release};
use crate::store::graph::{Artifact, StoredPackage};
use crate::store::{self, At, ReadStore};
use crate::trust::Verified;
use crate::version::Version;

use super::side::Trouble;
use super::tree::Tree;

/// One version on its way.
#[derive(Debug)]
pub(super) struct Parcel<B> {
    pub(super) tag: Tag,
    pub(super) evidence_tag: Tag,
    /// Its index, and everything below that.
    pub(super) tree: Tree,
    /// Its evidence, and everything below that.
    pub(super) evidence: Option<Tree>,
    /// What all of it is to clients.
    pub(super) release: Verified<Release<B>>,
    /// The manifests that the index has for platforms, by their digests as they are written.
    manifests: Vec<String>,
}

impl<B: BlobSource> Parcel<B> {
    /// Reads a version down to its last document, and judges it.
    pub(super) async fn read<S: ReadStore<Blob = B>>(
        from: &Shelf<S>,
        version: &Version,
        belief: &Belief,
    ) -> Result<Self, Trouble> {
        let [tag, evidence_tag] = tags(version)?;
        let artifact = artifact(from, version, &tag).await?;
        let tree = Tree::read(&from.store, &from.repository, artifact.raw.clone()).await;
        let tree = tree.map_err(Trouble::unread)?;
        let packages = packages(&tree, &artifact.index).map_err(Trouble::unread)?;
        let manifests = packages.iter().map(|package| package.entry.digest.clone());
        let manifests = manifests.collect();
        let examined = from.judge(version, artifact, packages, belief).await;
        let examined = examined.map_err(Trouble::source)?;
        let release = examined.proof.map_err(Trouble::source)?;
        let evidence = match examined.evidence {
            None => None,
            Some(raw) => Some(evidence(from, raw).await?),
        };
        Ok(Self {
            tag,
            evidence_tag,
            tree,
            evidence,
            release,
            manifests,
        })
    }

    /// Why this is refused where nothing may come along that no signature is about.
    pub(super) fn unproven(&self) -> Option<Problem> {
        let trees = std::iter::once(&self.tree).chain(&self.evidence);
        let (documents, blobs): (Vec<_>, Vec<_>) = trees
            .map(|tree| (&tree.documents, unproven(tree, &self.release)))
            .unzip();
        let documents = documents.into_iter().flatten();
        let documents: Vec<Digest> = documents
            .map(|document| document.expected.digest)
            .filter(|digest| !self.manifests.contains(&digest.to_string()))
            .collect();
        let blobs: Vec<Expected> = blobs.into_iter().flatten().collect();
        let first = blobs.first().map(|blob| blob.digest);
        Some(Problem::Unproven {
            first: first.or(documents.first().copied())?,
            documents: documents.len(),
            blobs: blobs.len(),
            size: blobs.iter().map(|blob| blob.size).sum(),
        })
    }
}

/// The blobs of a tree that are neither packages, nor documents of the evidence, nor the empty config: nothing proves them.
pub(super) fn unproven<B>(tree: &Tree, release: &Release<B>) -> Vec<Expected> {
    let proven: Vec<Expected> = at_hand(release)
        .iter()
        .map(Memory::expected)
        .chain(release.packages.iter().map(|package| package.expected))
        .collect();
    let blobs = tree.blobs.iter();
    blobs
        .filter(|blob| !proven.contains(blob))
        .copied()
        .collect()
}

/// What was read already of the evidence, and the empty config.
fn at_hand<B>(release: &Release<B>) -> Vec<Memory> {
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

/// The tags of a version and of its evidence.
pub(super) fn tags(version: &Version) -> Result<[Tag; 2], Trouble> {
    let tags = (Tag::of_version(version), Tag::of_evidence(version));
    match tags {
        (Ok(version), Ok(evidence)) => Ok([version, evidence]),
        (Err(error), _) | (_, Err(error)) => Err(Trouble::source(error)),
    }
}

/// The index of a version, as the destination will have it.
pub(super) async fn artifact<S: ReadStore>(
    from: &Shelf<S>,
    version: &Version,
    tag: &Tag,
) -> Result<Artifact, Trouble> {
    let raw = from.store.manifest(&from.repository, At::Tag(tag)).await;
    let absent = || Problem::NoVersion {
        constraints: Some(version.to_string()),
        available: Vec::new(),
    };
    let raw = raw.map_err(Trouble::unread)?;
    let raw = raw.ok_or_else(|| Trouble::source(absent()))?;
    let index = Index::read(&raw).map_err(|refusal| Trouble::unread(refusal.into()))?;
    match Problem::of_another(&index, &from.provider) {
        Some(problem) => Err(Trouble::source(problem)),
        None => Ok(Artifact {
            raw: tagged(raw, PROVIDER),
            index,
        }),
    }
}

/// The evidence of a version, as the destination will have it.
pub(super) async fn evidence<S: ReadStore>(
    from: &Shelf<S>,
    raw: RawManifest,
) -> Result<Tree, Trouble> {
    let tree = Tree::read(&from.store, &from.repository, tagged(raw, EVIDENCE)).await;
    tree.map_err(Trouble::unread)
}

/// What a tag will stand for: by the digest that registries compute, and with the type that layouts write beside it.
fn tagged(raw: RawManifest, artifact_type: &str) -> RawManifest {
    RawManifest {
        artifact_type: Some(artifact_type.to_owned()),
        expected: Expected::of(&raw.bytes),
        ..raw
    }
}

/// The packages of an index, whose manifests are at hand.
fn packages(tree: &Tree, index: &Index) -> Result<Vec<StoredPackage>, store::Error> {
    let platforms = index.platforms()?.into_iter();
    let packages = platforms.map(|(platform, entry)| {
        let what = Part::Manifest;
        let digest = entry.leads_to(what)?.digest;
        let raw = tree.document(entry);
        let raw = raw.ok_or(store::Error::Missing { what, digest })?;
        Ok(StoredPackage {
            layer: manifest::read(raw, &platform)?,
            entry: entry.clone(),
            platform,
        })
    });
    packages.collect()
}

/// A blob of which the bytes are at hand, perhaps; the store has it in any case.
#[derive(Clone)]
pub(super) struct Piece<B> {
    blob: B,
    at_hand: Option<Memory>,
}

impl<B> Piece<B> {
    /// Whether it is no part of what was verified.
    pub(super) fn is_unproven(&self) -> bool {
        self.at_hand.is_none()
    }
}

impl<B: BlobSource> BlobSource for Piece<B> {
    fn expected(&self) -> Expected {
        self.blob.expected()
    }

    fn can_be_cut(&self) -> bool {
        self.at_hand.is_none() && self.blob.can_be_cut()
    }

    fn kept(&self) -> Option<Kept<'_>> {
        self.blob.kept()
    }

    async fn open(&self, from: u64) -> Result<Body, Error> {
        match &self.at_hand {
            Some(memory) => memory.open(from).await,
            None => self.blob.open(from).await,
        }
    }
}

/// Everything of a tree that is no package: configs, documents of evidence, and what other tools put beside a zip. What was
/// read already is not read again, and the empty config is not read at all: some tools name it and leave it out.
pub(super) fn others<S: ReadStore>(
    tree: &Tree,
    release: &Release<S::Blob>,
    from: &Shelf<S>,
) -> Vec<Piece<S::Blob>> {
    let (packages, at_hand) = (&release.packages, at_hand(release));
    let is_package = |blob: &&Expected| packages.iter().any(|one| one.expected == **blob);
    let others = tree.blobs.iter().filter(|blob| !is_package(blob));
    others
        .map(|expected| Piece {
            blob: from.store.blob(&from.repository, *expected),
            at_hand: at_hand
                .iter()
                .find(|memory| memory.expected() == *expected)
                .cloned(),
        })
        .collect()
}
