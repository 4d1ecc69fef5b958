//! The rate of a transfer over the last seconds.

use std::collections::VecDeque;
use std::time::Duration;

/// The time over which a rate is measured. A shorter time makes the figure jump, and a longer one hides that a transfer has stopped.
const WINDOW: Duration = Duration::from_secs(5);
/// No rate is shown before the bytes have flowed for this time. The first bytes often come from a buffer, and would show a rate that is too high.
const SHORTEST: Duration = Duration::from_millis(500);
/// Bytes that arrive within this time count as one sample. Frames are drawn as often, and a window then has at most 50 samples.
const SAMPLE: Duration = Duration::from_millis(100);

/// The bytes of the last seconds. Time before the first byte does not count.
#[derive(Debug, Default)]
pub(super) struct Rate {
    samples: VecDeque<(Duration, u64)>,
    first: Option<Duration>,
}

impl Rate {
    pub(super) fn add(&mut self, now: Duration, bytes: u64) {
        self.first.get_or_insert(now);
        match self.samples.back_mut() {
            Some((time, sum)) if now.saturating_sub(*time) < SAMPLE => *sum += bytes,
            _ => self.samples.push_back((now, bytes)),
        }
        while let Some((time, _)) = self.samples.front()
            && now.saturating_sub(*time) > WINDOW
        {
            self.samples.pop_front();
        }
    }

    /// The bytes per second; `None` if too little is known.
    pub(super) fn per_second(&self, now: Duration) -> Option<u64> {
        let flowing = now.saturating_sub(self.first?).min(WINDOW);
        if flowing < SHORTEST {
            return None;
        }
        let recent = self.samples.iter();
        let recent = recent.filter(|(time, _)| now.saturating_sub(*time) <= WINDOW);
        let bytes: u128 = recent.map(|(_, bytes)| u128::from(*bytes)).sum();
        u64::try_from(bytes * 1000 / flowing.as_millis()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    #[test]
    fn time_in_a_queue_does_not_count() {
        let mut rate = Rate::default();
        for tenths in 600..=620_u32 {
            rate.add(at(f64::from(tenths) / 10.0), 100);
        }
        assert_eq!(rate.per_second(at(62.0)), Some(1050));
    }

    #[test]
    fn a_transfer_that_stops_has_no_rate_after_some_seconds() {
        let mut rate = Rate::default();
        assert_eq!(rate.per_second(at(1.0)), None);
        rate.add(at(1.0), 5000);
        assert_eq!(rate.per_second(at(1.2)), None);
        assert_eq!(rate.per_second(at(2.0)), Some(5000));
        assert_eq!(rate.per_second(at(6.0)), Some(1000));
        assert_eq!(rate.per_second(at(7.0)), Some(0));
    }
}
