//! Sizes, rates and times in few columns.

use std::time::Duration;

const UNITS: [(&str, u64); 4] = [
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
];

/// A size: `139 MiB`.
pub(super) fn size(bytes: u64) -> String {
    let (unit, scale) = unit(bytes);
    format!("{} {unit}", number(bytes, scale))
}

/// The size of all that a transfer will have received at its end, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Whole {
    Known(u64),
    Estimated(u64),
}

/// The received part of a size: `7.9/15.0 MiB`. A size that is estimated has a tilde.
pub(super) fn part(received: u64, whole: Whole) -> String {
    let (bytes, tilde) = match whole {
        Whole::Known(bytes) => (bytes, ""),
        Whole::Estimated(bytes) => (bytes, "~"),
    };
    let (unit, scale) = unit(bytes);
    let (received, bytes) = (number(received, scale), number(bytes, scale));
    format!("{received}/{tilde}{bytes} {unit}")
}

/// A time: `0:20`, `12:05`, `3h07m`.
pub(super) fn time(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60) {
        (0, minutes) => format!("{minutes}:{:02}", seconds % 60),
        (hours, minutes) if hours < 100 => format!("{hours}h{:02}m", minutes % 60),
        (hours, _) => format!("{}d", hours / 24),
    }
}

fn unit(bytes: u64) -> (&'static str, u64) {
    let mut units = UNITS.into_iter();
    units.find(|(_, scale)| bytes >= *scale).unwrap_or(("B", 1))
}

/// A number with at most three digits before the point, and a decimal below 100.
fn number(bytes: u64, scale: u64) -> String {
    let (whole, rest) = (bytes / scale, bytes % scale);
    if scale == 1 || whole >= 100 {
        return whole.to_string();
    }
    let tenth = u128::from(rest) * 10 / u128::from(scale);
    format!("{whole}.{tenth}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        assert_eq!(size(0), "0 B");
        assert_eq!(size(1023), "1023 B");
        assert_eq!(size(1536), "1.5 KiB");
        assert_eq!(size(361 << 20), "361 MiB");
        assert_eq!(part(8 << 20, Whole::Known(15 << 20)), "8.0/15.0 MiB");
        assert_eq!(part(139 << 20, Whole::Estimated(361 << 20)), "139/~361 MiB");
        assert_eq!(time(Duration::from_secs(20)), "0:20");
        assert_eq!(time(Duration::from_secs(3 * 3600 + 7 * 60)), "3h07m");
    }
}
