//! Prune: the inverse of publishing. A removal never deletes what a remaining tag leads to.
//!
//! 1. Each version is **read**: its index, the manifests below it, and its evidence. What the remaining versions and other tags lead to is held.
//! 2. A version whose index is held **stays**.
//! 3. What is **attached** to the others, such as signatures, goes before them, unless something that stays has it too.
//! 4. The bytes that become free are **measured**.
//! 5. [`RemovalPlan::carry_out`] **deletes** each version in this order: what is attached to it, the deepest first; the index, with the tag; the
//!    platform manifests; the evidence last. A layout forgets the tags, and then deletes what is left without one.
//!
//! So an `evidence-V` without `V` marks a removal that was cut short, and the next run finishes it: a platform manifest is a function of a package's
//! digest, size and name, which the checksum document and the store tell. A version without evidence leaves no such mark.
//!
//! Nobody else may write into the repository meanwhile: before each version the tags are listed again, and a new one ends the run.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde::Serialize;

use crate::digest::Digest;
use crate::error::printable;
use crate::event::Reporter;
use crate::examine::{StoredProvider, Versions};
use crate::oci::referrers::{DEEPEST, subject_of};
use crate::oci::{self, Descriptor, Index, MOST_ENTRIES, RawManifest, Tag, manifest};
use crate::outcome::Problem;
use crate::platform::Platform;
use crate::release::Expected;
use crate::store::{self, At, Attachment, CONCURRENT_READS, Repo, RepoMut};
use crate::trust::{Checksums, PackageName};
use crate::version::Version;

/// A version that goes.
#[derive(Clone, Debug, Serialize)]
pub struct Removal {
    /// The version.
    pub version: Version,
    /// The bytes of the packages that no remaining version has.
    pub size: u64,
    /// Another tag that leads to its index. If there is one, the version stays.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub named_by: Vec<String>,
    /// Its index; `None` if an earlier removal was cut short after that.
    #[serde(skip)]
    index: Option<RawManifest>,
    /// The platform manifests below it.
    #[serde(skip)]
    children: BTreeSet<Digest>,
    #[serde(skip)]
    evidence: Option<Digest>,
    /// What goes, in this order.
    #[serde(skip)]
    order: Vec<Digest>,
    /// The tags that go.
    #[serde(skip)]
    tags: Vec<Tag>,
}

/// What goes of a provider.
#[derive(Debug, Default)]
pub struct RemovalPlan {
    /// The versions, the oldest first.
    pub removals: Vec<Removal>,
    /// What stays, and a tag that leads to it.
    held: BTreeMap<Digest, String>,
    /// What leads to the attachments of each manifest.
    attached: BTreeMap<Digest, Vec<Attachment>>,
    /// The tags when it was made.
    tags: BTreeSet<String>,
}

impl Removal {
    fn new(
        version: &Version,
        index: Option<RawManifest>,
        evidence: Option<Digest>,
    ) -> Result<Self, Problem> {
        Ok(Self {
            version: version.clone(),
            size: 0,
            named_by: Vec::new(),
            index,
            children: BTreeSet::new(),
            evidence,
            order: Vec::new(),
            tags: vec![Tag::of_version(version)?, Tag::of_evidence(version)?],
        })
    }

    /// Whether it goes: no remaining tag leads to its index.
    fn goes(&self) -> bool {
        self.named_by.is_empty()
    }

    /// Its parts, in the order in which they go.
    fn parts(&self) -> impl Iterator<Item = Digest> {
        let index = self.index.iter().map(|raw| raw.expected.digest);
        let below = self.children.iter().chain(&self.evidence);
        index.chain(below.copied())
    }
}

impl RemovalPlan {
    /// Plans the removal of some of the listed versions, and the end of removals that were cut short. Nothing is written.
    ///
    /// # Errors
    /// The store cannot be read, or has such a version of another provider. What a tag leads to that cannot be read is not known, so nothing may be
    /// deleted.
    pub async fn of(
        from: &StoredProvider,
        listed: &Versions,
        removed: &BTreeSet<Version>,
    ) -> Result<Self, Problem> {
        let names = listed.ignored.iter().map(|(name, _)| name);
        let mut plan = Self {
            tags: names.clone().cloned().collect(),
            attached: from.repo.attachments(names).await?,
            ..Self::default()
        };
        plan.read_versions(from, listed, removed).await?;
        plan.keep_what_is_held()?;
        plan.order_what_goes(&from.repo).await?;
        plan.measure(from).await?;
        Ok(plan)
    }

    /// Reads the versions, and what other tags lead to.
    async fn read_versions(
        &mut self,
        from: &StoredProvider,
        listed: &Versions,
        removed: &BTreeSet<Version>,
    ) -> Result<(), Problem> {
        let repo = &from.repo;
        for version in &listed.versions {
            let tag = Tag::of_version(version)?;
            self.tags.insert(tag.to_string());
            let Some(raw) = repo.manifest(At::Tag(&tag)).await? else {
                continue;
            };
            let evidence = repo.digest(&Tag::of_evidence(version)?).await?;
            let children = oci::digests(&below(repo, &raw).await?).collect();
            let mut stored = Removal::new(version, Some(raw), evidence)?;
            stored.children = children;
            match removed.contains(version) {
                true => self.removals.push(stored),
                false => hold(&mut self.held, &tag, stored.parts()),
            }
        }
        for (name, _) in &listed.ignored {
            if let Ok(tag) = Tag::parse(name) {
                self.read_other(from, listed, &tag).await?;
            }
        }
        Ok(())
    }

    /// Sets the order in which each version goes, with what is attached to it. What is attached to something that stays is held.
    async fn order_what_goes(&mut self, repo: &Repo) -> Result<(), Problem> {
        for removal in self.removals.iter_mut().filter(|one| one.goes()) {
            follow(repo, &self.attached, removal).await?;
        }
        let doomed: BTreeSet<Digest> = self.order().copied().collect();
        let stays = |found: &(&Digest, _)| !doomed.contains(found.0);
        for (subject, all) in self.attached.iter().filter(stays) {
            let list = Tag::of_referrers(subject);
            for one in all {
                let manifests = attached_by(repo, one).await?;
                hold(&mut self.held, &list, oci::digests(&manifests));
            }
        }
        self.keep_what_is_held()?;
        for one in &mut self.removals {
            one.order.retain(|digest| !self.held.contains_key(digest));
        }
        Ok(())
    }

    /// Reads a tag that names no listed version: the evidence of a removal that was cut short, or a tag of the user. Attachments come later.
    async fn read_other(
        &mut self,
        from: &StoredProvider,
        listed: &Versions,
        tag: &Tag,
    ) -> Result<(), Problem> {
        let version = tag.as_str().strip_prefix("evidence-");
        let version: Option<Version> = version.and_then(|text| text.replace('_', "+").parse().ok());
        let is_listed = |version| listed.versions.contains(version);
        if version.as_ref().is_some_and(is_listed) || subject_of(tag.as_str()).is_some() {
            return Ok(());
        }
        if let Some(version) = version {
            let removal = cut_short(from, &version, tag).await?;
            self.removals.push(removal);
        } else if let Some(raw) = from.repo.manifest(At::Tag(tag)).await? {
            let below = below(&from.repo, &raw).await?;
            let all = oci::digests(&below).chain([raw.expected.digest]);
            hold(&mut self.held, tag, all);
        }
        Ok(())
    }

    /// Keeps each version whose index a remaining tag leads to. Its parts may be the index of another one, which then stays too.
    fn keep_what_is_held(&mut self) -> Result<(), Problem> {
        loop {
            let mut is_any = false;
            for one in self.removals.iter_mut().filter(|one| one.goes()) {
                let root = one.index.as_ref().map(|raw| raw.expected.digest);
                let by = root.or(one.evidence).and_then(|root| self.held.get(&root));
                if let Some(by) = by {
                    one.named_by.push(by.clone());
                    hold(&mut self.held, &Tag::of_version(&one.version)?, one.parts());
                    is_any = true;
                }
            }
            if !is_any {
                return Ok(());
            }
        }
    }

    fn order(&self) -> impl Iterator<Item = &Digest> {
        let gone = self.removals.iter().filter(|one| one.goes());
        gone.flat_map(|one| &one.order)
    }

    /// Sets the bytes that are freed. A package counts once, if no remaining tag leads to its manifest.
    async fn measure(&mut self, from: &StoredProvider) -> Result<(), Problem> {
        let mut counted = BTreeSet::new();
        for removal in self.removals.iter_mut().filter(|one| one.goes()) {
            // An index that clients refuse has no packages.
            let index = removal.index.as_ref().map(Index::read);
            let Some(Ok(index)) = index else { continue };
            if let Some(problem) = Problem::of_another(&index, &from.provider) {
                return Err(problem);
            }
            let entries: Vec<(Platform, _)> = index.platforms().unwrap_or_default();
            // What has lost a part frees what is left.
            for package in from.repo.packages(&entries).await.unwrap_or_default() {
                let digest = package.entry.digest.parse();
                let is_new = |digest| !self.held.contains_key(&digest) && counted.insert(digest);
                if digest.is_ok_and(is_new) {
                    removal.size = removal.size.saturating_add(package.layer.expected.size);
                }
            }
        }
        Ok(())
    }

    /// Removes the versions, and calls `on_removed` for each. Those that other tags lead to stay.
    ///
    /// # Errors
    /// The store fails or cannot delete, or another writer has added a tag. Versions that are not done yet stay as they are.
    pub async fn carry_out(
        self,
        to: &RepoMut,
        reporter: &dyn Reporter,
        mut on_removed: impl FnMut(&Removal),
    ) -> Result<(), Problem> {
        let _lock = to.lock(true, reporter).await?;
        // What several versions have goes with the last one.
        let mut left: HashMap<Digest, usize> = HashMap::new();
        self.order()
            .for_each(|digest| *left.entry(*digest).or_default() += 1);
        for removal in self.removals.iter().filter(|one| one.goes()) {
            let mut tags = to.tags().await?.into_iter().flatten();
            if let Some(tag) = tags.find(|tag| !self.tags.contains(tag)) {
                let tag = printable(&tag);
                return Err(Problem::NewTag { tag });
            }
            for digest in &removal.order {
                let left = left.entry(*digest).or_default();
                *left = left.saturating_sub(1);
                if *left == 0 {
                    to.delete(digest).await?;
                }
            }
            if to.registry_host().is_some() {
                on_removed(removal);
            }
        }
        if to.registry_host().is_none() {
            let gone = self.removals.iter().filter(|one| one.goes());
            let tags: Vec<Tag> = gone.clone().flat_map(|one| one.tags.clone()).collect();
            to.forget(&tags, &left.into_keys().collect()).await?;
            gone.for_each(on_removed);
        }
        Ok(())
    }
}

/// Sets the order of a removal. What is attached to a manifest goes before it.
async fn follow(
    repo: &Repo,
    attached: &BTreeMap<Digest, Vec<Attachment>>,
    removal: &mut Removal,
) -> Result<(), Problem> {
    let limit = MOST_ENTRIES;
    let mut levels: Vec<Vec<Digest>> = vec![removal.parts().collect()];
    let mut seen: BTreeSet<Digest> = removal.parts().collect();
    while let Some(subjects) = levels.last().filter(|level| !level.is_empty()) {
        let lists: Vec<_> = subjects.iter().map(|one| repo.referrers(one)).collect();
        let lists = stream::iter(lists).buffered(CONCURRENT_READS);
        let lists: Vec<_> = lists.try_collect().await?;
        let mut level = Vec::new();
        for (subject, listed) in subjects.iter().zip(lists) {
            let mut found = Vec::new();
            for one in attached.get(subject).into_iter().flatten() {
                found.extend(attached_by(repo, one).await?);
                if let Attachment::Tag(tag) = one {
                    removal.tags.push(tag.clone());
                }
            }
            // Such a registry refuses to delete what an index names, and finds the rest without it.
            if let Some(listed) = listed {
                found.reverse();
                found.extend(listed);
            }
            for entry in found {
                let digest = entry.digest.parse();
                if let Some(digest) = digest.ok().filter(|digest| seen.insert(*digest))
                    && is_attached(repo, &entry, subject).await?
                {
                    level.push(digest);
                }
            }
            let is_too_deep = levels.len() > DEEPEST && !level.is_empty();
            if is_too_deep || seen.len() > limit {
                return Err(store::Error::too_many_parts(limit).into());
            }
        }
        levels.push(level);
    }
    removal.order = levels.into_iter().rev().flatten().collect();
    Ok(())
}

/// A version that has lost its index: only its evidence is left, and perhaps platform manifests.
async fn cut_short(
    from: &StoredProvider,
    version: &Version,
    tag: &Tag,
) -> Result<Removal, Problem> {
    let evidence = from.repo.evidence(tag).await?;
    let digest = evidence.as_ref().map(|stored| stored.raw.expected.digest);
    let mut removal = Removal::new(version, None, digest)?;
    let document = evidence.and_then(|stored| stored.evidence.checksums);
    let checksums = document.map(|bytes| Checksums::parse(&bytes)).transpose()?;
    for (name, digest) in checksums.iter().flat_map(Checksums::lines) {
        let package = PackageName::parse(name, from.provider.type_name());
        if package.is_none_or(|package| package.version.version() != version) {
            continue;
        }
        if let Some(size) = from.repo.blob_size(&Expected { digest, size: 0 }).await? {
            let manifest = manifest::build(Expected { digest, size }, name)?;
            removal.children.insert(manifest.expected.digest);
        }
    }
    Ok(removal)
}

/// The manifests that one leads to, in whatever depth.
async fn below(repo: &Repo, root: &RawManifest) -> Result<Vec<Descriptor>, store::Error> {
    let (mut found, mut seen, mut open) = (Vec::new(), BTreeSet::new(), vec![root.clone()]);
    while let Some(raw) = open.pop() {
        for entry in raw.manifests()? {
            if !seen.insert(entry.digest.clone()) {
                continue;
            }
            if seen.len() > MOST_ENTRIES {
                return Err(store::Error::too_many_parts(MOST_ENTRIES));
            }
            if entry.media_type.contains("index") || entry.media_type.contains("list") {
                open.extend(repo.manifest(At::Entry(&entry)).await?);
            }
            found.push(entry);
        }
    }
    Ok(found)
}

/// The manifests that an attachment consists of, the one that the others belong to last.
async fn attached_by(repo: &Repo, one: &Attachment) -> Result<Vec<Descriptor>, store::Error> {
    let tag = match one {
        Attachment::Untagged(entry) => return Ok(vec![entry.clone()]),
        Attachment::Tag(tag) => tag,
    };
    let Some(raw) = repo.manifest(At::Tag(tag)).await? else {
        return Ok(Vec::new());
    };
    let mut all = below(repo, &raw).await?;
    all.push(raw.descriptor());
    Ok(all)
}

/// Whether a manifest is there that is attached to this subject, or names none, as lists and signatures of cosign 2 do.
async fn is_attached(
    repo: &Repo,
    entry: &Descriptor,
    subject: &Digest,
) -> Result<bool, store::Error> {
    let Some(raw) = repo.manifest(At::Entry(entry)).await? else {
        return Ok(false);
    };
    let named = raw.subject()?;
    Ok(named.is_none_or(|named| named == *subject))
}

fn hold(
    held: &mut BTreeMap<Digest, String>,
    tag: &Tag,
    manifests: impl IntoIterator<Item = Digest>,
) {
    for manifest in manifests {
        held.entry(manifest).or_insert_with(|| tag.to_string());
    }
}
