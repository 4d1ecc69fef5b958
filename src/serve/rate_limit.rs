//! Limits the requests of a client in a second.

use std::net::IpAddr;
use std::num::NonZeroU32;

use governor::clock::DefaultClock;
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};

use super::client_network::network;

/// The requests that a client may send at once, in seconds of its rate. An `init` requests several documents for each of its providers at once,
/// and is then silent.
const BURST: u32 = 4;
/// The number of clients from which idle ones are forgotten. Ten thousand entries take less than a megabyte.
const MOST_CLIENTS: usize = 10_000;

/// Counts the requests of each client.
pub(super) struct RateLimit(RateLimiter<IpAddr, HashMapStateStore<IpAddr>, DefaultClock>);

impl RateLimit {
    /// Allows each client this many requests in a second.
    pub(super) fn new(requests: NonZeroU32) -> Self {
        let burst = requests.saturating_mul(NonZeroU32::MIN.saturating_add(BURST - 1));
        let quota = Quota::per_second(requests).allow_burst(burst);
        Self(RateLimiter::hashmap(quota))
    }

    /// Counts a request, and returns whether it exceeds the limit.
    pub(super) fn is_exceeded(&self, client: IpAddr) -> bool {
        let Self(limiter) = self;
        if limiter.len() > MOST_CLIENTS {
            limiter.retain_recent();
        }
        limiter.check_key(&network(client)).is_err()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_network_are_one_client() {
        for (first, second, is_same) in [
            ("192.0.2.1", "192.0.2.2", false),
            ("192.0.2.1", "::ffff:192.0.2.1", true),
            ("2001:db8:0:1::1", "2001:db8:0:1:ffff::2", true),
            ("2001:db8:0:1::1", "2001:db8:0:2::1", false),
        ] {
            let rate = RateLimit::new(NonZeroU32::MIN);
            let [first, second] = [first, second].map(|text| text.parse().unwrap());
            while !rate.is_exceeded(first) {}
            assert_eq!(rate.is_exceeded(second), is_same, "{first} {second}");
        }
    }
}
