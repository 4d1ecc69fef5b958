//! Host names of provider registries, in punycode and in Unicode.
//!
//! People, lock files and clients' directories use Unicode; comparison, URLs and OCI names use punycode ([clients: host
//! names](crate::clients#host-names)). A [`Hostname`] stores the punycode form. Users must type Unicode: people cannot read a name such as
//! `xn--80ak6aa92e.com`, so clients refuse it, and tfoci does too.

use std::fmt;
use std::str::FromStr;

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46, verify_dns_length};

use super::HostPort;
use crate::error::printable;

/// OpenTofu's host for [addresses without a host](crate::clients#addresses).
pub const DEFAULT_HOST: &str = "registry.opentofu.org";

/// Terraform's host for addresses without a host.
pub const PREDECESSOR_HOST: &str = "registry.terraform.io";

/// The default port, which every form omits.
const HTTPS: u16 = 443;

/// The longest accepted text in bytes. A DNS name has at most 253 ASCII characters, and each of them comes from at most one character of
/// four bytes.
const LONGEST: usize = 1024;

/// The host of an address, with its port unless that is 443.
///
/// Ordered by the punycode form, as lock files are.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hostname(String);

impl Hostname {
    /// [`DEFAULT_HOST`].
    pub fn default_origin() -> Self {
        Self(DEFAULT_HOST.to_owned())
    }

    /// [`PREDECESSOR_HOST`].
    pub fn predecessor_origin() -> Self {
        Self(PREDECESSOR_HOST.to_owned())
    }

    /// Parses the form of [`Self::as_ascii`], for documents that contain punycode.
    ///
    /// # Errors
    /// The text is invalid. Unlike in user input, punycode is accepted.
    pub fn from_ascii(text: &str) -> Result<Self, Error> {
        let refuse = || Error {
            text: text.to_owned(),
        };
        let parts = HostPort::parse(text).filter(|_| text.len() <= LONGEST);
        let HostPort { host, port } = parts.ok_or_else(refuse)?;
        let (deny, dns) = (AsciiDenyList::STD3, DnsLength::Ignore);
        let host = Uts46::new().to_ascii(host.as_bytes(), deny, Hyphens::Check, dns);
        let host = host.map_err(|_| refuse())?;
        // The conversion removes soft hyphens and converts full-width dots, so empty labels may appear only now.
        if host.split('.').any(str::is_empty) || !verify_dns_length(&host, false) {
            return Err(refuse());
        }
        Ok(Self(match port.filter(|port| *port != HTTPS) {
            Some(port) => format!("{host}:{port}"),
            None => host.into_owned(),
        }))
    }

    /// The punycode form, for comparison, storage and URLs. Port 443 is omitted.
    pub fn as_ascii(&self) -> &str {
        &self.0
    }

    /// Whether it has a port, other than 443. Clients ask no network mirror for providers of such a host, since they parse the path as a URL
    /// ([clients: network mirror requests](crate::clients#network-mirror-requests)).
    pub fn has_port(&self) -> bool {
        self.0.contains(':')
    }

    /// The Unicode form, for people, lock files and clients' directories.
    pub fn to_unicode(&self) -> String {
        let (host, port) = self.0.split_once(':').unwrap_or((&self.0, ""));
        let (host, _) =
            Uts46::new().to_unicode(host.as_bytes(), AsciiDenyList::STD3, Hyphens::Check);
        match port {
            "" => host.into_owned(),
            port => format!("{host}:{port}"),
        }
    }

    /// The form for directories of an OCI layout: punycode, with `_` before the port. Some file systems forbid colons, and no host name
    /// contains an underscore.
    pub fn to_path_segment(&self) -> String {
        self.0.replace(':', "_")
    }

    /// Parses the form of [`Self::to_path_segment`].
    ///
    /// # Errors
    /// The text is not a host name, or not its canonical spelling: two directories must not have the same host.
    pub fn from_path_segment(segment: &str) -> Result<Self, Error> {
        let host = Self::from_ascii(&segment.replacen('_', ":", 1)).ok();
        let host = host.filter(|host| host.to_path_segment() == segment);
        host.ok_or_else(|| Error {
            text: segment.to_owned(),
        })
    }
}

fn is_punycode(label: &str) -> bool {
    label
        .split_at_checked(4)
        .is_some_and(|(prefix, _)| prefix.eq_ignore_ascii_case("xn--"))
}

impl fmt::Display for Hostname {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_unicode())
    }
}

impl FromStr for Hostname {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let host = text.split(':').next().unwrap_or_default();
        if host.split('.').any(is_punycode) {
            return Err(Error {
                text: text.to_owned(),
            });
        }
        Self::from_ascii(text)
    }
}

/// A text that is not [a host name](crate::clients#host-names), or is punycode where people write a host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a host name\n  expected HOST or HOST:PORT in Unicode, of letters, digits, dots and inner dashes, as long as DNS allows", printable(.text))]
pub struct Error {
    /// The invalid text.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The expected results come from the clients' own code.
    #[test]
    fn a_host_has_one_form_to_store_and_one_to_show() {
        for (text, ascii, unicode) in [
            ("example.com", "example.com", "example.com"),
            ("EXAMPLE.com", "example.com", "example.com"),
            ("example.com:443", "example.com", "example.com"),
            ("example.com:0443", "example.com", "example.com"),
            ("example.com:08443", "example.com:8443", "example.com:8443"),
            ("example.com:0", "example.com:0", "example.com:0"),
            ("localhost:65535", "localhost:65535", "localhost:65535"),
            ("127.0.0.1", "127.0.0.1", "127.0.0.1"),
            ("Bücher.example", "xn--bcher-kva.example", "bücher.example"),
            ("straße.de:8443", "xn--strae-oqa.de:8443", "straße.de:8443"),
            ("ёлка.рф", "xn--80atc1g.xn--p1ai", "ёлка.рф"),
            ("例え。テスト", "xn--r8jz45g.xn--zckzah", "例え.テスト"),
            ("ｅｘａｍｐｌｅ.com", "example.com", "example.com"),
        ] {
            let host: Hostname = text.parse().unwrap();
            assert_eq!(host.as_ascii(), ascii, "{text}");
            assert_eq!(host.to_unicode(), unicode, "{text}");
        }
    }

    #[test]
    fn each_mistake_is_named() {
        let long_label = format!("{}.com", "a".repeat(64));
        let long_name = ["abcdefg"; 32].join(".");
        for text in [
            "",
            ":8443",
            "https://example.com",
            "a..b",
            ".example.com",
            "example.com.",
            "a。。b",
            "\u{ad}.com",
            "xn--bcher-kva.example",
            "www.XN--bcher-kva.example:80",
            "example.com:",
            "example.com:http",
            "example.com:65536",
            "example.com:-5",
            "example.com:+443",
            "example.com:8443:1",
            "[::1]:80",
            "exa_mple.com",
            "example .com",
            "-a.example.com",
            "a-.example.com",
            "ab--cd.example.com",
            "*.example.com",
            "user@example.com",
            "\u{301}a.com",
            "אa.com",
            &long_label,
            &long_name,
            &"a".repeat(1025),
        ] {
            assert!(text.parse::<Hostname>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_directory_stands_for_one_host() {
        let host: Hostname = "bücher.example:8443".parse().unwrap();
        assert_eq!(host.to_path_segment(), "xn--bcher-kva.example_8443");
        assert_eq!(
            Hostname::from_path_segment("xn--bcher-kva.example_8443"),
            Ok(host)
        );
        for segment in [
            "",
            ".",
            "..",
            "bücher.example",
            "Example.com",
            "example.com_443",
            "example.com_08443",
            "example.com:8443",
            "a_b_1",
        ] {
            assert!(Hostname::from_path_segment(segment).is_err(), "{segment:?}");
        }
    }

    proptest! {
        #[test]
        fn never_panics_and_every_form_reads_back(
            text in "\\PC{0,16}|[a-zäßж例.-]{1,12}(:[0-9]{0,6})?|(xn--)?[a-z0-9.-]{1,20}",
        ) {
            if let Ok(host) = text.parse::<Hostname>() {
                prop_assert_eq!(host.to_unicode().parse::<Hostname>(), Ok(host.clone()));
                prop_assert_eq!(Hostname::from_ascii(host.as_ascii()), Ok(host.clone()));
                prop_assert_eq!(Hostname::from_path_segment(&host.to_path_segment()), Ok(host));
            }
        }

        #[test]
        fn stored_forms_never_panic(text in "\\PC{0,16}|(xn--[a-z0-9-]{1,8}\\.?){1,3}(_[0-9]{0,6})?") {
            if let Ok(host) = Hostname::from_path_segment(&text) {
                prop_assert_eq!(host.to_path_segment(), text);
            }
        }
    }
}
