//! Resolves the names of hosts, and remembers which of them have private addresses.

use crate::jobs::locked;
use std::collections::{BTreeSet, HashMap};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

use super::guard::{Guard, are_private};

/// The most names that are remembered. What a run connects to has some dozens.
const MOST_NAMES: usize = 4_096;

/// The resolver of all clients. The client connects to the addresses that it returns, so that the address that was checked is the one that
/// is connected to (DNS rebinding).
pub(super) struct Resolver {
    /// The addresses that it returns, except for proxies.
    pub(super) guard: Guard,
    /// Hosts of proxies that the user configured. The proxy itself decides which addresses it connects to.
    pub(super) proxies: BTreeSet<String>,
    /// Learns the addresses of every name, those that the guard refuses too.
    pub(super) resolved: Arc<Resolved>,
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = match self.proxies.contains(name.as_str()) {
            true => Guard::Open,
            false => self.guard,
        };
        let resolved = Arc::clone(&self.resolved);
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await;
            let found: Vec<SocketAddr> = found.map_err(UnknownHost)?.collect();
            resolved.note(name.as_str(), found.iter().map(SocketAddr::ip));
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

/// For each name that was resolved, whether all of its addresses were private, each time. A stranger's name may have a public address when its
/// document is fetched, and a private one when tfoci decides whether that document may refer to private hosts.
#[derive(Debug, Default)]
pub(super) struct Resolved(Mutex<HashMap<String, bool>>);

impl Resolved {
    /// Whether every address of a URL's host is private, so that references from it to other private hosts are expected. A single private
    /// address among public ones is no evidence, because the owner of a name can add any address to it.
    pub(super) async fn is_private(&self, url: &Url) -> bool {
        let Some(Host::Domain(name)) = url.host() else {
            return Guard::Public.refuses_literal(url);
        };
        if let Some(is_private) = self.known(name) {
            return is_private;
        }
        // A proxy resolves the names of the hosts behind it.
        if let Ok(addresses) = tokio::net::lookup_host((name, 0)).await {
            self.note(name, addresses.map(|address| address.ip()));
        }
        self.known(name).unwrap_or_default()
    }

    fn known(&self, name: &str) -> Option<bool> {
        let all = locked(&self.0);
        all.get(name).copied()
    }

    fn note(&self, name: &str, addresses: impl IntoIterator<Item = IpAddr>) {
        let is_private = are_private(addresses);
        let mut all = locked(&self.0);
        // Further names count as public.
        if all.len() < MOST_NAMES || all.contains_key(name) {
            *all.entry(name.to_owned()).or_insert(true) &= is_private;
        }
    }
}

#[cfg(test)]
mod tests;
