//! What one client may hold at once, so that others have the rest.
//!
//! A client is an address, or in IPv6 a network of 64 bits, as for its [rate](super::rate_limit). It holds a share from the start of a connection,
//! or of a package, until its end.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;

use super::rate_limit::network;

/// The least number of clients after which those that hold nothing are forgotten.
const LEAST_CLIENTS: usize = 1_000;

/// ClientQuota of a limit.
pub(super) struct ClientQuota {
    /// The most that one client may hold.
    most: usize,
    clients: Mutex<Clients>,
}

#[derive(Default)]
struct Clients {
    /// What each client does not hold yet.
    all: HashMap<IpAddr, Arc<Semaphore>>,
    /// How many there may be before those that hold nothing are forgotten.
    most: usize,
}

impl ClientQuota {
    /// Gives each client at most half of what there is.
    pub(super) fn half_of(limit: usize) -> Self {
        Self {
            most: (limit / 2).clamp(1, Semaphore::MAX_PERMITS),
            clients: Mutex::default(),
        }
    }

    /// What a client does not hold yet.
    pub(super) fn of(&self, client: IpAddr) -> Arc<Semaphore> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if clients.all.len() >= clients.most.max(LEAST_CLIENTS) {
            // What is held refers to its share.
            clients.all.retain(|_, left| Arc::strong_count(left) > 1);
            clients.most = clients.all.len().saturating_mul(2);
        }
        let left = clients.all.entry(network(client));
        left.or_insert_with(|| Arc::new(Semaphore::new(self.most)))
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
    fn a_client_holds_half_and_others_the_rest() {
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
    fn only_clients_that_hold_something_are_remembered() {
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
