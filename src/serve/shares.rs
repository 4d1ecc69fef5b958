//! What one client may hold at once, so that others have the rest.
//!
//! A client is an address, or in IPv6 a network of 64 bits, as for its [rate](super::rate). It holds a share from the start of a connection,
//! or of a package, until its end.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use super::rate::network;

/// The least number of clients after which those that hold nothing are forgotten.
const LEAST_CLIENTS: usize = 1_000;
/// How long nothing is written about a client after it was.
const LULL: Duration = Duration::from_secs(60);

/// Shares of a limit.
pub(super) struct Shares {
    /// The most that one client may hold.
    most: usize,
    clients: Mutex<Clients>,
}

#[derive(Default)]
struct Clients {
    all: HashMap<IpAddr, Client>,
    /// How many there may be before those that hold nothing are forgotten.
    most: usize,
}

struct Client {
    left: Arc<Semaphore>,
    /// When it was last written that it wanted more.
    noted: Option<Instant>,
}

impl Shares {
    /// Gives each client at most half of what there is.
    pub(super) fn halves_of(limit: usize) -> Self {
        Self {
            most: (limit / 2).clamp(1, Semaphore::MAX_PERMITS),
            clients: Mutex::default(),
        }
    }

    /// What a client does not hold yet.
    pub(super) fn of(&self, client: IpAddr) -> Arc<Semaphore> {
        self.with(client, |client| client.left.clone())
    }

    /// Whether to write that a client wants more. A client that tries without end must not fill the log.
    pub(super) fn is_news(&self, client: IpAddr) -> bool {
        self.with(client, |client| {
            let is_news = client.noted.is_none_or(|noted| noted.elapsed() >= LULL);
            if is_news {
                client.noted = Some(Instant::now());
            }
            is_news
        })
    }

    fn with<T>(&self, client: IpAddr, act: impl FnOnce(&mut Client) -> T) -> T {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if clients.all.len() >= clients.most.max(LEAST_CLIENTS) {
            // What is held refers to its share.
            clients
                .all
                .retain(|_, client| Arc::strong_count(&client.left) > 1);
            clients.most = clients.all.len().saturating_mul(2);
        }
        let client = clients.all.entry(network(client));
        act(client.or_insert_with(|| Client {
            left: Arc::new(Semaphore::new(self.most)),
            noted: None,
        }))
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
            let shares = Shares::halves_of(limit);
            let take = |client: &str| shares.of(client.parse().unwrap()).try_acquire_owned().ok();
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
        let shares = Shares::halves_of(4);
        let holders = LEAST_CLIENTS as u32 + 10;
        let held: Vec<_> = (0..holders)
            .map(|number| shares.of(address(number)).try_acquire_owned().unwrap())
            .collect();
        for number in holders..10 * holders {
            shares.of(address(number));
        }
        assert!(shares.clients.lock().unwrap().all.len() < 3 * held.len());
        let first = shares.of(address(0));
        assert_eq!(first.available_permits(), 1, "one of two is held");
    }

    #[test]
    fn what_a_client_wants_again_is_no_news() {
        let shares = Shares::halves_of(4);
        let news = [1, 1, 2, 1].map(|number| shares.is_news(address(number)));
        assert_eq!(news, [true, false, true, false]);
    }
}
