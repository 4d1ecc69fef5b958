//! The limits of clients: rate, connections, and concurrent work.
//!
//! A client is an IPv4 address, or an IPv6 network of 64 bits, since a host may use every address of it. Each may have half of what the server has,
//! so that one leaves the rest to others. Behind a proxy, which sends all clients from its address, only the limits of the server apply.

use crate::jobs::locked;
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use moka::future::Cache;
use moka::policy::EvictionPolicy;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout_at;

/// The places for concurrent work. A package that is sent has one, for its open file or transfer and its buffers. The first read of a provider has one,
/// even after its client has left. A large document has one for each [`PLACE`] that it takes in memory.
const PLACES: usize = 256;
/// The bytes of a document in one place, so that documents that nobody reads take 32 MiB at most.
const PLACE: u64 = 128 << 10;
/// The requests that a client may send at once, in seconds of its rate. An `init` requests several documents for each of its providers at once,
/// and is then silent.
const BURST: f64 = 4.0;
/// The time between two log lines about a client above its limits.
const LOG_INTERVAL: Duration = Duration::from_secs(60);
/// The most clients that are remembered. Ten thousand take a few megabytes.
const MOST_CLIENTS: u64 = 10_000;

/// All clients, and the limits of the server.
pub(super) struct Clients {
    known: Cache<IpAddr, Arc<Client>>,
    connections: Arc<Semaphore>,
    places: Arc<Semaphore>,
    rate: Option<NonZeroU32>,
    /// The connections and places that one client may have.
    shares: [usize; 2],
}

pub(super) struct Client {
    /// How many more requests it may send now, and since when.
    requests: Mutex<(f64, Instant)>,
    logged: Mutex<Option<Instant>>,
    connections: Arc<Semaphore>,
    places: Arc<Semaphore>,
}

/// What a connection or an answer holds until it ends.
pub(super) type Permits = Arc<[OwnedSemaphorePermit]>;

impl Clients {
    /// `has_proxy` says that a proxy sends all clients from its address.
    pub(super) fn new(connections: usize, rate: Option<NonZeroU32>, has_proxy: bool) -> Self {
        let known = Cache::builder().max_capacity(MOST_CLIENTS);
        let share = |all: usize| match has_proxy {
            true => Semaphore::MAX_PERMITS,
            false => (all / 2).max(1),
        };
        Self {
            known: known.eviction_policy(EvictionPolicy::lru()).build(),
            connections: Arc::new(Semaphore::new(connections)),
            places: Arc::new(Semaphore::new(PLACES)),
            rate,
            shares: [connections, PLACES].map(share),
        }
    }

    /// Waits until the server may accept another connection.
    pub(super) async fn connection(&self) -> Result<OwnedSemaphorePermit, AcquireError> {
        self.connections.clone().acquire_owned().await
    }

    pub(super) async fn at(&self, address: IpAddr) -> Arc<Client> {
        let new = async {
            let [connections, places] = self.shares.map(|free| Arc::new(Semaphore::new(free)));
            Arc::new(Client {
                requests: Mutex::new((f64::INFINITY, Instant::now())),
                logged: Mutex::default(),
                connections,
                places,
            })
        };
        self.known.get_with(network(address), new).await
    }

    /// Counts a request, and returns whether its client exceeds the rate.
    pub(super) fn is_too_fast(&self, client: &Client) -> bool {
        let Some(rate) = self.rate else {
            return false;
        };
        let rate = f64::from(rate.get());
        let mut requests = locked(&client.requests);
        let (left, since) = *requests;
        let now = Instant::now();
        let earned = now.duration_since(since).as_secs_f64() * rate;
        let left = (left + earned).min(rate * BURST);
        let is_too_fast = left < 1.0;
        *requests = (if is_too_fast { left } else { left - 1.0 }, now);
        is_too_fast
    }

    /// The places of a document of this size, if the client and the server have them; one for a read of the store, whose size is zero. A document that is larger than a client may have
    /// takes all places of its client.
    pub(super) fn places(&self, client: &Client, size: u64) -> Option<Permits> {
        let count = size.div_ceil(PLACE).clamp(1, PLACES as u64 / 2);
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let free = [&client.places, &self.places].into_iter();
        free.map(|places| places.clone().try_acquire_many_owned(count).ok())
            .collect()
    }

    /// The place of a package. Waits this long for it.
    pub(super) async fn place(&self, client: &Client, longest: Duration) -> Option<Permits> {
        let end = tokio::time::Instant::now() + longest;
        let mut permits = Vec::new();
        for places in [&client.places, &self.places] {
            let permit = timeout_at(end, places.clone().acquire_owned()).await;
            permits.extend(permit.ok()?);
        }
        Some(permits.into())
    }
}

impl Client {
    /// The permit of a connection of this client; `None` if there are too many.
    pub(super) fn connection(&self) -> Option<OwnedSemaphorePermit> {
        self.connections.clone().try_acquire_owned().ok()
    }

    /// Whether to log a line about the client now. One that retries without end does not fill the log.
    pub(super) fn may_log(&self) -> bool {
        let mut logged = locked(&self.logged);
        let may_log = logged.is_none_or(|at| at.elapsed() >= LOG_INTERVAL);
        if may_log {
            *logged = Some(Instant::now());
        }
        may_log
    }
}

fn network(client: IpAddr) -> IpAddr {
    match client.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_client_may_have_half_and_others_the_rest() {
        let clients = Clients::new(8, NonZeroU32::new(5), false);
        let [first, same, other] = ["2001:db8::1", "2001:db8::ffff:2", "::ffff:192.0.2.1"]
            .map(|address| clients.at(address.parse().unwrap()));
        let (first, same, other) = (first.await, same.await, other.await);
        assert!(Arc::ptr_eq(&first, &same));
        assert!(Arc::ptr_eq(
            &other,
            &clients.at("192.0.2.1".parse().unwrap()).await
        ));
        let held: Vec<_> = (0..4).map(|_| first.connection().unwrap()).collect();
        assert!(first.connection().is_none() && other.connection().is_some());
        drop(held);
        assert!(first.connection().is_some());
        let take = |client: &Client, size| clients.places(client, size);
        let held = [take(&first, 0), take(&first, u64::MAX)];
        assert!(held[0].is_some() && held[1].is_none());
        drop(held);
        let all = [take(&first, u64::MAX), take(&other, u64::MAX)];
        assert!(all.iter().all(Option::is_some));
        let third = clients.at("192.0.2.3".parse().unwrap()).await;
        assert!(take(&third, 1).is_none());
        assert!(clients.place(&third, Duration::ZERO).await.is_none());
    }

    #[tokio::test]
    async fn a_client_may_send_a_burst_and_then_its_rate() {
        let clients = Clients::new(8, NonZeroU32::new(5), true);
        let client = clients.at("192.0.2.1".parse().unwrap()).await;
        let sent = (0..100).filter(|_| !clients.is_too_fast(&client)).count();
        assert!((20..30).contains(&sent), "{sent}");
        client.requests.lock().unwrap().1 -= Duration::from_secs(1);
        assert!(!clients.is_too_fast(&client));
        assert!(client.may_log() && !client.may_log());
    }
}
