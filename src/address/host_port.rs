//! `HOST[:PORT]`, in addresses of registries, URLs and options.

use std::net::Ipv6Addr;

/// A host and its port. The host is not validated. An IPv6 address keeps its brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostPort<'a> {
    /// The text before the port.
    pub host: &'a str,
    /// The port, if the text has one.
    pub port: Option<u16>,
}

impl<'a> HostPort<'a> {
    /// Splits a text at its port; `None` if the port is not a decimal number of at most 65535.
    pub fn parse(text: &'a str) -> Option<Self> {
        let end = match text.strip_prefix('[') {
            Some(rest) => rest.find(']').map(|at| at + "[]".len()),
            None => text.find(':'),
        };
        let (host, rest) = text.split_at_checked(end.unwrap_or(text.len()))?;
        let port = match rest.strip_prefix(':') {
            Some(digits) => Some(port(digits)?),
            None if rest.is_empty() => None,
            None => return None,
        };
        Some(Self { host, port })
    }

    /// The host as an IPv6 address; `None` if it is not one in brackets.
    pub fn ipv6(&self) -> Option<Ipv6Addr> {
        let address = self.host.strip_prefix('[')?.strip_suffix(']')?;
        address.parse().ok()
    }
}

/// Parses a port that consists of digits only. Rust's parser accepts a sign too.
fn port(digits: &str) -> Option<u16> {
    let is_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
    is_digits.then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_port_is_a_number_after_the_first_colon_outside_brackets() {
        for (text, host, port) in [
            ("", "", None),
            ("a", "a", None),
            ("a:5000", "a", Some(5000)),
            ("a:05000", "a", Some(5000)),
            (":0", "", Some(0)),
            ("[::1]", "[::1]", None),
            ("[::1]:5000", "[::1]", Some(5000)),
            ("[::1", "[::1", None),
            ("[]", "[]", None),
        ] {
            assert_eq!(
                HostPort::parse(text),
                Some(HostPort { host, port }),
                "{text}"
            );
        }
        for text in [
            "a:",
            "a:b",
            "a:+1",
            "a:65536",
            "a:1:2",
            "::1",
            "[::1]5000",
            "[::1]:",
        ] {
            assert_eq!(HostPort::parse(text), None, "{text}");
        }
    }

    #[test]
    fn only_addresses_in_brackets_are_ipv6() {
        let address = |text| HostPort::parse(text).and_then(|parsed| parsed.ipv6());
        assert_eq!(address("[0:0::1]:1"), Some(Ipv6Addr::LOCALHOST));
        for text in ["[::1", "[]", "[a]", "127.0.0.1"] {
            assert_eq!(address(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn never_panics_and_loses_nothing(text in "[a\\[\\]:0-9é]{0,12}") {
            if let Some(HostPort { host, port }) = HostPort::parse(&text) {
                prop_assert!(text.starts_with(host));
                prop_assert_eq!(port.is_some(), text.len() > host.len());
            }
        }
    }
}
