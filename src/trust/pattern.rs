//! Patterns over provider addresses, spelled with three segments so that they do not depend on the default host.

use std::fmt;
use std::str::FromStr;

use crate::address::ProviderAddr;
use crate::error::printable;

/// A provider address in which a segment may be `*`, such as `registry.opentofu.org/hashicorp/*`.
///
/// Wildcards are whole segments and nest from the right: under `*` there can only be `*` (contract 2.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderPattern([String; 3]);

impl ProviderPattern {
    /// Whether an address falls under it.
    pub fn matches(&self, provider: &ProviderAddr) -> bool {
        let Self([hostname, namespace, type_name]) = self;
        let host = provider.hostname();
        let same =
            |segment: &str, value: &str| segment == "*" || segment.eq_ignore_ascii_case(value);
        (same(hostname, host.as_ascii()) || same(hostname, &host.to_unicode()))
            && same(namespace, provider.namespace())
            && same(type_name, provider.type_name())
    }
}

impl fmt::Display for ProviderPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self([hostname, namespace, type_name]) = self;
        write!(f, "{hostname}/{namespace}/{type_name}")
    }
}

impl FromStr for ProviderPattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        let parts: Vec<&str> = text.split('/').collect();
        let error = || PatternError {
            text: text.to_owned(),
        };
        let &[hostname, namespace, type_name] = parts.as_slice() else {
            return Err(error());
        };
        let sound = |part: &str| part == "*" || !(part.is_empty() || part.contains('*'));
        let nests = |outer: &str, inner: &str| outer != "*" || inner == "*";
        if [hostname, namespace, type_name].into_iter().all(sound)
            && nests(hostname, namespace)
            && nests(namespace, type_name)
        {
            Ok(Self([hostname, namespace, type_name].map(str::to_owned)))
        } else {
            Err(error())
        }
    }
}

/// Text that is not a pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a provider pattern: expected HOSTNAME/NAMESPACE/TYPE, where `*` stands for all from there on", printable(.text))]
pub struct PatternError {
    /// What was given.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn wildcards_are_whole_segments_from_the_right() {
        let address: ProviderAddr = "example.com/acme/demo".parse().expect("an address");
        for (pattern, matches) in [
            ("*/*/*", true),
            ("example.com/*/*", true),
            ("example.com/acme/*", true),
            ("example.com/ACME/demo", true),
            ("example.com/acme/other", false),
            ("example.org/*/*", false),
        ] {
            let pattern: ProviderPattern = pattern.parse().expect("a pattern");
            assert_eq!(pattern.matches(&address), matches, "{pattern}");
        }
        for broken in ["", "*/*", "a/b/c/d", "a//c", "*/b/c", "a/*/c", "a/b/c*"] {
            assert!(broken.parse::<ProviderPattern>().is_err(), "{broken:?}");
        }
    }

    proptest! {
        #[test]
        fn never_panics_and_prints_back(text in "[a-c*/é]{0,9}") {
            if let Ok(pattern) = text.parse::<ProviderPattern>() {
                prop_assert_eq!(pattern.to_string(), text);
            }
        }
    }
}
