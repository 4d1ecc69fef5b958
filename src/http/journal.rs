//! The journal: reports and counts every request, and the bytes of each direction.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{LEAST_FLOW, Request};
use crate::event::{Event, Exchange, Reporter};

/// Reports every request, and counts them.
#[derive(Clone)]
pub(super) struct Journal {
    reporter: Arc<dyn Reporter>,
    requests: Arc<AtomicU64>,
}

impl Journal {
    pub(super) fn new(reporter: Arc<dyn Reporter>) -> Self {
        Self {
            reporter,
            requests: Arc::default(),
        }
    }

    pub(super) fn report(&self, event: Event) {
        self.reporter.report(event);
    }

    pub(super) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Starts the entry of a request.
    pub(super) fn begin(&self, request: &Request) -> JournalEntry {
        if !request.is_for_token {
            self.requests.fetch_add(1, Ordering::Relaxed);
        }
        JournalEntry {
            journal: self.clone(),
            started: Instant::now(),
            received: Flow::default(),
            exchange: Exchange {
                method: request.method.to_string(),
                url: request.shown(),
                status: None,
                sent: 0,
                received: 0,
                elapsed: Duration::ZERO,
            },
        }
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Journal({} requests)", self.requests())
    }
}

/// One request. It is reported when the entry is dropped, after the response was read or abandoned.
#[derive(Debug)]
pub(super) struct JournalEntry {
    journal: Journal,
    started: Instant,
    /// The bytes of the response's body.
    pub(super) received: Flow,
    pub(super) exchange: Exchange,
}

impl Drop for JournalEntry {
    fn drop(&mut self) {
        let mut exchange = self.exchange.clone();
        exchange.received = self.received.bytes;
        exchange.elapsed = self.started.elapsed();
        self.journal.report(Event::Requested(exchange));
    }
}

/// The bytes that have passed, and the time spent waiting for the server in the current window. A window ends when [`LEAST_FLOW`] bytes have
/// passed in it. Time spent waiting for the other side of the transfer does not count.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flow {
    /// The number of bytes that have passed.
    pub(super) bytes: u64,
    /// The bytes that had passed when the window began.
    before: u64,
    waited: Duration,
}

impl Flow {
    /// The time that the server has left in this window.
    pub(super) fn left(&self, silence: Duration) -> Duration {
        silence.saturating_sub(self.waited)
    }

    /// Counts bytes, and the time spent waiting for the server before them.
    pub(super) fn passed(&mut self, bytes: usize, waited: Duration) {
        self.waited += waited;
        self.bytes += bytes as u64;
        if self.bytes - self.before >= LEAST_FLOW {
            (self.before, self.waited) = (self.bytes, Duration::ZERO);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enough_bytes_begin_another_window_and_time_does_not() {
        let silence = Duration::from_secs(60);
        let mut flow = Flow::default();
        flow.passed(65_535, Duration::from_secs(59));
        assert_eq!(flow.left(silence), Duration::from_secs(1));
        flow.passed(1, Duration::ZERO);
        assert_eq!(flow.left(silence), silence);
        flow.passed(0, silence + silence);
        assert_eq!(flow.left(silence), Duration::ZERO);
        assert_eq!(flow.bytes, 65_536);
    }
}
