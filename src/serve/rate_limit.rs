//! How often a client may ask.

use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;

use governor::clock::DefaultClock;
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};

/// The requests that a client may send at once, in seconds of its rate.
const BURST: u32 = 4;
/// The most clients whose rate is remembered, after which idle ones are forgotten.
const MOST_CLIENTS: usize = 10_000;

/// What one client has: an address, or in IPv6 a network of 64 bits, of which a host may use every address.
pub(super) fn network(client: IpAddr) -> IpAddr {
    match client.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address => address,
    }
}

/// Counts the requests of each client.
pub(super) struct RateLimit(RateLimiter<IpAddr, HashMapStateStore<IpAddr>, DefaultClock>);

impl RateLimit {
    /// A limit of so many requests of a client in a second.
    pub(super) fn new(requests: NonZeroU32) -> Self {
        let burst = requests.saturating_mul(NonZeroU32::MIN.saturating_add(BURST - 1));
        let quota = Quota::per_second(requests).allow_burst(burst);
        Self(RateLimiter::hashmap(quota))
    }

    /// Counts a request. Returns whether it is one too many.
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
