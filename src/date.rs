//! Dates in UTC.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

const DAY: u64 = 24 * 60 * 60;

/// `2027-01-31`, in UTC.
pub fn date(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut days = since.as_secs() / DAY;
    let mut year = 1970;
    while days >= days_of(year) {
        days -= days_of(year);
        year += 1;
    }
    let february = days_of(year) - 337;
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", days + 1)
}

/// `2027-01-31T10:20:30.456Z`, in UTC.
pub fn timestamp(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = since.as_secs();
    let (hours, minutes) = (seconds / 3_600 % 24, seconds / 60 % 60);
    let (day, milliseconds) = (date(time), since.subsec_millis());
    format!(
        "{day}T{hours:02}:{minutes:02}:{:02}.{milliseconds:03}Z",
        seconds % 60
    )
}

/// Parses a number of days, such as `7d`.
///
/// # Errors
/// What was expected instead.
pub fn days(text: &str) -> Result<Duration, &'static str> {
    let days: Option<u32> = text.strip_suffix('d').and_then(|days| days.parse().ok());
    days.map(|days| Duration::from_secs(DAY) * days)
        .ok_or("expected days, such as 90d")
}

fn days_of(year: u64) -> u64 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    365 + u64::from(is_leap)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_months_and_leap_years() {
        for (seconds, expected) in [
            (0, "1970-01-01"),
            (951_782_399, "2000-02-28"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_798_761_599, "2026-12-31"),
            (1_798_761_600, "2027-01-01"),
            (4_107_542_400, "2100-03-01"),
        ] {
            let time = UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(date(time), expected);
        }
        let time = UNIX_EPOCH + Duration::from_millis(951_868_799_056);
        assert_eq!(timestamp(time), "2000-02-29T23:59:59.056Z");
    }
}
