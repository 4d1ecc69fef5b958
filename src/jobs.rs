//! Runs tasks concurrently, up to a limit, and blocking work in threads.
//!
//! It knows nothing of what the tasks do. Errors stop the tasks that have not begun; retries belong to the callers.

use std::future::Future;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// Runs a task for each item, at most `limit` at a time, and returns the results in the order of the items. The first error
/// cancels the remaining tasks; so does dropping the future.
///
/// # Errors
/// The first error of any task.
pub async fn run<I, T, E, F>(
    limit: usize,
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
        while running.len() < limit.max(1)
            && let Some((place, item)) = waiting.next()
        {
            let work = task(item);
            running.spawn(async move { work.await.map(|result| (place, result)) });
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

/// As [`run`], but each task also holds one of `permits`, which several runs share.
///
/// # Errors
/// The first error of any task.
pub(crate) async fn run_within<I, T, E, F>(
    permits: &Arc<Semaphore>,
    limit: usize,
    items: impl IntoIterator<Item = I>,
    task: impl Fn(I) -> F,
) -> Result<Vec<T>, E>
where
    F: Future<Output = Result<T, E>> + Send + 'static,
    T: Send + 'static,
    E: Send + 'static,
{
    let task = |item| {
        let (permits, work) = (Arc::clone(permits), task(item));
        async move {
            // The semaphore is never closed.
            let _permit = permits.acquire().await;
            work.await
        }
    };
    run(limit, items, task).await
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
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn block_on<F: Future>(future: F) -> F::Output {
        tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .unwrap()
            .block_on(future)
    }

    #[test]
    fn results_keep_their_order_and_the_limit_holds() {
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let results = block_on(run(3, 0..50, |n| {
            let (now, most) = (Arc::clone(&now), Arc::clone(&most));
            async move {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tokio::task::yield_now().await;
                now.fetch_sub(1, Ordering::SeqCst);
                Ok::<_, ()>(n * 2)
            }
        }));
        assert_eq!(results, Ok((0..50).map(|n| n * 2).collect()));
        assert!(most.load(Ordering::SeqCst) <= 3);
    }

    #[test]
    fn the_first_error_stops_the_rest() {
        let started = Arc::new(AtomicUsize::new(0));
        let result = block_on(run(2, 0..1000, |n| {
            started.fetch_add(1, Ordering::SeqCst);
            async move { if n == 3 { Err(n) } else { Ok(n) } }
        }));
        assert_eq!(result, Err(3));
        assert!(started.load(Ordering::SeqCst) < 1000);
    }
}
