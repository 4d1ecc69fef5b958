//! The requests of a connection, in one task with it.
//!
//! Over HTTP/2, each request is a future of its own, which the library would spawn as a task. It reads a few blocks of a package, and wakes
//! the connection, which sends them and wakes it: a package of 150 MB would pass from thread to thread several thousand times.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::task::AtomicWaker;
use hyper::rt::Executor;

/// How often the connection and its requests are polled before other tasks have their turn: about a MiB of a package.
const MOST_TURNS: usize = 16;

/// The requests that begin. The library gives them here.
#[derive(Clone, Default)]
pub(super) struct NewRequests(Arc<Mutex<Vec<BoxFuture<'static, ()>>>>);

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for NewRequests {
    fn execute(&self, request: F) {
        self.lock().push(Box::pin(request));
    }
}

impl NewRequests {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<BoxFuture<'static, ()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection with its requests. It ends when the connection does.
pub(super) struct ConnectionTasks<C> {
    connection: Pin<Box<C>>,
    new_requests: NewRequests,
    requests: FuturesUnordered<BoxFuture<'static, ()>>,
    woken: Arc<Wakeups>,
    /// Whether it had a turn since it was last woken, so that it has let go of its memory.
    is_idle: bool,
}

/// Whether one of them was woken. It wakes the task only if the task is not at work.
struct Wakeups {
    is_woken: AtomicBool,
    /// Whether one of them was woken since [`ConnectionTasks::poll_if_idle`].
    was_woken: AtomicBool,
    is_at_work: AtomicBool,
    task: AtomicWaker,
}

impl Wake for Wakeups {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.was_woken.store(true, Ordering::SeqCst);
        self.is_woken.store(true, Ordering::SeqCst);
        if !self.is_at_work.load(Ordering::SeqCst) {
            self.task.wake();
        }
    }
}

impl<C> Drop for ConnectionTasks<C> {
    /// The library gives each request its executor, so that requests that never began would hold themselves in memory.
    fn drop(&mut self) {
        let new_requests = std::mem::take(&mut *self.new_requests.lock());
        drop(new_requests);
    }
}

impl<C: Future> ConnectionTasks<C> {
    /// A connection whose requests begin at `new_requests`.
    pub(super) fn new(connection: C, new_requests: NewRequests) -> Self {
        Self {
            connection: Box::pin(connection),
            new_requests,
            requests: FuturesUnordered::new(),
            woken: Arc::new(Wakeups {
                is_woken: AtomicBool::new(true),
                was_woken: AtomicBool::new(true),
                is_at_work: AtomicBool::new(false),
                task: AtomicWaker::new(),
            }),
            is_idle: false,
        }
    }

    /// Gives the connection one turn, in which it lets go of memory, if nothing happened since the last look.
    pub(super) fn poll_if_idle(&mut self) {
        let was_idle = self.is_idle;
        self.is_idle = !self.woken.was_woken.swap(false, Ordering::SeqCst);
        if self.is_idle && !was_idle {
            self.woken.is_woken.store(true, Ordering::SeqCst);
        }
    }

    /// The connection, which has its turn after this even if nothing else happens.
    pub(super) fn connection(&mut self) -> Pin<&mut C> {
        self.woken.is_woken.store(true, Ordering::SeqCst);
        self.connection.as_mut()
    }

    fn poll_turn(&mut self, context: &mut Context<'_>) -> Poll<C::Output> {
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
        // The task looks at its time too. Hundreds of idle connections would each allocate for that what they read into, and let it go again,
        // in the holes that the blocks of packages leave.
        if !woken.is_woken.load(Ordering::SeqCst) {
            return Poll::Pending;
        }
        woken.is_at_work.store(true, Ordering::SeqCst);
        let waker = Waker::from(woken.clone());
        for _ in 0..MOST_TURNS {
            woken.is_woken.store(false, Ordering::SeqCst);
            if let Poll::Ready(ended) = self.poll_turn(&mut Context::from_waker(&waker)) {
                return Poll::Ready(ended);
            }
            if !woken.is_woken.load(Ordering::SeqCst) {
                break;
            }
        }
        // In this order, so that no wake is lost between the two.
        woken.is_at_work.store(false, Ordering::SeqCst);
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

    /// A request that gives the connection ten pieces, and waits until each is taken.
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
    fn what_passes_between_them_wakes_no_task() {
        let (mut tasks, wakes) = connection();
        let waker = Waker::from(wakes.clone());
        let polled = Pin::new(&mut tasks).poll(&mut Context::from_waker(&waker));
        assert_eq!(polled, Poll::Ready(45));
        assert_eq!(wakes.0.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn what_comes_from_elsewhere_wakes_the_task() {
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
    fn an_idle_connection_has_one_turn_more_and_then_none() {
        let turns = Arc::new(AtomicUsize::new(0));
        let waker = Arc::new(AtomicWaker::new());
        let connection = std::future::poll_fn(|context| {
            turns.fetch_add(1, Ordering::SeqCst);
            waker.register(context.waker());
            Poll::<()>::Pending
        });
        let mut tasks = ConnectionTasks::new(connection, NewRequests::default());
        let mut turns_after = |action: fn(&mut ConnectionTasks<_>)| {
            action(&mut tasks);
            let mut context = Context::from_waker(Waker::noop());
            assert!(Pin::new(&mut tasks).poll(&mut context).is_pending());
            turns.load(Ordering::SeqCst)
        };
        assert_eq!(turns_after(|_| {}), 1);
        assert_eq!(turns_after(|_| {}), 1);
        let look = |tasks: &mut ConnectionTasks<_>| tasks.poll_if_idle();
        assert_eq!([(); 4].map(|()| turns_after(look)), [1, 2, 2, 2]);
        waker.wake();
        assert_eq!(turns_after(|_| {}), 3);
        assert_eq!([(); 4].map(|()| turns_after(look)), [3, 4, 4, 4]);
        let gives = |tasks: &mut ConnectionTasks<_>| {
            let _given = tasks.connection();
        };
        assert_eq!(turns_after(gives), 5);
    }

    /// As over HTTP/2, where a request refers to its executor.
    #[test]
    fn requests_that_never_began_are_forgotten_with_the_connection() {
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
