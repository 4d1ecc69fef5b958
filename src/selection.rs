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
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<Selection, Error> {
        Selection::parse(text, &"example.com".parse().unwrap())
    }

    #[test]
    fn an_address_may_have_constraints() {
        for (text, shown) in [
            ("acme/demo", "example.com/acme/demo"),
            ("Acme/demo@1.2", "example.com/acme/demo@1.2.0"),
            (
                "acme/demo@~> 3.6,!=3.6.1",
                "example.com/acme/demo@~> 3.6, != 3.6.1",
            ),
            (
                "localhost:8443/acme/demo@>=1",
                "localhost:8443/acme/demo@>= 1.0.0",
            ),
        ] {
            assert_eq!(parse(text).unwrap().to_string(), shown);
        }
    }

    #[test]
    fn each_part_has_its_own_errors() {
        assert!(matches!(
            parse("acme/demo@"),
            Err(Error::NoConstraints { .. })
        ));
        assert!(matches!(
            parse("acme/demo@ "),
            Err(Error::NoConstraints { .. })
        ));
        assert!(matches!(parse("demo@1.0"), Err(Error::Address(_))));
        assert!(matches!(
            parse("acme/demo@1.0@2.0"),
            Err(Error::Constraints(_))
        ));
        assert!(matches!(
            parse("acme/demo@latest"),
            Err(Error::Constraints(_))
        ));
    }

    proptest! {
        #[test]
        fn never_panics_and_prints_back(text in "\\PC{0,16}|[a-z]{1,3}/[a-z]{1,3}(@[0-9<>=~., ]{0,8})?") {
            if let Ok(selection) = parse(&text) {
                prop_assert_eq!(parse(&selection.to_string()), Ok(selection));
            }
        }
    }
}
