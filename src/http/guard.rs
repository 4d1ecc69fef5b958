//! Private addresses: tfoci connects to them only if the user named the host, not because a server refers to them.

use std::collections::{BTreeSet, HashMap};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Mutex, PoisonError};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

/// The resolver of all clients. The client connects to the addresses that it returns, so that the address that was checked is the one that
/// is connected to (DNS rebinding).
pub(super) struct Resolver {
    /// Whether it returns public addresses only, except for proxies.
    pub(super) guarded: bool,
    /// Hosts of proxies that the user configured. The proxy itself decides which addresses it connects to.
    pub(super) proxies: BTreeSet<String>,
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let is_free = !self.guarded || self.proxies.contains(name.as_str());
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await;
            let found: Vec<SocketAddr> = found.map_err(UnknownHost)?.collect();
            let public: Vec<SocketAddr> = found
                .into_iter()
                .filter(|address| is_free || !is_private(address.ip()))
                .collect();
            if public.is_empty() {
                return Err(PrivateAddress {
                    host: name.as_str().to_owned(),
                }
                .into());
            }
            Ok(Box::new(public.into_iter()) as Addrs)
        })
    }
}

/// The name of a host cannot be resolved.
#[derive(Debug, thiserror::Error)]
#[error("the host name has no address")]
pub(super) struct UnknownHost(#[source] std::io::Error);

/// Every address of a host is private.
#[derive(Debug, thiserror::Error)]
#[error("{} has only private addresses", crate::error::printable(.host))]
pub(super) struct PrivateAddress {
    host: String,
}

/// Whether the host of a URL is a literal private address, which is never resolved.
pub(super) fn is_private_literal(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => is_private(address.into()),
        Some(Host::Ipv6(address)) => is_private(address.into()),
        Some(Host::Domain(_)) | None => false,
    }
}

/// Caches which hosts have private addresses. The client asks for every URL that a server refers to.
#[derive(Debug, Default)]
pub(super) struct Private(Mutex<HashMap<String, bool>>);

impl Private {
    /// Whether every address of a URL's host is private, so that references from it to other private hosts are expected. A single private
    /// address among public ones is no evidence, because the owner of a name can add any address to it.
    pub(super) async fn has(&self, url: &Url) -> bool {
        let Some(Host::Domain(name)) = url.host() else {
            return is_private_literal(url);
        };
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known().get(name).copied();
        if let Some(found) = found {
            return found;
        }
        let Ok(addresses) = tokio::net::lookup_host((name, 0)).await else {
            return false;
        };
        let found = are_private(addresses.map(|address| address.ip()));
        known().insert(name.to_owned(), found);
        found
    }
}

/// Whether there is at least one address and all are private.
fn are_private(addresses: impl IntoIterator<Item = IpAddr>) -> bool {
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
            assert!(is_private_literal(&text.parse().unwrap()), "{text}");
        }
        assert!(!is_private_literal(&"http://example.com/".parse().unwrap()));
    }
}
