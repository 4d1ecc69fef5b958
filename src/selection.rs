//! Selections: a provider and version constraints, as the user types them.

use std::fmt;

use crate::address::{self, Hostname, ProviderAddr, ProviderPattern};
use crate::constraint::{self, VersionConstraints};
use crate::error::printable;
use crate::shown::{Shown, userinfo};
use crate::version::Version;

/// A provider and version constraints, written `ADDR[@CONSTRAINTS]`.
///
/// Commands that need a single version use [`VersionConstraints::as_exact`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Selection {
    /// The provider's address.
    pub provider: ProviderAddr,
    /// The acceptable versions; without constraints, any.
    pub constraints: VersionConstraints,
}

impl Selection {
    /// Parses a selection as the user types it. An address of two parts is on `default_host`.
    ///
    /// # Errors
    /// The part before the first `@` is not an address, or the part after it is not a constraint.
    pub fn parse(text: &str, default_host: &Hostname) -> Result<Self, Error> {
        if userinfo(text).is_some() {
            return Err(Error::User { text: text.into() });
        }
        let (provider, constraints) = match text.split_once('@') {
            Some((_, constraints)) if constraints.trim().is_empty() => {
                return Err(Error::NoConstraints {
                    text: text.to_owned(),
                });
            }
            Some((provider, constraints)) => (provider, constraints.parse()?),
            None => (text, VersionConstraints::any()),
        };
        Ok(Self {
            provider: ProviderAddr::parse(provider, default_host)?,
            constraints,
        })
    }
}

/// Providers to leave out, or versions of them, written `PATTERN[@CONSTRAINTS]`.
#[derive(Clone, Debug)]
pub struct Exclusion {
    /// Whose versions are left out.
    pub providers: ProviderPattern,
    /// Those of their versions; all without constraints.
    pub versions: VersionConstraints,
}

impl Exclusion {
    /// Whether it leaves out every version of a provider.
    pub fn is_whole(&self, provider: &ProviderAddr) -> bool {
        self.versions.is_any() && self.providers.matches(provider)
    }

    /// Whether it leaves out a version of a provider.
    pub fn has(&self, provider: &ProviderAddr, version: &Version) -> bool {
        self.is_whole(provider) || self.providers.matches(provider) && self.versions.admits(version)
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            provider,
            constraints,
        } = self;
        if constraints.is_any() {
            write!(f, "{provider}")
        } else {
            write!(f, "{provider}@{constraints}")
        }
    }
}

/// A text that is not a selection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    /// An `@` at the end, for example before an empty shell variable. It must not select the newest release.
    #[error("`{}` has nothing after the `@`\n  expected a version or constraint, or no `@`", printable(.text))]
    NoConstraints { text: String },
    /// A username and password, as in a URL.
    #[error("`{text}` has the name and password of a user\n  expected ADDR or ADDR@CONSTRAINTS")]
    User { text: Shown },
    /// The part before the `@` is invalid.
    #[error(transparent)]
    Address(#[from] address::Error),
    /// The part after the `@` is invalid.
    #[error(transparent)]
    Constraints(#[from] constraint::Error),
}

#[cfg(test)]
mod tests;
