//! Versions of providers.

use std::fmt;
use std::str::FromStr;

/// A provider version in canonical form.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version {
    major: u64,
    minor: u64,
    patch: u64,
    pre: String,
    meta: String,
}

impl Version {
    /// Whether it is a pre-release.
    pub fn is_prerelease(&self) -> bool {
        !self.pre.is_empty()
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        if !self.pre.is_empty() {
            write!(f, "-{}", self.pre)?;
        }
        if !self.meta.is_empty() {
            write!(f, "+{}", self.meta)?;
        }
        Ok(())
    }
}

impl FromStr for Version {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let error = || Error::Bad {
            text: text.to_owned(),
        };
        let (rest, meta) = text.split_once('+').unwrap_or((text, ""));
        let (numbers, pre) = rest.split_once('-').unwrap_or((rest, ""));
        let mut parts = numbers
            .split('.')
            .map(|p| p.parse::<u64>().map_err(|_| error()));
        let mut next = || parts.next().unwrap_or(Ok(0));
        Ok(Self {
            major: next()?,
            minor: next()?,
            patch: next()?,
            pre: pre.to_owned(),
            meta: meta.to_owned(),
        })
    }
}

/// Text that is not a version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// x
    #[error("`{}` is not a version", crate::error::printable(.text))]
    Bad {
        /// What was given.
        text: String,
    },
    /// x
    #[error("large")]
    TooLarge {
        /// What was given.
        text: String,
    },
}
