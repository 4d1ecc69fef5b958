//! Private addresses: tfoci connects to them only if the user named the host, not because a server or a configuration refers to them.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Mutex;

use url::{Host, Url};

use crate::jobs::locked;

/// Which addresses a connection may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Guard {
    /// All: the user named the host.
    Open,
    /// All but link-local addresses, and addresses of services that give cloud machines their credentials.
    NoLinks,
    /// Public ones.
    Public,
}

impl Guard {
    pub(super) fn admits(self, address: IpAddr) -> bool {
        match self {
            Self::Open => true,
            Self::NoLinks => !is_link(address),
            Self::Public => !is_private(address),
        }
    }

    /// Whether the host of a URL is a literal address that is refused. It is never resolved.
    pub(super) fn refuses_literal(self, url: &Url) -> bool {
        let address: IpAddr = match url.host() {
            Some(Host::Ipv4(address)) => address.into(),
            Some(Host::Ipv6(address)) => address.into(),
            Some(Host::Domain(_)) | None => return false,
        };
        !self.admits(address)
    }
}

/// Hosts that the user did not name, with their ports: a configuration names them, which may come from anywhere, or a client of a server does.
#[derive(Debug)]
pub(super) struct Strangers {
    /// Whether all hosts but the exceptions are strangers. Otherwise only the exceptions are.
    every_host: bool,
    exceptions: Mutex<BTreeSet<(String, u16)>>,
}

impl Strangers {
    /// No hosts, or every host.
    pub(super) fn new(every_host: bool) -> Self {
        Self {
            every_host,
            exceptions: Mutex::default(),
        }
    }

    pub(super) fn has(&self, url: &Url) -> bool {
        let is_exception = endpoint(url).is_some_and(|one| locked(&self.exceptions).contains(&one));
        is_exception != self.every_host
    }

    pub(super) fn set(&self, url: &Url, is_stranger: bool) {
        match is_stranger != self.every_host {
            true => locked(&self.exceptions).extend(endpoint(url)),
            false => locked(&self.exceptions).retain(|one| endpoint(url).as_ref() != Some(one)),
        }
    }
}

/// The host and port of a URL.
pub(super) fn endpoint(url: &Url) -> Option<(String, u16)> {
    Some((url.host_str()?.to_owned(), url.port_or_known_default()?))
}

/// Whether there is at least one address and all are private.
pub(super) fn are_private(addresses: impl IntoIterator<Item = IpAddr>) -> bool {
    let mut addresses = addresses.into_iter().peekable();
    addresses.peek().is_some() && addresses.all(is_private)
}

fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_private_v4(address),
        IpAddr::V6(address) => match embedded(address) {
            [None, None] => is_private_v6(address),
            inner => inner.into_iter().flatten().any(is_private_v4),
        },
    }
}

/// Whether an address is link-local, or that of a cloud's metadata service.
fn is_link(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_link_v4(address),
        IpAddr::V6(address) => {
            // That of Amazon.
            const METADATA: Ipv6Addr = Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x254);
            let mut inner = embedded(address).into_iter().flatten();
            address.is_unicast_link_local() || address == METADATA || inner.any(is_link_v4)
        }
    }
}

fn is_link_v4(address: Ipv4Addr) -> bool {
    // Those of Azure, Alibaba and Oracle.
    const METADATA: [[u8; 4]; 3] = [[168, 63, 129, 16], [100, 100, 100, 200], [192, 0, 0, 192]];
    address.is_link_local() || METADATA.contains(&address.octets())
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    let [a, b, ..] = address.octets();
    address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_broadcast()
        || a == 0
        // IETF protocol assignments (RFC 6890), and the address of Azure's platform services.
        || matches!(address.octets(), [192, 0, 0, _] | [168, 63, 129, 16])
        // Shared address space (RFC 6598) and benchmarking (RFC 2544).
        || (a == 100 && (64..128).contains(&b))
        || (a == 198 && (b == 18 || b == 19))
        || a >= 240
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    address.is_loopback()
        || address.is_unspecified()
        || address.is_multicast()
        || address.is_unique_local()
        || address.is_unicast_link_local()
        // Site-local addresses (RFC 3879), and the local NAT64 prefix (RFC 8215) where `embedded` does not decode it.
        || matches!(address.segments(), [0xfec0..=0xfeff, ..] | [0x64, 0xff9b, 1, ..])
}

/// The IPv4 addresses embedded in an IPv6 address: mapped, compatible, SIIT (RFC 2765), NAT64 (RFC 6052 and 8215), 6to4, and Teredo, which
/// embeds a server and a client.
fn embedded(address: Ipv6Addr) -> [Option<Ipv4Addr>; 2] {
    let join = |high: u16, low: u16| Some(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)));
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff | 0, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0 | 1, 0, 0, 0, high, low] => [join(high, low), None],
        [0x2002, high, low, ..] => [join(high, low), None],
        [0x2001, 0, high, low, _, _, not_high, not_low] => {
            [join(high, low), join(!not_high, !not_low)]
        }
        _ => [None, None],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_are_known_in_every_disguise() {
        for text in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "168.63.129.16",
            "192.0.0.8",
            "fec0::1",
            "64:ff9b:1::a00:1",
            "100.64.0.1",
            "0.0.0.0",
            "255.255.255.255",
            "224.0.0.1",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "fd00:ec2::254",
            "ff02::1",
            "::ffff:127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "::10.0.0.1",
            "::0.0.5.6",
            "::ffff:0:127.0.0.1",
            "::ffff:0:a9fe:a9fe",
            "64:ff9b:1:7f00:0:100::",
            "64:ff9b:1:1::808:808",
            // Teredo with a private server, and with a private client, whose address is stored inverted.
            "2001:0:a00:1::f7f7:f7f7",
            "2001:0:808:808::80ff:fffe",
        ] {
            assert!(is_private(text.parse().unwrap()), "{text}");
        }
        for text in [
            "1.1.1.1",
            "172.32.0.1",
            "100.128.0.1",
            "2606:4700::1111",
            "::ffff:8.8.8.8",
            "64:ff9b::808:808",
            "64:ff9b:1::808:808",
            "::ffff:0:8.8.8.8",
            "::8.8.8.8",
            "2002:808:808::1",
            "2001:0:808:808::f7f7:f7f7",
            "2001:db8::1",
        ] {
            assert!(!is_private(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn no_option_allows_links_and_metadata() {
        for text in [
            "169.254.169.254",
            "168.63.129.16",
            "100.100.100.200",
            "192.0.0.192",
            "fe80::1",
            "fd00:ec2::254",
            "::ffff:169.254.169.254",
            "64:ff9b::a9fe:a9fe",
        ] {
            assert!(!Guard::NoLinks.admits(text.parse().unwrap()), "{text}");
        }
        for text in ["127.0.0.1", "10.0.0.1", "::1", "fd00::1", "1.1.1.1"] {
            assert!(Guard::NoLinks.admits(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn one_public_address_among_private_ones_is_enough_to_be_guarded() {
        let private = |texts: &[&str]| are_private(texts.iter().map(|text| text.parse().unwrap()));
        assert!(private(&["10.0.0.1", "::1"]));
        assert!(!private(&["10.0.0.1", "1.1.1.1"]));
        assert!(!private(&["2606:4700::1111", "127.0.0.1"]));
        assert!(!private(&[]));
    }

    #[test]
    fn literals_are_seen_through_the_spellings_of_urls() {
        for text in [
            "http://127.1/",
            "http://0x7f.0.0.1/",
            "http://2130706433/",
            "http://[::1]/",
            "http://0/",
        ] {
            assert!(
                Guard::Public.refuses_literal(&text.parse().unwrap()),
                "{text}"
            );
        }
        assert!(!Guard::Public.refuses_literal(&"http://example.com/".parse().unwrap()));
    }
}
