//! Mirror: copies providers from a source into stores.
//!
//! For each provider:
//!
//! 1. The source lists its **versions**, and each destination its **tags**, at the same time.
//! 2. [`VersionFilter`]s **select** among the versions that are not denied and are old enough.
//! 3. A version is **present** if the index in the destination has every wanted platform. tfoci then requests nothing else from the
//!    source, except the version's platforms if the list has none. If all versions are present, it looks for two of their platform manifests, which a cleanup of the registry may have deleted. A locked
//!    version that the source has withdrawn is present too, if the destination has all of it. With an attester, its attestation has to be there, too.
//! 4. For any other version, the source returns the **release**: metadata of the missing packages, checksum document and signature.
//! 5. [`crate::trust`] **verifies** it before any package is transferred, except packages of mirrors whose digest only a download tells. Then
//!    tfoci requests packages whose sizes are unknown.
//! 6. [`crate::publish`] **copies** the missing packages, usually without a file in between. It does not open packages, but refuses one that
//!    does not end like a zip. It then writes manifests and evidence (see [`crate::oci`]), and moves the version's tag last.
//!
//! The versions of a provider travel side by side ([`SideBySide`]). An error in one version fails that version only, and a filter without a
//! matching version fails separately.
//!
//! # Several destinations
//! A package that several destinations lack is downloaded into the first one that takes it, and copied from there. Each destination fails
//! separately, and every report names its destination.

pub(crate) mod age;
mod locks;
pub(crate) mod selection;
mod shard;
mod target;
mod withdrawn;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::Arc;
use std::time::SystemTime;

use futures_util::{StreamExt as _, future, stream};

use crate::address::ProviderAddr;
use crate::attestation::{Attester, Attesting};
use crate::authentication::Note;
use crate::error::printable;
use crate::event::{Event, Reporter, Subject, Warning};
use crate::hash::PackageHash;
use crate::jobs::{Jobs, SideBySide};
use crate::outcome::{At, Failure, OnResult, Problem, Published};
use crate::platform::{Platform, Platforms};
use crate::prove::prove;
use crate::publish::{self, EvidencePolicy, Existing, PackageBlob};
use crate::release::Release;
use crate::source::{
    self, AvailableVersions, BadEntries, ReleaseAnswer, Source, SourcePackage,
};
use crate::store::{RepoMut, StoreBlob};
use crate::trust::rule::Unsigned;
use crate::trust::{self, Denials, Rule, Verified};
use crate::version::Version;
use age::Dating;
pub use locks::Locks;
use selection::Selected;
pub use selection::VersionFilter;
pub use shard::{Shard, ShardError};
use target::{MirrorTarget, Missing, TargetState};

/// The number of providers that are mirrored concurrently. Most of the time they wait for responses, and one host receives at most 16 small
/// requests at once. 16 take more than 28 MiB for packages of 0.5 MB, and are not faster (benches/far.sh).
const PROVIDERS: usize = 13;

/// Options of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether versions that a destination has are compared with the source again ([`publish::Options::rechecks`]).
    pub rechecks: bool,
    /// Whether to stop after the plan.
    pub dry_run: bool,
    /// How many packages are transferred at once.
    pub jobs: Jobs,
    /// The time used to decide whether a key has expired.
    pub now: SystemTime,
    /// Whether the signing keys will be pinned. Keys are then accepted only from a verified connection.
    pub pins_keys: bool,
    /// Who attests the versions that are verified.
    pub attester: Option<Arc<Attester>>,
}

impl Options {
    /// How versions are published under a trust rule. `rechecks` is as in [`publish::Options`].
    fn publishing(&self, rule: &Rule, rechecks: bool) -> publish::Options {
        publish::Options {
            existing: Existing::Merge,
            rechecks,
            is_matrix_job: false,
            annotations: BTreeMap::new(),
            dry_run: self.dry_run,
            jobs: self.jobs.clone(),
            now: self.now,
            evidence_policy: EvidencePolicy {
                always: rechecks,
                ..EvidencePolicy::of_writing(rule)
            },
            attesting: None,
        }
    }
}

/// A provider to mirror.
#[derive(Clone, Debug)]
pub struct Task {
    /// Whose releases are mirrored.
    pub provider: ProviderAddr,
    /// Filters that select its versions. A version that matches any of them is mirrored.
    pub filters: Vec<VersionFilter>,
    /// The trust rule for the provider.
    pub rule: Rule,
    /// The versions that are denied.
    pub denied: Denials,
    /// The package hashes of each locked version. No other package of that version is mirrored.
    pub locked: BTreeMap<Version, BTreeSet<PackageHash>>,
    /// The provider's repositories, at least one. The source is read once for all of them.
    pub destinations: Vec<RepoMut>,
}

impl Task {
    /// Whether lock files select every version, so that only packages that they list are mirrored.
    pub fn is_locked(&self) -> bool {
        self.filters.iter().all(|filter| {
            let exact = filter.versions.as_exact();
            exact.is_some_and(|version| self.locked.contains_key(version))
        })
    }

    /// The name of a destination in reports; `None` if there is only one.
    fn label(&self, destination: &RepoMut) -> Option<String> {
        (self.destinations.len() > 1).then(|| destination.to_string())
    }
}

/// Mirrors several providers concurrently, the newest version of each first. It passes the result of each version in each destination to
/// `on_result` as soon as it is known.
pub async fn mirror(
    tasks: Vec<Task>,
    source: &Source,
    options: &Options,
    reporter: &Arc<dyn Reporter>,
    on_result: &OnResult<'_>,
) {
    let side_by_side = SideBySide::default();
    let mirroring = stream::iter(tasks).for_each_concurrent(PROVIDERS, async |task| {
        let journey = Journey {
            task: &task,
            source,
            options,
            reporter,
            side_by_side: &side_by_side,
        };
        journey.run(on_result).await;
    });
    mirroring.await;
}

/// The mirroring of one provider to all of its destinations.
struct Journey<'a> {
    task: &'a Task,
    source: &'a Source,
    options: &'a Options,
    reporter: &'a Arc<dyn Reporter>,
    side_by_side: &'a SideBySide,
}

/// The result of a version in one destination.
type Outcome = Result<Published, Failure>;

impl<'a> Journey<'a> {
    /// Mirrors the selected versions of one provider.
    async fn run(&self, on_result: &OnResult<'_>) {
        // 1. Versions and tags.
        let Some((available, mut targets)) = self.list(on_result).await else {
            return;
        };
        // 2. Selection.
        let Task { provider, rule, .. } = self.task;
        let dating = Dating {
            provider,
            source: self.source,
            rule,
            now: self.options.now,
            dates: Arc::default(),
        };
        let is_there = |version: &Version| targets.iter().all(|target| target.has(version));
        let selection = dating.select(&self.task.filters, &available.versions, is_there);
        let (selection, held, _) = selection.await;
        let selected = self.without_empty(selection.selected);
        let selected = selected.unwrap_or_else(|failure| {
            let failures = targets.iter().map(|target| Err(target.failed(&failure)));
            failures.for_each(on_result);
            Vec::new()
        });
        let can_prove = self.source.has_checksum_documents();
        let attester = self.options.attester.clone();
        let attesting = attester.map(|attester| Attesting {
            attester,
            rule: self.task.rule.canonical(),
            origin: self.source.place(&self.task.provider).to_string(),
        });
        for target in &mut targets {
            target.expect(&selected, can_prove);
            target.attesting.clone_from(&attesting);
        }
        // A store that may refuse evidence is asked with one version, before all others send theirs.
        let mut all = targets.iter();
        let one_first = all.any(|one| one.destination.may_refuse_evidence(&one.tags));
        let versions = selected.iter().map(|one| self.version(one, &targets));
        let mut versions = pin!(self.side_by_side.run(one_first, versions));
        let report = |outcome: Outcome| {
            // The results of a dry run say what a real run would do.
            if let Ok(published) = &outcome
                && self.options.dry_run
            {
                published.report_plan(&**self.reporter);
            }
            on_result(outcome);
        };
        while let Some(outcomes) = versions.next().await {
            outcomes.into_iter().for_each(report);
        }
        for (version, until) in held {
            let subject = Subject::version(&self.task.provider, &version);
            let failure = self.at_source(Problem::Held { until }, subject);
            let lacking = targets.iter().filter(|target| !target.has(&version));
            lacking.for_each(|target| on_result(Err(target.failed(&failure))));
        }
        for no_match in selection.unmatched {
            for target in &targets {
                let stored = self.without_match(&no_match, &available.skipped, target);
                report(stored.await);
            }
        }
    }

    /// Lists the versions of the source and the tags of the destinations. A destination that cannot be read fails separately. `None` if nothing is
    /// left to do.
    async fn list(
        &self,
        on_result: &OnResult<'_>,
    ) -> Option<(AvailableVersions, Vec<MirrorTarget<'a>>)> {
        let Task {
            provider,
            destinations,
            ..
        } = self.task;
        let subject = Subject::provider(provider);
        let available = async {
            let available = self
                .source
                .available_versions(provider, BadEntries::Skipped);
            available.await.map_err(|error| {
                let failure = self.at_source(error, subject.clone());
                for destination in destinations {
                    on_result(Err(failure.to(self.task.label(destination).as_deref())));
                }
            })
        };
        let targets = async {
            let opening = destinations
                .iter()
                .map(|one| MirrorTarget::open(self.task, one, self.options, self.reporter));
            let mut targets = Vec::new();
            for opened in future::join_all(opening).await {
                match opened {
                    Ok(target) => targets.push(target),
                    Err(failure) => on_result(Err(failure)),
                }
            }
            match targets.is_empty() {
                true => Err(()),
                false => Ok(targets),
            }
        };
        let (mut available, targets) = future::try_join(available, targets).await.ok()?;
        let constraints = self.task.filters.iter().map(|filter| &filter.versions);
        let versions = &mut available.versions;
        let denied = &self.task.denied;
        let left_out = denied.leave_out(
            provider,
            constraints,
            versions,
            |one| one.version.version(),
            self.options.now,
        );
        for warning in available.warnings.iter().cloned().chain(left_out) {
            self.warn(subject.clone(), warning);
        }
        Some((available, targets))
    }

    /// Removes versions without any wanted package in the source. It fails if no version remains.
    fn without_empty(&self, mut selected: Vec<Selected>) -> Result<Vec<Selected>, Failure> {
        if !selected.is_empty() && selected.iter().all(Selected::is_empty) {
            let newest = selected.first().and_then(Selected::published);
            let absent = selected.into_iter().flat_map(|one| one.absent);
            let subject = Subject::provider(&self.task.provider);
            return Err(self.without_packages(source::unexplained(absent), newest, subject));
        }
        for one in &selected {
            let has = one.available.platforms.as_deref().unwrap_or_default();
            let absent = source::unexplained(one.absent.clone());
            self.report_absent(one.version(), &absent, has);
        }
        selected.retain(|one| !one.is_empty());
        Ok(selected)
    }

    /// Mirrors one version to all destinations.
    async fn version<'t>(
        &self,
        selected: &Selected,
        targets: &'t [MirrorTarget<'t>],
    ) -> Vec<Outcome> {
        let mut done = Vec::new();
        let (provider, version) = (&self.task.provider, selected.version());
        if let Err(error) = self.task.denied.check(provider, version, self.options.now) {
            let failure = self.at_source(error, Subject::version(provider, version));
            done.extend(targets.iter().map(|one| Err(one.failed(&failure))));
            return done;
        }
        // 3. Presence.
        let (missing, wanted) = self.compare(selected, targets, &mut done).await;
        if missing.is_empty() {
            return done;
        }
        // 4. and 5. Release and verification.
        let (release, absent) = match self.release(selected, &missing).await {
            Ok(released) => released,
            Err(failure) => {
                done.extend(missing.iter().map(|one| Err(one.target.failed(&failure))));
                return done;
            }
        };
        // A destination for which the source has no package is present if it has any wanted package. Otherwise it fails.
        let packages = release.iter().flat_map(|release| &release.packages);
        let released: Vec<_> = packages.map(|package| &package.platform).collect();
        let is_released = |one: &Missing<'_>| released.iter().any(|there| one.platforms.has(there));
        let (missing, unreleased): (Vec<_>, Vec<_>) = missing.into_iter().partition(is_released);
        let version = selected.version();
        for one in unreleased {
            done.push(match one.present_for(version, &wanted) {
                Some(published) => {
                    if release.is_none() {
                        self.report_absent(version, &absent, &[]);
                    }
                    Ok(published)
                }
                None => {
                    let subject = Subject::version(&self.task.provider, version);
                    let failure = self.without_packages(absent.clone(), None, subject);
                    Err(one.target.failed(&failure))
                }
            });
        }
        // 6. Copies.
        if let Some(release) = release {
            self.copy(release, missing, &mut done).await;
        }
        done
    }

    /// Compares all destinations with the wanted platforms. The source's list of platforms is requested only if a destination has the version.
    async fn compare<'t>(
        &self,
        selected: &Selected,
        targets: &'t [MirrorTarget<'t>],
        done: &mut Vec<Outcome>,
    ) -> (Vec<Missing<'t>>, Platforms) {
        let version = selected.version();
        let subject = Subject::version(&self.task.provider, version);
        let reading = targets.iter().map(async |target| {
            let stored = target.read_stored(version).await;
            let stored = stored.map_err(|problem| target.failure(problem, subject.clone()))?;
            Ok((target, stored))
        });
        let read = successes(future::join_all(reading).await, done);
        let mut wanted = selected.platforms.clone();
        let is_stored = read.iter().any(|(_, stored)| stored.is_some());
        if is_stored && wanted == Platforms::All {
            let platforms = self
                .source
                .platforms(&self.task.provider, &selected.available.version);
            match platforms.await {
                Ok(platforms) => wanted = Platforms::Among(platforms),
                Err(error) => {
                    let failure = self.at_source(error, subject);
                    done.extend(read.iter().map(|(target, _)| Err(target.failed(&failure))));
                    return (Vec::new(), wanted);
                }
            }
        }
        let mut missing = Vec::new();
        for (target, stored) in read {
            match target.compare(version, stored, &wanted).await {
                Ok(TargetState::Present(published)) => done.push(Ok(*published)),
                Ok(TargetState::Missing(one)) => missing.push(*one),
                Err(problem) => done.push(Err(target.failure(problem, subject.clone()))),
            }
        }
        (missing, wanted)
    }

    /// Requests the release for the platforms that are missing in any destination, and verifies it. Returns it with the platforms for which the source
    /// has no package; without a release if it has none at all.
    async fn release(
        &self,
        selected: &Selected,
        missing: &[Missing<'_>],
    ) -> Result<
        (
            Option<Verified<Release<SourcePackage>>>,
            BTreeMap<Platform, String>,
        ),
        Failure,
    > {
        let (provider, version) = (&self.task.provider, selected.version());
        let subject = Subject::version(provider, version);
        let refused = |error| self.at_source(error, subject.clone());
        let is_pinned = self.task.rule.pinned();
        let may_be_signed =
            self.source.has_checksum_documents() || is_pinned && self.source.may_be_signed();
        if !may_be_signed && missing.iter().any(|one| one.stored.is_none()) {
            // If the policy cannot accept an unsigned release, fail before any package is downloaded.
            let nothing = Release::unproven(provider, version, Vec::new());
            self.verify(nothing).await.map_err(refused)?;
        }
        let mut platforms = Platforms::Among(Vec::new());
        for one in missing {
            platforms.add(&one.platforms);
        }
        let answer =
            self.source
                .release(provider, &selected.available.version, &platforms, is_pinned);
        let ReleaseAnswer {
            release, absent, ..
        } = answer
            .await
            .map_err(|error| self.at_source(error, subject.clone()))?;
        let Some(release) = release else {
            return Ok((None, absent));
        };
        self.report_absent(version, &absent, &[]);
        let verified = self.verify(release).await.map_err(refused)?;
        let aged = self.check_age(selected, &verified);
        aged.map_err(|problem| self.at_source(problem, subject.clone()))?;
        self.reporter.report(verified.event());
        Ok((Some(verified), absent))
    }

    async fn verify(
        &self,
        release: Release<SourcePackage>,
    ) -> Result<Verified<Release<SourcePackage>>, trust::Error> {
        let (rule, now) = (&self.task.rule, self.options.now);
        let locked = self.task.locked.get(&release.version);
        // The lock file replaces the signature that this source cannot have. With pinned keys, a signature by one of them is required.
        let lock_is_enough =
            locked.is_some() && !self.source.has_checksum_documents() && !rule.pinned();
        let rule = match lock_is_enough {
            true => Cow::Owned(Rule {
                unsigned: Unsigned::Allow,
                ..rule.clone()
            }),
            false => Cow::Borrowed(rule),
        };
        let mut verified = prove(release, &rule, now).await?;
        if let Some(hashes) = locked {
            verified = verified.locked(hashes)?;
        }
        let notes = &verified.authentication().notes;
        let pins_keys = self.options.pins_keys && !lock_is_enough;
        if pins_keys && notes.contains(&Note::UnverifiedTransport) {
            let key = verified.authentication().fingerprint.clone();
            return Err(trust::Error::UnverifiedTransport { key });
        }
        Ok(verified)
    }

    /// Copies the missing packages from the source into the first destination that takes them, and from there into the others.
    async fn copy(
        &self,
        release: Verified<Release<SourcePackage>>,
        missing: Vec<Missing<'_>>,
        done: &mut Vec<Outcome>,
    ) {
        let subject = Subject::version(&release.provider, &release.version);
        let release = match source::complete(release).await {
            Ok(release) => release,
            Err(error) => {
                let failure = self.at_source(error, subject);
                done.extend(missing.iter().map(|one| Err(one.target.failed(&failure))));
                return;
            }
        };
        let mut filled: Option<&RepoMut> = None;
        for one in &missing {
            let published = match filled {
                None => {
                    let at = At::Source(self.source.place(&self.task.provider));
                    let published = one.publish(release.clone()).await;
                    published
                        .map_err(|error| unpublished::<SourcePackage>(error, &subject, one, at))
                }
                Some(first) => {
                    let at = At::read(first.place());
                    let packages = release.packages.iter().map(|package| package.expected);
                    let packages = packages.map(|package| (first.blob(package), package.size));
                    let packages: Vec<_> = packages.collect();
                    let published = one.publish(release.clone().located(packages)).await;
                    published.map_err(|error| unpublished::<StoreBlob>(error, &subject, one, at))
                }
            };
            if published.is_ok() && !self.options.dry_run {
                filled = filled.or(Some(one.target.destination));
            }
            done.push(published);
        }
    }

    /// Warns about wanted platforms for which the source has no package, with what it says of each. `has` are those that it has; empty if they are
    /// unknown.
    fn report_absent(
        &self,
        version: &Version,
        absent: &BTreeMap<Platform, String>,
        has: &[Platform],
    ) {
        for (platform, said) in absent {
            let warning = Warning::NoPackage {
                place: self.source.place(&self.task.provider),
                platform: platform.clone(),
                available: has.to_vec(),
                answer: printable(said),
            };
            self.warn(Subject::version(&self.task.provider, version), warning);
        }
    }

    fn warn(&self, subject: Subject, warning: Warning) {
        self.reporter.report(Event::Warning { subject, warning });
    }

    /// The failure that the source has no package for any of these platforms. It lists the available ones if they are known.
    fn without_packages(
        &self,
        absent: BTreeMap<Platform, String>,
        published: Option<(Version, Vec<Platform>)>,
        subject: Subject,
    ) -> Failure {
        let problem = source::Error::NoPlatform {
            platforms: absent,
            available: Vec::from_iter(published),
        };
        self.at_source(problem, subject)
    }

    /// A failure on the source's side.
    fn at_source(&self, problem: impl Into<Problem>, subject: Subject) -> Failure {
        problem
            .into()
            .of(subject, At::Source(self.source.place(&self.task.provider)))
    }
}

/// The failure to publish a release, with the side on which it happened. `at` is the side of the packages.
fn unpublished<B: PackageBlob>(
    error: publish::Error<B::Failure>,
    subject: &Subject,
    missing: &Missing<'_>,
    at: At,
) -> Failure {
    let (target, subject) = (missing.target, subject.clone());
    match error {
        publish::Error::Destination(problem) => target.failure(problem, subject),
        publish::Error::Source(undelivered) => {
            let subject = match &undelivered.package {
                Some(package) => subject.platform(&package.platform),
                None => subject,
            };
            target.failed(&B::problem(undelivered).of(subject, at))
        }
    }
}

/// What succeeded. The failures are results.
fn successes<T>(all: Vec<Result<T, Failure>>, done: &mut Vec<Outcome>) -> Vec<T> {
    let mut found = Vec::new();
    for one in all {
        match one {
            Ok(one) => found.push(one),
            Err(failure) => done.push(Err(failure)),
        }
    }
    found
}
