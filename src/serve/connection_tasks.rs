//! Runs a connection and its requests in one task.
//!
//! Over HTTP/2, hyper would spawn each request as a task. Such a task reads a few blocks of a package and wakes the connection, which sends them
//! and wakes the request. A package of 150 MB would move between threads several thousand times.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::future::{self, BoxFuture};
use futures_util::stream::FuturesUnordered;
use futures_util::task::AtomicWaker;
use futures_util::{FutureExt as _, StreamExt as _};
use hyper::rt::Executor;

use super::activity::Activity;

/// How often the connection and its requests are polled before the task yields to others. They transfer about 1 MiB of a package in this time.
const MOST_POLLS: usize = 16;

/// The executor of hyper: it collects the new requests.
#[derive(Clone, Default)]
pub(super) struct NewRequests {
    all: Arc<Mutex<Vec<BoxFuture<'static, ()>>>>,
    activity: Activity,
}

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for NewRequests {
    /// hyper calls this right after it has begun the request. To drop the request resets its stream: hyper does not poll the body of an answer
    /// while the client reads nothing, so the body could not end it.
    fn execute(&self, request: F) {
        let (request, task) = future::abortable(request);
        self.activity.ends_with(task);
        self.lock().push(request.map(drop).boxed());
    }
}

impl NewRequests {
    /// The requests of a connection.
    pub(super) fn of(activity: Activity) -> Self {
        Self {
            activity,
            ..Self::default()
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<BoxFuture<'static, ()>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection with its requests. It ends when the connection ends.
pub(super) struct ConnectionTasks<C> {
    connection: Pin<Box<C>>,
    new_requests: NewRequests,
    requests: FuturesUnordered<BoxFuture<'static, ()>>,
    woken: Arc<Wakeups>,
    /// Whether nothing has woken the task since the last call of [`ConnectionTasks::poll_if_idle`].
    is_idle: bool,
}

/// The waker of the connection and its requests. It wakes the task only if the task is not being polled.
struct Wakeups {
    /// Whether the connection or a request has to be polled.
    is_woken: AtomicBool,
    /// Whether one of them was woken since [`ConnectionTasks::poll_if_idle`].
    was_woken: AtomicBool,
    /// Whether the task is being polled.
    is_polled: AtomicBool,
    task: AtomicWaker,
}

impl Wake for Wakeups {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.was_woken.store(true, Ordering::SeqCst);
        self.is_woken.store(true, Ordering::SeqCst);
        if !self.is_polled.load(Ordering::SeqCst) {
            self.task.wake();
        }
    }
}

impl<C> Drop for ConnectionTasks<C> {
    /// Drops the new requests. Each one refers to its executor, so requests that were never polled would keep themselves in memory.
    fn drop(&mut self) {
        let new_requests = std::mem::take(&mut *self.new_requests.lock());
        drop(new_requests);
    }
}

impl<C: Future> ConnectionTasks<C> {
    /// A connection whose executor is `new_requests`.
    pub(super) fn new(connection: C, new_requests: NewRequests) -> Self {
        Self {
            connection: Box::pin(connection),
            new_requests,
            requests: FuturesUnordered::new(),
            woken: Arc::new(Wakeups {
                is_woken: AtomicBool::new(true),
                was_woken: AtomicBool::new(true),
                is_polled: AtomicBool::new(false),
                task: AtomicWaker::new(),
            }),
            is_idle: false,
        }
    }

    /// Makes the task poll an idle connection once, so that the connection frees its buffers. It is idle if nothing woke it since the last call.
    pub(super) fn poll_if_idle(&mut self) {
        let was_idle = self.is_idle;
        self.is_idle = !self.woken.was_woken.swap(false, Ordering::SeqCst);
        if self.is_idle && !was_idle {
            self.woken.is_woken.store(true, Ordering::SeqCst);
        }
    }

    /// The connection. The task polls it after this even if nothing else wakes it.
    pub(super) fn connection(&mut self) -> Pin<&mut C> {
        self.woken.is_woken.store(true, Ordering::SeqCst);
        self.connection.as_mut()
    }

    fn poll_once(&mut self, context: &mut Context<'_>) -> Poll<C::Output> {
        if let Poll::Ready(ended) = self.connection.as_mut().poll(context) {
            return Poll::Ready(ended);
        }
        self.requests.extend(self.new_requests.lock().drain(..));
        while let Poll::Ready(Some(())) = self.requests.poll_next_unpin(context) {}
        Poll::Pending
    }
}

impl<C: Future> Future for ConnectionTasks<C> {
    type Output = C::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<C::Output> {
        let woken = self.woken.clone();
        woken.task.register(context.waker());
        // The timer of the task wakes it too. If each idle connection were polled then, hundreds of them would allocate and free their read buffers
        // every few seconds, and fragment the memory between the blocks of packages.
        if !woken.is_woken.load(Ordering::SeqCst) {
            return Poll::Pending;
        }
        woken.is_polled.store(true, Ordering::SeqCst);
        let waker = Waker::from(woken.clone());
        for _ in 0..MOST_POLLS {
            woken.is_woken.store(false, Ordering::SeqCst);
            if let Poll::Ready(ended) = self.poll_once(&mut Context::from_waker(&waker)) {
                return Poll::Ready(ended);
            }
            if !woken.is_woken.load(Ordering::SeqCst) {
                break;
            }
        }
        // The flags are used in this order, so that no wake between the two is lost.
        woken.is_polled.store(false, Ordering::SeqCst);
        if woken.is_woken.load(Ordering::SeqCst) {
            context.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use tokio::sync::mpsc::channel;

    use super::*;

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// A request that sends the connection ten pieces, and waits until it has received each.
    fn connection() -> (ConnectionTasks<impl Future<Output = u32>>, Arc<Wakes>) {
        let new_requests = NewRequests::default();
        let (give, mut take) = channel(1);
        new_requests.execute(async move {
            for piece in 0..10 {
                give.send(piece).await.unwrap();
            }
        });
        let connection = async move {
            let mut sum = 0;
            while let Some(piece) = take.recv().await {
                sum += piece;
            }
            sum
        };
        (
            ConnectionTasks::new(connection, new_requests),
            Arc::default(),
        )
    }

    #[test]
    fn a_wake_between_request_and_connection_wakes_no_task() {
        let (mut tasks, wakes) = connection();
        let waker = Waker::from(wakes.clone());
        let polled = Pin::new(&mut tasks).poll(&mut Context::from_waker(&waker));
        assert_eq!(polled, Poll::Ready(45));
        assert_eq!(wakes.0.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn a_wake_from_outside_wakes_the_task() {
        let (give, mut take) = channel(1);
        let connection = async move { take.recv().await };
        let mut tasks = ConnectionTasks::new(connection, NewRequests::default());
        let wakes = Arc::new(Wakes::default());
        let waker = Waker::from(wakes.clone());
        let mut context = Context::from_waker(&waker);
        assert!(Pin::new(&mut tasks).poll(&mut context).is_pending());
        give.try_send(7).unwrap();
        assert_eq!(wakes.0.load(Ordering::SeqCst), 1);
        let polled = Pin::new(&mut tasks).poll(&mut context);
        assert_eq!(polled, Poll::Ready(Some(7)));
    }

    #[test]
    fn an_idle_connection_is_polled_once_more_and_then_left_alone() {
        let polls = Arc::new(AtomicUsize::new(0));
        let waker = Arc::new(AtomicWaker::new());
        let connection = std::future::poll_fn(|context| {
            polls.fetch_add(1, Ordering::SeqCst);
            waker.register(context.waker());
            Poll::<()>::Pending
        });
        let mut tasks = ConnectionTasks::new(connection, NewRequests::default());
        let mut polls_after = |action: fn(&mut ConnectionTasks<_>)| {
            action(&mut tasks);
            let mut context = Context::from_waker(Waker::noop());
            assert!(Pin::new(&mut tasks).poll(&mut context).is_pending());
            polls.load(Ordering::SeqCst)
        };
        assert_eq!(polls_after(|_| {}), 1);
        assert_eq!(polls_after(|_| {}), 1);
        let poll_if_idle = |tasks: &mut ConnectionTasks<_>| tasks.poll_if_idle();
        assert_eq!([(); 4].map(|()| polls_after(poll_if_idle)), [1, 2, 2, 2]);
        waker.wake();
        assert_eq!(polls_after(|_| {}), 3);
        assert_eq!([(); 4].map(|()| polls_after(poll_if_idle)), [3, 4, 4, 4]);
        let connection = |tasks: &mut ConnectionTasks<_>| {
            let _connection = tasks.connection();
        };
        assert_eq!(polls_after(connection), 5);
    }

    /// Over HTTP/2, a request refers to its executor.
    #[test]
    fn requests_that_were_never_polled_are_dropped_with_the_connection() {
        let (new_requests, request) = (NewRequests::default(), Arc::new(()));
        let held = (new_requests.clone(), request.clone());
        new_requests.execute(async move {
            let _held = held;
            std::future::pending::<()>().await;
        });
        let mut tasks = Box::pin(ConnectionTasks::new(std::future::ready(()), new_requests));
        let waker = Waker::noop();
        let ended = tasks.as_mut().poll(&mut Context::from_waker(waker));
        assert!(ended.is_ready());
        drop(tasks);
        assert_eq!(Arc::strong_count(&request), 1);
    }
}
