//! Copy: copies providers from one store to another, byte for byte, evidence included.
//!
//! 1. tfoci looks up the requested versions in both stores. A version that has the same index in both, and its evidence, needs
//!    nothing more.
//! 2. Of every other version tfoci **reads** every document. If one is missing or damaged, the version fails before any of it is written.
//! 3. The packages and the evidence become a release, which is **verified** as in every command that reads from a store.
//! 4. [`crate::publish`] writes what the destination does not have. If the version's tag is free there, it writes the index and the evidence
//!    unchanged; if the tag refers to another index, it merges the two.
//!
//! # Why a version that differs is merged
//! An unchanged index can only be written to a free tag, or replace the existing one. To add platforms to a version, or to copy only
//! some, tfoci has to write a new index. It then follows the rules of `push`: the zips and their evidence stay the same, the
//! digest of the index does not.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::Arc;

use futures_util::{StreamExt as _, future, stream};

use crate::attestation::{Attester, Attesting};
use crate::blob::verify;
use crate::digest::Digest;
use crate::event::{Event, Reporter, Subject};
use crate::examine::{StoredProvider, TrustOptions, Versions};
use crate::hash::PackageHash;
use crate::jobs::{Jobs, SideBySide};
use crate::mirror::VersionFilter;
use crate::oci::{Part, RawManifest, Referrers, Tag, TagNames};
use crate::outcome::{Failure, OnResult, Problem, Published};
use crate::platform::Platforms;
use crate::publish::{self, ContentGraph, Edition, Error, Existing, Snapshot, is_whole, publish};
use crate::release::{Expected, Release};
use crate::selection::Exclusion;
use crate::store::{self, Attachment, RepoMut, StoreBlob};
use crate::trust::Verified;
use crate::version::Version;

mod bundle;
mod delta;
mod draft;
mod have;
mod referrers;
mod report;
mod selection;
mod whole_version;

use bundle::copy_into_bundle;
pub use bundle::{Bundled, Output};
use draft::Draft;
pub use have::have;
use selection::SelectedVersions;
use whole_version::WholeVersion;

/// How to copy.
#[derive(Clone, Debug)]
pub struct Options {
    /// What to do with a version that the destination already has.
    pub existing: Existing,
    /// Write a new index with these platforms, instead of copying the index unchanged.
    pub rebuild: Option<Platforms>,
    /// Which attachments of the versions are copied.
    pub referrers: Referrers,
    /// Which versions are left out. Their tags are not read.
    pub exclude: Vec<Exclusion>,
    /// Which keys and packages are trusted.
    pub trust: TrustOptions,
    /// Whether to stop before anything is written.
    pub dry_run: bool,
    /// How many packages are transferred at once.
    pub jobs: Jobs,
    /// Who attests the versions that are verified.
    pub attester: Option<Arc<Attester>>,
}

/// A provider to copy from one store to another.
#[derive(Clone, Debug)]
pub struct Task {
    /// The provider in the store that is read.
    pub from: StoredProvider,
    /// Filters that select its versions. A version that any of them matches is copied; its age does not matter.
    pub filters: Vec<VersionFilter>,
    /// The package hashes of each locked version, which is refused if it has another package.
    pub locked: BTreeMap<Version, BTreeSet<PackageHash>>,
    /// The provider's repository in the destination store.
    pub to: RepoMut,
}

/// Copies providers, several at once, the oldest version of each first. It calls `on_result` for each version as soon as that
/// version is done. A failure affects only its own version, whose tag in the destination has then not moved.
///
/// Into a bundle, versions other than failed ones are reported when it is complete. Returns its files.
///
/// # Errors
/// The bundle cannot be planned or written, or a package cannot be read.
pub async fn copy(
    tasks: Vec<Task>,
    options: &Options,
    bundle: Option<&Output>,
    reporter: &Arc<dyn Reporter>,
    on_result: &OnResult<'_>,
) -> Result<Vec<Bundled>, Failure> {
    match bundle {
        Some(output) => copy_into_bundle(tasks, options, output, reporter, on_result).await,
        None => {
            run(tasks, options, None, reporter, on_result).await;
            Ok(Vec::new())
        }
    }
}

/// Copies providers, or notes their versions in the draft of a bundle.
async fn run(
    tasks: Vec<Task>,
    options: &Options,
    draft: Option<&Draft>,
    reporter: &Arc<dyn Reporter>,
    on_result: &OnResult<'_>,
) {
    if let Err(failure) = delta::check(&tasks, options).await {
        return on_result(Err(failure));
    }
    let side_by_side = SideBySide::default();
    let copying = stream::iter(tasks).for_each_concurrent(options.jobs.count(), async |task| {
        match Journey::begin(task, options, draft, reporter).await {
            Ok((
                journey,
                SelectedVersions {
                    versions,
                    unmatched,
                    ..
                },
            )) => {
                unmatched.into_iter().for_each(|one| on_result(Err(one)));
                journey.copy(versions, &side_by_side, on_result).await;
            }
            Err(failure) => on_result(Err(failure)),
        }
    });
    copying.await;
}

/// The copy of one provider.
struct Journey<'a> {
    from: StoredProvider,
    to: RepoMut,
    /// The versions in the store that is read.
    available: Versions,
    locked: BTreeMap<Version, BTreeSet<PackageHash>>,
    /// The trust options for locked versions: a lock file stands in for a pinned key.
    trust_of_locked: TrustOptions,
    /// The names of the tags in the destination store.
    tags: TagNames,
    /// What leads to attachments in the store that is read.
    attachments: BTreeMap<Digest, Vec<Attachment>>,
    options: &'a Options,
    draft: Option<&'a Draft>,
    reporter: &'a Arc<dyn Reporter>,
}

impl<'a> Journey<'a> {
    /// Lists the versions and tags in both stores, and selects the versions to copy.
    async fn begin(
        task: Task,
        options: &'a Options,
        draft: Option<&'a Draft>,
        reporter: &'a Arc<dyn Reporter>,
    ) -> Result<(Self, SelectedVersions), Failure> {
        let Task {
            from,
            filters,
            locked,
            to,
        } = task;
        // A missing pin fails every version that is not locked.
        if locked.is_empty() {
            let rule = options.trust.rule_for(&from.provider);
            rule.map_err(|problem| from.failure(None, problem))?;
        }
        let tags = async {
            let subject = Subject::provider(&from.provider);
            let tags = to.tags().await;
            tags.map_err(|error| Problem::from(error).of(subject, Some(to.place())))
        };
        let (available, tags) = future::try_join(from.versions(), tags).await?;
        let mut selected = match from.withdrawn(&available) {
            Some(warning) => SelectedVersions {
                warnings: vec![warning],
                ..SelectedVersions::default()
            },
            None => selection::select(&filters, options, &from, &available),
        };
        for warning in std::mem::take(&mut selected.warnings) {
            reporter.warn(Subject::provider(&from.provider), warning);
        }
        let versions = selected.versions.keys();
        reporter.report(Event::VersionsSelected {
            subject: Subject::provider(&from.provider),
            versions: versions.map(|version| (version.clone(), None)).collect(),
        });
        let names = available.ignored.iter().map(|(name, _)| name);
        let attachments = from.repo.attachments(names).await;
        let journey = Self {
            attachments: attachments.map_err(|error| from.failure(None, error.into()))?,
            from,
            to,
            available,
            locked,
            trust_of_locked: TrustOptions {
                require_pinned: false,
                ..options.trust.clone()
            },
            tags: tags.unwrap_or_default().into_iter().collect(),
            options,
            draft,
            reporter,
        };
        Ok((journey, selected))
    }

    /// Copies versions, each with the platforms that are wanted.
    async fn copy(
        &self,
        versions: BTreeMap<Version, Platforms>,
        side_by_side: &SideBySide,
        on_result: &OnResult<'_>,
    ) {
        let copies = versions.iter().map(async |(version, wanted)| {
            let copied = self.copy_version(version, wanted).await;
            copied.map_err(|error| self.failure(version, error))
        });
        let one_first = self.to.may_refuse_evidence(&self.tags);
        let mut copies = pin!(side_by_side.run(one_first, copies));
        while let Some(copied) = copies.next().await {
            on_result(copied);
        }
    }

    /// Copies a version, and what is attached to it.
    async fn copy_version(
        &self,
        version: &Version,
        wanted: &Platforms,
    ) -> Result<Published, Error> {
        let settled = self.settled(version).await?;
        let is_new = settled.is_none();
        let (published, index) = match (settled, &self.options.rebuild) {
            (Some(settled), _) => settled,
            (None, None) => self.copy_unchanged(version, wanted).await?,
            (None, Some(platforms)) => self.rebuild(version, platforms, wanted).await?,
        };
        match self.draft {
            Some(_) => Ok(published),
            None => self.carry(version, &index, is_new, published).await,
        }
    }

    /// Copies a version with its index unchanged, or notes it in the draft. Returns the index, too.
    async fn copy_unchanged(
        &self,
        version: &Version,
        wanted: &Platforms,
    ) -> Result<(Published, RawManifest), Error> {
        let mut stored = WholeVersion::read(&self.from, version, self.trust(version)).await?;
        stored.release = self.locked(stored.release)?;
        self.reporter.report(stored.release.event());
        if let Some(wanted) = wanted.named() {
            self.check_platforms(&stored.release, wanted)?;
        }
        let requires_proof = self.options.trust.require_pinned;
        if let Some(problem) = stored.unproven().filter(|_| requires_proof) {
            return Err(Error::in_source(problem));
        }
        let root = stored.index.root.clone();
        if let Some(draft) = self.draft {
            let attached = self.attached(version, &root, true).await?;
            for blob in attached.iter().flat_map(|one| &one.content.blobs) {
                // What cannot be read would end the whole bundle later.
                let read = verify(&self.from.repo.blob(*blob)).await;
                let unread = |error| store::Error::reading(Part::Blob, blob.digest, error);
                read.map_err(unread).map_err(Error::in_source)?;
            }
            let added = draft.add(&stored, &attached, &self.from.repo, &self.to);
            return Ok((added.map_err(Error::from)?, root));
        }
        let WholeVersion {
            release,
            index,
            evidence,
            ..
        } = &stored;
        let content = |content: &ContentGraph<Expected>| {
            whole_version::without_packages(content, release, &self.from)
        };
        let edition = Edition {
            index: Some(content(index)),
            evidence: evidence.as_ref().map(content),
            ..Edition::of(release)
        };
        Ok((self.publish(version, edition).await?, root))
    }

    /// Copies all or some platforms of a version with a new index.
    async fn rebuild(
        &self,
        version: &Version,
        platforms: &Platforms,
        wanted: &Platforms,
    ) -> Result<(Published, RawManifest), Error> {
        let platforms = match platforms {
            Platforms::All => wanted,
            platforms => platforms,
        };
        let examined = self.from.read(version, platforms, self.trust(version));
        let examined = examined.await;
        let mut examined = examined.map_err(Error::in_source)?;
        // A lock file vouches for packages, and not for whose they are.
        if self.options.trust.require_pinned
            && let Some(problem) =
                Problem::of_another(&examined.artifact.index, &self.from.provider)
        {
            return Err(Error::in_source(problem));
        }
        let evidence = examined.evidence.take();
        let index = examined.artifact.raw.clone();
        // A copy that keeps the index of another provider is refused instead.
        let release = examined.accepted(&self.from.provider, self.reporter);
        let release = self.locked(release.map_err(Error::in_source)?)?;
        if let Platforms::Among(wanted) = platforms {
            self.check_platforms(&release, wanted)?;
        }
        let mut edition = Edition::of(&release);
        if let Some(raw) = evidence {
            let content = whole_version::evidence(&self.from, raw).await?;
            let is_more = !whole_version::unproven(&content, &release).is_empty()
                || !content.manifests.is_empty();
            // With a required pin, evidence that contains anything unsigned is not copied but written anew.
            if !(self.options.trust.require_pinned && is_more) {
                let content = whole_version::without_packages(&content, &release, &self.from);
                edition.evidence = Some(content);
            }
        }
        Ok((self.publish(version, edition).await?, index))
    }

    async fn publish(
        &self,
        version: &Version,
        mut edition: Edition<'_, StoreBlob>,
    ) -> Result<Published, Error> {
        let Options {
            existing,
            dry_run,
            jobs,
            ..
        } = self.options;
        let trust = self.trust(version);
        let evidence_policy = trust.evidence_policy(&self.from.provider);
        let evidence_policy = evidence_policy.map_err(Error::in_source)?;
        let options = publish::Options {
            existing: *existing,
            annotations: Default::default(),
            dry_run: *dry_run,
            jobs: jobs.clone(),
            now: trust.now,
            rechecks: false,
            is_matrix_job: false,
            attesting: self.options.attester.clone().map(|attester| Attesting {
                attester,
                rule: evidence_policy.rule.canonical(),
                origin: self.from.origin(),
            }),
            evidence_policy,
        };
        let tags = &self.tags;
        edition.snapshot = Some(Snapshot { tags, index: None });
        publish(edition, &self.to, &options, self.reporter).await
    }

    /// The outcome for a version that the destination already has, and its index, as far as this can be decided without verifying it; `None` if
    /// the version has to be read and verified.
    async fn settled(&self, version: &Version) -> Result<Option<(Published, RawManifest)>, Error> {
        let (tag, evidence) = (Tag::of_version(version)?, Tag::of_evidence(version)?);
        let has_own_rule = self.options.trust.has_own_rule(&self.from.provider)
            || self.locked.contains_key(version);
        let is_plain = self.options.existing == Existing::Merge && self.options.rebuild.is_none();
        let lacks_evidence = self.lists(&evidence) && !self.tags.has(&evidence);
        if !is_plain || has_own_rule || lacks_evidence || !self.tags.has(&tag) {
            return Ok(None);
        }
        let artifact = whole_version::artifact(&self.from, version, &tag).await?;
        let digest = artifact.raw.expected.digest;
        let is_there = async {
            let is_same = self.to.digest(&tag).await? == Some(digest);
            let is_there = is_same && is_whole(&self.to, &tag).await?;
            Ok(is_there && (!self.tags.has(&evidence) || is_whole(&self.to, &evidence).await?))
        };
        let is_there: Result<bool, store::Error> = is_there.await;
        if !is_there.map_err(Error::from)? || artifact.index.platforms().is_err() {
            return Ok(None);
        }
        let reference = self.to.reference(&tag, &digest);
        let subject = (&self.from.provider, version);
        let published = Published::present(subject, reference, &artifact, &[]);
        Ok(Some((published, artifact.raw)))
    }

    /// Checks a release against the lock files, if they lock it.
    fn locked(
        &self,
        release: Verified<Release<StoreBlob>>,
    ) -> Result<Verified<Release<StoreBlob>>, Error> {
        match self.locked.get(&release.version) {
            Some(hashes) => release.locked(hashes).map_err(Error::in_source),
            None => Ok(release),
        }
    }

    fn trust(&self, version: &Version) -> &TrustOptions {
        match self.locked.contains_key(version) {
            true => &self.trust_of_locked,
            false => &self.options.trust,
        }
    }

    fn lists(&self, tag: &Tag) -> bool {
        let names = self.available.ignored.iter();
        names.into_iter().any(|(name, _)| name == tag.as_str())
    }
}
