//! Values that many requests share: each is loaded once for all of them, and kept for a while.
//!
//! | age of the value | answer |
//! | --- | --- |
//! | up to [`Ages::fresh`] | the value |
//! | older | a new value, or the old one if the new one cannot be loaded |
//! | older, and the last attempt failed | the old one, at once, and perhaps a new one later |
//! | older than [`Ages::usable`], or there is none | a new value, or the reason why there is none |
//!
//! A load goes on after the clients that waited for it have disconnected, so the next request finds the new value.

use std::hash::Hash;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use moka::future::Cache;
use tokio::time::timeout;

use crate::jobs::locked;
use crate::outcome::Failure;

/// How long a failure is reused before the value is loaded again. It is shorter than the `Retry-After` of an answer, so a client that retries
/// reaches the store.
const PAUSE: Duration = Duration::from_secs(2);
/// The longest time that a load may take, unless another is set. A store that sends its answer byte by byte would otherwise keep a load
/// for ever.
pub(super) const LONGEST_LOAD: Duration = Duration::from_secs(120);
/// How long a request waits for a new value. Clients give up after 10 seconds.
const WAIT: Duration = Duration::from_secs(8);

/// How long values are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ages {
    /// How long a value is used before it is loaded again.
    pub fresh: Duration,
    /// How long a value is used while the store is unreachable.
    pub usable: Duration,
}

/// A value with its remaining lifetime.
#[derive(Debug)]
pub(super) struct CachedValue<V> {
    pub(super) value: Arc<V>,
    /// When it was loaded.
    pub(super) at: Instant,
    /// How long the value stays fresh; zero if it is stale.
    pub(super) lifetime: Duration,
    /// Whether the value is older than [`Ages::fresh`]: no new one can be loaded, or it takes longer than clients wait.
    pub(super) is_stale: bool,
}

/// Why there is no value.
#[derive(Clone, Debug)]
pub(super) enum Unavailable {
    /// The load failed.
    Failed(Box<Failure>),
    /// The load takes longer than clients wait, and goes on; or too much is loaded now.
    Slow,
}

impl From<Failure> for Unavailable {
    fn from(failure: Failure) -> Self {
        Self::Failed(Box::new(failure))
    }
}

/// A value, and when it was loaded.
type Dated<V> = (Arc<V>, Instant);
type Loading<V> = Shared<BoxFuture<'static, Result<Dated<V>, Unavailable>>>;

/// What is known of a value.
struct Slot<V> {
    /// The last value, and when it was loaded.
    value: Option<Dated<V>>,
    /// The last failure, if no load has succeeded since.
    failure: Option<(Unavailable, Instant)>,
    /// The load in progress.
    loading: Option<Loading<V>>,
    /// When the last load began; `None` if its value has to be loaded again regardless of its age.
    since: Option<Instant>,
}

type Shelf<V> = Arc<Mutex<Slot<V>>>;

/// Shared values by key.
pub(super) struct Cached<K, V> {
    shelves: Cache<K, Shelf<V>>,
    ages: Ages,
    longest: Duration,
}

impl<K, V> Cached<K, V>
where
    K: Hash + Eq + Clone + Send + Sync + 'static,
    V: Send + Sync + 'static,
{
    /// No values. All may have this weight together; those that are requested least are forgotten first. A load may take `longest`.
    pub(super) fn new(
        ages: Ages,
        most: u64,
        longest: Duration,
        weight: impl Fn(&K, Option<&V>) -> u64 + Send + Sync + 'static,
    ) -> Self {
        let weigher = move |key: &K, shelf: &Shelf<V>| {
            let weight = weight(key, locked(shelf).value.as_ref().map(|(value, _)| &**value));
            // A value that is larger than all may be would be loaded for each request.
            u32::try_from(weight.min(most / 2)).unwrap_or(u32::MAX)
        };
        let shelves = Cache::builder().max_capacity(most).weigher(weigher);
        Self {
            shelves: shelves.build(),
            ages,
            longest,
        }
    }

    /// Returns a value. `load` receives the old value and loads a new one. If it returns `None`, because too many values are loaded now, the
    /// old value is used, or the request is answered at once.
    pub(super) async fn get<F>(
        &self,
        key: &K,
        load: impl FnOnce(Option<Arc<V>>) -> Option<F>,
    ) -> Result<CachedValue<V>, Unavailable>
    where
        F: Future<Output = Result<V, Failure>> + Send + 'static,
    {
        let new = async { Shelf::default() };
        let shelf = self.shelves.get_with_by_ref(key, new).await;
        let dated = |(value, at): &Dated<V>, is_stale: bool| {
            let lifetime = self.ages.fresh.saturating_sub(at.elapsed());
            CachedValue {
                value: value.clone(),
                at: *at,
                lifetime: if is_stale { Duration::ZERO } else { lifetime },
                is_stale,
            }
        };
        let (loading, old, patience) = {
            let mut slot = locked(&shelf);
            let last = slot.value.as_ref();
            if let Some(last) = last.filter(|_| slot.is_valid())
                && last.1.elapsed() < self.ages.fresh
            {
                return Ok(dated(last, false));
            }
            let old = last.filter(|(_, at)| at.elapsed() < self.ages.usable);
            let old = old.map(|old| dated(old, true));
            let failed = slot.failure.as_ref();
            let failed = failed.map(|(reason, at)| (reason.clone(), at.elapsed()));
            let loading = match (&slot.loading, &failed) {
                // One that has ended without a result was a task that panicked.
                (Some(loading), _) if loading.peek().is_none() => loading.clone(),
                (_, Some((reason, age))) if *age < PAUSE => return old.ok_or(reason.clone()),
                _ => {
                    let Some(load) = load(last.map(|(value, _)| value.clone())) else {
                        return old.ok_or(Unavailable::Slow);
                    };
                    self.begin(key, &shelf, &mut slot, load)
                }
            };
            let patience = match &old {
                Some(_) if failed.is_some() => Duration::ZERO,
                _ => WAIT,
            };
            (loading, old, patience)
        };
        match timeout(patience, loading).await {
            Ok(Ok(loaded)) => Ok(dated(&loaded, false)),
            Ok(Err(reason)) => old.ok_or(reason),
            Err(_) => old.ok_or(Unavailable::Slow),
        }
    }

    /// Begins to load a value, in a task that goes on after all waiting clients have disconnected.
    fn begin(
        &self,
        key: &K,
        shelf: &Shelf<V>,
        slot: &mut Slot<V>,
        load: impl Future<Output = Result<V, Failure>> + Send + 'static,
    ) -> Loading<V> {
        let since = Instant::now();
        let (shelves, longest) = (self.shelves.clone(), self.longest);
        let (key, shelf) = (key.clone(), shelf.clone());
        let task = tokio::spawn(async move {
            let loaded = match timeout(longest, load).await {
                Ok(Ok(value)) => Ok((Arc::new(value), Instant::now())),
                Ok(Err(failure)) => Err(failure.into()),
                Err(_) => Err(Unavailable::Slow),
            };
            let is_current = locked(&shelf).end(since, &loaded);
            let is_kept = |kept: Shelf<V>| Arc::ptr_eq(&kept, &shelf);
            if is_current && loaded.is_ok() && shelves.get(&key).await.is_some_and(is_kept) {
                // The value is weighed again.
                shelves.insert(key, shelf).await;
            }
            loaded
        });
        let task = task.map(|ended| ended.unwrap_or(Err(Unavailable::Slow)));
        let loading = task.boxed().shared();
        slot.loading = Some(loading.clone());
        slot.since = Some(since);
        loading
    }

    /// Makes the next request load a value again, unless its load began after the event that changed it.
    pub(super) async fn invalidate(&self, key: &K, event: Instant) {
        let Some(shelf) = self.shelves.get(key).await else {
            return;
        };
        let mut slot = locked(&shelf);
        if slot.since.is_some_and(|since| since <= event) {
            slot.since = None;
            slot.loading = None;
            slot.failure = None;
        }
    }

    /// Forgets a value. Requests that wait for it still get it.
    pub(super) async fn forget(&self, key: &K) {
        self.shelves.invalidate(key).await;
    }

    /// The values that were loaded, however old.
    pub(super) fn values(&self) -> impl Iterator<Item = (Arc<K>, Arc<V>)> {
        let shelves = self.shelves.iter();
        shelves.filter_map(|(key, shelf)| Some((key, locked(&shelf).value.clone()?.0)))
    }
}

impl<V> Slot<V> {
    /// Whether the value is the result of the last load.
    fn is_valid(&self) -> bool {
        self.since.is_some() && self.loading.is_none() && self.failure.is_none()
    }

    /// Keeps the result of the load that began then, unless another has begun, or the value has changed meanwhile.
    fn end(&mut self, since: Instant, loaded: &Result<Dated<V>, Unavailable>) -> bool {
        if self.since != Some(since) {
            return false;
        }
        self.loading = None;
        match loaded {
            Ok(loaded) => {
                self.value = Some(loaded.clone());
                self.failure = None;
            }
            Err(reason) => self.failure = Some((reason.clone(), Instant::now())),
        }
        true
    }
}

impl<V> Default for Slot<V> {
    fn default() -> Self {
        Self {
            value: None,
            failure: None,
            loading: None,
            since: None,
        }
    }
}

#[cfg(test)]
mod tests;
