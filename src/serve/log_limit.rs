//! What is written about a client once in a while: a client that tries without end must not fill the log.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::rate_limit::network;

/// How long nothing is written about a client after it was.
const LULL: Duration = Duration::from_secs(60);
/// The most clients that are remembered. If there are more, all are forgotten.
const MOST_CLIENTS: usize = 10_000;

/// When something was last written about each client. A client is an address, or in IPv6 a network of 64 bits, as for its
/// [rate](super::rate_limit).
#[derive(Default)]
pub(super) struct LogLimit(Mutex<HashMap<IpAddr, Instant>>);

impl LogLimit {
    /// Whether to write about a client now.
    pub(super) fn admits(&self, client: IpAddr) -> bool {
        let mut written = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let client = network(client);
        let at = written.get(&client);
        if at.is_some_and(|at| at.elapsed() < LULL) {
            return false;
        }
        if written.len() >= MOST_CLIENTS {
            written.clear();
        }
        written.insert(client, Instant::now());
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
    fn what_a_client_wants_again_is_no_news() {
        let limit = LogLimit::default();
        let told = [1, 1, 2, 1].map(|number| limit.admits(address(number)));
        assert_eq!(told, [true, false, true, false]);
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
