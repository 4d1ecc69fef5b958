//! What a connection is doing: since when a header arrives, and whether answers are under way.

use std::collections::BTreeMap;
use std::future::Future as _;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use super::coalesced_writes::CoalescedWrites;
use super::frames::Frames;

/// How long the header of a request may take.
pub(super) const HEADER: Duration = Duration::from_secs(20);
/// How long a connection may be idle. Longer than the 60 seconds of most load balancers, which would else meet closed connections.
pub(super) const IDLE: Duration = Duration::from_secs(75);
/// How long a client may take nothing of an answer. Until then the answer holds a file, or a transfer from the store.
pub(super) const STALLED: Duration = Duration::from_secs(60);
/// How long a client that is refused may go on sending.
const LINGER: Duration = Duration::from_secs(1);

/// What a connection is doing.
#[derive(Clone)]
pub(super) struct Activity(Arc<Mutex<ActivityState>>);

struct ActivityState {
    /// The requests whose answers are not sent yet.
    open: usize,
    /// The answers whose client takes nothing, by their numbers, and since when.
    stalled: BTreeMap<u64, Instant>,
    /// The number of the next answer.
    next: u64,
    /// Since when no answer is under way.
    idle_since: Instant,
    /// Since when the header of the next request arrives.
    header_since: Option<Instant>,
}

impl Activity {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(ActivityState {
            open: 0,
            stalled: BTreeMap::new(),
            next: 0,
            idle_since: Instant::now(),
            header_since: None,
        })))
    }

    fn state(&self) -> std::sync::MutexGuard<'_, ActivityState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether no answer is under way.
    pub(super) fn is_idle(&self) -> bool {
        self.state().open == 0
    }

    /// Whether a header arrives, and no answer is under way.
    fn has_part(&self) -> bool {
        let state = self.state();
        state.open == 0 && state.header_since.is_some()
    }

    /// Notes that bytes arrived, and whether a header is under way after them.
    fn received(&self, is_under_way: bool) {
        let mut state = self.state();
        if !is_under_way {
            state.header_since = None;
        } else if state.open == 0 {
            state.header_since.get_or_insert_with(Instant::now);
        }
    }

    /// Notes that a request began, until the value that is returned is dropped.
    pub(super) fn begin(&self) -> OpenRequest {
        let mut state = self.state();
        state.open += 1;
        state.header_since = None;
        state.next += 1;
        OpenRequest {
            activity: self.clone(),
            number: state.next,
        }
    }

    /// When the connection is cut unless something happens; `None` while an answer is made, or its client takes it.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let state = self.state();
        if state.open > 0 {
            return state.stalled.values().min().map(|since| *since + STALLED);
        }
        let idle = state.idle_since + IDLE;
        Some(
            state
                .header_since
                .map_or(idle, |since| idle.min(since + HEADER)),
        )
    }
}

/// A request whose answer is not sent yet.
pub(super) struct OpenRequest {
    activity: Activity,
    number: u64,
}

impl OpenRequest {
    /// Notes that the client is to take what it was given before more is read.
    pub(super) fn waits_for_client(&self) {
        let mut state = self.activity.state();
        state.stalled.insert(self.number, Instant::now());
    }

    /// Notes that the client has taken it.
    pub(super) fn was_taken(&self) {
        self.activity.state().stalled.remove(&self.number);
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        let mut state = self.activity.state();
        state.stalled.remove(&self.number);
        state.open = state.open.saturating_sub(1);
        state.idle_since = Instant::now();
    }
}

/// A connection that notes when bytes arrive.
///
/// If it is closed while a client still sends, it reads and forgets for a moment. Otherwise the system would reset the connection, and
/// the client might lose the answer that tells why its request is refused.
pub(super) struct Watched<S> {
    stream: CoalescedWrites<S>,
    activity: Activity,
    frames: Frames,
    /// Ends the moment. `None` before the connection is closed.
    lingering: Option<Pin<Box<Sleep>>>,
}

impl<S> Watched<S> {
    pub(super) fn new(stream: S, activity: Activity) -> Self {
        Self {
            stream: CoalescedWrites::new(stream),
            activity,
            frames: Frames::default(),
            lingering: None,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        let this = &mut *self;
        ready!(Pin::new(&mut this.stream).poll_read(context, buffer))?;
        let new = buffer.filled().get(before..).unwrap_or_default();
        if !new.is_empty() {
            let is_under_way = this.frames.take(new);
            this.activity.received(is_under_way);
            if this.frames.is_http2() {
                this.stream.coalesce();
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        let this = &mut *self;
        if this.lingering.is_none() {
            ready!(Pin::new(&mut this.stream).poll_shutdown(context))?;
            if !this.activity.has_part() {
                return Poll::Ready(Ok(()));
            }
        }
        let lingering = this
            .lingering
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(LINGER)));
        if lingering.as_mut().poll(context).is_ready() {
            return Poll::Ready(Ok(()));
        }
        let mut forgotten = [0; 4 << 10];
        loop {
            let mut buffer = ReadBuf::new(&mut forgotten);
            let read = ready!(Pin::new(&mut this.stream).poll_read(context, &mut buffer));
            if read.is_err() || buffer.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_answers_that_nobody_takes_have_an_end() {
        let activity = Activity::new();
        let idle = activity.deadline().unwrap();
        assert!(idle <= Instant::now() + IDLE);
        let [first, second] = [activity.begin(), activity.begin()];
        assert_eq!(activity.deadline(), None, "answers are made");
        first.waits_for_client();
        let stalled = activity.deadline().unwrap();
        assert!(stalled <= Instant::now() + STALLED && stalled < idle);
        second.waits_for_client();
        assert_eq!(activity.deadline(), Some(stalled), "the first counts");
        first.was_taken();
        assert!(activity.deadline().unwrap() > stalled);
        drop(second);
        assert_eq!(activity.deadline(), None, "the other one is taken");
        first.waits_for_client();
        drop(first);
        assert!(
            activity.deadline().unwrap() > Instant::now() + STALLED,
            "idle"
        );
    }
}
