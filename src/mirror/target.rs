//! One destination of a provider.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::selection::Selected;
use super::{Options, Task};
use crate::attestation::Attesting;
use crate::event::{Event, Reporter, Subject};
use crate::oci::{RawManifest, Tag, TagNames};
use crate::outcome::{Failure, Problem, Published, PublishedPackage};
use crate::platform::{Platform, Platforms};
use crate::publish::{
    self, Edition, EvidencePolicy, Existing, PackageBlob, Snapshot, is_attested, publish,
};
use crate::release::Release;
use crate::source::Source;
use crate::store::{self, Artifact, RepoMut, StoredPackage};
use crate::trust::rule::Unsigned;
use crate::trust::{self, Verified};
use crate::version::Version;

/// A store and the provider's repository in it.
pub(super) struct Target<'a> {
    pub(super) task: &'a Task,
    pub(super) destination: &'a RepoMut,
    pub(super) options: &'a Options,
    /// The names of the repository's tags.
    pub(super) tags: TagNames,
    pub(super) reporter: Arc<dyn Reporter>,
    /// Whether the source has checksum documents.
    can_prove: bool,
    /// Who attests the versions that are verified.
    attesting: Option<Attesting>,
}

/// A version as it is in the store.
pub(super) struct Stored {
    pub(super) artifact: Artifact,
    pub(super) platforms: BTreeSet<Platform>,
    pub(super) has_evidence: bool,
}

/// A version that the store does not have, or only in part.
pub(super) struct Missing<'t> {
    pub(super) target: &'t Target<'t>,
    pub(super) stored: Option<Stored>,
    /// The packages of `stored` whose platform manifests were read.
    read: Vec<StoredPackage>,
    /// The platforms to request, of those that the source has.
    pub(super) platforms: Platforms,
}

/// The result of comparing a store with the wanted platforms of a version.
pub(super) enum TargetState<'t> {
    Present(Box<Published>),
    Missing(Box<Missing<'t>>),
}

impl<'a> Target<'a> {
    /// Lists the tags of a destination.
    pub(super) async fn open(
        task: &'a Task,
        destination: &'a RepoMut,
        source: &Source,
        options: &'a Options,
        reporter: &Arc<dyn Reporter>,
    ) -> Result<Self, Failure> {
        let tags = destination.tags().await.map_err(|error| {
            let subject = Subject::provider(&task.provider);
            Problem::from(error).of(subject, Some(destination.place()))
        })?;
        let reporter: Arc<dyn Reporter> = match task.label(destination) {
            Some(label) => Arc::new(Labelled {
                reporter: Arc::clone(reporter),
                label,
            }),
            None => Arc::clone(reporter),
        };
        let attester = options.attester.clone();
        Ok(Self {
            task,
            destination,
            options,
            tags: tags.unwrap_or_default().into_iter().collect(),
            reporter,
            can_prove: source.has_checksum_documents(),
            attesting: attester.map(|attester| Attesting {
                attester,
                rule: task.rule.canonical(),
                origin: source.place(&task.provider).to_string(),
            }),
        })
    }

    /// Whether the store has this version.
    pub(super) fn has(&self, version: &Version) -> bool {
        Tag::of_version(version).is_ok_and(|tag| self.tags.has(&tag))
    }

    /// Reads a version from the store; `None` if the store does not have it, if everything is to be compared again, or if the artifact cannot be
    /// used, which [`publish()`] then decides about.
    pub(super) async fn read_stored(&self, version: &Version) -> Result<Option<Stored>, Problem> {
        let tag = Tag::of_version(version)?;
        if self.options.rechecks || !self.tags.has(&tag) {
            return Ok(None);
        }
        let artifact = match self.destination.artifact(&tag).await {
            Ok(artifact) => artifact,
            Err(error) if error.is_damage() => None,
            Err(error) => return Err(error.into()),
        };
        let Some(artifact) = artifact else {
            return Ok(None);
        };
        if let Some(problem) = Problem::of_another(&artifact.index, &self.task.provider) {
            return Err(problem);
        }
        let Ok(platforms) = artifact.index.platforms() else {
            return Ok(None);
        };
        Ok(Some(Stored {
            platforms: platforms
                .into_iter()
                .map(|(platform, _)| platform)
                .collect(),
            has_evidence: self.tags.has(&Tag::of_evidence(version)?),
            artifact,
        }))
    }

    /// Reports the wanted versions.
    pub(super) fn expect(&self, selected: &[Selected]) {
        let versions = selected.iter().map(|one| {
            let packages = one.platforms.named().map(<[_]>::len);
            (one.version().clone(), packages)
        });
        self.reporter.report(Event::VersionsSelected {
            subject: Subject::provider(&self.task.provider),
            versions: versions.collect(),
        });
    }

    /// Compares the stored version with the wanted platforms, of those that the source has.
    pub(super) async fn compare(
        &'a self,
        version: &Version,
        mut stored: Option<Stored>,
        wanted: &Platforms,
    ) -> Result<TargetState<'a>, Problem> {
        let (mut platforms, mut read) = (wanted.clone(), Vec::new());
        if let (Some(there), Some(wanted)) = (&stored, wanted.named()) {
            read = self.check_lock(version, there, wanted).await?;
            let mut missing = self.missing(there, wanted);
            if missing.is_empty() && self.lacks_attestation(version, there).await? {
                missing = wanted.to_vec();
                (stored, read) = (None, Vec::new());
            } else if missing.is_empty() {
                let published = self.present(version, there, &read);
                return Ok(TargetState::Present(Box::new(published)));
            }
            platforms = Platforms::Among(missing);
        }
        Ok(TargetState::Missing(Box::new(Missing {
            target: self,
            stored,
            read,
            platforms,
        })))
    }

    /// Whether a version has to be verified again to be attested. One that may be unsigned is not: that would be asked every time.
    async fn lacks_attestation(&self, version: &Version, stored: &Stored) -> Result<bool, Problem> {
        let may_be = self.can_prove && self.task.rule.for_unsigned() == Unsigned::Refuse;
        let Some(attesting) = self.attesting.as_ref().filter(|_| may_be) else {
            return Ok(false);
        };
        let index = stored.artifact.raw.expected.digest;
        let name = format!("{}@{version}", self.task.provider);
        let listed = self.destination.attached(&index).await?;
        Ok(!is_attested(&listed, &attesting.meaning(&name, &index)))
    }

    /// The platforms to request. If the evidence is missing, all platforms are requested, because evidence is stored together with the
    /// packages that it proves.
    fn missing(&self, stored: &Stored, wanted: &[Platform]) -> Vec<Platform> {
        let mut missing = wanted.to_vec();
        if stored.has_evidence
            || !(self.can_prove && self.destination.takes_evidence() != Some(false))
        {
            missing.retain(|platform| !stored.platforms.contains(platform));
        }
        missing
    }

    /// Compares the stored packages of these platforms with the lock files, by the digests in their platform manifests. Returns the
    /// packages that it read, none for a version that is not locked.
    async fn check_lock(
        &self,
        version: &Version,
        stored: &Stored,
        wanted: &[Platform],
    ) -> Result<Vec<StoredPackage>, Problem> {
        let Some(hashes) = self.task.locked.get(version) else {
            return Ok(Vec::new());
        };
        let entries = stored.artifact.index.platforms();
        let mut entries = entries.map_err(store::Error::from)?;
        entries.retain(|(platform, _)| wanted.contains(platform));
        let packages = self.destination.packages(&entries).await?;
        for package in &packages {
            trust::among(hashes, &package.platform, &package.layer.expected.digest)?;
        }
        Ok(packages)
    }

    /// The result for a version that is present. It has hashes and sizes of the packages whose platform manifests were read.
    fn present(&self, version: &Version, stored: &Stored, read: &[StoredPackage]) -> Published {
        let digest = stored.artifact.raw.expected.digest;
        let reference = Tag::of_version(version)
            .map(|tag| self.destination.reference(&tag, &digest))
            .unwrap_or_default();
        let subject = (&self.task.provider, version);
        Published::present(subject, reference, &stored.artifact, read)
    }

    /// A failure of the store.
    pub(super) fn failure(&self, problem: Problem, subject: Subject) -> Failure {
        problem.of(subject, Some(self.destination.place()))
    }
}

impl Missing<'_> {
    /// The result for a version whose missing platforms the source does not have: present, if the store has any of the wanted platforms.
    pub(super) fn present_for(&self, version: &Version, wanted: &Platforms) -> Option<Published> {
        let stored = self.stored.as_ref()?;
        let mut wanted = wanted.named().into_iter().flatten();
        let has_any = wanted.any(|platform| stored.platforms.contains(platform));
        has_any.then(|| self.target.present(version, stored, &self.read))
    }

    /// Publishes the packages of a release that the store does not have.
    pub(super) async fn publish<B: PackageBlob>(
        &self,
        release: Verified<Release<B>>,
    ) -> Result<Published, publish::Error> {
        let release = release.only(|platform| self.platforms.has(platform));
        let index: Option<&RawManifest> = self.stored.as_ref().map(|stored| &stored.artifact.raw);
        let Target {
            task,
            destination,
            options,
            tags,
            reporter,
            ..
        } = self.target;
        let edition = Edition {
            snapshot: Some(Snapshot { tags, index }),
            ..Edition::of(&release)
        };
        let options = publish::Options {
            existing: Existing::Merge,
            rechecks: options.rechecks,
            is_matrix_job: false,
            annotations: BTreeMap::new(),
            dry_run: options.dry_run,
            jobs: options.jobs.clone(),
            now: options.now,
            evidence_policy: EvidencePolicy {
                always: options.rechecks,
                ..EvidencePolicy::of_writing(&task.rule)
            },
            attesting: self.target.attesting.clone(),
        };
        let mut published = publish(edition, destination, &options, reporter).await?;
        let mut beside = match &self.stored {
            Some(stored) => PublishedPackage::of_index(&stored.artifact.index, &self.read),
            None => Vec::new(),
        };
        beside.retain(|there| !release.has(&there.platform));
        published.packages.extend(beside);
        published
            .packages
            .sort_by(|a, b| a.platform.cmp(&b.platform));
        Ok(published)
    }
}

/// Adds the name of the destination to every event.
struct Labelled {
    reporter: Arc<dyn Reporter>,
    label: String,
}

impl Reporter for Labelled {
    fn report(&self, mut event: Event) {
        if let Some(subject) = event.subject_mut() {
            subject.destination = Some(self.label.clone());
        }
        self.reporter.report(event);
    }
}
