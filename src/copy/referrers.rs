//! Carries what other tools attached to a version: signatures, SBOMs and attestations, and what is attached to these.
//!
//! No signature of the author covers them, and tfoci does not interpret them. They are attached to a digest, so they travel with an index that stays
//! as it is. In a store that does not list referrers itself, tfoci adds them to the list that is there.

use std::collections::{BTreeMap, BTreeSet};

use super::Journey;
use crate::digest::Digest;
use crate::error::{FEW, listed, printable};
use crate::event::{Subject, Transfer, Warning};
use crate::oci::referrers::{self, DEEPEST};
use crate::oci::{Descriptor, EMPTY_BYTES, Part, RawManifest, Referrers, Refusal, Tag, digests};
use crate::outcome::{AttachedBlobs, Change, Problem, Published};
use crate::publish::{ContentGraph, Error, Placed, attach, carried};
use crate::release::Expected;
use crate::store::{self, At, Attachment, Lookup, PutError, Repo};
use crate::version::Version;

/// The most manifests that are attached to a version or are said to be. A version with an SBOM and two signatures for each of a dozen platforms has
/// some forty, of about 1 KB each.
const MOST: usize = 1_000;
/// The most bytes of these manifests, which are in memory at once.
const LARGEST: u64 = 4 << 20;
/// The most bytes of their blobs. The SBOM of a large provider has some megabytes.
const LARGEST_BLOBS: u64 = 256 << 20;

/// What a tag that names its subject leads to: a list of referrers, or a signature of cosign 2.
pub(super) struct Attached {
    pub(super) tag: Tag,
    subject: Digest,
    pub(super) content: ContentGraph<Expected>,
}

/// What is attached to a version, as far as it was read.
#[derive(Default)]
struct Found {
    attached: Vec<Attached>,
    /// The manifests of the last level, to which more may be attached.
    next: Vec<Digest>,
    /// What is not copied.
    left: BTreeSet<String>,
    manifests: usize,
    held: u64,
    blobs: u64,
}

impl Found {
    /// Reads what a tag leads to.
    async fn add(
        &mut self,
        repo: &Repo,
        tag: &Tag,
        subject: Digest,
        mut root: RawManifest,
    ) -> Result<(), store::Error> {
        // Only some stores tell it.
        root.artifact_type = None;
        let content = ContentGraph::read(repo, root).await?;
        for manifest in content.manifests.iter().flatten().chain([&content.root]) {
            referrers::check_media_type(manifest)?;
            self.next.push(manifest.expected.digest);
            self.held = self.held.saturating_add(manifest.expected.size);
        }
        let blobs = content.blobs.iter().map(|blob| blob.size);
        self.blobs = blobs.fold(self.blobs, u64::saturating_add);
        let tag = tag.clone();
        self.attached.push(Attached {
            tag,
            subject,
            content,
        });
        self.count()?;
        Refusal::check_size(Part::Manifest, LARGEST, self.held)?;
        Ok(Refusal::check_size(Part::Blob, LARGEST_BLOBS, self.blobs)?)
    }

    /// Counts a manifest.
    fn count(&mut self) -> Result<(), store::Error> {
        self.manifests += 1;
        match self.manifests > MOST {
            true => Err(store::Error::too_many_parts(MOST)),
            false => Ok(()),
        }
    }
}

impl Journey<'_> {
    /// Reads what is attached to an index, to its platform manifests, and to what is attached.
    pub(super) async fn attached(
        &self,
        version: &Version,
        index: &RawManifest,
        is_new: bool,
    ) -> Result<Vec<Attached>, Error> {
        let mut found = Found::default();
        if self.options.referrers != Referrers::None {
            let read = self.read_attached(index, is_new, &mut found).await;
            read.map_err(Error::in_source)?;
        }
        if !found.left.is_empty() {
            let left: Vec<String> = found.left.into_iter().collect();
            let text = format!("`--referrers all` copies {}", listed(&left, FEW));
            self.left_attached(version, text);
        }
        Ok(found.attached)
    }

    /// A registry that lists referrers is only asked for referrers of the platform manifests if the version is new, or the index has some.
    async fn read_attached(
        &self,
        index: &RawManifest,
        is_new: bool,
        found: &mut Found,
    ) -> Result<(), store::Error> {
        let mut subjects = vec![index.expected.digest];
        let (mut seen, mut is_listed) = (BTreeSet::new(), true);
        for depth in 0..=DEEPEST {
            for subject in subjects.iter().filter(|subject| seen.insert(**subject)) {
                self.read_attached_to(subject, is_listed, found).await?;
            }
            subjects = std::mem::take(&mut found.next);
            if depth == 0 {
                is_listed = is_new || !subjects.is_empty();
                subjects.extend(digests(&index.manifests()?));
            }
            if subjects.is_empty() {
                return Ok(());
            }
        }
        Err(store::Error::too_many_parts(MOST))
    }

    /// Reads what is attached to one manifest.
    async fn read_attached_to(
        &self,
        subject: &Digest,
        is_listed: bool,
        found: &mut Found,
    ) -> Result<(), store::Error> {
        let repo = &self.from.repo;
        let mut candidates = Vec::new();
        let list = Tag::of_referrers(subject);
        if is_listed {
            candidates.extend(repo.referrers(subject).await?.unwrap_or_default());
        }
        for attachment in self.attachments.get(subject).into_iter().flatten() {
            let tag = match attachment {
                Attachment::Untagged(entry) => {
                    candidates.push(entry.clone());
                    continue;
                }
                Attachment::Tag(tag) => tag,
            };
            if *tag != list && !self.options.referrers.has_tag(tag) {
                found.left.insert(format!("the tag {tag}"));
                continue;
            }
            match repo.manifest(At::Tag(tag)).await? {
                Some(root) if *tag == list => candidates.extend(root.parts()?),
                Some(root) => found.add(repo, tag, *subject, root).await?,
                None => {}
            }
        }
        let entries = self.entries(subject, candidates, found).await?;
        match entries.is_empty() {
            true => Ok(()),
            false => {
                let root = referrers::list(&entries)?;
                found.add(repo, &list, *subject, root).await
            }
        }
    }

    /// The entries of a list: of those candidates that are attached, and whose types are copied.
    async fn entries(
        &self,
        subject: &Digest,
        candidates: Vec<Descriptor>,
        found: &mut Found,
    ) -> Result<Vec<Descriptor>, store::Error> {
        let mut entries = BTreeMap::new();
        for candidate in candidates {
            if entries.contains_key(&candidate.digest) || !candidate.may_refer_to_others() {
                continue;
            }
            found.count()?;
            let Some(raw) = self.from.repo.manifest(At::Entry(&candidate)).await? else {
                continue;
            };
            let raw = RawManifest {
                media_type: candidate.media_type,
                ..raw
            };
            let Some(entry) = referrers::entry(&raw, subject)? else {
                continue;
            };
            let artifact_type = entry.artifact_type.as_deref().unwrap_or_default();
            match self.options.referrers.has_type(artifact_type) {
                true => drop(entries.insert(candidate.digest, entry)),
                false => drop(found.left.insert(artifact_type.to_owned())),
            }
        }
        Ok(entries.into_values().collect())
    }

    /// Writes what is attached to the index of a version that the destination has now.
    pub(super) async fn carry(
        &self,
        version: &Version,
        index: &RawManifest,
        is_new: bool,
        mut published: Published,
    ) -> Result<Published, Error> {
        let attached = self.attached(version, index, is_new).await?;
        if attached.is_empty() {
            return Ok(published);
        }
        if published.digest != index.expected.digest {
            self.left_attached(version, "the copy has another index".to_owned());
            return Ok(published);
        }
        let dry_run = self.options.dry_run;
        let _lock = match dry_run {
            true => None,
            false => {
                let lock = self.to.lock(false, &**self.reporter).await;
                lock.map_err(Error::from)?
            }
        };
        let before = published.beside.unwrap_or_default();
        let mut beside = before;
        for one in &attached {
            match self.put(version, one, &mut beside).await {
                Ok(true) if published.status == Change::Present => {
                    published.status = Change::Updated;
                }
                Ok(_) => {}
                Err(Error::Destination(Problem::Store(error))) if error.unwelcome().is_some() => {
                    self.left_attached(version, error.to_string());
                }
                Err(error) => return Err(error),
            }
        }
        if dry_run {
            published.status = published.status.planned();
        }
        published.beside = beside.if_any();
        published.bytes += beside.moved - before.moved;
        Ok(published)
    }

    /// Writes one of them, unless it is there. Returns whether it was not.
    async fn put(
        &self,
        version: &Version,
        one: &Attached,
        beside: &mut AttachedBlobs,
    ) -> Result<bool, Error> {
        let named = (&one.tag, &one.subject);
        let below = async || self.put_below(version, one, beside).await;
        let dry_run = self.options.dry_run;
        let done = attach(&self.to, named, &one.content.root, dry_run, below).await?;
        if done == Placed::Other {
            let text = format!("the tag {} refers to another manifest there", one.tag);
            self.left_attached(version, text);
        }
        Ok(done == Placed::Added)
    }

    /// Writes the blobs and manifests below a tag.
    async fn put_below(
        &self,
        version: &Version,
        one: &Attached,
        beside: &mut AttachedBlobs,
    ) -> Result<(), Error> {
        let dry_run = self.options.dry_run;
        for blob in &one.content.blobs {
            let stored = self.from.repo.blob(*blob);
            let transfer = match dry_run {
                true => Ok(Transfer::Planned),
                false => self.to.put_blob(&stored, Lookup::First).await,
            };
            let transfer = transfer.map_err(|error| match error {
                PutError::Store(error) => Error::from(error),
                PutError::Source(error) => {
                    Error::in_source(store::Error::reading(Part::Blob, blob.digest, error))
                }
            })?;
            if blob.digest == Digest::of(EMPTY_BYTES) {
                continue;
            }
            beside.add(blob.size, transfer);
            let subject = Subject::version(&self.from.provider, version);
            self.reporter.report(carried(subject, *blob, transfer));
        }
        for manifest in one.content.manifests.iter().flatten().filter(|_| !dry_run) {
            let put = self.to.put_manifest(manifest).await;
            put.map_err(Error::from)?;
        }
        Ok(())
    }

    fn left_attached(&self, version: &Version, text: String) {
        let subject = Subject::version(&self.from.provider, version);
        let text = format!("leaves out what is attached to it: {}", printable(&text));
        self.reporter.warn(subject, Warning::Other(text));
    }
}
