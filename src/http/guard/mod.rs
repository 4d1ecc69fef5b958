//! Where a request may go, and over which kind of connection.
//!
//! tfoci connects to private addresses only if the user named the host, not because a server or a configuration refers to them.

use std::collections::{BTreeSet, HashMap};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Mutex, MutexGuard, PoisonError};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

use super::clients::{ConnectionKind, Trust};
use super::{Error, Http, Settings, authority};

#[cfg(test)]
mod tests;

impl Http {
    /// The kind of connection for a URL, given the URL that the user named.
    pub(super) async fn connection(&self, url: &Url, named: &Url) -> Result<ConnectionKind, Error> {
        let settings = &self.0.settings;
        let text = || url.clone().into();
        let host = authority(url).ok_or_else(|| Error::Url { url: text() })?;
        let trust = match url.scheme() {
            "https" if names(&settings.insecure, url) => Trust::Unchecked,
            "https" => Trust::Authorities,
            "http" if names(&settings.plain, url) => Trust::Plain,
            _ => return Err(Error::Plain { url: text(), host }),
        };
        // A host counts as named by the user only with the same port.
        let is_same = endpoint(url) == endpoint(named);
        let allows = |url: &Url| names(&settings.private, url);
        let is_named = self.is_named(named);
        let guard = if is_same && is_named {
            Guard::Open
        } else if allows(url) || (is_named || allows(named)) && self.0.private.has(named).await {
            Guard::NoLinks
        } else {
            Guard::Public
        };
        // The resolver accepts the hosts of proxies.
        let has_proxy = || {
            let host = url.host_str();
            host.is_some_and(|host| settings.proxies.contains(host))
        };
        if guard.refuses_literal(url)
            || guard == Guard::Public && has_proxy() && self.0.private.has(url).await
        {
            return Err(match guard {
                Guard::NoLinks => Error::LinkLocal { url: text() },
                _ => Error::Private { url: text(), host },
            });
        }
        let shown = |host: &String| trust != Trust::Plain && settings.identities.contains_key(host);
        Ok(ConnectionKind {
            trust,
            guard,
            identity: Some(host).filter(shown),
        })
    }

    /// Whether the user named the host of a URL, by an option or otherwise.
    fn is_named(&self, url: &Url) -> bool {
        let Settings {
            plain,
            insecure,
            identities,
            ..
        } = &self.0.settings;
        // An identity may be given for the port that the scheme implies.
        let has_identity = || {
            let (host, port) = endpoint(url)?;
            let is_given = identities.contains_key(&format!("{host}:{port}"));
            (is_given || port == 443 && identities.contains_key(&host)).then_some(())
        };
        let is_known = names(plain, url) || names(insecure, url) || has_identity().is_some();
        is_known || !self.0.strangers.has(url)
    }
}

/// Whether a set contains the host of a URL, either with its port or without one.
fn names(set: &BTreeSet<String>, url: &Url) -> bool {
    let Some((host, port)) = endpoint(url) else {
        return false;
    };
    set.contains(&host) || set.contains(&format!("{host}:{port}"))
}

/// Which addresses a connection may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Guard {
    /// All: the user named the host.
    Open,
    /// All but link-local addresses and those of the services that tell machines of clouds their credentials.
    NoLinks,
    /// Public ones.
    Public,
}

impl Guard {
    fn admits(self, address: IpAddr) -> bool {
        match self {
            Self::Open => true,
            Self::NoLinks => !is_link(address),
            Self::Public => !is_private(address),
        }
    }

    /// Whether the host of a URL is a literal address that is refused. It is never resolved.
    fn refuses_literal(self, url: &Url) -> bool {
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
    /// Whether every host is one that is no exception. Otherwise only the exceptions are.
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

    pub(super) fn add(&self, url: &Url) {
        self.set(url, true);
    }

    pub(super) fn remove(&self, url: &Url) {
        self.set(url, false);
    }

    pub(super) fn has(&self, url: &Url) -> bool {
        let is_exception = endpoint(url).is_some_and(|one| self.exceptions().contains(&one));
        is_exception != self.every_host
    }

    fn set(&self, url: &Url, is_stranger: bool) {
        match is_stranger != self.every_host {
            true => self.exceptions().extend(endpoint(url)),
            false => self
                .exceptions()
                .retain(|one| endpoint(url).as_ref() != Some(one)),
        }
    }

    fn exceptions(&self) -> MutexGuard<'_, BTreeSet<(String, u16)>> {
        self.exceptions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// The host and port of a URL.
fn endpoint(url: &Url) -> Option<(String, u16)> {
    Some((url.host_str()?.to_owned(), url.port_or_known_default()?))
}

/// The resolver of all clients. The client connects to the addresses that it returns, so that the address that was checked is the one that
/// is connected to (DNS rebinding).
pub(super) struct Resolver {
    /// The addresses that it returns, except for proxies.
    pub(super) guard: Guard,
    /// Hosts of proxies that the user configured. The proxy itself decides which addresses it connects to.
    pub(super) proxies: BTreeSet<String>,
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = match self.proxies.contains(name.as_str()) {
            true => Guard::Open,
            false => self.guard,
        };
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await;
            let found: Vec<SocketAddr> = found.map_err(UnknownHost)?.collect();
            let admitted = found.into_iter();
            let admitted: Vec<SocketAddr> = admitted
                .filter(|address| guard.admits(address.ip()))
                .collect();
            if admitted.is_empty() {
                return Err(PrivateAddress {
                    host: name.as_str().to_owned(),
                    is_link: guard == Guard::NoLinks,
                }
                .into());
            }
            Ok(Box::new(admitted.into_iter()) as Addrs)
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
    /// Whether they are those that no option allows.
    pub(super) is_link: bool,
}

/// Caches which hosts have private addresses. The client asks for every URL that a server refers to.
#[derive(Debug, Default)]
pub(super) struct Private(Mutex<HashMap<String, bool>>);

impl Private {
    /// Whether every address of a URL's host is private, so that references from it to other private hosts are expected. A single private
    /// address among public ones is no evidence, because the owner of a name can add any address to it.
    pub(super) async fn has(&self, url: &Url) -> bool {
        let Some(Host::Domain(name)) = url.host() else {
            return Guard::Public.refuses_literal(url);
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
