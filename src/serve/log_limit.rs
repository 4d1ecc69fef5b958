//! Limits the log lines about one client, so that a client that retries without end does not fill the log.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::client_network::network;

/// The time between two log lines about a client. The lines say that further ones are left out for a minute.
const INTERVAL: Duration = Duration::from_secs(60);
/// The most clients that are remembered, which takes less than a megabyte. If there are more, all are forgotten.
const MOST_CLIENTS: usize = 10_000;

/// When each client was last logged. A client is a [network](super::client_network).
#[derive(Default)]
pub(super) struct LogLimit(Mutex<HashMap<IpAddr, Instant>>);

impl LogLimit {
    /// Whether to log a line about a client now.
    pub(super) fn admits(&self, client: IpAddr) -> bool {
        let mut logged = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let client = network(client);
        let at = logged.get(&client);
        if at.is_some_and(|at| at.elapsed() < INTERVAL) {
            return false;
        }
        if logged.len() >= MOST_CLIENTS {
            logged.clear();
        }
        logged.insert(client, Instant::now());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(number: u32) -> IpAddr {
        std::net::Ipv4Addr::from_bits(number).into()
    }

    #[test]
    fn a_client_is_logged_once_in_a_while() {
        let limit = LogLimit::default();
        let admitted = [1, 1, 2, 1].map(|number| limit.admits(address(number)));
        assert_eq!(admitted, [true, false, true, false]);
    }

    #[test]
    fn not_every_client_is_remembered() {
        let limit = LogLimit::default();
        for number in 0..3 * MOST_CLIENTS as u32 {
            assert!(limit.admits(address(number)));
            assert!(limit.0.lock().unwrap().len() <= MOST_CLIENTS);
        }
    }
}
