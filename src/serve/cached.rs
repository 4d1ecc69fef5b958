//! Values that many requests share: each is loaded once for all of them, and kept for a while.
//!
//! | age of the value | answer |
//! | --- | --- |
//! | up to [`Ages::fresh`] | the value |
//! | older | a new value, or the old one if the new one cannot be loaded |
//! | older, and the last attempt failed a moment ago | the old one, at once |
//! | older than [`Ages::stale`], or there is none | a new value, or the reason why there is none |
//!
//! A request for which the old value is not enough waits longer for the new one.
//!
//! A refresh goes on after the clients that waited for it have disconnected, so the next request finds the new value.

use std::future::{Future, ready};
use std::hash::Hash;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use moka::Entry;
use moka::future::Cache;
use moka::ops::compute::{CompResult, Op};

/// How long a failure is reused before the value is loaded again. It is shorter than the `Retry-After` of an answer, so a client that retries
/// reaches the store.
const PAUSE: Duration = Duration::from_secs(2);
/// The longest time that a refresh may take, unless another is set. A store that sends its answer byte by byte would otherwise keep a refresh
/// for ever.
pub(super) const LONGEST_REFRESH: Duration = Duration::from_secs(120);
/// A request that finds an old value does not wait for a new one if the last attempt failed within this time. Otherwise every request of an
/// outage would cost its client seconds.
const OUTAGE: Duration = Duration::from_secs(30);
/// How long a request waits for a new value if an old one is enough. It is far below the 10 seconds of clients, because an old
/// value is better than a long wait.
const WAIT_WITH_OLD: Duration = Duration::from_secs(3);
/// How long a request waits for a value if there is no old one, or none that is enough. Clients give up after 10 seconds.
const WAIT_WITHOUT_OLD: Duration = Duration::from_secs(8);

/// How long values are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ages {
    /// How long a value is used before it is loaded again.
    pub fresh: Duration,
    /// How long a value is used while the store is unreachable.
    pub stale: Duration,
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
#[derive(Debug)]
pub(super) enum Unavailable<E> {
    /// The refresh failed.
    Failed(Arc<E>),
    /// The refresh takes longer than clients wait, and goes on.
    Slow,
}

impl<E> Clone for Unavailable<E> {
    fn clone(&self) -> Self {
        match self {
            Self::Failed(error) => Self::Failed(error.clone()),
            Self::Slow => Self::Slow,
        }
    }
}

/// A value, and when it was loaded.
type Dated<V> = (Arc<V>, Instant);
type Loaded<V, E> = Result<Dated<V>, (Unavailable<E>, Instant)>;

/// One load of a value, in progress or ended. A slot never changes: another one takes its place.
struct Slot<V, E> {
    loading: Shared<BoxFuture<'static, Loaded<V, E>>>,
    /// The value before.
    before: Option<Dated<V>>,
    /// When an earlier load failed, if none has succeeded since.
    failed_before: Option<Instant>,
    /// When the load began.
    since: Instant,
    /// Whether another load is due regardless of the age: this one began too early.
    is_outdated: bool,
}

impl<V, E> Slot<V, E> {
    /// The same load with another value before.
    fn with(&self, before: Option<Dated<V>>, is_outdated: bool) -> Arc<Self> {
        Arc::new(Self {
            loading: self.loading.clone(),
            before,
            failed_before: None,
            since: self.since,
            is_outdated,
        })
    }

    /// The last value that was loaded.
    fn last(&self) -> Option<&Dated<V>> {
        match self.loading.peek() {
            Some(Ok(loaded)) => Some(loaded),
            _ => self.before.as_ref(),
        }
    }

    /// When the last load failed, if none has succeeded since.
    fn failed(&self) -> Option<Instant> {
        match self.loading.peek() {
            _ if self.is_outdated => None,
            Some(Ok(_)) => None,
            Some(Err((_, at))) => Some(*at),
            None => self.failed_before,
        }
    }

    /// Whether another load is not due yet.
    fn serves(&self, fresh: Duration, is_valid: impl Fn(&V) -> bool) -> bool {
        let ended = self.loading.peek();
        !self.is_outdated
            && match ended {
                Some(Ok((value, at))) => at.elapsed() < fresh && is_valid(value),
                Some(Err((_, at))) => at.elapsed() < PAUSE,
                None => true,
            }
    }
}

/// What a request tells of a value: whether it may be used at all, and whether an old one has all that the request needs.
pub(super) type Checks<'a, V> = [&'a (dyn Fn(&V) -> bool + Sync); 2];

/// Shared values by key.
pub(super) struct Cached<K, V, E> {
    slots: Cache<K, Arc<Slot<V, E>>>,
    longest: Duration,
}

impl<K, V, E> Cached<K, V, E>
where
    K: Hash + Eq + Clone + Send + Sync + 'static,
    V: Send + Sync + 'static,
    E: Send + Sync + 'static,
{
    /// No values. All may have this weight together; those that are requested least are forgotten first. A load may take `longest`.
    pub(super) fn new(
        most: u64,
        longest: Duration,
        weight: impl Fn(&K, Option<&V>) -> u64 + Send + Sync + 'static,
    ) -> Self {
        let weigher = move |key: &K, slot: &Arc<Slot<V, E>>| {
            let weight = weight(key, slot.last().map(|(value, _)| &**value));
            // A value that is larger than all may be would be loaded for each request.
            u32::try_from(weight.min(most / 2)).unwrap_or(u32::MAX)
        };
        let slots = Cache::builder().max_capacity(most).weigher(weigher);
        Self {
            slots: slots.build(),
            longest,
        }
    }

    /// Returns a value. `load` receives the old value and loads a new one. If it returns `None`, because too many values are loaded now, the
    /// old value is used, or the request is answered at once.
    pub(super) async fn get<F>(
        &self,
        key: &K,
        ages: Ages,
        [is_valid, is_enough]: Checks<'_, V>,
        load: impl FnOnce(Option<Arc<V>>) -> Option<F> + Send,
    ) -> Result<CachedValue<V>, Unavailable<E>>
    where
        F: Future<Output = Result<V, E>> + Send + 'static,
    {
        let slot = match self.slots.get(key).await {
            Some(slot) if slot.serves(ages.fresh, is_valid) => slot,
            _ => match self.load(key, ages.fresh, is_valid, load).await {
                Some(slot) => slot,
                None => return Err(Unavailable::Slow),
            },
        };
        let serves = slot.serves(ages.fresh, is_valid);
        let fresh = |(value, at): &Dated<V>| CachedValue {
            value: value.clone(),
            at: *at,
            lifetime: ages.fresh.saturating_sub(at.elapsed()),
            is_stale: false,
        };
        let is_outage = slot.failed().is_some_and(|at| at.elapsed() < OUTAGE);
        let is_usable = |(value, at): &&Dated<V>| at.elapsed() < ages.stale && is_valid(value);
        let old = slot
            .last()
            .filter(is_usable)
            .map(|(value, at)| CachedValue {
                value: value.clone(),
                at: *at,
                lifetime: Duration::ZERO,
                is_stale: true,
            });
        let ended = match (slot.loading.peek(), &old) {
            (Some(Ok(loaded)), _) if serves => return Ok(fresh(loaded)),
            (Some(Err((reason, _))), _) if serves => Some(Err(reason.clone())),
            // Too many are loaded now.
            (Some(_), _) => None,
            (None, Some(_)) if is_outage => None,
            (None, old) => {
                let patience = match old {
                    Some(old) if is_enough(&old.value) => WAIT_WITH_OLD,
                    _ => WAIT_WITHOUT_OLD,
                };
                let loaded = tokio::time::timeout(patience, slot.loading.clone()).await;
                let loaded = loaded.ok();
                loaded.map(|loaded| loaded.map_err(|(reason, _)| reason))
            }
        };
        match (ended, old) {
            (Some(Ok(loaded)), _) => Ok(fresh(&loaded)),
            (_, Some(old)) => Ok(old),
            (Some(Err(reason)), None) => Err(reason),
            (None, None) => Err(Unavailable::Slow),
        }
    }

    /// Begins to load a value, unless another request has done so. Returns the slot with it, or the last one if too many values are loaded now.
    async fn load<F>(
        &self,
        key: &K,
        fresh: Duration,
        is_valid: &(dyn Fn(&V) -> bool + Sync),
        load: impl FnOnce(Option<Arc<V>>) -> Option<F> + Send,
    ) -> Option<Arc<Slot<V, E>>>
    where
        F: Future<Output = Result<V, E>> + Send + 'static,
    {
        let next = |known: Option<Arc<Slot<V, E>>>| {
            if known
                .as_ref()
                .is_some_and(|slot| slot.serves(fresh, is_valid))
            {
                return Op::Nop;
            }
            let before = known.as_ref().and_then(|slot| slot.last());
            let before = before.filter(|(value, _)| is_valid(value)).cloned();
            let Some(loading) = load(before.as_ref().map(|(value, _)| value.clone())) else {
                return Op::Nop;
            };
            let limited = tokio::time::timeout(self.longest, loading);
            let loading = async {
                let loaded = match limited.await {
                    Ok(Ok(value)) => Ok(Arc::new(value)),
                    Ok(Err(error)) => Err(Unavailable::Failed(Arc::new(error))),
                    Err(_) => Err(Unavailable::Slow),
                };
                let now = Instant::now();
                loaded
                    .map(|value| (value, now))
                    .map_err(|reason| (reason, now))
            };
            Op::Put(Arc::new(Slot {
                loading: loading.boxed().shared(),
                before,
                failed_before: known.and_then(|slot| slot.failed()),
                since: Instant::now(),
                is_outdated: false,
            }))
        };
        let entry = self.slots.entry_by_ref(key);
        let next = entry.and_compute_with(|entry| ready(next(entry.map(Entry::into_value))));
        match next.await {
            CompResult::Inserted(entry) | CompResult::ReplacedWith(entry) => {
                let slot = entry.into_value();
                // The task goes on after all waiting clients have disconnected.
                tokio::spawn(self.clone().complete(key.clone(), slot.clone()));
                Some(slot)
            }
            CompResult::Unchanged(entry) => Some(entry.into_value()),
            CompResult::StillNone(_) | CompResult::Removed(_) => None,
        }
    }

    /// Waits for a value, and puts a slot into its place that has the right weight, and not the value before.
    async fn complete(self, key: K, slot: Arc<Slot<V, E>>) {
        let loaded = slot.loading.clone().await;
        let ended = slot.with(slot.before.clone().filter(|_| loaded.is_err()), false);
        let is_same = |entry: &Entry<K, Arc<Slot<V, E>>>| Arc::ptr_eq(entry.value(), &slot);
        let replaced = self.slots.entry(key).and_compute_with(|entry| {
            ready(match entry.as_ref().is_some_and(is_same) {
                true => Op::Put(ended),
                false => Op::Nop,
            })
        });
        replaced.await;
    }

    /// Makes the next request load a value again, unless its load began after the event that changed it.
    pub(super) async fn invalidate(&self, key: &K, event: Instant) {
        let outdated = self.slots.entry_by_ref(key).and_compute_with(|entry| {
            ready(match entry.map(Entry::into_value) {
                Some(slot) if slot.since <= event => Op::Put(slot.with(slot.before.clone(), true)),
                _ => Op::Nop,
            })
        });
        outdated.await;
    }

    /// Forgets a value, unless it is being loaded.
    pub(super) async fn forget(&self, key: &K) {
        let slot = self.slots.get(key).await;
        if slot.is_some_and(|slot| slot.loading.peek().is_some()) {
            self.slots.invalidate(key).await;
        }
    }

    /// Forgets all values, those that are being loaded too.
    pub(super) fn forget_all(&self) {
        self.slots.invalidate_all();
    }

    /// The values that were loaded, however old.
    pub(super) fn values(&self) -> impl Iterator<Item = (Arc<K>, Arc<V>)> {
        let slots = self.slots.iter();
        slots.filter_map(|(key, slot)| Some((key, slot.last()?.0.clone())))
    }
}

impl<K, V, E> Clone for Cached<K, V, E> {
    fn clone(&self) -> Self {
        Self {
            slots: self.slots.clone(),
            longest: self.longest,
        }
    }
}

#[cfg(test)]
mod tests;
