//! Mirror: from the origins of providers into stores.
//!
//! For each provider:
//!
//! 1. The source lists its **versions**, and each destination its **tags**, at the same time.
//! 2. [`VersionFilter`]s **select** among the versions.
//! 3. A version that a destination has for every platform is **present**: its index says so, and the source is not asked again. So is
//!    one that is locked, and that its source has withdrawn since.
//! 4. Of any other, the source gives the **release**: metadata of the missing packages, and the proof.
//! 5. [`crate::trust`] **verifies** it before any package flows. Only then are packages requested whose sizes the source did not say.
//! 6. [`crate::publish`] **copies** what is missing, package by package, without a file in between. Packages are not opened on the way;
//!    one that does not even end as a zip does never arrives.
//!
//! While the packages of one version flow, the proof of the next one is fetched. An error in one version fails that version only, and a
//! filter that no version matches fails by itself.
//!
//! # Several destinations
//! What several destinations lack is read from the source once ([`crate::blob::Shared`]). Each destination fails by itself, and all that
//! is reported says which one it is about.

mod journey;
mod locks;
mod provider;
mod report;
mod selection;
mod shard;
mod target;
mod version;
mod withdrawn;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::{StreamExt as _, stream};

use crate::address::ProviderAddr;
use crate::disk::temp_file::TempFileBudget;
use crate::event::Reporter;
use crate::hash::PackageHash;
use crate::outcome::OnResult;
use crate::publish;
use crate::source::Source;
use crate::store::{RepoMut, WriteStore};
use crate::trust::Rule;
use crate::version::Version;
use journey::Journey;
pub use locks::Locks;
pub use selection::VersionFilter;
pub use shard::Shard;

/// How many providers are worked on at once: most of the time they wait for an answer.
const PROVIDERS: usize = 16;

/// How to mirror.
#[derive(Clone, Debug)]
pub struct Options {
    /// How each version is published. Its evidence policy follows from each task's rule.
    pub publish: publish::Options,
    /// Whether what is there is compared with what the source has now.
    pub recheck: bool,
    /// Whether the signing keys are to be pinned: then only those are accepted that came over a verified connection.
    pub pins_keys: bool,
}

/// A provider to mirror.
#[derive(Clone, Debug)]
pub struct Task<D> {
    /// The provider.
    pub provider: ProviderAddr,
    /// Which versions of it.
    pub filters: Vec<VersionFilter>,
    /// Which keys and releases are accepted.
    pub rule: Rule,
    /// The package hashes of each locked version: no other package of it is mirrored.
    pub locked: BTreeMap<Version, BTreeSet<PackageHash>>,
    /// The provider's repositories, at least one. The source is read once for all of them.
    pub destinations: Vec<RepoMut<D>>,
}

impl<D: WriteStore> Task<D> {
    /// What distinguishes a destination; `None` if there is only one.
    fn label(&self, destination: &RepoMut<D>) -> Option<String> {
        (self.destinations.len() > 1).then(|| destination.to_string())
    }
}

/// Mirrors providers, several at once, of each the newest version first, and reports what became of each version in each destination
/// to `on_result` as soon as it is done.
pub async fn mirror<D: WriteStore>(
    tasks: Vec<Task<D>>,
    source: &Source,
    options: &Options,
    reporter: &Arc<dyn Reporter>,
    on_result: &OnResult<'_>,
) {
    let shared_files = TempFileBudget::new(options.publish.jobs);
    let mirroring = stream::iter(tasks).for_each_concurrent(PROVIDERS, async |task| {
        let journey = Journey {
            task: &task,
            source,
            options,
            reporter,
            shared_files: &shared_files,
        };
        journey.run(on_result).await;
    });
    mirroring.await;
}
