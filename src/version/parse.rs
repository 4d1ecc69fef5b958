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
mod tests;
