//! Versions of providers.
//!
//! Clients accept more than semantic versioning allows: one or two numbers, leading zeros, a dot or dash at the end ([clients:
//! versions](crate::clients#versions)). tfoci accepts the same and prints the canonical form `MAJOR.MINOR.PATCH[-PRE][+META]`. Some origins
//! serve a version only under their own spelling, so [`SpelledVersion`] stores both.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

pub use parse::Error;

mod parse;

/// A provider version.
///
/// Two versions are equal if all parts are equal, including build metadata. They are ordered by precedence (see [`Self::cmp_precedence`]),
/// then by build metadata.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version {
    major: u64,
    minor: u64,
    patch: u64,
    prerelease: String,
    build_metadata: String,
}

impl Version {
    /// Creates a version without pre-release and build metadata.
    pub fn new(major: u64, minor: u64, patch: u64) -> Self {
        Self {
            major,
            minor,
            patch,
            prerelease: String::new(),
            build_metadata: String::new(),
        }
    }

    /// The first number.
    pub fn major(&self) -> u64 {
        self.major
    }

    /// The second number, 0 if omitted.
    pub fn minor(&self) -> u64 {
        self.minor
    }

    /// Whether this is a pre-release. Clients select one only if a constraint names exactly this version.
    pub fn is_prerelease(&self) -> bool {
        !self.prerelease.is_empty()
    }

    /// Whether this is `0.0.0`, which clients use for "no version" and [never install](crate::clients#versions).
    pub fn is_unspecified(&self) -> bool {
        *self == Self::new(0, 0, 0)
    }

    /// Compares versions as clients do, without build metadata.
    ///
    /// This is the precedence of semantic versioning, except for pre-releases with different numbers of identifiers: clients order the
    /// shorter one first before they compare its last identifier (`1.0.0-beta` is older than `1.0.0-alpha.1`). tfoci must do the same,
    /// because this order decides the canonical text of constraints in lock files.
    pub fn cmp_precedence(&self, other: &Self) -> Ordering {
        let numbers = |v: &Self| (v.major, v.minor, v.patch);
        numbers(self)
            .cmp(&numbers(other))
            .then_with(|| self.prerelease.is_empty().cmp(&other.prerelease.is_empty()))
            .then_with(|| compare_identifiers(&self.prerelease, &other.prerelease))
    }

    /// Parses a version in its canonical spelling.
    pub(crate) fn canonical(text: &str) -> Option<Self> {
        let version: Self = text.parse().ok()?;
        (version.to_string() == text).then_some(version)
    }

    /// Parses a version, and counts its numbers: `~> 1.2` and `~> 1.2.0` are different constraints.
    pub(crate) fn parse_counted(text: &str) -> Result<(Self, usize), Error> {
        parse::read(text).ok_or_else(|| Error {
            text: text.to_owned(),
        })
    }
}

/// Compares dot-separated identifiers. An identifier at which one text ends precedes one that continues; then numbers are ordered by value,
/// before letters.
fn compare_identifiers(left: &str, right: &str) -> Ordering {
    keys(left).cmp(keys(right))
}

fn keys(extra: &str) -> impl Iterator<Item = (bool, bool, usize, &str)> {
    let count = extra.split('.').count();
    extra
        .split('.')
        .enumerate()
        .map(move |(index, identifier)| {
            let is_number = identifier.bytes().all(|b| b.is_ascii_digit());
            // A longer number is larger. The length of other identifiers does not matter.
            let length = if is_number { identifier.len() } else { 0 };
            (index + 1 < count, !is_number, length, identifier)
        })
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        self.cmp_precedence(other)
            .then_with(|| compare_identifiers(&self.build_metadata, &other.build_metadata))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        write_extra(self, f)
    }
}

/// Writes the pre-release and the build metadata.
pub(crate) fn write_extra(version: &Version, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if !version.prerelease.is_empty() {
        write!(f, "-{}", version.prerelease)?;
    }
    if !version.build_metadata.is_empty() {
        write!(f, "+{}", version.build_metadata)?;
    }
    Ok(())
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl FromStr for Version {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse_counted(text).map(|(version, _)| version)
    }
}

/// A version, and its spelling in the origin's list.
///
/// An origin that lists `0.50` serves it only under `0.50`, while tags and files have the canonical `0.50.0`. Use the spelling in requests
/// and the version everywhere else.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SpelledVersion {
    version: Version,
    spelling: String,
}

impl SpelledVersion {
    /// The version, independent of its spelling.
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// The text that the origin lists.
    pub fn spelling(&self) -> &str {
        &self.spelling
    }
}

impl From<Version> for SpelledVersion {
    fn from(version: Version) -> Self {
        let spelling = version.to_string();
        Self { version, spelling }
    }
}

impl FromStr for SpelledVersion {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Ok(Self {
            version: text.parse()?,
            spelling: text.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests;
