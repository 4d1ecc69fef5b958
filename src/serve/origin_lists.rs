//! Asks origins for their lists of versions.
//!
//! Clients name origins and providers, and an origin may give no answer for minutes. What the store has must not wait for that. A list that comes
//! later serves the next list of the store: some origins always need longer.

use std::collections::{BTreeSet, HashMap};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::cached::{Ages, Cached, CachedValue, Unavailable};
use super::listing::MOST_OFFERED;
use super::quota::Quota;
use crate::address::{Hostname, ProviderAddr};
use crate::outcome::Failure;
use crate::source::Error;
use crate::version::Version;

/// How long a list of the store waits for that of the origin. It is shorter than requests wait for a list, so that even the first request of a
/// provider gets what the store has. `tfoci help deployment` states this number.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// The most lists that wait for origins. One origin has half of them: as many as providers that are read for the first time.
const MOST: usize = 256;
/// The most lists that origins may give later, with those that came and were not used yet. A thousand versions take about 100 KB.
const MOST_LATE: usize = 32;

/// The versions that an origin has; `None` if it does not have the provider.
type Versions = Option<BTreeSet<Version>>;

/// The lists that origins are asked for.
pub(super) struct OriginLists {
    waiting: Places,
    late: Places,
    /// Those that are asked for, and those that came too late.
    asked: Mutex<HashMap<ProviderAddr, Arc<Cached<OriginList, Failure>>>>,
}

/// The list of an origin.
pub(super) struct OriginList {
    pub(super) versions: Versions,
    /// When the origin said so.
    pub(super) at: Instant,
    /// The place of a list that came too late, held until it is used.
    _late: Option<Permits>,
}

impl OriginLists {
    pub(super) fn new() -> Self {
        Self {
            waiting: Places::new(MOST),
            late: Places::new(MOST_LATE),
            asked: Mutex::default(),
        }
    }

    /// Lists the versions of a provider, which `asking` asks its origin for. The list is stale if it came too late, and is older than
    /// [`Ages::fresh`]. `fails` makes a failure of an error.
    ///
    /// # Errors
    /// The origin cannot be asked, or is too slow.
    pub(super) async fn list(
        self: &Arc<Self>,
        provider: &ProviderAddr,
        ages: Ages,
        asking: impl Future<Output = Result<Versions, Failure>> + Send + 'static,
        fails: impl Fn(Error) -> Failure,
    ) -> Result<CachedValue<OriginList>, Failure> {
        let late = fails(Error::Late {
            limit: LONGEST_WAIT,
        });
        let asked = self.asked_for(provider);
        let mut is_busy = false;
        let load = |_| {
            // Without a queue, requests that nobody waits for any more take no memory.
            let permits = self.waiting.take(provider);
            is_busy = permits.is_none();
            let (this, provider) = (self.clone(), provider.clone());
            Some(this.ask(provider, permits?, asking, late.clone()))
        };
        let list = timeout(LONGEST_WAIT, asked.get(ages, |_| true, load)).await;
        let Ok(list) = list else {
            return Err(late);
        };
        if !asked.is_refreshing() {
            self.asked().remove(provider);
        }
        list.map_err(|reason| match reason {
            Unavailable::Failed(failure) => Failure::clone(&failure),
            Unavailable::Slow if is_busy => fails(Error::Busy),
            Unavailable::Slow => late,
        })
    }

    async fn ask(
        self: Arc<Self>,
        provider: ProviderAddr,
        waiting: Permits,
        asking: impl Future<Output = Result<Versions, Failure>>,
        late: Failure,
    ) -> Result<OriginList, Failure> {
        let mut asking = pin!(asking);
        if let Ok(versions) = timeout(LONGEST_WAIT, &mut asking).await {
            return versions.map(|versions| OriginList {
                versions,
                at: Instant::now(),
                _late: None,
            });
        }
        drop(waiting);
        let place = self.late_place(&provider).ok_or(late)?;
        let versions = asking.await?;
        Ok(OriginList {
            versions: versions.map(|all| all.into_iter().rev().take(MOST_OFFERED).collect()),
            at: Instant::now(),
            _late: Some(place),
        })
    }

    /// A place for a list that comes late, if need be in the place of lists that nobody has used: of the same origin, if it has no other.
    fn late_place(&self, provider: &ProviderAddr) -> Option<Permits> {
        self.late.take(provider).or_else(|| {
            let host = provider.hostname();
            let is_full = self.late.is_full_for(host);
            let is_spared = |other: &ProviderAddr| is_full && other.hostname() != host;
            let mut asked = self.asked();
            asked.retain(|other, one| one.is_refreshing() || is_spared(other));
            drop(asked);
            self.late.take(provider)
        })
    }

    /// The list of a provider, which is asked for, or came too late; an empty one if there is none.
    fn asked_for(&self, provider: &ProviderAddr) -> Arc<Cached<OriginList, Failure>> {
        let mut asked = self.asked();
        // Failures that came too late have no place.
        if asked.len() >= 2 * MOST {
            asked.retain(|_, one| one.is_refreshing());
        }
        asked.entry(provider.clone()).or_default().clone()
    }

    fn asked(&self) -> MutexGuard<'_, HashMap<ProviderAddr, Arc<Cached<OriginList, Failure>>>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A limit of lists. One origin has half of them.
struct Places {
    all: Arc<Semaphore>,
    of_origin: Quota<Hostname>,
}

/// A place of an origin, and one of all.
type Permits = [OwnedSemaphorePermit; 2];

impl Places {
    fn new(most: usize) -> Self {
        Self {
            all: Arc::new(Semaphore::new(most)),
            of_origin: Quota::half_of(most),
        }
    }

    /// A place for the list of a provider; `None` if all are taken.
    fn take(&self, provider: &ProviderAddr) -> Option<Permits> {
        let of_origin = self.of_origin.of(provider.hostname().clone());
        let own = of_origin.try_acquire_owned().ok()?;
        let any = self.all.clone().try_acquire_owned().ok()?;
        Some([own, any])
    }

    /// Whether an origin has all of its places.
    fn is_full_for(&self, host: &Hostname) -> bool {
        self.of_origin.of(host.clone()).available_permits() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGES: Ages = Ages {
        fresh: Duration::from_secs(60),
        stale: Duration::from_secs(60),
    };

    /// Holds a list that came late.
    async fn hold(lists: &OriginLists, address: &str) {
        let provider = address.parse().expect("an address");
        let list = OriginList {
            versions: None,
            at: Instant::now(),
            _late: lists.late_place(&provider),
        };
        assert!(list._late.is_some(), "{address}");
        let load = |_| Some(async { Ok(list) });
        let held = lists.asked_for(&provider).get(AGES, |_| true, load).await;
        assert!(held.is_ok(), "{address}");
        // The task that read it ends.
        tokio::task::yield_now().await;
    }

    #[tokio::test]
    async fn an_origin_evicts_only_late_lists_of_its_own() {
        let lists = OriginLists::new();
        hold(&lists, "b.test/acme/demo").await;
        for number in 0..=MOST_LATE {
            hold(&lists, &format!("a.test/acme/p{number}")).await;
        }
        let other: ProviderAddr = "b.test/acme/demo".parse().expect("an address");
        assert!(lists.asked().contains_key(&other));
        assert!(lists.asked().len() <= 1 + MOST_LATE / 2);
    }
}
