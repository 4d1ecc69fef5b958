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

/// A text that is not a [version](crate::clients#versions).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a version\n  expected MAJOR.MINOR.PATCH, optionally with -PRE and +META", printable(.text))]
pub struct Error {
    /// The invalid text.
    pub text: String,
}

impl Error {
    /// Whether it would be a version if its numbers were below 2^64. Clients crash on it.
    pub fn is_too_large(&self) -> bool {
        let core = self.text.split(['-', '+']).next().unwrap_or_default();
        let numbers = || core.split('.');
        numbers().all(is_digits) && numbers().count() <= 3 && numbers().any(|n| number(n).is_none())
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
    fn other_texts_are_refused() {
        for text in [
            "",
            " \t",
            "1.0.0,2.0.0",
            "1.0.0 || 2.0.0",
            ">= 1.0.0",
            "=1.0.0",
            "~> 1",
            " 1.0.0",
            "1.0.0\n",
            "1.0.0 - 2.0.0",
            "\u{a0}1.0.0",
            "v1.0.0",
            "V1",
            "1.0.0.0",
            "1.2.3.x",
            "1.x",
            "*",
            "18446744073709551616",
            "1.0.99999999999999999999-rc1",
            "latest",
            "version",
            "-1",
            "+1",
            "1.+2",
            "1..2",
            "2..",
            ".1",
            "2.-rc1",
            "1.0.0-+b",
            "1.0.0+b+c",
            "1.0.2_foo.1",
            "1.0.0-é",
            "١.٢.٣",
            "sha256-abc.sig",
        ] {
            assert!(text.parse::<Version>().is_err(), "{text:?}");
        }
        for (text, is_too_large) in [
            ("18446744073709551616", true),
            ("1.0.99999999999999999999-rc1", true),
            ("1.0.0.99999999999999999999", false),
            ("x.99999999999999999999", false),
        ] {
            let error = text.parse::<Version>().unwrap_err();
            assert_eq!(error.is_too_large(), is_too_large, "{text:?}");
        }
    }

    #[test]
    fn what_a_terminal_obeys_is_not_shown() {
        let error = "1.0.0\u{1b}[2K".parse::<Version>().unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("`1.0.0\u{fffd}[2K` is not a version\n")
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
