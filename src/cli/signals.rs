//! Signals that end the program, or make a server read its files again.

use std::future::Future;
use std::pin::pin;

use futures_util::FutureExt as _;

/// Runs the work until it ends or a signal arrives; `None` after a signal. Dropping the work removes its unfinished files.
pub(super) async fn until_interrupted<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    tokio::select! {
        biased;
        // Tasks that ended before the signal are still reported.
        () = interrupted(1) => work.as_mut().now_or_never(),
        result = &mut work => Some(result),
    }
}

/// Ends after this many SIGINT or SIGTERM since this call.
#[cfg(unix)]
pub(super) fn interrupted(count: usize) -> impl Future<Output = ()> {
    use tokio::signal::unix::{SignalKind, signal};
    // The handlers are set here and not when the future is first polled: until then, a signal would end the program at once.
    let [interrupt, terminate] = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
    async move {
        let (Ok(mut interrupt), Ok(mut terminate)) = (interrupt, terminate) else {
            return std::future::pending().await;
        };
        for _ in 0..count {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        }
    }
}

#[cfg(not(unix))]
pub(super) async fn interrupted(count: usize) {
    for _ in 0..count {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Calls `reload` after each SIGHUP since this call. Never ends.
#[cfg(unix)]
pub(super) fn hung_up(reload: impl Fn()) -> impl Future<Output = ()> {
    use tokio::signal::unix::{SignalKind, signal};
    let hangup = signal(SignalKind::hangup());
    async move {
        if let Ok(mut hangup) = hangup {
            while hangup.recv().await.is_some() {
                reload();
            }
        }
        std::future::pending().await
    }
}

#[cfg(not(unix))]
pub(super) async fn hung_up(_reload: impl Fn()) {
    std::future::pending().await
}
