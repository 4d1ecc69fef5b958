//! The least rate of bodies: a server that gives or takes a byte now and then counts as silent.

use std::time::Duration;

/// How many bytes must arrive within the time for which a server may be silent, unless the body ends before.
pub const LEAST_FLOW: u64 = 64 << 10;

/// How many bytes flowed since the last time that enough had, and how long the server was waited for. Time that the other side needs does
/// not count.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    flowed: u64,
    waited: Duration,
}

impl Window {
    /// How much longer the server may be waited for.
    pub(super) fn left(&self, silence: Duration) -> Duration {
        silence.saturating_sub(self.waited)
    }

    /// Whether anything flowed.
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
