//! Limits the providers that are read for the first time.
//!
//! Clients may request any number of made-up addresses, and a read goes on after its client has disconnected. Without a limit, one client
//! could fill the memory and the queue of the store. Those that only wait for an origin are limited apart, by [`super::origin_lists`].

use std::net::IpAddr;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::metrics::Metrics;
use super::quota::ClientQuota;

/// The most providers that are read for the first time. A configuration has some dozen providers, and its client requests all at once.
const MOST: usize = 128;

/// The permits to read a provider for the first time.
pub(super) struct NewListings {
    all: Arc<Semaphore>,
    /// Limits those of one client; `None` behind a proxy, which sends all clients from its address.
    quota: Option<ClientQuota>,
}

impl NewListings {
    /// `has_clients` says whether the addresses of connections are those of clients.
    pub(super) fn new(has_clients: bool) -> Self {
        Self {
            all: Arc::new(Semaphore::new(MOST)),
            quota: has_clients.then(|| ClientQuota::half_of(MOST)),
        }
    }

    /// The permits for a provider: that of the client, to hold until it is listed, and one to hold while the store is read. `None` if too many
    /// providers are being read.
    pub(super) fn permits(
        &self,
        client: IpAddr,
        metrics: &Metrics,
    ) -> Option<(Option<OwnedSemaphorePermit>, OwnedSemaphorePermit)> {
        let own = self.quota.as_ref().map(|quota| quota.of(client));
        let own = own.map(Semaphore::try_acquire_owned).transpose();
        let permits = own.and_then(|own| Ok((own, self.all.clone().try_acquire_owned()?)));
        if permits.is_err() {
            metrics.limited.inc();
        }
        permits.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_client_leaves_half_of_the_reads_to_others() {
        let metrics = Metrics::new(Vec::new());
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        for (has_clients, of_one, of_both) in [(true, MOST / 2, MOST), (false, MOST, MOST)] {
            let listings = NewListings::new(has_clients);
            let take = |client: &str| {
                let client = address(client);
                std::iter::from_fn(|| listings.permits(client, &metrics)).collect::<Vec<_>>()
            };
            let first = take("192.0.2.1");
            let second = take("192.0.2.2");
            assert_eq!(first.len(), of_one);
            assert_eq!(first.len() + second.len(), of_both);
            drop(first);
            assert_eq!(take("192.0.2.1").len(), of_one);
        }
    }
}
