//! The grammar of versions, and specific errors for common mistakes.

use crate::error::printable;
use crate::version::Version;

/// The version and its count of numbers; `None` if the text is not a version.
pub(super) fn read(text: &str) -> Option<(Version, usize)> {
    let (core, extra) = text
        .find(['-', '+'])
        .and_then(|at| text.split_at_checked(at))
        .unwrap_or((text, ""));
    let (prerelease, build_metadata) = match extra.split_once('+') {
        // A dash directly before the plus is invalid; either may end the text.
        Some(("-", _)) => return None,
        Some((prerelease, build_metadata)) => (prerelease, build_metadata),
        None => (extra, ""),
    };
    let prerelease = prerelease.strip_prefix('-').unwrap_or(prerelease);
    let are_identifiers = |extra: &str| {
        extra
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'.' || b == b'-')
    };
    if !are_identifiers(prerelease) || !are_identifiers(build_metadata) {
        return None;
    }

    let core = if extra.is_empty() {
        core.strip_suffix('.').unwrap_or(core)
    } else {
        core
    };
    let mut numbers = [0; 3];
    let mut count = 0;
    for part in core.split('.') {
        *numbers.get_mut(count)? = number(part)?;
        count += 1;
    }
    let [major, minor, patch] = numbers;
    let version = Version {
        major,
        minor,
        patch,
        prerelease: prerelease.to_owned(),
        build_metadata: build_metadata.to_owned(),
    };
    Some((version, count))
}

/// Parses a number that consists of digits only. Rust's parser accepts a sign too.
fn number(digits: &str) -> Option<u64> {
    is_digits(digits).then(|| digits.parse().ok()).flatten()
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// A text that is not a version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a version: {kind}", printable(.text))]
pub struct Error {
    /// The invalid text.
    pub text: String,
    /// Why it is invalid.
    pub kind: VersionErrorKind,
}

impl Error {
    /// Finds the mistake in a text that does not parse.
    pub(super) fn of(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            kind: VersionErrorKind::of(text),
        }
    }
}

/// Why a text is not a [version](crate::clients#versions).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum VersionErrorKind {
    /// A release tag such as `v1.2.3`.
    #[error("it begins with `v`\n  expected it without the `v`")]
    LeadingV,
    /// More than three numbers.
    #[error("it has too many numbers\n  expected at most three")]
    TooManyNumbers,
    /// `x`, `X` or `*` in place of a number.
    #[error("it has a wildcard\n  expected numbers")]
    Wildcard,
    /// A number of 2^64 or more. Clients crash on it.
    #[error("it has a number that is too large\n  expected at most {}", u64::MAX)]
    NumberTooLarge,
    /// Any other text.
    #[error("its form is unknown\n  expected MAJOR.MINOR.PATCH, optionally with -PRE and +META")]
    Malformed,
}

impl VersionErrorKind {
    /// Finds the mistake in a text that does not parse.
    fn of(text: &str) -> Self {
        let core = text.split(['-', '+']).next().unwrap_or_default();
        let is_wildcard = |part: &str| matches!(part, "x" | "X" | "*");
        if text.strip_prefix(['v', 'V']).and_then(read).is_some() {
            Self::LeadingV
        } else if !core.split('.').all(|p| is_digits(p) || is_wildcard(p)) {
            Self::Malformed
        } else if core.split('.').count() > 3 {
            Self::TooManyNumbers
        } else if core.split('.').any(is_wildcard) {
            Self::Wildcard
        } else if core.split('.').any(|p| number(p).is_none()) {
            Self::NumberTooLarge
        } else {
            Self::Malformed
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    /// The expected results come from the clients' own parser.
    #[test]
    fn what_clients_take_is_read_and_printed_canonically() {
        for (text, canonical) in [
            ("1.2.3", "1.2.3"),
            ("1", "1.0.0"),
            ("0.50", "0.50.0"),
            ("01.2", "1.2.0"),
            ("0000000000000000000000001", "1.0.0"),
            ("2.", "2.0.0"),
            ("1.2.3.", "1.2.3"),
            ("2.0.0-", "2.0.0"),
            ("2.0.0+", "2.0.0"),
            ("2.0.0-a+", "2.0.0-a"),
            ("1-beta", "1.0.0-beta"),
            ("1.2+5", "1.2.0+5"),
            ("1.0.0--", "1.0.0--"),
            ("1.0.0-.", "1.0.0-."),
            ("1.0.0-a..b", "1.0.0-a..b"),
            ("1.0.0-007", "1.0.0-007"),
            ("1.0.0+a-b", "1.0.0+a-b"),
            ("4.14.0-CROC9", "4.14.0-CROC9"),
            ("0.25.35-pre+5515443", "0.25.35-pre+5515443"),
            ("1.0.20230316224912-dev", "1.0.20230316224912-dev"),
            ("0.0.18446744073709551615", "0.0.18446744073709551615"),
        ] {
            assert_eq!(version(text).to_string(), canonical, "{text}");
        }
    }

    #[test]
    fn each_mistake_is_named() {
        for (text, kind) in [
            ("", VersionErrorKind::Malformed),
            (" \t", VersionErrorKind::Malformed),
            ("1.0.0,2.0.0", VersionErrorKind::Malformed),
            ("1.0.0 || 2.0.0", VersionErrorKind::Malformed),
            (">= 1.0.0", VersionErrorKind::Malformed),
            ("=1.0.0", VersionErrorKind::Malformed),
            ("~> 1", VersionErrorKind::Malformed),
            (" 1.0.0", VersionErrorKind::Malformed),
            ("1.0.0\n", VersionErrorKind::Malformed),
            ("1.0.0 - 2.0.0", VersionErrorKind::Malformed),
            ("\u{a0}1.0.0", VersionErrorKind::Malformed),
            ("v1.0.0", VersionErrorKind::LeadingV),
            ("V1", VersionErrorKind::LeadingV),
            ("1.0.0.0", VersionErrorKind::TooManyNumbers),
            ("1.2.3.x", VersionErrorKind::TooManyNumbers),
            ("1.x", VersionErrorKind::Wildcard),
            ("*", VersionErrorKind::Wildcard),
            ("18446744073709551616", VersionErrorKind::NumberTooLarge),
            (
                "1.0.99999999999999999999-rc1",
                VersionErrorKind::NumberTooLarge,
            ),
            ("latest", VersionErrorKind::Malformed),
            ("version", VersionErrorKind::Malformed),
            ("-1", VersionErrorKind::Malformed),
            ("+1", VersionErrorKind::Malformed),
            ("1.+2", VersionErrorKind::Malformed),
            ("1..2", VersionErrorKind::Malformed),
            ("2..", VersionErrorKind::Malformed),
            (".1", VersionErrorKind::Malformed),
            ("2.-rc1", VersionErrorKind::Malformed),
            ("1.0.0-+b", VersionErrorKind::Malformed),
            ("1.0.0+b+c", VersionErrorKind::Malformed),
            ("1.0.2_foo.1", VersionErrorKind::Malformed),
            ("1.0.0-é", VersionErrorKind::Malformed),
            ("١.٢.٣", VersionErrorKind::Malformed),
            ("sha256-abc.sig", VersionErrorKind::Malformed),
        ] {
            let error = text.parse::<Version>().unwrap_err();
            assert_eq!(error.kind, kind, "{text:?}");
        }
    }

    #[test]
    fn errors_state_the_fact_and_what_was_expected() {
        let message = |text: &str| text.parse::<Version>().unwrap_err().to_string();
        assert_eq!(
            message("v1.0.0"),
            "`v1.0.0` is not a version: it begins with `v`\n  expected it without the `v`"
        );
        assert_eq!(
            message("1.0.0\u{1b}[2K"),
            "`1.0.0\u{fffd}[2K` is not a version: its form is unknown\n  expected MAJOR.MINOR.PATCH, optionally with -PRE and +META"
        );
    }

    proptest! {
        #[test]
        fn never_panics_and_prints_back(text in "\\PC{0,12}|[0-9xv.+ ~>=-]{0,12}|[0-9]{1,3}(\\.[0-9]{0,22}){0,3}(-[0-9a-zA-Z.-]{0,6})?(\\+[0-9a-zA-Z.-]{0,6})?") {
            if let Ok(version) = text.parse::<Version>() {
                prop_assert_eq!(version.to_string().parse::<Version>(), Ok(version));
            }
        }
    }
}
