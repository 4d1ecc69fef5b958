//! Content graphs: every manifest and blob that a tag refers to, directly or indirectly, except packages.
//!
//! An index is a manifest too: the one with `manifests` in place of `layers`.

use std::collections::HashSet;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use crate::blob::{BlobInfo, BlobSource, Memory, Opened};
use crate::oci::{Descriptor, Part, RawManifest, Refusal, Tag};
use crate::release::Expected;
use crate::store::{At, CONCURRENT_READS, Error, Repo, RepoMut};

/// The most bytes of manifests that a tag may refer to, since all of them are held in memory at once. Those of a provider for a
/// dozen platforms have some ten thousand.
const LARGEST: u64 = 4 << 20;
/// The most manifests and blobs that a tag may refer to, since each costs a request. An index of 200 platforms refers to 600.
const MOST: usize = 4_000;

/// A manifest that a tag refers to, with everything below it except packages.
#[derive(Clone, Debug)]
pub(crate) struct ContentGraph<L> {
    /// The manifest that the tag refers to.
    pub(crate) root: RawManifest,
    /// The manifests below it, in batches that can be written concurrently. A manifest is in a later batch than those that it refers to.
    pub(crate) manifests: Vec<Vec<RawManifest>>,
    /// The blobs below it, without duplicates.
    pub(crate) blobs: Vec<L>,
}

/// A blob that is not a package.
#[derive(Clone, Debug)]
pub(crate) enum Blob<B> {
    /// The empty config, or a document of the evidence. Its bytes are already in memory.
    Read {
        bytes: Memory,
        /// The same blob in the store that is read, which the destination may be able to mount or link.
        stored: Option<B>,
        /// Whether the destination probably has it. Checking for it first is then cheaper than sending it.
        is_likely_there: bool,
    },
    /// A blob that another tool added beside the packages. No signature covers it.
    Unproven(B),
}

impl<L> ContentGraph<L> {
    /// A manifest alone, for an index whose packages and manifests the destination already has.
    pub(crate) fn of(root: RawManifest) -> Self {
        Self {
            root,
            manifests: Vec::new(),
            blobs: Vec::new(),
        }
    }
}

impl ContentGraph<Expected> {
    /// Reads every manifest below this one, level by level. Missing or damaged manifests are errors; blobs are listed and not read.
    ///
    /// # Errors
    /// The store fails, a manifest is missing or damaged, or there are more manifests or bytes than the limits allow.
    pub(crate) async fn read(repo: &Repo, root: RawManifest) -> Result<Self, Error> {
        let mut level = below(&root)?;
        let mut content = Self::of(root);
        let (mut blobs, mut parts, mut held) = (HashSet::new(), 0, 0_u64);
        while !level.is_empty() {
            let (mut entries, mut seen) = (Vec::new(), HashSet::new());
            for entry in level {
                let what = match entry.may_refer_to_others() {
                    true => Part::Manifest,
                    false => Part::Blob,
                };
                let expected = entry.expected_of(what)?;
                if !seen.insert(expected.digest) {
                    continue;
                }
                parts += 1;
                if parts > MOST {
                    return Err(Error::too_many_parts(MOST));
                }
                if what == Part::Blob {
                    content
                        .blobs
                        .extend(blobs.insert(expected.digest).then_some(expected));
                    continue;
                }
                held = held.saturating_add(expected.size);
                Refusal::check_size(Part::Index, LARGEST, held)?;
                entries.push((entry, expected.digest));
            }
            let reads = entries.into_iter().map(async |(entry, digest)| {
                let manifest = repo.manifest(At::Entry(&entry)).await?;
                let what = Part::Manifest;
                Ok::<_, Error>(RawManifest {
                    // The index names the media type that clients request.
                    media_type: entry.media_type,
                    ..manifest.ok_or(Error::Missing { what, digest })?
                })
            });
            let reads = stream::iter(reads).buffered(CONCURRENT_READS);
            let read: Vec<RawManifest> = reads.try_collect().await?;
            level = read
                .iter()
                .map(below)
                .collect::<Result<Vec<_>, _>>()?
                .concat();
            content.manifests.push(read);
        }
        // A manifest that two levels refer to is in both, so that it is written before each that refers to it.
        content.manifests.reverse();
        Ok(content)
    }

    /// The manifest that an index entry refers to.
    pub(crate) fn manifest(&self, entry: &Descriptor) -> Option<&RawManifest> {
        let mut manifests = self.manifests.iter().flatten();
        manifests.find(|manifest| manifest.expected.digest.to_string() == entry.digest)
    }
}

/// Whether a repository has everything that a tag refers to. Blobs are checked by their size only.
///
/// # Errors
/// The store cannot be read.
pub(crate) async fn is_whole(repo: &RepoMut, tag: &Tag) -> Result<bool, Error> {
    if repo.refuses_incomplete() {
        return Ok(true);
    }
    let read = match repo.manifest(At::Tag(tag)).await {
        Ok(Some(root)) => ContentGraph::read(repo, root).await,
        Ok(None) => return Ok(false),
        Err(error) => Err(error),
    };
    let content = match read {
        Ok(content) => content,
        Err(error) if error.is_damage() => return Ok(false),
        Err(error) => return Err(error),
    };
    for blob in &content.blobs {
        if !repo.has_blob(blob).await? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The parts of a manifest.
fn below(manifest: &RawManifest) -> Result<Vec<Descriptor>, Error> {
    let mut parts = manifest.parts()?;
    // Some tools write a descriptor without a digest for an absent config. It refers to nothing.
    parts.retain(|part| !part.digest.is_empty());
    Ok(parts)
}

impl<B> Blob<B> {
    /// Bytes that tfoci generated.
    pub(crate) fn new(bytes: impl Into<bytes::Bytes>, is_likely_there: bool) -> Self {
        Self::Read {
            bytes: Memory::new(bytes),
            stored: None,
            is_likely_there,
        }
    }
}

impl<B: BlobSource> BlobSource for Blob<B> {
    type Failure = B::Failure;

    fn info(&self) -> BlobInfo<'_> {
        match self {
            Self::Read { bytes, stored, .. } => BlobInfo {
                location: stored.as_ref().and_then(|blob| blob.info().location),
                ..bytes.info()
            },
            Self::Unproven(blob) => blob.info(),
        }
    }

    async fn open(&self, from: u64) -> Opened<B::Failure> {
        match self {
            Self::Read { bytes, .. } => Ok(bytes.body(from)),
            Self::Unproven(blob) => blob.open(from).await,
        }
    }
}
