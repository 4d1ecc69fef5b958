//! A value that many requests share: it is loaded once for all of them, and kept for a while.
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

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};

/// How long a failure is reused before the value is loaded again. It is shorter than the `Retry-After` of an answer, so a client that retries
/// reaches the store.
const PAUSE: Duration = Duration::from_secs(2);
/// The longest time that a refresh may take, unless [`Cached::with_longest_refresh`] sets another. A store that sends its answer byte by byte
/// would otherwise keep a refresh for ever.
const LONGEST_REFRESH: Duration = Duration::from_secs(120);
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
pub(super) struct CachedValue<T> {
    pub(super) value: Arc<T>,
    /// How long the value stays fresh; zero if it is stale.
    pub(super) lifetime: Duration,
    /// Why the value is older than [`Ages::fresh`]; `None` if it is not.
    pub(super) stale: Option<Stale>,
}

impl<T> CachedValue<T> {
    /// Whether the value is older than [`Ages::fresh`].
    pub(super) fn is_stale(&self) -> bool {
        self.stale.is_some()
    }
}

/// Why there is an old value, and no new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stale {
    /// The last refresh failed.
    Failed,
    /// The refresh takes longer than clients wait, or has not begun, because too many values are loaded now.
    Slow,
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

type Refresh<T, E> = Shared<BoxFuture<'static, Result<Arc<T>, Unavailable<E>>>>;

/// A shared value.
pub(super) struct Cached<T, E> {
    state: Mutex<CacheState<T, E>>,
    longest: Duration,
}

struct CacheState<T, E> {
    good: Option<(Arc<T>, Instant)>,
    failed: Option<(Unavailable<E>, Instant)>,
    /// With the number of invalidations before it began.
    refresh: Option<(Refresh<T, E>, u64)>,
    /// How often the value was outdated, regardless of its age.
    invalidations: u64,
    /// The number of invalidations before the refresh of `good` began. If there were more since, it may lack what they were about.
    good_since: u64,
}

impl<T, E> Default for Cached<T, E> {
    fn default() -> Self {
        Self::with_longest_refresh(LONGEST_REFRESH)
    }
}

impl<T, E> Cached<T, E> {
    /// A value whose refresh may take this long.
    pub(super) fn with_longest_refresh(longest: Duration) -> Self {
        let state = Mutex::new(CacheState {
            good: None,
            failed: None,
            refresh: None,
            invalidations: 0,
            good_since: 0,
        });
        Self { state, longest }
    }

    /// Whether a refresh is in progress.
    pub(super) fn is_refreshing(&self) -> bool {
        self.state().refresh.is_some()
    }

    fn state(&self) -> MutexGuard<'_, CacheState<T, E>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The next step of a request for the value.
enum Next<T, E> {
    Ready(Result<CachedValue<T>, Unavailable<E>>),
    /// With the number of invalidations before the refresh began.
    Wait(Refresh<T, E>, u64, Option<CachedValue<T>>),
}

impl<T: Send + Sync + 'static, E: Send + Sync + 'static> Cached<T, E> {
    /// Returns the value. `load` receives the old value and loads a new one. If it returns `None`, because too many values are loaded now, the
    /// old value is used, or the request is answered at once. `is_enough` tells whether the request needs nothing that an old value lacks.
    pub(super) async fn get<F>(
        self: &Arc<Self>,
        ages: Ages,
        is_enough: impl Fn(&T) -> bool,
        load: impl FnOnce(Option<Arc<T>>) -> Option<F>,
    ) -> Result<CachedValue<T>, Unavailable<E>>
    where
        F: Future<Output = Result<T, E>> + Send + 'static,
    {
        let begun = Instant::now();
        let invalidations = self.state().invalidations;
        let mut load = Some(load);
        let (waited, old) = loop {
            let (refresh, since, old) = match self.next(ages, &mut load) {
                Next::Ready(value) => return value,
                Next::Wait(refresh, since, old) => (refresh, since, old),
            };
            let patience = match &old {
                Some(old) if is_enough(&old.value) => WAIT_WITH_OLD,
                _ => WAIT_WITHOUT_OLD,
            };
            let patience = patience.saturating_sub(begun.elapsed());
            let waited = tokio::time::timeout(patience, refresh).await;
            // A refresh that began before an invalidation does not show what that was about. The next one does.
            if waited.is_err() || since >= invalidations {
                break (waited, old);
            }
        };
        match (waited, old) {
            (Ok(Ok(value)), _) => Ok(CachedValue {
                value,
                lifetime: ages.fresh,
                stale: None,
            }),
            (Ok(Err(Unavailable::Failed(_))), Some(old)) => Ok(CachedValue {
                stale: Some(Stale::Failed),
                ..old
            }),
            (_, Some(old)) => Ok(old),
            (Ok(Err(error)), None) => Err(error),
            (Err(_), None) => Err(Unavailable::Slow),
        }
    }

    /// The last loaded value, however old.
    pub(super) fn last(&self) -> Option<Arc<T>> {
        let state = self.state();
        state.good.as_ref().map(|(value, _)| value.clone())
    }

    /// Whether the value has to be loaded again regardless of its age.
    pub(super) fn is_outdated(&self) -> bool {
        let state = self.state();
        state.good_since != state.invalidations
    }

    /// Makes the next request load the value again.
    pub(super) fn invalidate(&self) {
        let mut state = self.state();
        state.failed = None;
        state.invalidations += 1;
    }

    fn next<F>(
        self: &Arc<Self>,
        ages: Ages,
        load: &mut Option<impl FnOnce(Option<Arc<T>>) -> Option<F>>,
    ) -> Next<T, E>
    where
        F: Future<Output = Result<T, E>> + Send + 'static,
    {
        let mut state = self.state();
        let now = Instant::now();
        let age = |since: &Instant| now.saturating_duration_since(*since);
        if let Some((value, since)) = &state.good
            && state.good_since == state.invalidations
            && age(since) < ages.fresh
        {
            return Next::Ready(Ok(CachedValue {
                value: value.clone(),
                lifetime: ages.fresh.saturating_sub(age(since)),
                stale: None,
            }));
        }
        let old = state
            .good
            .as_ref()
            .filter(|(_, since)| age(since) < ages.stale);
        let old = old.map(|(value, _)| CachedValue {
            value: value.clone(),
            lifetime: Duration::ZERO,
            stale: Some(match &state.failed {
                Some((Unavailable::Failed(_), since)) if age(since) < OUTAGE => Stale::Failed,
                _ => Stale::Slow,
            }),
        });
        if state.refresh.is_none()
            && let Some((error, since)) = &state.failed
            && age(since) < PAUSE
        {
            let error = error.clone();
            return Next::Ready(old.ok_or(error));
        }
        let known = state.good.as_ref().map(|(value, _)| value.clone());
        let (refresh, since) = match &state.refresh {
            Some(refresh) => refresh.clone(),
            None => {
                let Some(loading) = load.take().and_then(|load| load(known)) else {
                    return Next::Ready(old.ok_or(Unavailable::Slow));
                };
                let since = state.invalidations;
                let refresh = self.refresh(loading, since);
                state.refresh = Some((refresh.clone(), since));
                // The task goes on after all waiting clients have disconnected.
                tokio::spawn(refresh.clone());
                (refresh, since)
            }
        };
        let is_outage = matches!(&state.failed, Some((_, since)) if age(since) < OUTAGE);
        match old {
            Some(old) if is_outage => Next::Ready(Ok(old)),
            old => Next::Wait(refresh, since, old),
        }
    }

    /// A refresh, which stores its result. It begins after `since` invalidations.
    fn refresh(
        self: &Arc<Self>,
        loading: impl Future<Output = Result<T, E>> + Send + 'static,
        since: u64,
    ) -> Refresh<T, E> {
        let this = self.clone();
        let limited = tokio::time::timeout(self.longest, loading);
        async move {
            let result = match limited.await {
                Ok(Ok(value)) => Ok(Arc::new(value)),
                Ok(Err(error)) => Err(Unavailable::Failed(Arc::new(error))),
                Err(_) => Err(Unavailable::Slow),
            };
            let mut state = this.state();
            state.refresh = None;
            let now = Instant::now();
            match &result {
                Ok(value) => {
                    state.good = Some((value.clone(), now));
                    state.good_since = since;
                    state.failed = None;
                }
                Err(error) if since == state.invalidations => {
                    state.failed = Some((error.clone(), now));
                }
                // After an invalidation, the next request loads the value again at once.
                Err(_) => {}
            }
            result
        }
        .boxed()
        .shared()
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    const AGES: Ages = Ages {
        fresh: Duration::ZERO,
        stale: Duration::ZERO,
    };

    /// Of two versions that are mirrored at once, the list after the second must have both.
    #[tokio::test]
    async fn a_refresh_that_began_before_an_invalidation_is_not_enough() {
        let ages = Ages {
            fresh: Duration::MAX,
            stale: Duration::MAX,
        };
        for is_good in [true, false] {
            let cached = Arc::new(Cached::<u8, ()>::default());
            let (go_on, waits) = oneshot::channel();
            let old = async move { waits.await.map_err(|_| ()) };
            let shared = cached.clone();
            let first = tokio::spawn(async move {
                let load = |_| Some(old);
                shared.get(ages, |_| true, load).await.map(|got| *got.value)
            });
            while !cached.is_refreshing() {
                tokio::task::yield_now().await;
            }
            cached.invalidate();
            let shared = cached.clone();
            let second = tokio::spawn(async move {
                let load = |_| Some(std::future::ready(Ok(2)));
                shared.get(ages, |_| true, load).await.map(|got| *got.value)
            });
            tokio::task::yield_now().await;
            match is_good {
                true => go_on.send(1).unwrap(),
                false => drop(go_on),
            }
            assert_eq!(first.await.unwrap().ok(), is_good.then_some(1));
            assert_eq!(second.await.unwrap().ok(), Some(2));
            let load = |_| None::<std::future::Ready<_>>;
            let kept = cached.get(ages, |_| true, load).await.unwrap();
            assert_eq!((*kept.value, kept.stale), (2, None));
        }
    }

    #[tokio::test]
    async fn a_refresh_is_dropped_after_its_own_time() {
        let refreshing = |longest| async move {
            let cached = Arc::new(Cached::<(), ()>::with_longest_refresh(longest));
            let (held, ended) = oneshot::channel::<()>();
            let shared = cached.clone();
            let waiting = tokio::spawn(async move {
                let load = |_| {
                    Some(async move {
                        let _held = held;
                        std::future::pending().await
                    })
                };
                shared.get(AGES, |()| true, load).await.is_err()
            });
            (cached, ended, waiting)
        };
        let (short, ended, waiting) = refreshing(Duration::from_millis(1)).await;
        assert!(waiting.await.unwrap());
        assert!(ended.await.is_err());
        assert!(!short.is_refreshing());
        let (long, mut ended, waiting) = refreshing(LONGEST_REFRESH * 30).await;
        while !long.is_refreshing() {
            tokio::task::yield_now().await;
        }
        waiting.abort();
        assert!(waiting.await.is_err());
        assert!(long.is_refreshing());
        assert!(
            ended
                .try_recv()
                .is_err_and(|error| error == oneshot::error::TryRecvError::Empty)
        );
    }
}
