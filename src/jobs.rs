//! Runs tasks concurrently, up to a limit, the versions of several providers side by side, and blocking work in threads.
//!
//! It knows nothing of what the tasks do. Errors stop the tasks that have not begun; retries belong to the callers.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::{Stream, StreamExt as _, future, stream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// A number of jobs that all providers and versions of a run share. Clones share it.
#[derive(Clone, Debug)]
pub struct Jobs(Arc<Semaphore>, usize);

impl Jobs {
    /// So many jobs, at least one.
    pub fn new(count: usize) -> Self {
        let count = count.max(1);
        Self(Arc::new(Semaphore::new(count)), count)
    }

    /// The number of jobs.
    pub fn count(&self) -> usize {
        self.1
    }

    /// Runs a task for each item, each in one of the jobs, and returns the results in the order of the items. The first error cancels the remaining
    /// tasks; so does dropping the future.
    ///
    /// # Errors
    /// The first error of any task.
    pub async fn run<I, T, E, F>(
        &self,
        items: impl IntoIterator<Item = I>,
        task: impl Fn(I) -> F,
    ) -> Result<Vec<T>, E>
    where
        F: Future<Output = Result<T, E>> + Send + 'static,
        T: Send + 'static,
        E: Send + 'static,
    {
        let mut waiting = items.into_iter().enumerate();
        let mut running = JoinSet::new();
        let mut done = Vec::new();
        loop {
            while running.len() < self.1
                && let Some((place, item)) = waiting.next()
            {
                let (jobs, work) = (Arc::clone(&self.0), task(item));
                running.spawn(async move {
                    // The semaphore is never closed.
                    let _job = jobs.acquire().await;
                    work.await.map(|result| (place, result))
                });
            }
            match running.join_next().await {
                None => break,
                Some(Ok(result)) => done.push(result?),
                Some(Err(error)) => {
                    if let Ok(panic) = error.try_into_panic() {
                        std::panic::resume_unwind(panic);
                    }
                }
            }
        }
        done.sort_unstable_by_key(|(place, _)| *place);
        Ok(done.into_iter().map(|(_, result)| result).collect())
    }
}

/// The number of providers that are in work at once. Most of the time they wait for responses, and one host receives at most 16 small requests at
/// once: more would only take memory. Packages have a limit of their own ([`Jobs`]).
pub const PROVIDERS: usize = 16;

/// The number of versions that are in work at once, besides one of each provider. A version has two or three requests under way, and one host may
/// receive 16 small requests, so more versions would only hold their documents in memory.
const SPARE: usize = 15;

/// Lets the versions of several providers travel side by side. One version of each provider is always in work, so a provider whose host does not
/// answer delays no other. Further versions share a number of places.
pub struct SideBySide(Semaphore);

impl Default for SideBySide {
    fn default() -> Self {
        Self(Semaphore::new(SPARE))
    }
}

impl SideBySide {
    /// Does the work of one provider. Yields the results in the order of the work. If `one_first`, the first one ends before the others begin.
    pub fn run<'a, W: Future + 'a>(
        &'a self,
        one_first: bool,
        work: impl IntoIterator<Item = W, IntoIter: 'a>,
    ) -> impl Stream<Item = W::Output> + 'a {
        let own = Arc::new(Semaphore::new(1));
        let others = Arc::new(Semaphore::new(usize::from(!one_first)));
        let work = work.into_iter().map(move |work| {
            let (own, others) = (Arc::clone(&own), Arc::clone(&others));
            async move {
                let place = async {
                    let spare = async {
                        drop(others.acquire().await);
                        self.0.acquire().await
                    };
                    let (own, spare) = (pin!(own.acquire()), pin!(spare));
                    future::select(own, spare).await.factor_first().0
                };
                // The semaphores are never closed.
                let _place = place.await;
                let done = work.await;
                others.add_permits(1);
                done
            }
        });
        stream::iter(work).buffered(SPARE + 1)
    }
}

/// What a mutex guards. It is used even after a panic of the task that held it: no task leaves it half changed.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts work that may block, in a thread. It runs to its end even if its result is dropped.
pub fn in_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = T> {
    let running = tokio::task::spawn_blocking(work);
    async {
        match running.await {
            Ok(done) => done,
            // The runtime is ending, and drops this future.
            Err(ended) if ended.is_cancelled() => std::future::pending().await,
            Err(panic) => std::panic::resume_unwind(panic.into_panic()),
        }
    }
}

#[cfg(test)]
mod tests;
