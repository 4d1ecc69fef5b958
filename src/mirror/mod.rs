//! Mirror: copies providers from a source into stores.
//!
//! For each provider:
//!
//! 1. The source lists its **versions**, and each destination its **tags**, at the same time.
//! 2. [`VersionFilter`]s **select** among the versions.
//! 3. A version is **present** if the index in the destination has every wanted platform. tfoci then requests nothing else from the
//!    source. A locked version that the source has withdrawn is present too, if the destination has all of it.
//! 4. For any other version, the source returns the **release**: metadata of the missing packages, checksum document and signature.
//! 5. [`crate::trust`] **verifies** it before any package is transferred. Only then does tfoci request packages whose sizes are unknown.
//! 6. [`crate::publish`] **copies** the missing packages, without a file in between. It does not open packages, but refuses one that does
//!    not end like a zip.
//!
//! While the packages of one version are transferred, tfoci verifies the next version. An error in one version fails that version only, and
//! a filter without a matching version fails separately.
//!
//! # Several destinations
//! A package that several destinations lack is downloaded once ([`crate::blob::Shared`]). Each destination fails separately, and every
//! report names its destination.

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
use crate::store::RepoMut;
use crate::trust::Rule;
use crate::version::Version;
use journey::Journey;
pub use locks::Locks;
pub use selection::VersionFilter;
pub use shard::Shard;

/// The number of providers that are mirrored concurrently. Most of the time they wait for responses, and one host receives at most 16 small
/// requests at once.
const PROVIDERS: usize = 16;

/// Options of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Options for publishing. The evidence policy is replaced by that of each task's rule.
    pub publish: publish::Options,
    /// Whether versions that are present are compared with the source again.
    pub recheck: bool,
    /// Whether the signing keys will be pinned. Keys are then accepted only from a verified connection.
    pub pins_keys: bool,
}

/// A provider to mirror.
#[derive(Clone, Debug)]
pub struct Task {
    /// The address of the provider.
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
