//! Mirror: copies providers from a source into stores.
//!
//! For each provider:
//!
//! 1. The source lists its **versions**, and each destination its **tags**, at the same time.
//! 2. [`VersionFilter`]s **select** among the versions that are not denied and are old enough.
//! 3. A version is **present** if the index in the destination has every wanted platform. tfoci then requests nothing else from the source, except
//!    the platforms of the version if the list has none. A locked version that the source has withdrawn is present too, if the destination has
//!    the wanted platforms. With an attester, its attestation has to be there, too.
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

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::Arc;
use std::time::SystemTime;

use futures_util::{StreamExt as _, future, stream};

use crate::address::ProviderAddr;
use crate::attestation::Attester;
use crate::authentication::Note;
use crate::event::{Reporter, Subject, Warning};
use crate::hash::PackageHash;
use crate::jobs::{Jobs, SideBySide};
use crate::outcome::{Failure, OnResult, Problem, Published};
use crate::platform::{Platform, Platforms};
use crate::prove::prove;
use crate::release::Release;
use crate::source::{self, AvailableVersions, ReleaseAnswer, Source, SourcePackage};
use crate::store::RepoMut;
use crate::trust::rule::Unsigned;
use crate::trust::{self, Denials, Rule, Verified};
use crate::version::Version;
use age::Dating;
pub use locks::Locks;
use selection::Selected;
pub use selection::VersionFilter;
pub use shard::{Shard, ShardError};
use target::{Missing, Target, TargetState};

/// The number of providers that are mirrored at once. The 16 of other commands take more than 28 MiB for packages of 0.5 MB, and are not faster
/// (benches/far.sh).
const PROVIDERS: usize = 13;

/// Options of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether versions that a destination has are compared with the source again ([`crate::publish::Options::rechecks`]).
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
    /// The provider's repositories, at least one.
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

    /// An outcome with the name of its destination, if there are several.
    fn named(&self, mut outcome: Outcome, destination: &RepoMut) -> Outcome {
        let label = self.label(destination);
        match &mut outcome {
            Ok(published) => published.destination = label,
            Err(Failure { subject, .. }) => subject
                .iter_mut()
                .for_each(|subject| subject.destination.clone_from(&label)),
        }
        outcome
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

/// A verified release with complete packages, and the platforms for which the source has no package; no release if it has none at all.
type Released = Result<(Option<Verified<Release<SourcePackage>>>, BTreeSet<Platform>), Failure>;

impl<'a> Journey<'a> {
    /// Mirrors the selected versions of one provider.
    async fn run(&self, on_result: &OnResult<'_>) {
        // 1. Versions and tags.
        let Some((available, targets)) = self.list(on_result).await else {
            return;
        };
        // 2. Selection.
        let task = self.task;
        let Task { provider, rule, .. } = task;
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
            for target in &targets {
                on_result(task.named(Err(failure.clone()), target.destination));
            }
            Vec::new()
        });
        for target in &targets {
            target.expect(&selected);
        }
        // A store that may refuse evidence is asked with one version, before all others send theirs.
        let mut all = targets.iter();
        let one_first = all.any(|one| one.destination.may_refuse_evidence(&one.tags));
        let versions = selected.iter().map(|one| self.version(one, &targets));
        let mut versions = pin!(self.side_by_side.run(one_first, versions));
        while let Some(outcomes) = versions.next().await {
            outcomes.into_iter().for_each(on_result);
        }
        for (version, until) in held {
            let subject = Subject::version(provider, &version);
            let failure = self.at_source(Problem::Held { until }, subject);
            for target in targets.iter().filter(|target| !target.has(&version)) {
                on_result(task.named(Err(failure.clone()), target.destination));
            }
        }
        for filter in &selection.unmatched {
            for target in &targets {
                let stored = self.without_match(filter, &available, target);
                on_result(task.named(stored.await, target.destination));
            }
        }
    }

    /// Lists the versions of the source and the tags of the destinations. A destination that cannot be read fails separately. `None` if nothing is
    /// left to do.
    async fn list(&self, on_result: &OnResult<'_>) -> Option<(AvailableVersions, Vec<Target<'a>>)> {
        let Task {
            provider,
            destinations,
            ..
        } = self.task;
        let subject = Subject::provider(provider);
        let available = async {
            let available = self.source.available_versions(provider);
            available.await.map_err(|error| {
                let failure = self.at_source(error, subject.clone());
                for destination in destinations {
                    on_result(self.task.named(Err(failure.clone()), destination));
                }
            })
        };
        let targets = async {
            let opening = destinations
                .iter()
                .map(|one| Target::open(self.task, one, self.source, self.options, self.reporter));
            let mut targets = Vec::new();
            let opened = future::join_all(opening).await;
            for (destination, opened) in destinations.iter().zip(opened) {
                match opened {
                    Ok(target) => targets.push(target),
                    Err(failure) => {
                        on_result(self.task.named(Err(failure), destination));
                    }
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
            self.reporter.warn(subject.clone(), warning);
        }
        Some((available, targets))
    }

    /// Removes versions without any wanted package in the source. It fails if no version remains.
    fn without_empty(&self, mut selected: Vec<Selected>) -> Result<Vec<Selected>, Failure> {
        if !selected.is_empty() && selected.iter().all(Selected::is_empty) {
            let absent = selected.into_iter().flat_map(|one| one.absent);
            let subject = Subject::provider(&self.task.provider);
            return Err(self.without_packages(absent.collect(), subject));
        }
        for one in &selected {
            self.report_absent(one.version(), &one.absent);
        }
        selected.retain(|one| !one.is_empty());
        Ok(selected)
    }

    /// Mirrors one version to all destinations, one after the other.
    async fn version(&self, selected: &Selected, targets: &[Target<'_>]) -> Vec<Outcome> {
        let (mut filled, mut done) = (None, Vec::new());
        for target in targets {
            let outcome = self.version_to(target, selected, &mut filled).await;
            done.push(self.task.named(outcome, target.destination));
        }
        done
    }

    /// Mirrors one version to a destination. `filled` is the first one that has taken the packages.
    async fn version_to<'t>(
        &self,
        target: &'t Target<'t>,
        selected: &Selected,
        filled: &mut Option<&'t RepoMut>,
    ) -> Outcome {
        let (provider, version) = (&self.task.provider, selected.version());
        let subject = Subject::version(provider, version);
        let in_store = |problem: Problem| target.failure(problem, subject.clone());
        let denied = self.task.denied.check(provider, version, self.options.now);
        denied.map_err(|error| self.at_source(error, subject.clone()))?;
        // 3. Presence. The source's list of platforms is requested only if a destination has the version.
        let stored = target.read_stored(version).await.map_err(in_store)?;
        let mut wanted = selected.platforms.clone();
        if stored.is_some() && wanted == Platforms::All {
            let listed = self.source.platforms(provider, &selected.available.version);
            let listed = listed.await;
            wanted =
                Platforms::Among(listed.map_err(|error| self.at_source(error, subject.clone()))?);
        }
        let compared = target.compare(version, stored, &wanted).await;
        let missing = match compared.map_err(in_store)? {
            TargetState::Present(published) => return Ok(*published),
            TargetState::Missing(missing) => missing,
        };
        // 4. and 5. Release and verification.
        let (release, absent) = self.release(selected, &missing).await?;
        let Some(release) = release else {
            // The destination may have other wanted packages.
            let Some(published) = missing.present_for(version, &wanted) else {
                return Err(self.without_packages(absent, subject));
            };
            self.report_absent(version, &absent);
            return Ok(published);
        };
        // 6. Copies.
        self.copy(&missing, release, filled).await
    }

    /// Copies the missing packages from the source into the first destination that takes them, and from there into the others.
    async fn copy<'t>(
        &self,
        missing: &Missing<'t>,
        release: Verified<Release<SourcePackage>>,
        filled: &mut Option<&'t RepoMut>,
    ) -> Outcome {
        let (target, subject) = (
            missing.target,
            Subject::version(&release.provider, &release.version),
        );
        let (published, at) = match filled {
            None => {
                let at = self.source.place(&self.task.provider);
                (missing.publish(release).await, at)
            }
            Some(filled) => {
                let packages = release.packages.iter().map(|package| package.expected);
                let packages = packages.map(|package| (filled.blob(package), package.size));
                let packages: Vec<_> = packages.collect();
                let published = missing.publish(release.located(packages)).await;
                (published, filled.place())
            }
        };
        let published = published.map_err(|error| error.of(subject, at, target.destination))?;
        if !self.options.dry_run {
            filled.get_or_insert(target.destination);
        }
        Ok(published)
    }

    /// Requests the release for the missing platforms, verifies it, and finds out the sizes of its packages.
    async fn release(&self, selected: &Selected, missing: &Missing<'_>) -> Released {
        let (provider, version) = (&self.task.provider, selected.version());
        let subject = Subject::version(provider, version);
        let at_source = |problem: Problem| self.at_source(problem, subject.clone());
        let is_pinned = self.task.rule.pinned();
        let may_be_signed = self.source.has_checksum_documents() || is_pinned;
        if !may_be_signed && missing.stored.is_none() {
            // If the policy cannot accept an unsigned release, fail before any package is downloaded.
            let nothing = Release::unproven(provider, version, Vec::new());
            let refused = self.verify(nothing).await;
            refused.map_err(|error| at_source(error.into()))?;
        }
        let spelled = &selected.available.version;
        let answer = self
            .source
            .release(provider, spelled, &missing.platforms, is_pinned);
        let ReleaseAnswer {
            release, absent, ..
        } = answer.await.map_err(|error| at_source(error.into()))?;
        let Some(release) = release else {
            return Ok((None, absent));
        };
        self.report_absent(version, &absent);
        let verified = self.verify(release).await;
        let verified = verified.map_err(|error| at_source(error.into()))?;
        self.check_age(selected, &verified).map_err(at_source)?;
        self.reporter.report(verified.event());
        let complete = source::complete(verified).await;
        let complete = complete.map_err(|error| at_source(error.into()))?;
        Ok((Some(complete), absent))
    }

    async fn verify(
        &self,
        release: Release<SourcePackage>,
    ) -> Result<Verified<Release<SourcePackage>>, trust::Error> {
        let (rule, now) = (&self.task.rule, self.options.now);
        let locked = self.task.locked.get(&release.version);
        let mut rule = rule.clone();
        // The lock file replaces the signature that this source cannot have. With pinned keys, a signature by one of them is required.
        let lock_is_enough =
            locked.is_some() && !self.source.has_checksum_documents() && !rule.pinned();
        if lock_is_enough {
            rule.unsigned = Unsigned::Allow;
        }
        let mut verified = prove(release, &rule, now).await?;
        if let Some(hashes) = locked {
            verified = verified.locked(hashes)?;
        }
        let notes = &verified.authentication().notes;
        let pins_keys = self.options.pins_keys && !lock_is_enough;
        if pins_keys && notes.contains(&Note::UnverifiedTransport) {
            return Err(trust::Error::UnverifiedTransport);
        }
        Ok(verified)
    }

    /// The result of a filter without a matching version: present, if the filter is for a locked version that the destination has.
    async fn without_match(
        &self,
        filter: &VersionFilter,
        available: &AvailableVersions,
        target: &Target<'_>,
    ) -> Outcome {
        let provider = &self.task.provider;
        let versions = || {
            let versions = available.versions.iter();
            versions.map(|one| one.version.version().clone()).collect()
        };
        let exact = filter.versions.as_exact();
        let Some(version) = exact.filter(|one| self.task.locked.contains_key(one)) else {
            let problem = Problem::NoVersion {
                constraints: filter.versions.clone(),
                available: versions(),
            };
            return Err(self.at_source(problem, Subject::provider(provider)));
        };
        let subject = Subject::version(provider, version);
        let in_store = |problem: Problem| target.failure(problem, subject.clone());
        let stored = target.read_stored(version).await.map_err(in_store)?;
        if let Some(there) = &stored {
            // The list of all wanted platforms is gone with the version.
            let wanted = match &filter.platforms {
                Platforms::All => Platforms::Among(there.platforms.iter().cloned().collect()),
                named => named.clone(),
            };
            let compared = target.compare(version, stored, &wanted).await;
            if let TargetState::Present(published) = compared.map_err(in_store)? {
                let text = format!(
                    "it is not published any more in {}",
                    self.source.place(provider)
                );
                target.reporter.warn(subject, Warning::Other(text));
                return Ok(*published);
            }
        }
        let problem = Problem::Withdrawn {
            available: versions(),
            admitted: None,
        };
        Err(self.at_source(problem, subject))
    }

    /// Warns about wanted platforms for which the source has no package.
    fn report_absent<'p>(&self, version: &Version, absent: impl IntoIterator<Item = &'p Platform>) {
        for platform in absent {
            let warning = Warning::NoPackage {
                place: self.source.place(&self.task.provider),
                platform: platform.clone(),
            };
            let subject = Subject::version(&self.task.provider, version);
            self.reporter.warn(subject, warning);
        }
    }

    /// The failure that the source has no package for any of these platforms.
    fn without_packages(&self, platforms: BTreeSet<Platform>, subject: Subject) -> Failure {
        self.at_source(source::Error::NoPlatform { platforms }, subject)
    }

    /// A failure of the source.
    fn at_source(&self, problem: impl Into<Problem>, subject: Subject) -> Failure {
        problem
            .into()
            .of(subject, Some(self.source.place(&self.task.provider)))
    }
}
