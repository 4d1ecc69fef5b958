//! Pull-through: mirrors a version that the store does not have from its origin while the client waits.
//!
//! The list of a provider then also has the versions that the origin offers. The first request for one of them starts
//! [`mod@crate::mirror`] with the same policy as every other verification. Concurrent requests for a version share one run. If it takes longer than
//! clients wait, they get `Retry-After`, and the run goes on.
//!
//! A version that cannot be mirrored for a definite reason is hidden for [`HIDDEN`] times [`Ages::fresh`]. Each time it is listed again, the next
//! client selects it and fails.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use moka::future::Cache;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;

use super::cached::{Ages, Cached, CachedValue, LONGEST_LOAD, Unavailable};
use super::settings::{Context, FillSettings};
use crate::address::ProviderAddr;
use crate::blob;
use crate::constraint::VersionConstraints;
use crate::disk;
use crate::error::Category;
use crate::event::Subject;
use crate::examine::TrustOptions;
use crate::http;
use crate::jobs::{self, Jobs, locked};
use crate::mirror::age::{Dates, Dating};
use crate::mirror::selection::Selected;
use crate::mirror::{self, Task, VersionFilter};
use crate::outcome::{Change, Failure, Problem, Published};
use crate::source::{self, AvailableVersion};
use crate::store::RepoMut;
use crate::version::Version;

/// The longest time that mirroring a version may take, with the time in the queue. A transfer without progress ends after some minutes, but a slow
/// origin can stay just within the limits of transfers.
const LONGEST_FILL: Duration = Duration::from_secs(3_600);
/// The number of versions that are mirrored concurrently. One slow origin does not stop the others, and their packages in transfer fit into memory.
const PLACES: u32 = 8;
/// The most versions that may have a place, or wait for one. A client that asks for every version of an origin would otherwise fill the memory.
const QUEUE: usize = 1_024;
/// How long a version is not mirrored again. Requests that read an older list may still ask for it.
const JUST_MIRRORED: Duration = Duration::from_secs(2);
/// The most versions whose result is remembered. Clients may request any number of versions that an origin offers, and this many results take a
/// few MiB.
const MOST_REMEMBERED: u64 = 4_096;
/// How long a list of the store waits for that of the origin. It is shorter than requests wait for a list, so that even the first request of a
/// provider gets what the store has. A list that comes later serves the next one.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// The most lists that origins are asked for at once. Clients name providers, and an origin may give no answer for minutes.
const MOST_LISTS: usize = 128;
/// The most versions of a provider that are listed because the origin offers them: twice as many as the providers with the most versions have. An
/// origin that offers tens of thousands would otherwise take the memory for all lists.
const MOST_OFFERED: usize = 1_000;
/// The most memory of lists of origins, in versions of about 100 bytes.
const MOST_LISTED: u64 = 40_000;
/// The most providers whose dates are remembered, each with a thousand of about 100 bytes.
const MOST_DATED: u64 = 256;
/// How long the dates of versions are remembered. An author may release a version again.
const DATED: Duration = Duration::from_secs(24 * 3_600);
/// A version that cannot be mirrored stays hidden for this many times [`Ages::fresh`].
const HIDDEN: u32 = 10;
/// The shortest time before a version that was hidden is mirrored again. Each attempt costs the origin a download.
const LEAST_HIDDEN: Duration = Duration::from_secs(10);
/// How long the end of the server waits for cancelled mirroring, which ends as soon as a file is written.
const LONGEST_END: Duration = Duration::from_secs(2);
/// The number of packages of a version that are transferred concurrently: enough to use the bandwidth while one package waits for its first byte.
const PACKAGES: usize = 4;
/// Filling stops below this many free bytes of a disk, or a twentieth of a small one.
const FREE: u64 = 1 << 30;

/// The name of a failure in the log in JSON.
const NOT_MIRRORED: &str = "not-mirrored";

/// The versions that an origin has; `None` if it does not have the provider.
pub(super) type OriginList = Option<BTreeSet<Version>>;

type VersionKey = (ProviderAddr, Version);

/// The free bytes and all bytes of the disk of a path; `None` if the system does not tell.
fn room(path: &Path) -> Option<(u64, u64)> {
    #[cfg(unix)]
    if let Ok(disk) = rustix::fs::statvfs(path) {
        let bytes = |blocks: u64| blocks.saturating_mul(disk.f_frsize);
        return Some((bytes(disk.f_bavail), bytes(disk.f_blocks)));
    }
    let _unknown = path;
    None
}

/// The versions that are mirrored on demand.
pub(super) struct Fill {
    settings: FillSettings,
    shared: Arc<Context>,
    lists: Cached<ProviderAddr, OriginList>,
    waiting_lists: Arc<Semaphore>,
    queue: Arc<Semaphore>,
    places: Arc<Semaphore>,
    /// Whether the server ends.
    ending: watch::Sender<bool>,
    results: Cached<VersionKey, ()>,
    /// The versions that cannot be mirrored for a definite reason.
    hidden: Cache<VersionKey, Arc<Problem>>,
    /// The dates of versions that have to be old enough.
    dates: Cache<ProviderAddr, Arc<Mutex<Dates>>>,
    /// Whether the disk of the store was almost full at the last look.
    has_no_room: AtomicBool,
}

impl Fill {
    pub(super) fn new(settings: FillSettings, shared: Arc<Context>) -> Self {
        let ages = shared.settings.ages;
        let hidden = (ages.fresh * HIDDEN).max(LEAST_HIDDEN);
        // A mirrored version is then found in the store.
        let of_result = Ages {
            fresh: JUST_MIRRORED,
            usable: Duration::ZERO,
        };
        let listed = |_: &ProviderAddr, list: Option<&OriginList>| {
            1 + list.map_or(0, |list| list.iter().flatten().count() as u64)
        };
        let failed = Cache::builder().max_capacity(MOST_REMEMBERED);
        let dates = Cache::builder().max_capacity(MOST_DATED);
        Self {
            settings,
            shared,
            lists: Cached::new(ages, MOST_LISTED, LONGEST_LOAD, listed),
            waiting_lists: Arc::new(Semaphore::new(MOST_LISTS)),
            queue: Arc::new(Semaphore::new(QUEUE)),
            places: Arc::new(Semaphore::new(PLACES as usize)),
            ending: watch::Sender::new(false),
            results: Cached::new(of_result, MOST_REMEMBERED, LONGEST_FILL, |_, _| 1),
            hidden: failed.time_to_live(hidden).build(),
            dates: dates.time_to_live(DATED).build(),
            has_no_room: AtomicBool::new(false),
        }
    }

    /// Whether a provider may be mirrored.
    pub(super) fn is_for(&self, provider: &ProviderAddr) -> bool {
        let settings = &self.settings;
        let (mut include, mut exclude) = (settings.include.iter(), settings.exclude.iter());
        include.any(|pattern| pattern.matches(provider))
            && !exclude.any(|one| one.is_whole(provider))
            && settings.own_host.as_ref() != Some(provider.hostname())
            && self.shared.trust().rule_for(provider).is_ok()
    }

    /// The versions that the origin offers; none if the origin does not have the provider. The list is stale if it came too late, and is older
    /// than [`Ages::fresh`].
    ///
    /// # Errors
    /// The origin is unreachable, or too slow.
    pub(super) async fn offered(
        self: &Arc<Self>,
        provider: &ProviderAddr,
    ) -> Result<CachedValue<OriginList>, Failure> {
        let load = |_| {
            let permit = self.waiting_lists.clone().try_acquire_owned().ok()?;
            let (this, provider) = (self.clone(), provider.clone());
            Some(async move {
                let _permit = permit;
                let asked = this.ask(&provider).await;
                asked.map_err(|error| this.unlisted(&provider, error))
            })
        };
        let asked = self.lists.get(provider, load);
        match timeout(LONGEST_WAIT, asked).await {
            Ok(Ok(list)) => Ok(list),
            Ok(Err(Unavailable::Failed(failure))) => Err(*failure),
            Ok(Err(Unavailable::Slow)) | Err(_) => {
                Err(self.unlisted(provider, source::Error::Late))
            }
        }
    }

    /// Reports the failure to list the versions of a provider.
    fn unlisted(&self, provider: &ProviderAddr, error: source::Error) -> Failure {
        let at = Some(self.settings.source.place(provider));
        let failure = Problem::from(error).of(Subject::provider(provider), at);
        self.shared.fail(NOT_MIRRORED, &failure);
        failure
    }

    async fn ask(&self, provider: &ProviderAddr) -> Result<OriginList, source::Error> {
        let source = &self.settings.source;
        let available = source.available_versions(provider);
        let available = match available.await {
            Ok(available) => available,
            Err(error) if error.category() == Category::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        for warning in available.warnings {
            let subject = Subject::provider(provider);
            self.settings.reporter.warn(subject, warning);
        }
        let FillSettings {
            platforms, exclude, ..
        } = &self.settings;
        let trust = self.shared.trust();
        let (denied, now) = (&trust.policy.denied, SystemTime::now());
        let is_wanted = |one: &AvailableVersion| {
            // A version without a package for the wanted platforms could never be mirrored.
            let there = one.platforms.as_ref();
            there.is_none_or(|there| there.iter().any(|platform| platforms.has(platform)))
                && !(exclude.iter()).any(|one_of| one_of.has(provider, one.version.version()))
                && denied.find(provider, one.version.version(), now).is_none()
        };
        let wanted: Vec<_> = available.versions.into_iter().filter(is_wanted).collect();
        Ok(Some(self.old_enough(provider, &trust, wanted).await))
    }

    /// The newest versions that are old enough. All others are hidden, also those whose dates cannot be requested.
    async fn old_enough(
        &self,
        provider: &ProviderAddr,
        trust: &Arc<TrustOptions>,
        mut wanted: Vec<AvailableVersion>,
    ) -> BTreeSet<Version> {
        let mut filter = self.filter(VersionConstraints::default());
        filter.newest = Some(filter.newest.unwrap_or(MOST_OFFERED).min(MOST_OFFERED));
        let rule = trust.policy.rule_for(provider).unwrap_or_default();
        let source = &self.settings.source;
        let dating = Dating {
            provider,
            source,
            rule: &rule,
            now: SystemTime::now(),
            dates: self
                .dates
                .get_with_by_ref(provider, async { Arc::default() })
                .await,
        };
        if !self.settings.min_age.is_zero() {
            // The date of what is hidden is not asked for again.
            let hidden: BTreeSet<Version> = self.hidden(provider).map(|one| one.0).collect();
            wanted.retain(|one| !hidden.contains(one.version.version()));
        }
        let (selection, held, failed) = dating.select(&[filter], &wanted, |_| false).await;
        let old = selection.selected.iter().map(Selected::version).cloned();
        let mut old: BTreeSet<_> = old.collect();
        let held = held.into_iter();
        let held = held.map(|(version, until)| (version, Problem::Held { until }));
        for (version, problem) in failed.into_iter().chain(held) {
            old.remove(&version);
            self.hide((provider.clone(), version), &Arc::new(problem), trust)
                .await;
        }
        old
    }

    /// The versions of a provider that clients do not see for a while.
    pub(super) fn hidden(
        &self,
        provider: &ProviderAddr,
    ) -> impl Iterator<Item = (Version, Arc<Problem>)> {
        let hidden = self.hidden.iter().filter(|(key, _)| key.0 == *provider);
        hidden.map(|(key, problem)| (key.1.clone(), problem))
    }

    /// Hides a version for a while if the reason is definite. If the policy has changed meanwhile, another one decides.
    async fn hide(&self, key: VersionKey, problem: &Arc<Problem>, trust: &Arc<TrustOptions>) {
        if is_definite(problem) && self.shared.still_trusts(trust) {
            self.hidden.insert(key, problem.clone()).await;
        }
    }

    /// Forgets which versions are hidden, because the policy has changed.
    pub(super) fn forget_hidden(&self) {
        self.hidden.invalidate_all();
    }

    /// Cancels all mirroring, and waits for its threads. They could not use the runtime while that shuts down.
    pub(super) async fn end(&self) {
        self.ending.send_replace(true);
        // Those that cannot be cancelled soon may take too long: the process ends without them.
        let _in_time = timeout(LONGEST_END, self.places.acquire_many(PLACES)).await;
    }

    /// Mirrors a version as soon as it has a place, first come, first served. Returns when it was mirrored. Concurrent calls for a version share
    /// one run.
    ///
    /// # Errors
    /// The origin or the store failed, the version did not verify, or mirroring takes longer than clients wait.
    pub(super) async fn fill(
        self: &Arc<Self>,
        provider: &ProviderAddr,
        version: &Version,
        destination: RepoMut,
    ) -> Result<Instant, Unavailable> {
        let key = (provider.clone(), version.clone());
        let load = |_| {
            let queued = self.queue.clone().try_acquire_owned().ok()?;
            let (this, key) = (self.clone(), key.clone());
            Some(async move {
                // The semaphore is never closed.
                let place = this.places.clone().acquire_owned().await.ok();
                this.look_for_room()?;
                let (runtime, mut ending) = (Handle::current(), this.ending.subscribe());
                // Mirroring is not `Send`, so it has a thread. It keeps its place until it ends, even if nobody waits for it any more.
                let mirroring = jobs::in_thread(move || {
                    let _held = (place, queued);
                    runtime.block_on(async {
                        tokio::select! {
                            // In this order, so that no work begins at the end.
                            biased;
                            _ = ending.wait_for(|is_ending| *is_ending) => None,
                            mirrored = timeout(LONGEST_FILL, this.mirror(key, destination)) => mirrored.ok(),
                        }
                    })
                });
                match mirroring.await {
                    Some(mirrored) => mirrored,
                    None => std::future::pending().await,
                }
            })
        };
        let mirrored = self.results.get(&key, load);
        mirrored.await.map(|mirrored| mirrored.at)
    }

    /// Fails if the disk of the store is almost full. The first time, the log says so.
    fn look_for_room(&self) -> Result<(), Failure> {
        let Some(directory) = self.shared.settings.endpoint.directory() else {
            return Ok(());
        };
        // The directory may be missing until the first version.
        let mut there = directory.ancestors().filter(|path| path.exists());
        let Some((free, whole)) = there.next().and_then(room) else {
            return Ok(());
        };
        let least = FREE.min(whole / 20);
        if free >= least {
            self.has_no_room.store(false, Ordering::Relaxed);
            return Ok(());
        }
        let reason = format!("{free} bytes are free, and --fill leaves {least} bytes");
        let failure = Failure::from(disk::Error::Io {
            action: "write",
            path: directory.to_owned(),
            source: std::io::Error::new(std::io::ErrorKind::StorageFull, reason),
        });
        self.shared.metrics.without_room.inc();
        if !self.has_no_room.swap(true, Ordering::Relaxed) {
            self.shared.fail(NOT_MIRRORED, &failure);
        }
        Err(failure)
    }

    async fn mirror(&self, key: VersionKey, destination: RepoMut) -> Result<(), Failure> {
        let trust = self.shared.trust();
        let rule = trust.policy.rule_for(&key.0).unwrap_or_default();
        let task = Task {
            provider: key.0.clone(),
            filters: vec![self.filter(VersionConstraints::exactly(key.1.clone()))],
            rule,
            denied: trust.policy.denied.clone(),
            locked: BTreeMap::new(),
            destinations: vec![destination],
        };
        let options = mirror::Options {
            rechecks: false,
            dry_run: false,
            jobs: Jobs::new(PACKAGES),
            now: SystemTime::now(),
            pins_keys: false,
            attester: None,
        };
        let failed = Mutex::new(None);
        let on_result = |result: Result<Published, Failure>| match result {
            // Another replica may have mirrored it.
            Ok(published) if published.status == Change::Present => {}
            Ok(published) => {
                let mut text = format!("{} {}", published.provider, published.version);
                if let Some(authentication) = &published.authentication {
                    text.push_str(&format!(": {authentication}"));
                }
                self.shared.observer.tell("mirrored", "Mirrored", text);
            }
            Err(failure) => {
                *locked(&failed) = Some(failure);
            }
        };
        let FillSettings {
            source, reporter, ..
        } = &self.settings;
        mirror::mirror(vec![task], source, &options, reporter, &on_result).await;
        let Some(failure) = locked(&failed).take() else {
            return Ok(());
        };
        self.shared.fail(NOT_MIRRORED, &failure);
        self.hide(key, &failure.problem, &trust).await;
        Err(failure)
    }

    fn filter(&self, versions: VersionConstraints) -> VersionFilter {
        VersionFilter {
            newest: self.settings.newest.filter(|_| versions.is_any()),
            versions,
            prereleases: false,
            platforms: self.settings.platforms.clone(),
            min_age: self.settings.min_age,
            is_named: false,
        }
    }
}

/// Whether another attempt would fail too: the origin does not have a file, or serves other bytes than it announces, or the policy refuses the
/// version.
fn is_definite(problem: &Problem) -> bool {
    use source::Error;
    match problem {
        Problem::Package { source, .. } => is_definite(source),
        Problem::Blob(error) => matches!(
            error,
            blob::Error::Digest { .. } | blob::Error::Longer { .. } | blob::Error::Archive(_)
        ),
        Problem::Source(
            Error::Http(http::Error::Large { .. }) | Error::Status { status: 410, .. },
        ) => true,
        Problem::Source(Error::Http(_) | Error::Disk(_) | Error::Credentials(_)) => false,
        problem => match problem.category() {
            Category::Untrusted => true,
            Category::NotFound => matches!(problem, Problem::Source(_)),
            _ => false,
        },
    }
}
