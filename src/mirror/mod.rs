//! Mirror: copies providers from a source into stores.
//!
//! For each provider:
//!
//! 1. The source lists its **versions**, and each destination its **tags**, at the same time.
//! 2. [`VersionFilter`]s **select** among the versions.
//! 3. A version is **present** if the index in the destination has every wanted platform. tfoci then requests nothing else from the
//!    source. If all versions are, it looks for two of their platform manifests, which a cleanup of the registry may have deleted. A locked
//!    version that the source has withdrawn is present too, if the destination has all of it.
//! 4. For any other version, the source returns the **release**: metadata of the missing packages, checksum document and signature.
//! 5. [`crate::trust`] **verifies** it before any package is transferred. Only then does tfoci request packages whose sizes are unknown.
//! 6. [`crate::publish`] **copies** the missing packages, without a file in between. It does not open packages, but refuses one that does
//!    not end like a zip.
//!
//! The versions of a provider travel side by side ([`SideBySide`]). An error in one version fails that version only, and a filter without a
//! matching version fails separately.
//!
//! # Several destinations
//! A package that several destinations lack is downloaded once ([`crate::blob::Shared`]). Each destination fails separately, and every
//! report names its destination.

mod comparison;
mod completed;
mod copying;
mod listing;
mod locks;
mod release;
mod report;
mod selection;
mod shard;
mod target;
mod withdrawn;

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::Arc;
use std::time::SystemTime;

use futures_util::{StreamExt as _, stream};

use crate::address::ProviderAddr;
use crate::disk::temp_file::TempFileBudget;
use crate::event::Reporter;
use crate::hash::PackageHash;
use crate::jobs::{Jobs, SideBySide};
use crate::outcome::{Failure, OnResult};
use crate::publish::{self, EvidencePolicy, Existing};
use crate::source::{ReleaseAnswer, Source};
use crate::store::{OtherWriters, RepoMut};
use crate::trust::Rule;
use crate::version::Version;
use comparison::Compared;
use completed::Completed;
pub use locks::Locks;
use selection::Selected;
pub use selection::VersionFilter;
pub use shard::{Shard, ShardError};
use target::{MirrorTarget, Missing};

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
}

impl Options {
    /// How versions are published under a trust rule. `rechecks` is as in [`publish::Options`].
    fn publishing(&self, rule: &Rule, rechecks: bool) -> publish::Options {
        publish::Options {
            existing: Existing::Merge,
            rechecks,
            others: OtherWriters::Possible,
            annotations: BTreeMap::new(),
            dry_run: self.dry_run,
            jobs: self.jobs.clone(),
            now: self.now,
            evidence_policy: EvidencePolicy {
                always: rechecks,
                ..EvidencePolicy::of_writing(rule)
            },
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
    let shared_files = TempFileBudget::new(options.jobs.count());
    let side_by_side = SideBySide::default();
    let mirroring = stream::iter(tasks).for_each_concurrent(PROVIDERS, async |task| {
        let journey = Journey {
            task: &task,
            source,
            options,
            reporter,
            shared_files: &shared_files,
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
    /// Limits the temporary files of packages that several destinations read. A version with more packages than the limit takes the whole
    /// budget, and creates one file per package.
    shared_files: &'a TempFileBudget,
    side_by_side: &'a SideBySide,
}

impl Journey<'_> {
    /// Mirrors the selected versions of one provider.
    async fn run(&self, on_result: &OnResult<'_>) {
        let fail =
            |failures: Vec<Failure>| failures.into_iter().for_each(|one| on_result(Err(one)));
        // 1. Versions and tags.
        let (available, mut targets) = match self.list(on_result).await {
            Ok(listed) => listed,
            Err(failures) => return fail(failures),
        };
        // 2. Selection.
        let selection = selection::select(&self.task.filters, &available.versions);
        let selected = self.with_packages(selection.selected);
        let selected = selected.unwrap_or_else(|failure| {
            fail(self.of_each(&targets, failure));
            Vec::new()
        });
        self.report_selected(&selected, &targets);
        let can_prove = self.source.has_checksum_documents();
        let expecting = targets.iter_mut();
        expecting.for_each(|target| target.expect(&selected, can_prove));
        let mut all = targets.iter();
        let one_first = all.any(|one| one.destination.may_refuse_evidence(&one.tags));
        let versions = selected.iter().map(|one| self.version(one, &targets));
        let mut versions = pin!(self.side_by_side.run(one_first, versions));
        while let Some(completed) = versions.next().await {
            Completed::report(completed, on_result);
        }
        for no_match in selection.unmatched {
            let completed = self.without_match(&no_match, &available.skipped, &targets);
            Completed::report(completed.await, on_result);
        }
    }

    /// Mirrors one version to all destinations.
    async fn version<'t>(
        &self,
        selected: &Selected,
        targets: &'t [MirrorTarget<'t>],
    ) -> Vec<Completed<'t>> {
        // 3. Presence.
        let Compared {
            mut completed,
            missing,
            wanted,
        } = self.compare(selected, targets).await;
        if missing.is_empty() {
            return completed;
        }
        let proven = async {
            // 4. Release.
            let ReleaseAnswer {
                release, absent, ..
            } = self.release(selected, &missing).await?;
            // 5. Verification.
            let verified = match release {
                Some(release) => Some(self.verified(release, &absent).await?),
                None => None,
            };
            Ok((verified, absent))
        };
        let (release, absent) = match proven.await {
            Ok(proven) => proven,
            Err(failure) => {
                let failed = missing
                    .iter()
                    .map(|one| Completed::failed(one.target, &failure));
                completed.extend(failed);
                return completed;
            }
        };
        // Destinations for which the origin has no package are done: they have all that there is, or fail.
        let is_released = |one: &Missing<'_>| {
            let packages = release.iter().flat_map(|release| &release.packages);
            packages
                .into_iter()
                .any(|package| one.platforms.has(&package.platform))
        };
        let (missing, unreleased): (Vec<_>, Vec<_>) = missing.into_iter().partition(is_released);
        let unreleased = self.unreleased(selected, &unreleased, &wanted, &absent);
        if release.is_none() && unreleased.iter().any(|one| one.result.is_ok()) {
            self.report_absent(selected.available.version.version(), &absent, &[]);
        }
        completed.extend(unreleased);
        // 6. Copies.
        if let Some(release) = release {
            completed.extend(self.copy(release, missing).await);
        }
        completed
    }
}
