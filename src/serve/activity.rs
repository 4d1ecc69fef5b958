//! The state of a connection, which decides when it is closed: idle, receiving a header, or sending answers.

use std::collections::BTreeMap;
use std::future::Future as _;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use futures_util::future::AbortHandle;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use super::coalesced_writes::CoalescedWrites;
use super::frames::Frames;

/// How long the header of a request may take. Clients send theirs in one packet. A longer limit would only help a client that
/// holds connections open on purpose.
pub(super) const HEADER: Duration = Duration::from_secs(20);
/// How long a connection may be idle. It is longer than the 60 seconds of most load balancers, which would otherwise reuse connections that
/// this server has closed.
pub(super) const IDLE: Duration = Duration::from_secs(75);
/// How long a client may read nothing of a package. During this time the answer holds an open file, or a transfer from the store. A client with
/// a buffer of 6 MB, the most that Linux gives it, says only after 400 KB that it reads: it may be as slow as 4 KB/s.
pub(super) const STALLED: Duration = Duration::from_secs(120);
/// How long a client may read nothing of a document or page. Clients give up on documents after 10 seconds.
pub(super) const UNREAD: Duration = Duration::from_secs(10);
/// How long the server reads and drops the bytes that a refused client still sends. The answer arrives within a second, and a client cannot
/// hold the connection for longer.
const LINGER: Duration = Duration::from_secs(1);
/// How long the server reads and drops what a client over HTTP/2 sends after the last answer, and how long the client may take to read the end of
/// that answer. Some 200 KB wait for it in the operating system and in the buffers of hyper and TLS.
pub(super) const LAST_BYTES: Duration = Duration::from_secs(10);

/// The state of a connection, shared by the connection and its requests.
#[derive(Clone)]
pub(super) struct Activity(Arc<Mutex<ActivityState>>);

struct ActivityState {
    /// The requests whose answers are not sent yet, by their numbers.
    open: BTreeMap<u64, OpenAnswer>,
    /// The number of the last answer.
    last: u64,
    /// When the last answer ended.
    idle_since: Instant,
    /// When the first byte of the next request's header arrived.
    header_since: Option<Instant>,
}

#[derive(Default)]
struct OpenAnswer {
    /// When the answer ends because its client reads nothing of it; `None` while it is prepared, or its client reads it.
    deadline: Option<Instant>,
    /// Ends the answer, and no other one of the connection. HTTP/1 has none, since a connection has one answer at a time.
    task: Option<AbortHandle>,
}

impl Default for Activity {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(ActivityState {
            open: BTreeMap::new(),
            last: 0,
            idle_since: Instant::now(),
            header_since: None,
        })))
    }
}

impl Activity {
    fn state(&self) -> std::sync::MutexGuard<'_, ActivityState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the connection has no answer to send.
    pub(super) fn is_idle(&self) -> bool {
        self.state().open.is_empty()
    }

    /// Whether the client of an idle connection may still read the end of the last answer.
    pub(super) fn may_be_unread(&self) -> bool {
        let state = self.state();
        let has_answered = state.last > 0 && state.header_since.is_none();
        has_answered && state.idle_since.elapsed() < LAST_BYTES
    }

    /// Whether a part of a header has arrived, and the connection has no answer to send.
    fn has_partial_header(&self) -> bool {
        let state = self.state();
        state.open.is_empty() && state.header_since.is_some()
    }

    /// Records that bytes arrived. `is_partial` means that they end in the middle of a header or frame.
    fn received(&self, is_partial: bool) {
        let mut state = self.state();
        if !is_partial {
            state.header_since = None;
        } else if state.open.is_empty() {
            state.header_since.get_or_insert_with(Instant::now);
        }
    }

    /// Records that a request began. It ends when the returned value is dropped.
    pub(super) fn begin(&self) -> OpenRequest {
        let mut state = self.state();
        state.header_since = None;
        state.last += 1;
        let number = state.last;
        state.open.insert(number, OpenAnswer::default());
        OpenRequest {
            activity: self.clone(),
            number,
        }
    }

    /// Records what ends the answer that began last.
    pub(super) fn ends_with(&self, task: AbortHandle) {
        let mut state = self.state();
        let last = state.last;
        if let Some(answer) = state.open.get_mut(&last) {
            answer.task = Some(task);
        }
    }

    /// Ends the answers of which their clients have read nothing for too long: behind a proxy, others of the connection are for other clients.
    pub(super) fn end_stalled(&self) {
        let now = Instant::now();
        let state = self.state();
        let is_late = |answer: &&OpenAnswer| answer.deadline.is_some_and(|end| now >= end);
        for answer in state.open.values().filter(is_late) {
            answer.task.iter().for_each(AbortHandle::abort);
        }
    }

    /// When the connection is closed unless something happens; `None` while an answer is prepared, or its client reads it.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let state = self.state();
        if !state.open.is_empty() {
            let deadlines = state.open.values().map(|answer| answer.deadline);
            let deadlines: Option<Vec<_>> = deadlines.collect();
            return deadlines?.into_iter().max();
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
    /// Records that the client has to read the sent bytes before the server reads more of the answer. It may take this long.
    pub(super) fn waits_for_client(&self, longest: Duration) {
        self.set_deadline(Some(Instant::now() + longest));
    }

    /// Records that the client has read them.
    pub(super) fn was_read(&self) {
        self.set_deadline(None);
    }

    fn set_deadline(&self, deadline: Option<Instant>) {
        if let Some(answer) = self.activity.state().open.get_mut(&self.number) {
            answer.deadline = deadline;
        }
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        let mut state = self.activity.state();
        state.open.remove(&self.number);
        state.idle_since = Instant::now();
    }
}

/// A connection that records when bytes arrive.
///
/// If it is closed while the client still sends, it reads and drops the bytes for [`LINGER`]. Otherwise the operating system would reset the
/// connection, and the client might lose the answer with the reason of the refusal. A client over HTTP/2 sends a `WINDOW_UPDATE` for what it
/// has read, so it may take [`LAST_BYTES`] to close the connection.
pub(super) struct TrackedConnection<S> {
    stream: CoalescedWrites<S>,
    activity: Activity,
    frames: Frames,
    /// Ends after [`LINGER`] or [`LAST_BYTES`]; `None` before the connection is closed.
    lingering: Option<Pin<Box<Sleep>>>,
}

impl<S> TrackedConnection<S> {
    pub(super) fn new(stream: S, activity: Activity) -> Self {
        Self {
            stream: CoalescedWrites::new(stream),
            activity,
            frames: Frames::default(),
            lingering: None,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TrackedConnection<S> {
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
            let is_partial = this.frames.take(new);
            this.activity.received(is_partial);
            if this.frames.is_http2() {
                this.stream.coalesce();
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for TrackedConnection<S> {
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
            if !this.frames.is_http2() && !this.activity.has_partial_header() {
                return Poll::Ready(Ok(()));
            }
        }
        let longest = match this.frames.is_http2() {
            true => LAST_BYTES,
            false => LINGER,
        };
        let lingering = this
            .lingering
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(longest)));
        if lingering.as_mut().poll(context).is_ready() {
            return Poll::Ready(Ok(()));
        }
        let mut dropped = [0; 4 << 10];
        loop {
            let mut buffer = ReadBuf::new(&mut dropped);
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
    fn only_an_answer_that_the_client_does_not_read_has_a_deadline() {
        let activity = Activity::default();
        let idle = activity.deadline().unwrap();
        assert!(idle <= Instant::now() + IDLE);
        let [first, second] = [activity.begin(), activity.begin()];
        assert_eq!(activity.deadline(), None, "answers are prepared");
        first.waits_for_client(UNREAD);
        assert_eq!(activity.deadline(), None, "one is prepared");
        second.waits_for_client(STALLED);
        let stalled = activity.deadline().unwrap();
        assert!(stalled > Instant::now() + UNREAD, "the later one decides");
        assert!(stalled <= Instant::now() + STALLED);
        second.was_read();
        assert_eq!(activity.deadline(), None, "the client reads the other one");
        drop(second);
        let unread = activity.deadline().unwrap();
        assert!(unread <= Instant::now() + UNREAD);
        first.waits_for_client(STALLED);
        drop(first);
        let idle = activity.deadline().unwrap();
        assert!(idle <= Instant::now() + IDLE && idle < stalled, "idle");
    }

    #[test]
    fn each_stalled_answer_ends_at_its_own_deadline() {
        let activity = Activity::default();
        let begin = || {
            let (request, task) = (activity.begin(), AbortHandle::new_pair());
            activity.ends_with(task.0.clone());
            (request, task.0)
        };
        let [(late, of_late), (early, of_early), (_prepared, of_prepared)] =
            [(); 3].map(|()| begin());
        late.waits_for_client(Duration::ZERO);
        early.waits_for_client(UNREAD);
        activity.end_stalled();
        let ended = [of_late, of_early, of_prepared].map(|task| task.is_aborted());
        assert_eq!(ended, [true, false, false]);
    }
}
