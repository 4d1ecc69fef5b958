//! Patterns that select providers, in the syntax of `include` and `exclude` in the CLI configuration.

use std::fmt;
use std::str::FromStr;

use crate::address::{Hostname, ProviderAddr, hostname, name};
use crate::error::printable;

const WILDCARD: &str = "*";

/// An address whose last segments may be `*` ([clients: patterns](crate::clients#patterns)).
///
/// The default matches everything. A matching provider need not exist. Patterns for built-in or legacy providers are valid, but match nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProviderPattern {
    hostname: Option<Hostname>,
    namespace: Option<String>,
    type_name: Option<String>,
}

impl ProviderPattern {
    /// Parses user input of two or three segments. A pattern of two segments is on `default_host`: `*/*` matches everything on that
    /// host, and `*/*/*` everything.
    ///
    /// # Errors
    /// The text is not a pattern.
    pub fn parse(text: &str, default_host: &Hostname) -> Result<Self, Error> {
        match text.split_once('/') {
            Some((namespace, type_name)) if !type_name.contains('/') => {
                Self::on_host(default_host.clone(), namespace, type_name, text)
            }
            _ => text.parse(),
        }
    }

    fn on_host(
        host: Hostname,
        namespace: &str,
        type_name: &str,
        text: &str,
    ) -> Result<Self, Error> {
        let refused = || Error::Form {
            text: text.to_owned(),
        };
        if namespace == WILDCARD && type_name != WILDCARD {
            return Err(refused());
        }
        let namespace = (namespace != WILDCARD)
            .then(|| name::normalize_namespace(namespace, &host).ok_or_else(refused));
        let type_name =
            (type_name != WILDCARD).then(|| name::normalize(type_name).ok_or_else(refused));
        Ok(Self {
            namespace: namespace.transpose()?,
            type_name: type_name.transpose()?,
            hostname: Some(host),
        })
    }

    /// Whether every segment is `*` or the same as that of the provider.
    pub fn matches(&self, provider: &ProviderAddr) -> bool {
        let host = provider.hostname().as_ascii();
        let names = [host, provider.namespace(), provider.type_name()];
        let mut segments = self.segments().into_iter().zip(names);
        segments.all(|(segment, name)| segment.is_none_or(|segment| segment == name))
    }

    /// The host; `None` for `*`.
    pub fn hostname(&self) -> Option<&Hostname> {
        self.hostname.as_ref()
    }

    /// The host in punycode, the namespace and the type; `None` for `*`.
    pub fn segments(&self) -> [Option<&str>; 3] {
        let host = self.hostname().map(Hostname::as_ascii);
        [host, self.namespace.as_deref(), self.type_name.as_deref()]
    }

    /// The only provider that the pattern matches; `None` if it has wildcards, or matches nothing.
    pub fn provider(&self) -> Option<ProviderAddr> {
        self.to_string().parse().ok()
    }

    /// Whether this pattern matches every provider that the other one matches.
    pub fn covers(&self, other: &Self) -> bool {
        other.covering().contains(self)
    }

    /// The pattern of the providers that both match; `None` if there are none.
    pub fn intersection<'a>(&'a self, other: &'a Self) -> Option<&'a Self> {
        if self.covers(other) {
            Some(other)
        } else if other.covers(self) {
            Some(self)
        } else {
            None
        }
    }

    /// The patterns that match every provider that this one matches: the widest first, itself last.
    pub fn covering(&self) -> Vec<Self> {
        let mut of_namespace = self.clone();
        of_namespace.type_name = None;
        let mut of_host = of_namespace.clone();
        of_host.namespace = None;
        let mut all = vec![Self::default(), of_host, of_namespace, self.clone()];
        all.dedup();
        all
    }
}

impl fmt::Display for ProviderPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = self.hostname.as_ref().map(Hostname::to_string);
        let names = [&host, &self.namespace, &self.type_name];
        let [host, namespace, name] = names.map(|one| one.as_deref().unwrap_or(WILDCARD));
        write!(f, "{host}/{namespace}/{name}")
    }
}

impl FromStr for ProviderPattern {
    type Err = Error;

    /// Parses three segments, as documents require.
    fn from_str(text: &str) -> Result<Self, Error> {
        // Four segments suffice to detect too many.
        let segments: Vec<&str> = text.splitn(4, '/').collect();
        match segments.as_slice() {
            [WILDCARD, WILDCARD, WILDCARD] => Ok(Self::default()),
            [host, namespace, type_name] => {
                Self::on_host(host.parse()?, namespace, type_name, text)
            }
            _ => Err(Error::Form {
                text: text.to_owned(),
            }),
        }
    }
}

/// A text that is not a pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    /// Not three segments, a segment that is no name, or a `*` that is a part of a segment or before a name.
    #[error("`{}` is not a pattern of providers\n  expected HOSTNAME/NAMESPACE/TYPE, such as `example.com/acme/*`, `example.com/*/*`, or `*/*/*` for all", printable(.text))]
    Form { text: String },
    /// The host name is invalid.
    #[error(transparent)]
    Hostname(#[from] hostname::Error),
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<ProviderPattern, Error> {
        ProviderPattern::parse(text, &Hostname::default_origin())
    }

    #[test]
    fn wildcards_stand_for_whole_segments() {
        for (pattern, shown, address, matches) in [
            ("*/*/*", "*/*/*", "example.com/acme/demo", true),
            (
                "*/*",
                "registry.opentofu.org/*/*",
                "registry.opentofu.org/acme/demo",
                true,
            ),
            (
                "*/*",
                "registry.opentofu.org/*/*",
                "example.com/acme/demo",
                false,
            ),
            (
                "Acme/*",
                "registry.opentofu.org/acme/*",
                "registry.opentofu.org/acme/demo",
                true,
            ),
            (
                "acme/*",
                "registry.opentofu.org/acme/*",
                "registry.opentofu.org/acme-2/demo",
                false,
            ),
            (
                "EXAMPLE.com:443/*/*",
                "example.com/*/*",
                "example.com/acme/demo",
                true,
            ),
            (
                "example.com/*/*",
                "example.com/*/*",
                "example.com:8443/acme/demo",
                false,
            ),
            (
                "bücher.example/acme/Demo",
                "bücher.example/acme/demo",
                "bücher.example/acme/demo",
                true,
            ),
            (
                "example.com/acme/demo",
                "example.com/acme/demo",
                "example.com/acme/demo2",
                false,
            ),
            (
                "terraform.io/builtin/terraform",
                "terraform.io/builtin/terraform",
                "terraform.io/acme/terraform",
                false,
            ),
        ] {
            let pattern = parse(pattern).unwrap();
            assert_eq!(pattern.to_string(), shown);
            assert_eq!(
                pattern.matches(&address.parse().unwrap()),
                matches,
                "{shown} {address}"
            );
        }
    }

    #[test]
    fn mistakes_are_refused() {
        for text in [
            "*",
            "a/b/c/*",
            "*/demo",
            "*/acme/*",
            "*.example.com/*/*",
            "acme/terraform-*",
            "example..com/*/*",
            "-/*",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!("*/*".parse::<ProviderPattern>().is_err());
    }

    #[test]
    fn a_pattern_is_covered_by_wider_ones_and_itself() {
        let patterns = [
            "*/*/*",
            "a.example/*/*",
            "a.example/acme/*",
            "a.example/acme/demo",
        ];
        let patterns = patterns.map(|text| parse(text).unwrap());
        for (place, pattern) in patterns.iter().enumerate() {
            assert_eq!(pattern.covering(), patterns[..=place]);
            for (other, wider) in patterns[..=place].iter().enumerate() {
                assert!(wider.covers(pattern), "{wider} {pattern}");
                assert_eq!(pattern.covers(wider), other == place);
                assert_eq!(pattern.intersection(wider), Some(pattern));
                assert_eq!(wider.intersection(pattern), Some(pattern));
            }
        }
        let elsewhere = parse("b.example/acme/*").unwrap();
        assert_eq!(elsewhere.intersection(&patterns[2]), None);
        assert_eq!(ProviderPattern::default(), patterns[0]);
    }

    #[test]
    fn a_pattern_has_segments() {
        for (text, segments) in [
            ("*/*/*", [None, None, None]),
            (
                "bücher.example/*/*",
                [Some("xn--bcher-kva.example"), None, None],
            ),
            ("a.example/acme/*", [Some("a.example"), Some("acme"), None]),
            (
                "a.example/acme/demo",
                [Some("a.example"), Some("acme"), Some("demo")],
            ),
        ] {
            let pattern = parse(text).unwrap();
            assert_eq!(pattern.segments(), segments);
            let provider = pattern.provider().map(|provider| provider.to_string());
            assert_eq!(provider.as_deref(), segments[2].map(|_| text));
        }
        // Built into the client.
        let built_in = parse("terraform.io/builtin/terraform").unwrap();
        assert_eq!(built_in.provider(), None);
    }

    proptest! {
        #[test]
        fn never_panics_and_prints_back(text in "\\PC{0,20}|([*a-zÜ.-]{1,5}/)?[*a-z-]{1,3}/[*a-z-]{1,3}") {
            if let Ok(pattern) = parse(&text) {
                prop_assert_eq!(pattern.to_string().parse(), Ok(pattern));
            }
        }
    }
}
