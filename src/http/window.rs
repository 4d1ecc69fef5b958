//! The least rate of transfers. A server that sends or reads only a few bytes now and then counts as silent.

use std::time::Duration;

/// The bytes that must pass within the silence timeout, unless the body ends before. With the default of a minute this is 1 KiB/s, less than
/// any usable connection.
pub const LEAST_FLOW: u64 = 64 << 10;

/// The bytes that have passed in the current window, and the time spent waiting for the server. A window ends when [`LEAST_FLOW`] bytes
/// have passed. Time spent waiting for the other side of the transfer does not count.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    flowed: u64,
    waited: Duration,
}

impl Window {
    /// The time that the server has left in this window.
    pub(super) fn left(&self, silence: Duration) -> Duration {
        silence.saturating_sub(self.waited)
    }

    /// Whether any byte has passed in this window.
    pub(super) fn flows(&self) -> bool {
        self.flowed > 0
    }

    pub(super) fn waited(&mut self, time: Duration) {
        self.waited += time;
    }

    pub(super) fn flowed(&mut self, bytes: usize) {
        self.flowed += bytes as u64;
        if self.flowed >= LEAST_FLOW {
            *self = Self::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enough_bytes_begin_another_window_and_time_does_not() {
        let silence = Duration::from_secs(60);
        let mut window = Window::default();
        assert!(!window.flows());
        window.waited(Duration::from_secs(59));
        window.flowed(65_535);
        assert!(window.flows());
        assert_eq!(window.left(silence), Duration::from_secs(1));
        window.flowed(1);
        assert_eq!(window.left(silence), silence);
        window.waited(silence + silence);
        assert_eq!(window.left(silence), Duration::ZERO);
    }
}
