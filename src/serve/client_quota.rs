//! Limits the connections and downloads of one client, so that other clients have the rest.
//!
//! A client is a [network](super::client_network).

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;

use super::client_network::network;

/// The number of clients from which those without a permit are forgotten. A thousand clients take about 100 KB.
const LEAST_CLIENTS: usize = 1_000;

pub(super) struct ClientQuota {
    /// The permits of one client.
    most: usize,
    clients: Mutex<Clients>,
}

#[derive(Default)]
struct Clients {
    /// The free permits of each client.
    all: HashMap<IpAddr, Arc<Semaphore>>,
    /// The number of clients from which those without a permit are forgotten.
    most: usize,
}

impl ClientQuota {
    /// Gives each client half of a limit.
    pub(super) fn half_of(limit: usize) -> Self {
        Self {
            most: (limit / 2).clamp(1, Semaphore::MAX_PERMITS),
            clients: Mutex::default(),
        }
    }

    /// The free permits of a client.
    pub(super) fn of(&self, client: IpAddr) -> Arc<Semaphore> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if clients.all.len() >= clients.most.max(LEAST_CLIENTS) {
            // A permit refers to the semaphore of its client.
            clients
                .all
                .retain(|_, permits| Arc::strong_count(permits) > 1);
            clients.most = clients.all.len().saturating_mul(2);
        }
        let permits = clients.all.entry(network(client));
        permits
            .or_insert_with(|| Arc::new(Semaphore::new(self.most)))
            .clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(number: u32) -> IpAddr {
        std::net::Ipv4Addr::from_bits(number).into()
    }

    #[test]
    fn a_client_has_half_of_the_limit_and_others_the_rest() {
        for (limit, half) in [(1, 1), (2, 1), (5, 2), (256, 128)] {
            let quota = ClientQuota::half_of(limit);
            let take = |client: &str| quota.of(client.parse().unwrap()).try_acquire_owned().ok();
            let held: Vec<_> = std::iter::from_fn(|| take("2001:db8::1")).collect();
            assert_eq!(held.len(), half);
            assert!(take("2001:db8::ffff").is_none(), "of the same network");
            assert!(take("2001:db8:0:1::1").is_some());
            drop(held);
            assert!(take("2001:db8::ffff").is_some());
        }
    }

    #[test]
    fn only_clients_with_a_permit_are_remembered() {
        let quota = ClientQuota::half_of(4);
        let holders = LEAST_CLIENTS as u32 + 10;
        let held: Vec<_> = (0..holders)
            .map(|number| quota.of(address(number)).try_acquire_owned().unwrap())
            .collect();
        for number in holders..10 * holders {
            quota.of(address(number));
        }
        assert!(quota.clients.lock().unwrap().all.len() < 3 * held.len());
        let first = quota.of(address(0));
        assert_eq!(first.available_permits(), 1, "one of two is held");
    }
}
