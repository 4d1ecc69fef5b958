//! How often a client may ask.

use std::net::IpAddr;
use std::num::NonZeroU32;

use governor::clock::DefaultClock;
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};

/// The requests that a client may send at once, in seconds of its rate.
const BURST: u32 = 4;
/// The most clients whose rate is remembered, after which idle ones are forgotten.
const MOST_CLIENTS: usize = 10_000;

/// Counts the requests of each client.
pub(super) struct Rate(RateLimiter<IpAddr, HashMapStateStore<IpAddr>, DefaultClock>);

impl Rate {
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
        limiter.check_key(&client).is_err()
    }
}
