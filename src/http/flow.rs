//! The bytes of one direction of a request, and their least rate. A server that sends or reads only a few bytes now and then counts as
//! silent.

use std::time::Duration;

/// The bytes that must pass within the silence timeout, unless the body ends before. With the default of a minute this is 1 KiB/s, less than
/// any usable connection.
pub const LEAST_FLOW: u64 = 64 << 10;

/// The bytes that have passed, and the time spent waiting for the server in the current window. A window ends when [`LEAST_FLOW`] bytes have
/// passed in it. Time spent waiting for the other side of the transfer does not count.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flow {
    bytes: u64,
    /// The bytes that had passed when the window began.
    before: u64,
    waited: Duration,
}

impl Flow {
    /// The number of bytes that have passed.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The time that the server has left in this window.
    pub(super) fn left(&self, silence: Duration) -> Duration {
        silence.saturating_sub(self.waited)
    }

    /// Whether any byte has passed in this window.
    pub(super) fn moves(&self) -> bool {
        self.bytes > self.before
    }

    pub(super) fn waited(&mut self, time: Duration) {
        self.waited += time;
    }

    pub(super) fn passed(&mut self, bytes: usize) {
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
        assert!(!flow.moves());
        flow.waited(Duration::from_secs(59));
        flow.passed(65_535);
        assert!(flow.moves());
        assert_eq!(flow.left(silence), Duration::from_secs(1));
        flow.passed(1);
        assert!(!flow.moves());
        assert_eq!(flow.left(silence), silence);
        flow.waited(silence + silence);
        assert_eq!(flow.left(silence), Duration::ZERO);
        assert_eq!(flow.bytes(), 65_536);
    }
}
