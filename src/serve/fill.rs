//! Pull-through: mirrors a version that the store lacks from its origin while the client waits.
//!
//! The list of a provider then also has the versions that the origin offers. The first request for one of them starts
//! [`mod@crate::mirror`] with the same policy as every other verification. Concurrent requests for a version share one run. If it takes longer than
//! clients wait, they get `Retry-After`, and the run goes on.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use futures_util::future::{Either, select};
use tokio::sync::{oneshot, watch};

use super::cached::{Ages, Cached, CachedValue, Unavailable};
use super::current_trust::CurrentTrust;
use super::failed_versions::FailedVersions;
use super::fill_places::FillPlaces;
use super::notice::{Notice, Observer};
use super::origin_lists::{OriginList, OriginLists};
use crate::address::{Hostname, ProviderAddr, ProviderPattern};
use crate::constraint::VersionConstraints;
use crate::error::Category;
use crate::event::{Event, Reporter, Subject};
use crate::http::Http;
use crate::jobs::{self, Jobs};
use crate::mirror::{self, Task, VersionFilter};
use crate::outcome::{At, Change, Failure, Problem, Published};
use crate::platform::Platforms;
use crate::selection::Exclusion;
use crate::source::{self, AvailableVersion, BadEntries, Source};
use crate::store::RepoMut;
use crate::version::Version;

/// The longest time that mirroring a version may take, with the time in the queue. A transfer without progress ends after some minutes, but a slow
/// origin can stay just within the limits of transfers.
const LONGEST_FILL: Duration = Duration::from_secs(3_600);
/// The most versions whose result is remembered. Clients may request any number of versions that an origin offers, and this many results take a
/// few MiB.
const MOST_REMEMBERED: usize = 4_096;
/// The shortest time before a version that the policy refused is mirrored again. Each attempt costs the origin a download.
const LEAST_REFUSAL: Duration = Duration::from_secs(10);
/// How long the end of the server waits for cancelled mirroring, which ends as soon as a file is written.
const LONGEST_END: Duration = Duration::from_secs(2);
/// A version that the policy refused stays hidden for this many times [`Ages::fresh`]. Each time it is listed again, the next client selects it
/// and fails.
const REFUSAL: u32 = 10;
/// The number of packages of a version that are transferred concurrently: enough to use the bandwidth while one package waits for its first byte.
/// With four versions of one origin at once, at most 16 transfers share its bandwidth, and with eight of several, at most 32 the memory of the
/// process.
const PACKAGES: usize = 4;

/// The providers that may be mirrored, and their origins.
pub struct FillSettings {
    /// The origins. Clients name the hosts, so the HTTP client has to treat each host as one that the operator did not name.
    pub source: Source,
    /// The HTTP client of `source`. `/metrics` counts its requests.
    pub http: Http,
    /// The providers that may be mirrored; empty for all.
    pub include: Vec<ProviderPattern>,
    /// The versions that may not be mirrored.
    pub exclude: Vec<Exclusion>,
    /// The host of this server, which must not mirror from itself.
    pub own_host: Option<Hostname>,
    /// Only this many versions of each provider, the newest; `None` for all.
    pub newest: Option<usize>,
    /// The platforms to mirror.
    pub platforms: Platforms,
    /// Receives the events of mirroring.
    pub reporter: Arc<dyn Reporter>,
}

/// The shared result of mirroring a version.
type Mirrored = Arc<Cached<(), Failure>>;

/// The versions that are mirrored on demand.
pub(super) struct Fill {
    settings: FillSettings,
    trust: Arc<CurrentTrust>,
    ages: Ages,
    observer: Arc<dyn Observer>,
    lists: Arc<OriginLists>,
    places: FillPlaces,
    /// Whether the server ends.
    ending: watch::Sender<bool>,
    results: Mutex<HashMap<(ProviderAddr, Version), Mirrored>>,
    failed: FailedVersions,
}

impl Fill {
    pub(super) fn new(
        settings: FillSettings,
        trust: Arc<CurrentTrust>,
        ages: Ages,
        observer: Arc<dyn Observer>,
    ) -> Self {
        Self {
            observer,
            settings,
            trust,
            ages,
            lists: Arc::new(OriginLists::new()),
            places: FillPlaces::new(MOST_REMEMBERED),
            ending: watch::Sender::new(false),
            results: Mutex::default(),
            failed: FailedVersions::new((ages.fresh * REFUSAL).max(LEAST_REFUSAL)),
        }
    }

    /// Whether a provider may be mirrored.
    pub(super) fn is_for(&self, provider: &ProviderAddr) -> bool {
        let matches = |pattern: &ProviderPattern| pattern.matches(provider);
        let FillSettings {
            include,
            exclude,
            own_host,
            ..
        } = &self.settings;
        (include.is_empty() || include.iter().any(matches))
            && !exclude.iter().any(|one| one.is_whole(provider))
            && own_host.as_ref() != Some(provider.hostname())
            && self.trust.options().rule_for(provider).is_ok()
    }

    /// The versions that the origin offers, without those that the policy refused; none if the origin does not have the provider.
    ///
    /// # Errors
    /// The origin is unreachable, or too slow.
    pub(super) async fn offered(
        self: &Arc<Self>,
        provider: &ProviderAddr,
    ) -> Result<CachedValue<OriginList>, Failure> {
        let (this, asked) = (self.clone(), provider.clone());
        let asking = async move { this.ask(&asked).await };
        let fails = |error| self.unlisted(provider, error);
        self.lists.list(provider, self.ages, asking, fails).await
    }

    /// The failure to list the versions of a provider.
    fn unlisted(&self, provider: &ProviderAddr, error: source::Error) -> Failure {
        let at = At::Source(self.settings.source.place(provider));
        Problem::from(error).of(Subject::provider(provider), at)
    }

    async fn ask(&self, provider: &ProviderAddr) -> Result<Option<BTreeSet<Version>>, Failure> {
        let source = &self.settings.source;
        let available = source.available_versions(provider, BadEntries::Skipped);
        let available = match available.await {
            Ok(available) => available,
            Err(error) if error.category() == Category::NotFound => return Ok(None),
            Err(error) => return Err(self.unlisted(provider, error)),
        };
        for warning in available.warnings {
            let subject = Subject::provider(provider);
            let event = Event::Warning { subject, warning };
            self.settings.reporter.report(event);
        }
        // A version without a package for the wanted platforms could never be mirrored.
        let wanted = &self.settings.platforms;
        let has_wanted = |one: &&AvailableVersion| {
            let listed = one.platforms.as_ref();
            listed.is_none_or(|listed| listed.iter().any(|platform| wanted.has(platform)))
        };
        let exclude = &self.settings.exclude;
        let is_excluded = |version: &Version| exclude.iter().any(|one| one.has(provider, version));
        let versions = available.versions.iter().filter(has_wanted);
        let versions = versions.map(|one| one.version.version().clone());
        let versions: Vec<Version> = versions.filter(|version| !is_excluded(version)).collect();
        let filter = self.filter(VersionConstraints::default());
        let refused = self.failed.refused_of(provider);
        let offered = filter.matching(&versions);
        let offered = offered.filter(|version| !refused.contains_key(version));
        Ok(Some(offered.cloned().collect()))
    }

    /// The versions that could not be mirrored.
    pub(super) fn failed(&self) -> &FailedVersions {
        &self.failed
    }

    /// Forgets which versions failed, and the results of mirroring them.
    pub(super) fn forget_refusals(&self) {
        self.failed.clear();
        let results = self.results.lock();
        let mut results = results.unwrap_or_else(PoisonError::into_inner);
        results.retain(|_, one| one.is_refreshing());
    }

    /// Whether a version is being mirrored, or waits for a place.
    pub(super) fn is_filling(&self, provider: &ProviderAddr, version: &Version) -> bool {
        let results = self.results.lock();
        let results = results.unwrap_or_else(PoisonError::into_inner);
        let result = results.get(&(provider.clone(), version.clone()));
        result.is_some_and(|one| one.is_refreshing())
    }

    /// Forgets that a version was mirrored, because the store does not have it any more.
    pub(super) fn forget(&self, provider: &ProviderAddr, version: &Version) {
        let results = self.results.lock();
        let mut results = results.unwrap_or_else(PoisonError::into_inner);
        let key = (provider.clone(), version.clone());
        if results.get(&key).is_some_and(|one| !one.is_refreshing()) {
            results.remove(&key);
        }
    }

    /// Cancels all mirroring, and waits for its threads. They could not use the runtime while that shuts down.
    pub(super) async fn end(&self) {
        self.ending.send_replace(true);
        // Those that cannot be cancelled soon may take too long: the process ends without them.
        let _in_time = tokio::time::timeout(LONGEST_END, self.places.all_free()).await;
    }

    /// Mirrors a version. Concurrent calls for a version share one run.
    ///
    /// # Errors
    /// The origin or the store failed, the version did not verify, or mirroring takes longer than clients wait.
    pub(super) async fn fill(
        self: &Arc<Self>,
        provider: &ProviderAddr,
        version: &Version,
        destination: RepoMut,
    ) -> Result<(), Unavailable<Failure>> {
        if let Some(failure) = self.failed.bad_download(provider, version) {
            return Err(Unavailable::Failed(failure));
        }
        let mirrored = {
            let results = self.results.lock();
            let mut results = results.unwrap_or_else(PoisonError::into_inner);
            let key = (provider.clone(), version.clone());
            if results.len() >= MOST_REMEMBERED && !results.contains_key(&key) {
                results.retain(|_, one| one.is_refreshing());
                if results.len() >= MOST_REMEMBERED {
                    return Err(Unavailable::Slow);
                }
            }
            let new = || Arc::new(Cached::with_longest_refresh(LONGEST_FILL));
            results.entry(key).or_insert_with(new).clone()
        };
        let ages = Ages {
            // A mirrored version is then found in the store.
            stale: Duration::ZERO,
            ..self.ages
        };
        let answer = mirrored.get(
            ages,
            |_| true,
            |_| {
                let place = self.places.place(provider.hostname())?;
                let (this, provider, version) = (self.clone(), provider.clone(), version.clone());
                let ending = self.ending.subscribe();
                Some(async move {
                    on_one_thread(place.await, ending, async move || {
                        this.mirror(provider, version, destination).await
                    })
                    .await
                })
            },
        );
        answer.await.map(|_| ())
    }

    async fn mirror(
        &self,
        provider: ProviderAddr,
        version: Version,
        destination: RepoMut,
    ) -> Result<(), Failure> {
        let trust = self.trust.options();
        let rule = trust.policy.rule_for(&provider).unwrap_or_default();
        let task = Task {
            provider: provider.clone(),
            filters: vec![self.filter(VersionConstraints::exactly(version.clone()))],
            rule,
            locked: BTreeMap::new(),
            destinations: vec![destination],
        };
        let options = mirror::Options {
            rechecks: false,
            dry_run: false,
            jobs: Jobs::new(PACKAGES),
            now: SystemTime::now(),
            pins_keys: false,
        };
        let failed = Mutex::new(None);
        let on_result = |result: Result<Published, Failure>| match result {
            // Another replica may have mirrored it.
            Ok(published) if published.status == Change::Present => {}
            Ok(published) => {
                let published = &published;
                self.observer.notice(&Notice::Filled { published });
            }
            Err(failure) => {
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
            }
        };
        let FillSettings {
            source, reporter, ..
        } = &self.settings;
        mirror::mirror(vec![task], source, &options, reporter, &on_result).await;
        let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        let Some(failure) = failed else {
            return Ok(());
        };
        let notice = Notice::NotFilled { failure: &failure };
        self.observer.notice(&notice);
        let of_version = (provider, version);
        self.failed.remember(of_version.clone(), failure.clone());
        // The policy has changed meanwhile. If it changes after this, all failures are forgotten.
        if !self.trust.still_says(&trust, &of_version.0) {
            self.failed.forget(&of_version);
        }
        Err(failure)
    }

    fn filter(&self, versions: VersionConstraints) -> VersionFilter {
        VersionFilter {
            newest: self.settings.newest.filter(|_| versions.is_any()),
            versions,
            prereleases: false,
            platforms: self.settings.platforms.clone(),
        }
    }
}

/// Runs a future that is not `Send` on its own thread. If the returned future is dropped, or the server ends, the work ends at its next `await`.
/// It holds the place until then.
async fn on_one_thread<T: Send + 'static>(
    place: impl Send + 'static,
    mut ending: watch::Receiver<bool>,
    work: impl AsyncFnOnce() -> T + Send + 'static,
) -> T {
    let runtime = tokio::runtime::Handle::current();
    // Dropping the sender cancels the work.
    let (_sender, cancelled) = oneshot::channel::<()>();
    let working = jobs::in_thread(move || {
        let _place = place;
        runtime.block_on(async {
            let ending = pin!(ending.wait_for(|is_ending| *is_ending));
            // In this order, so that no work begins at the end.
            match select(select(ending, cancelled), pin!(work())).await {
                Either::Left(_) => None,
                Either::Right((result, _)) => Some(result),
            }
        })
    });
    match working.await {
        Some(result) => result,
        // The work was cancelled, so this future was dropped, or nobody waits for it any more.
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use tokio::sync::Semaphore;

    use super::*;

    #[tokio::test]
    async fn cancelled_work_ends_and_holds_its_place_until_then() {
        let permits = Arc::new(Semaphore::new(1));
        let permit = permits.clone().acquire_owned().await;
        let (begun, begins) = oneshot::channel();
        let (go_on, waits) = mpsc::channel();
        let (_ending, ends) = watch::channel(false);
        let cancelled = tokio::spawn(on_one_thread(permit, ends, async move || {
            begun.send(()).unwrap();
            // Like a read of a file, this does not notice the cancellation.
            waits.recv().unwrap();
            std::future::pending::<()>().await;
        }));
        begins.await.unwrap();
        cancelled.abort();
        assert!(cancelled.await.unwrap_err().is_cancelled());
        assert_eq!(permits.available_permits(), 0);
        go_on.send(()).unwrap();
        // The work has ended.
        drop(permits.acquire().await.unwrap());
    }
}
