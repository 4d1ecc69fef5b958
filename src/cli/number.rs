//! Numbers with limits in options. The errors name the limits in words.

use std::fmt::Display;
use std::num::NonZeroUsize;
use std::str::FromStr;

/// A parser of numbers within limits.
pub(super) fn within<T>(
    least: T,
    most: T,
    unit: &'static str,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: FromStr + PartialOrd + Display + Clone + Send + Sync + 'static,
{
    move |text| {
        let number = text.parse().ok();
        let number = number.filter(|number| (&least..=&most).contains(&number));
        number.ok_or_else(|| format!("expected {least} to {most} {unit}"))
    }
}

/// A number of versions, at least one.
pub(super) fn versions(text: &str) -> Result<NonZeroUsize, String> {
    let number = text.parse().ok();
    number.ok_or_else(|| "expected the number of versions, 1 or more".to_owned())
}
