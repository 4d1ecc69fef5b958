//! Lock: the hashes that lock files record of providers, mostly without downloading packages.
//!
//! 1. Each provider is **looked up** once, however many lock files need it, and its version is **selected** as clients do.
//! 2. Its release is **verified**.
//! 3. The hashes to record are **collected**, and packages are installed if there is an [`Installer`].
//! 4. They are **compared** with what each lock file has. [`target`] reads and writes the files.
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

mod method;
mod packages;
mod record;
mod release_zips;
mod same;
pub mod target;

use std::collections::BTreeSet;
use std::collections::btree_map::{self, BTreeMap};
use std::pin::pin;
use std::sync::Arc;

use futures_util::{StreamExt as _, stream};
use serde::{Serialize, Serializer};

use crate::address::ProviderAddr;
use crate::authentication::Authentication;
use crate::constraint::VersionConstraints;
use crate::event::{Reporter, Subject};
use crate::examine::TrustOptions;
use crate::hash::PackageHash;
use crate::install::{InstalledPackage, Installer};
use crate::jobs::{Jobs, PROVIDERS};
use crate::lockfile::Client;
use crate::outcome::{Failure, Problem};
use crate::place::Place;
use crate::platform::{Platform, Platforms};
use crate::version::Version;

pub use method::Method;
use method::{Found, Listing};
use record::Recorded;

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
    /// Whether a provider is locked for the platforms that its entry in the lock file has, in place of `platforms`. If any `h1` is wanted, it is then
    /// recorded for each of these platforms that has one in the entry.
    pub same: bool,
    /// Whether the user named these platforms. It is then an error if a version has no package for one of them.
    pub are_named: bool,
    /// Whether to select the newest version even if another one is locked.
    pub upgrade: bool,
    /// The number of concurrent downloads.
    pub jobs: Jobs,
}

impl Options {
    fn wants_h1(&self) -> bool {
        let named = self.h1.named();
        named.is_none_or(|platforms| !platforms.is_empty())
    }
}

/// The entry of a provider that a lock file has to have.
#[derive(Clone, Debug)]
pub struct Needed {
    /// The client that the lock file is for. Clients record different hashes.
    pub client: Client,
    /// The acceptable versions.
    pub admitted: VersionConstraints,
    /// The constraints that the lock file states: the constraints of the configuration.
    pub constraints: VersionConstraints,
    /// The lines of files, and the argument, that state the constraints.
    pub stated: Vec<String>,
    /// The version that is locked before, with its hashes.
    pub before: Option<LockedVersion>,
}

/// A version in a lock file, with its hashes.
pub type LockedVersion = (Version, BTreeSet<PackageHash>);

impl Needed {
    /// The hashes that are locked now, if this version is.
    pub fn locked_hashes(&self, version: &Version) -> Option<&BTreeSet<PackageHash>> {
        let locked = self.before.as_ref();
        let locked = locked.filter(|(locked, _)| locked == version);
        locked.map(|(_, hashes)| hashes)
    }
}

/// A provider, and the lock files that need it.
pub struct Task<'a> {
    /// The provider's address.
    pub provider: &'a ProviderAddr,
    /// The installation methods for it, in the order in which clients use them.
    pub methods: Vec<Method>,
    /// The entries, with the numbers of their lock files.
    pub entries: Vec<(usize, &'a Needed)>,
}

/// A provider version for lock files, as `lock` prints it in JSON.
///
/// The lock file may have hashes that the release does not have:
///
/// | field | the hash | why |
/// | --- | --- | --- |
/// | `unknown` | belongs to no package of the release | all packages are known |
/// | `uncompared` | is an `h1` that may belong to one | the store or source does not have all packages |
/// | `unchecked` | is an `h1` that may belong to one | not all packages were to be unpacked |
#[derive(Clone, Debug, Serialize)]
pub struct Locked {
    /// The provider's address.
    pub provider: ProviderAddr,
    /// The selected version.
    pub version: Version,
    /// The store or source that it comes from.
    #[serde(rename = "from", serialize_with = "name")]
    pub place: Place,
    /// How its release was authenticated.
    pub authentication: Authentication,
    /// The packages that were installed, if any were to be.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<InstalledPackage>,
    /// The hashes to record. The file keeps its other hashes of this version, too ([`LockFile::add`](crate::lockfile::LockFile::add)).
    pub hashes: BTreeSet<PackageHash>,
    /// Clients accept packages that match these hashes, and keep them.
    #[serde(rename = "strangers", skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<PackageHash>,
    /// Such an `h1` cannot be compared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub uncompared: Vec<PackageHash>,
    /// The number of such `h1`.
    #[serde(skip)]
    pub unchecked: usize,
    /// The only platforms that the hashes are for; `None` for all.
    #[serde(skip)]
    pub only: Option<Vec<Platform>>,
    /// The numbers of the lock files.
    #[serde(skip)]
    pub files: BTreeSet<usize>,
}

fn name<S: Serializer>(place: &Place, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(place.name())
}

/// What became of all providers.
#[derive(Debug, Default)]
pub struct Results {
    /// The versions to record, each once for all lock files with the same result, in the order of the tasks.
    pub locked: Vec<Locked>,
    /// The failures, with the numbers of their lock files.
    pub failed: Vec<(Failure, BTreeSet<usize>)>,
}

impl Results {
    /// Adds the result of a provider for one lock file. The others are of the same provider.
    fn add(&mut self, file: usize, result: Result<Locked, Failure>) {
        match result {
            Ok(new) => {
                let is_same = |one: &&mut Locked| {
                    one.version == new.version
                        && one.hashes == new.hashes
                        && one.unknown == new.unknown
                        && one.uncompared == new.uncompared
                };
                match self.locked.iter_mut().find(is_same) {
                    Some(same) => {
                        same.files.insert(file);
                        same.unchecked += new.unchecked;
                    }
                    None => self.locked.push(Locked {
                        files: BTreeSet::from([file]),
                        ..new
                    }),
                }
            }
            Err(new) => {
                let mut failed = self.failed.iter_mut();
                match failed.find(|(one, _)| Arc::ptr_eq(&one.problem, &new.problem)) {
                    Some((_, files)) => drop(files.insert(file)),
                    None => self.failed.push((new, BTreeSet::from([file]))),
                }
            }
        }
    }
}

/// Selects and verifies providers concurrently, and installs them if there is an installer.
///
/// The results are returned together, because a lock file is written only if all its providers could be locked.
pub async fn lock(
    tasks: &[Task<'_>],
    options: &Options,
    installer: Option<&Installer<'_>>,
    reporter: &Arc<dyn Reporter>,
) -> Results {
    let journey = Journey {
        options,
        installer,
        reporter,
    };
    let locking = stream::iter(tasks).map(|task| journey.lock(task));
    let mut locking = pin!(locking.buffered(PROVIDERS));
    let mut results = Results::default();
    while let Some(of_provider) = locking.next().await {
        results.locked.extend(of_provider.locked);
        results.failed.extend(of_provider.failed);
    }
    results
}

/// What is known of the versions of a provider, whichever lock file needed them first; by what the lock file has if the result depends on that.
type Known = BTreeMap<(Version, Option<LockedVersion>), Result<Recorded, Failure>>;

/// What all providers of a run share.
struct Journey<'a> {
    options: &'a Options,
    installer: Option<&'a Installer<'a>>,
    reporter: &'a Arc<dyn Reporter>,
}

impl Journey<'_> {
    async fn lock(&self, task: &Task<'_>) -> Results {
        // Without a required pinned key every version fails, so nothing is requested.
        let listing = match self.options.trust.rule_for(task.provider) {
            Ok(_) => Listing::of(task)
                .await
                .map(|listing| self.allowed(task, listing)),
            Err(problem) => Err(problem.of(Subject::provider(task.provider), None)),
        };
        let mut known = Known::new();
        let mut results = Results::default();
        for (file, entry) in &task.entries {
            let locked = match &listing {
                Ok(listing) => self.lock_one(entry, listing, &mut known).await,
                Err(failure) => Err(failure.clone()),
            };
            results.add(*file, locked);
        }
        results
    }

    /// Leaves out denied versions, except a locked one that stays selected: it fails.
    fn allowed<'l>(&self, task: &Task<'_>, mut listing: Listing<'l>) -> Listing<'l> {
        let entries = task.entries.iter().map(|(_, entry)| entry);
        let locked = entries.clone().filter_map(|entry| entry.before.as_ref());
        let locked = locked.filter(|_| !self.options.upgrade);
        let locked = locked.map(|(version, _)| VersionConstraints::exactly(version.clone()));
        let locked: Vec<_> = locked.collect();
        let constraints = entries.map(|entry| &entry.admitted).chain(&locked);
        let TrustOptions { policy, now, .. } = &self.options.trust;
        let found = &mut listing.found;
        let warnings =
            (policy.denied).leave_out(task.provider, constraints, found, Found::version, *now);
        for warning in warnings {
            let subject = Subject::provider(task.provider);
            self.reporter.warn(subject, warning);
        }
        listing
    }

    /// Selects the version for one lock file. Versions that were recorded for another one are not requested again.
    async fn lock_one(
        &self,
        entry: &Needed,
        listing: &Listing<'_>,
        known: &mut Known,
    ) -> Result<Locked, Failure> {
        let found = self.choose(entry, listing).map_err(|problem| {
            let mut subject = Subject::provider(listing.provider);
            if let (Problem::Withdrawn { .. }, Some((locked, _))) = (&problem, &entry.before) {
                subject.version = Some(locked.clone());
            }
            problem.of(subject, listing.at.clone())
        })?;
        let version = found.version().clone();
        let trust = &self.options.trust;
        let denied = trust
            .policy
            .denied
            .check(found.provider, &version, trust.now);
        denied.map_err(|error| found.failure(error.into()))?;
        let of_file = (version.clone(), entry.before.clone());
        if let Some(Err(failure)) = known.get(&of_file) {
            return Err(failure.clone());
        }
        let depends = self.options.same || found.is_by_lock_file();
        let key = (version.clone(), of_file.1.clone().filter(|_| depends));
        let recorded = match known.entry(key) {
            btree_map::Entry::Occupied(known) => known.into_mut(),
            btree_map::Entry::Vacant(place) => place.insert(match self.options.same {
                false => self.record(entry, found).await,
                true => self.record_same(entry, listing, found).await,
            }),
        };
        let recorded = recorded.as_ref().map_err(Clone::clone)?;
        if let (Some(zips), Some(locked)) = (&recorded.zips, entry.locked_hashes(&version))
            && let Err(problem) = zips.check(locked)
        {
            let failure = found.failure(problem);
            known.insert(of_file, Err(failure.clone()));
            return Err(failure);
        }
        Ok(recorded.locked(
            entry,
            found,
            self.believes_origin(entry.client, found.provider),
        ))
    }

    /// Selects a version as `init` does ([clients: version selection](crate::clients#version-selection)): the locked one, unless the user wants
    /// upgrades; otherwise the newest one that the constraints admit.
    ///
    /// # Errors
    /// The constraints do not admit the locked version, the locked version is not available any more, or no version matches.
    fn choose<'l, 'a>(
        &self,
        entry: &Needed,
        listing: &'l Listing<'a>,
    ) -> Result<&'l Found<'a>, Problem> {
        let constraints = entry.admitted.clone();
        let newest = constraints.newest(listing.versions());
        let Some((locked, _)) = entry.before.as_ref().filter(|_| !self.options.upgrade) else {
            let newest = newest.and_then(|version| listing.get(version));
            return newest.ok_or_else(|| Problem::NoVersion {
                available: listing.versions().cloned().collect(),
                constraints,
            });
        };
        if !constraints.admits(locked) {
            return Err(Problem::OtherLocked {
                locked: locked.clone(),
                constraints,
            });
        }
        listing.get(locked).ok_or_else(|| Problem::Withdrawn {
            available: listing.versions().cloned().collect(),
            admitted: newest.cloned(),
        })
    }
}
