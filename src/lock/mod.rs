//! Lock: the hashes that lock files record of providers, mostly without downloading packages.
//!
//! For each provider, tfoci selects a version as clients do, verifies its release, and returns the hashes to record:
//!
//! | the release | recorded |
//! | --- | --- |
//! | signed by a pinned key, or by a key that the origin served over verified TLS | every line of its checksum document |
//! | from a store, with `--trust-store` | the digests of its packages |
//! | unpacked in a filesystem mirror, accepted by the policy or the lock file | the `h1` of the directories |
//! | from a mirror, locked already and installed now, if the user has no rule for it | what is locked, and the `h1` of a locked zip |
//! | anything else that the policy accepts | the digests of the packages for the wanted platforms, which are downloaded and hashed |
//!
//! For its default origin, `tofu` also records what the origin reports without a signature, and so does tfoci for it where no key is
//! pinned ([clients: recorded hashes](crate::clients#recorded-hashes)).
//!
//! With `--h1`, the packages for the wanted platforms are downloaded anyway, and the `h1` of their unpacked directories is recorded too
//! ([clients: recorded hashes](crate::clients#recorded-hashes)).
//!
//! [`lock`] may also install the packages for the wanted platforms, as `init` does: it then records the `h1` of each. A version that is
//! locked and installed already needs no request but that for the list of versions.
//!
//! A provider is asked for once, however many lock files need it. [`target`] reads and writes the files.

mod method;
mod packages;
mod recorded;
mod release_zips;
mod released;
mod same;
mod selection;
mod stored;
pub mod target;
mod unpacked;

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use std::sync::Arc;

use futures_util::{StreamExt as _, stream};

use crate::address::ProviderAddr;
use crate::authentication::Authentication;
use crate::constraint::VersionConstraints;
use crate::event::{Reporter, Subject};
use crate::examine::TrustOptions;
use crate::hash::PackageHash;
use crate::install::{InstalledPackage, Installer};
use crate::jobs::Jobs;
use crate::lockfile::Client;
use crate::outcome::{At, Failure, Problem};
use crate::place::Place;
use crate::platform::{Platform, Platforms};
use crate::version::Version;

use method::Listing;
pub use method::Method;
use recorded::{Recorded, believes_origin};

/// The number of providers that are locked concurrently. They mostly wait for responses.
const PROVIDERS: usize = 16;

/// The options of all providers.
#[derive(Clone, Debug)]
pub struct Options {
    /// The keys to trust, and the releases to refuse.
    pub trust: TrustOptions,
    /// Whether to believe the digests that a store or mirror states.
    pub trust_store: bool,
    /// The platforms whose packages are downloaded to record the `h1` of their directories.
    pub h1: Platforms,
    /// The platforms whose packages are downloaded, if packages have to be.
    pub platforms: Platforms,
    /// Whether an entry is locked for the platforms that it has, instead of the others. The `h1` are then those of the platforms of which it has
    /// one, if any are wanted.
    pub same: bool,
    /// Whether the user named these platforms. It is then an error if a version has no package for one of them.
    pub are_named: bool,
    /// Whether to select the newest version even if another one is locked.
    pub upgrade: bool,
    /// The number of concurrent downloads.
    pub jobs: Jobs,
}

/// A provider, and what each lock file needs of it.
#[derive(Clone)]
pub struct Task {
    /// The provider's address.
    pub provider: ProviderAddr,
    /// The installation methods for it, in the order in which clients use them.
    pub methods: Vec<Method>,
    /// What each lock file needs.
    pub wanted: Vec<Wanted>,
}

impl Options {
    /// Whether any `h1` is wanted.
    fn wants_h1(&self) -> bool {
        self.h1
            .named()
            .is_none_or(|platforms| !platforms.is_empty())
    }
}

/// What one lock file needs of a provider.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The number of the lock file, which the result has too.
    pub file: usize,
    /// The acceptable versions.
    pub constraints: VersionConstraints,
    /// The version that is locked now, with its hashes.
    pub locked: Option<LockedVersion>,
    /// The client that the lock file is for. Clients record different hashes.
    pub client: Client,
}

impl Wanted {
    /// The hashes that are locked now, if this version is.
    fn locked_hashes(&self, version: &Version) -> Option<&BTreeSet<PackageHash>> {
        let locked = self.locked.as_ref();
        let locked = locked.filter(|(locked, _)| locked == version);
        locked.map(|(_, hashes)| hashes)
    }
}

/// A provider version to record in a lock file.
#[derive(Clone, Debug)]
pub struct Locked {
    /// The selected version.
    pub version: Version,
    /// How its release was authenticated.
    pub authentication: Authentication,
    /// The store or source that it comes from.
    pub place: Place,
    /// The hashes to record.
    pub hashes: BTreeSet<PackageHash>,
    /// The packages that were installed, if any were to be.
    pub installed: Vec<InstalledPackage>,
    /// The only platforms that the hashes are for; `None` for all.
    pub only: Option<Vec<Platform>>,
    /// The number of hashes of this version that the lock file also has, and keeps.
    pub kept: usize,
    /// The hashes in the lock file that match no package of this release; of `h1`, only if every package was unpacked.
    pub strangers: Vec<PackageHash>,
    /// The `h1` in the lock file that could not be compared.
    pub uncompared: Option<Uncompared>,
    /// The number of `h1` in the lock file that were not compared, because the packages were not unpacked.
    pub unchecked: usize,
}

/// The `h1` in a lock file that may be of a package that the store or source lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uncompared {
    /// As they stand in the lock file, sorted.
    pub hashes: Vec<PackageHash>,
    /// The platforms that the checksum document lists and the store or source lacks.
    pub platforms: Vec<Platform>,
}

/// The result for a provider and a lock file.
#[derive(Clone, Debug)]
pub struct LockResult {
    /// The provider's address.
    pub provider: ProviderAddr,
    /// The number of the lock file.
    pub file: usize,
    /// The version to record.
    pub locked: Result<Locked, Failure>,
}

/// Selects and verifies providers concurrently, and installs them if there is an installer. The results have the order of the tasks.
///
/// They are returned together, because a lock file is written only if all its providers could be locked.
pub async fn lock(
    tasks: &[Task],
    options: &Options,
    installer: Option<&Installer<'_>>,
    reporter: &Arc<dyn Reporter>,
) -> Vec<LockResult> {
    let journey = Journey {
        options,
        installer,
        reporter,
    };
    let locking = stream::iter(tasks).map(|task| journey.lock(task));
    locking.buffered(PROVIDERS).concat().await
}

/// A version in a lock file, with its hashes.
pub type LockedVersion = (Version, BTreeSet<PackageHash>);

/// What is known of the versions of a provider, whichever lock file needed them first.
#[derive(Default)]
struct KnownVersions {
    /// By the version, and what the lock file has if the result depends on that.
    recorded: BTreeMap<(Version, Option<LockedVersion>), Result<Recorded, Failure>>,
    /// The failures of lock files that have these hashes of another release.
    refused: BTreeMap<(Version, BTreeSet<PackageHash>), Failure>,
}

/// What all providers of a run share.
struct Journey<'a> {
    options: &'a Options,
    installer: Option<&'a Installer<'a>>,
    reporter: &'a Arc<dyn Reporter>,
}

impl Journey<'_> {
    async fn lock(&self, task: &Task) -> Vec<LockResult> {
        // Without a required pinned key every version fails, so nothing is requested.
        let allowed = self.options.trust.rule_for(&task.provider);
        let listing = match allowed {
            Ok(_) => Listing::of(task).await,
            Err(problem) => Err(problem.of(Subject::provider(&task.provider), At::Here)),
        };
        let mut known = KnownVersions::default();
        let mut results = Vec::new();
        for wanted in &task.wanted {
            let locked = match &listing {
                Ok(listing) => self.lock_one(task, wanted, listing, &mut known).await,
                Err(failure) => Err(failure.clone()),
            };
            results.push(LockResult {
                provider: task.provider.clone(),
                file: wanted.file,
                locked,
            });
        }
        results
    }

    /// Selects the version for one lock file. Versions that were recorded for another one are not requested again.
    async fn lock_one(
        &self,
        task: &Task,
        wanted: &Wanted,
        listing: &Listing<'_>,
        known: &mut KnownVersions,
    ) -> Result<Locked, Failure> {
        let found = selection::choose(wanted, listing, self.options.upgrade);
        let found = found.map_err(|problem| {
            let locked = wanted.locked.as_ref().map(|(version, _)| version);
            let locked = locked.filter(|_| matches!(problem, Problem::Withdrawn { .. }));
            let mut failure = listing.failure(&task.provider, problem);
            if let Some(subject) = &mut failure.subject {
                subject.version = locked.cloned();
            }
            failure
        })?;
        let version = found.version().clone();
        let locked = wanted.locked.clone();
        let locked = locked.filter(|_| self.options.same || found.is_by_lock_file());
        let recorded = match known.recorded.entry((version.clone(), locked)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(match self.options.same {
                false => self.record(task, wanted, found).await,
                true => self.record_same(task, wanted, listing, found).await,
            }),
        };
        let recorded = recorded.as_ref().map_err(Clone::clone)?;
        if let (Some(zips), Some(locked)) = (&recorded.zips, wanted.locked_hashes(&version))
            && let Err(problem) = zips.check(locked)
        {
            let subject = Subject::version(&task.provider, &version);
            let refused = known.refused.entry((version, locked.clone()));
            let failure = || problem.of(subject, found.at(&task.provider));
            return Err(refused.or_insert_with(failure).clone());
        }
        let believes_origin = believes_origin(wanted.client, task, &self.options.trust);
        let compared = recorded.compared(wanted, &version, believes_origin);
        Ok(Locked {
            strangers: compared.strangers(),
            uncompared: compared.uncompared(),
            unchecked: compared.unchecked(),
            kept: compared.kept(),
            hashes: compared.hashes(),
            only: compared.only(),
            version,
            authentication: recorded.authentication.clone(),
            place: found.place(&task.provider),
            installed: recorded.installed.clone(),
        })
    }
}
