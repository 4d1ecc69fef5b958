//! Dates in UTC.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";

/// The last second that dates of HTTP have.
const LAST: Duration = Duration::from_secs(253_402_300_799);

/// `2027-01-31`, in UTC.
pub fn date(time: SystemTime) -> String {
    parts(time).0
}

/// `2027-01-31T10:20:30.456Z`, in UTC.
pub fn timestamp(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (day, clock) = parts(time);
    format!("{day}T{clock}.{:03}Z", since.subsec_millis())
}

/// The day and the time of day, from a date such as `Sun, 31 Jan 2027 10:20:30 GMT`.
fn parts(time: SystemTime) -> (String, String) {
    let text = httpdate::fmt_http_date(time.clamp(UNIX_EPOCH, UNIX_EPOCH + LAST));
    let mut words = text.split(' ').skip(1);
    let mut next = || words.next().unwrap_or_default();
    let (day, month, year, clock) = (next(), next(), next(), next());
    let month = MONTHS.find(month).unwrap_or_default() / 3 + 1;
    (format!("{year}-{month:02}-{day}"), clock.to_owned())
}

/// Parses a number of days, such as `7d`.
///
/// # Errors
/// What was expected instead.
pub fn days(text: &str) -> Result<Duration, &'static str> {
    let days: Option<u32> = text.strip_suffix('d').and_then(|days| days.parse().ok());
    days.map(|days| Duration::from_secs(24 * 60 * 60) * days)
        .ok_or("expected days, such as 90d")
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
