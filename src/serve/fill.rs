//! Pull-through: a version that the store lacks is mirrored from its origin while the client waits.
//!
//! The list of a provider then also has the versions that the origin offers. The first request for one of them starts
//! [`mod@crate::mirror`] with the same policy as every other verification. However many ask for a version, it is mirrored once. If that
//! takes longer than clients wait, they are asked to come again, and it goes on.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use futures_util::future::{Either, select};
use tokio::sync::{Semaphore, oneshot};

use super::cached::{Ages, Cached, Unavailable};
use crate::address::{Hostname, ProviderAddr, ProviderPattern};
use crate::constraint::VersionConstraints;
use crate::error::Category;
use crate::event::Reporter;
use crate::examine::TrustOptions;
use crate::jobs;
use crate::mirror::{self, Task, VersionFilter};
use crate::outcome::{At, Failure, Problem};
use crate::platform::Platform;
use crate::publish::{self, EvidencePolicy, Existing};
use crate::source::Source;
use crate::store::RepoMut;
use crate::version::Version;

/// The longest time that mirroring a version may take. Every transfer has limits of its own, but a slow origin can stay just within them.
const LONGEST_FILL: Duration = Duration::from_secs(3_600);
/// The number of versions that are mirrored at once.
const AT_ONCE: usize = 4;
/// The most versions whose mirroring is remembered.
const MOST_REMEMBERED: usize = 4_096;
/// For how long a version that the policy refused is not tried again, at least. Every trial costs the origin a download.
const LEAST_REFUSAL: Duration = Duration::from_secs(10);
/// The most packages of a version that are transferred at once.
const PACKAGES: usize = 4;

/// What may be mirrored, and from where.
pub struct FillSettings {
    /// The origins. Clients name their hosts, so its HTTP client has to treat every host as a stranger that the operator did not name.
    pub source: Source,
    /// The providers that may be mirrored; empty for all.
    pub include: Vec<ProviderPattern>,
    /// The providers that may not.
    pub exclude: Vec<ProviderPattern>,
    /// The host of this server, which is no origin of its own.
    pub own_host: Option<Hostname>,
    /// At most this many versions of a provider, the newest; `None` for all.
    pub newest: Option<usize>,
    /// The platforms to mirror; `None` for all.
    pub platforms: Option<Vec<Platform>>,
    /// Receives the events of mirroring.
    pub reporter: Arc<dyn Reporter>,
}

/// Whether a version was mirrored.
type Mirrored = Arc<Cached<(), Failure>>;

/// A version that the policy refused.
struct RefusedVersion {
    problem: Arc<Problem>,
    since: Instant,
}

/// The versions that are mirrored on demand.
pub(super) struct Fill {
    settings: FillSettings,
    trust: TrustOptions,
    ages: Ages,
    permits: Arc<Semaphore>,
    under_way: Mutex<HashMap<(ProviderAddr, Version), Mirrored>>,
    /// The versions that the policy refused. They are not listed until they are tried again.
    refused: Mutex<HashMap<ProviderAddr, BTreeMap<Version, RefusedVersion>>>,
}

impl Fill {
    pub(super) fn new(settings: FillSettings, trust: TrustOptions, fresh: Duration) -> Self {
        Self {
            settings,
            trust,
            // What was mirrored is found in the store from then on.
            ages: Ages {
                fresh,
                stale: Duration::ZERO,
            },
            permits: Arc::new(Semaphore::new(AT_ONCE)),
            under_way: Mutex::default(),
            refused: Mutex::default(),
        }
    }

    /// Whether the provider may be mirrored.
    pub(super) fn is_for(&self, provider: &ProviderAddr) -> bool {
        let matches = |pattern: &ProviderPattern| pattern.matches(provider);
        let FillSettings {
            include,
            exclude,
            own_host,
            ..
        } = &self.settings;
        (include.is_empty() || include.iter().any(matches))
            && !exclude.iter().any(matches)
            && own_host.as_ref() != Some(provider.hostname())
            && self.trust.rule_for(provider).is_ok()
    }

    /// The versions that the origin offers, without those that the policy refused; `None` if the origin does not have the provider.
    ///
    /// # Errors
    /// The origin cannot be asked.
    pub(super) async fn offered(
        &self,
        provider: &ProviderAddr,
    ) -> Result<Option<BTreeSet<Version>>, Failure> {
        let source = &self.settings.source;
        let available = match source.available_versions(provider).await {
            Ok(available) => available,
            Err(error) => {
                let problem = Problem::from(error);
                if problem.category() == Category::NotFound {
                    return Ok(None);
                }
                let at = At::Source(source.name(provider));
                return Err(problem.of(crate::event::Subject::provider(provider), at));
            }
        };
        let versions = available.versions.iter();
        let versions: Vec<Version> = versions.map(|one| one.version.version().clone()).collect();
        let filter = self.filter(VersionConstraints::default());
        let refused = self.refused_of(provider);
        let offered = filter.matching(&versions);
        let offered = offered.filter(|version| !refused.contains_key(version));
        Ok(Some(offered.cloned().collect()))
    }

    /// The versions of a provider that the policy refused, with the reasons.
    pub(super) fn refused_of(&self, provider: &ProviderAddr) -> BTreeMap<Version, Arc<Problem>> {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let refused = refused.get(provider).into_iter().flatten();
        refused
            .filter(|(_, one)| self.is_remembered(one))
            .map(|(version, one)| (version.clone(), one.problem.clone()))
            .collect()
    }

    /// Whether a version is not tried again yet. An origin may repair what it serves.
    fn is_remembered(&self, refused: &RefusedVersion) -> bool {
        refused.since.elapsed() < self.ages.fresh.max(LEAST_REFUSAL)
    }

    fn refuse(&self, provider: ProviderAddr, version: Version, problem: &Arc<Problem>) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.retain(|_, versions| {
            versions.retain(|_, one| self.is_remembered(one));
            !versions.is_empty()
        });
        let one = RefusedVersion {
            problem: problem.clone(),
            since: Instant::now(),
        };
        refused.entry(provider).or_default().insert(version, one);
    }

    /// Mirrors a version, however many ask for it at once.
    ///
    /// # Errors
    /// The origin or the store failed, or the version did not verify. Or it takes longer than clients wait.
    pub(super) async fn fill(
        self: &Arc<Self>,
        provider: &ProviderAddr,
        version: &Version,
        destination: RepoMut,
    ) -> Result<(), Unavailable<Failure>> {
        let mirrored = {
            let under_way = self.under_way.lock();
            let mut under_way = under_way.unwrap_or_else(PoisonError::into_inner);
            let key = (provider.clone(), version.clone());
            if under_way.len() >= MOST_REMEMBERED && !under_way.contains_key(&key) {
                under_way.retain(|_, one| one.is_refreshing());
                if under_way.len() >= MOST_REMEMBERED {
                    return Err(Unavailable::Slow);
                }
            }
            let new = || Arc::new(Cached::with_longest_refresh(LONGEST_FILL));
            under_way.entry(key).or_insert_with(new).clone()
        };
        let answer = mirrored.get(self.ages, |_| {
            let (this, provider, version) = (self.clone(), provider.clone(), version.clone());
            async move {
                // The semaphore is never closed.
                let permit = this.permits.clone().acquire_owned().await;
                on_one_thread(permit, async move || {
                    this.mirror(provider, version, destination).await
                })
                .await
            }
        });
        answer.await.map(|_| ())
    }

    async fn mirror(
        &self,
        provider: ProviderAddr,
        version: Version,
        destination: RepoMut,
    ) -> Result<(), Failure> {
        let rule = self.trust.policy.rule_for(&provider).unwrap_or_default();
        let task = Task {
            provider: provider.clone(),
            filters: vec![self.filter(VersionConstraints::exactly(version.clone()))],
            rule,
            locked: BTreeMap::new(),
            destinations: vec![destination],
        };
        let options = mirror::Options {
            publish: publish::Options {
                existing: Existing::Merge,
                annotations: BTreeMap::new(),
                dry_run: false,
                jobs: PACKAGES,
                now: SystemTime::now(),
                evidence_policy: EvidencePolicy::default(),
            },
            recheck: false,
            pins_keys: false,
        };
        let failed = Mutex::new(None);
        let on_result = |result: Result<_, Failure>| {
            if let Err(failure) = result {
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
        // The next download of a package may have the right bytes, so such a version stays listed.
        let is_download = matches!(*failure.problem, Problem::Package { .. } | Problem::Blob(_));
        if failure.category() == Category::Untrusted && !is_download {
            self.refuse(provider, version, &failure.problem);
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

/// Runs work that borrows what it works with, and so cannot move between the threads of the runtime. If this future is dropped, the work ends
/// where it next waits. It holds the permit until it has ended.
async fn on_one_thread<T: Send + 'static>(
    permit: impl Send + 'static,
    work: impl AsyncFnOnce() -> T + Send + 'static,
) -> T {
    let runtime = tokio::runtime::Handle::current();
    let (_wanted, unwanted) = oneshot::channel::<()>();
    let working = jobs::in_thread(move || {
        let _permit = permit;
        runtime.block_on(async {
            match select(pin!(work()), unwanted).await {
                Either::Left((result, _)) => Some(result),
                Either::Right(_) => None,
            }
        })
    });
    match working.await {
        Some(result) => result,
        // Nobody waits for this future any more.
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn work_that_nobody_wants_ends_and_holds_its_permit_until_then() {
        let permits = Arc::new(Semaphore::new(1));
        let permit = permits.clone().acquire_owned().await;
        let (begun, begins) = oneshot::channel();
        let (go_on, waits) = mpsc::channel();
        let asked = tokio::spawn(on_one_thread(permit, async move || {
            begun.send(()).unwrap();
            // As reads of files do, this does not notice that nobody wants the result.
            waits.recv().unwrap();
            std::future::pending::<()>().await;
        }));
        begins.await.unwrap();
        asked.abort();
        assert!(asked.await.unwrap_err().is_cancelled());
        assert_eq!(permits.available_permits(), 0);
        go_on.send(()).unwrap();
        // The work has ended.
        drop(permits.acquire().await.unwrap());
    }
}
