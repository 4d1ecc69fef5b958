//! Version constraints, in the syntax of `required_providers`.
//!
//! A constraint is a list of comparisons that must all hold: `>= 1.2.0, != 1.3.1, < 2.0.0`. Lock files contain its
//! canonical text, and clients refuse any other
//! ([clients: version constraints](crate::clients#version-constraints)). So [`VersionConstraints`] stores what that text
//! expresses: a sorted set.

use std::collections::BTreeSet;
use std::fmt;

use crate::version::{self, Version};

pub use parse::Error;

mod parse;

/// A set of comparisons that acceptable versions must satisfy. Two are equal if the comparisons are, however they were written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct VersionConstraints {
    comparisons: BTreeSet<Comparison>,
}

/// One operator with its version. The order of fields and operators is
/// [the canonical one](crate::clients#version-constraints).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Comparison {
    boundary: Version,
    operator: Operator,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Operator {
    Newer,
    AtLeast,
    Exactly,
    /// `~> 1.2.3`: 1.2.3 and newer patch releases of 1.2.
    NewerPatch,
    /// `~> 1.2` and `~> 1`: that version and newer minor and patch releases of 1.
    NewerMinor,
    AtMost,
    Older,
    Except,
}

impl VersionConstraints {
    /// No constraint: every release is acceptable.
    pub fn any() -> Self {
        Self::default()
    }

    /// Only this version, including its build metadata.
    pub fn exactly(version: Version) -> Self {
        let only = Comparison {
            boundary: version,
            operator: Operator::Exactly,
        };
        Self {
            comparisons: BTreeSet::from([only]),
        }
    }

    /// The versions that both constraints accept, as when two modules require the same provider.
    pub fn and(mut self, other: Self) -> Self {
        self.comparisons.extend(other.comparisons);
        self
    }

    /// Whether there is no comparison, so that any stable version satisfies it.
    pub fn is_any(&self) -> bool {
        self.comparisons.is_empty()
    }

    /// Whether a user who writes these means that version: without a comparison every version, pre-releases too.
    pub fn selects(&self, version: &Version) -> bool {
        self.is_any() || self.admits(version)
    }

    /// The version, if the only comparison is an exact version.
    pub fn as_exact(&self) -> Option<&Version> {
        let mut comparisons = self.comparisons.iter();
        match (comparisons.next(), comparisons.next()) {
            (Some(only), None) if only.operator == Operator::Exactly => Some(&only.boundary),
            _ => None,
        }
    }

    /// Whether a version other than `0.0.0` satisfies all comparisons. Unlike [`VersionConstraints::admits`], this accepts pre-releases.
    pub fn spans(&self, version: &Version) -> bool {
        !version.is_unspecified() && self.comparisons.iter().all(|c| c.holds(version))
    }

    /// Whether a version is acceptable.
    ///
    /// A pre-release is acceptable only if a comparison requires exactly this version. `0.0.0` never is
    /// ([clients: version constraints](crate::clients#version-constraints)).
    pub fn admits(&self, version: &Version) -> bool {
        let names_it = |c: &Comparison| c.operator == Operator::Exactly && c.boundary == *version;
        self.spans(version) && (!version.is_prerelease() || self.comparisons.iter().any(names_it))
    }

    /// The version that clients select: the newest acceptable one, or the last of several equal ones.
    pub fn newest<'a>(&self, versions: impl Iterator<Item = &'a Version>) -> Option<&'a Version> {
        versions
            .filter(|v| self.admits(v))
            .max_by(|a, b| a.cmp_precedence(b))
    }
}

impl Comparison {
    fn holds(&self, version: &Version) -> bool {
        let order = version.cmp_precedence(&self.boundary);
        match self.operator {
            Operator::Newer => order.is_gt(),
            Operator::AtLeast => order.is_ge(),
            Operator::Exactly => *version == self.boundary,
            Operator::NewerPatch | Operator::NewerMinor => {
                order.is_ge()
                    && self
                        .next()
                        .is_some_and(|end| version.cmp_precedence(&end).is_lt())
            }
            Operator::AtMost => order.is_le(),
            Operator::Older => order.is_lt(),
            Operator::Except => *version != self.boundary,
        }
    }

    /// The first version above the range of a `~>`; `None` if its number would overflow. Clients then accept no version.
    fn next(&self) -> Option<Version> {
        let (major, minor) = (self.boundary.major(), self.boundary.minor());
        if self.operator == Operator::NewerPatch {
            Some(Version::new(major, minor.checked_add(1)?, 0))
        } else {
            Some(Version::new(major.checked_add(1)?, 0, 0))
        }
    }
}

impl Operator {
    /// The operator symbol with the space after it, as it precedes the version.
    fn prefix(self) -> &'static str {
        match self {
            Self::Newer => "> ",
            Self::AtLeast => ">= ",
            Self::Exactly => "",
            Self::NewerPatch | Self::NewerMinor => "~> ",
            Self::AtMost => "<= ",
            Self::Older => "< ",
            Self::Except => "!= ",
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { boundary, operator } = self;
        f.write_str(operator.prefix())?;
        if *operator == Operator::NewerMinor {
            // A third number would change the meaning of `~>`.
            write!(f, "{}.{}", boundary.major(), boundary.minor())?;
            version::write_extra(boundary, f)
        } else {
            boundary.fmt(f)
        }
    }
}

impl fmt::Display for VersionConstraints {
    /// The canonical text; empty for [`VersionConstraints::any`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, comparison) in self.comparisons.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{comparison}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
