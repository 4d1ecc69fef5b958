//! Limits on the number of concurrent requests to one host.
//!
//! A request needs a [`Permit`] of its host: one for small requests, one for downloads, or one for uploads. A small request must not wait
//! behind packages, so it has a limit of its own. More than 16 connections to a host cost more handshakes than they save. Both were measured.
//!
//! # Why this cannot deadlock
//! Permits are taken in one order: upload, download, small. An upload takes its permit before any of its blob is read; the reader of a blob
//! never begins an upload; and a small request holds its permit only until its answer is read, waiting for nothing but the network.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use url::Url;

/// The most small requests that are sent to one host at once. More connections cost more handshakes than they save (measured).
const SMALL_REQUESTS: usize = 16;

/// The most bytes of a body that counts as a small request: more than almost every manifest. A larger body needs a permit for a download or upload.
pub const SMALL: u64 = 64 << 10;

/// The most hosts whose limits are kept while no request uses them. Clients of a server may name any number.
const MOST_HOSTS: usize = 1_024;

/// The purpose of a permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestClass {
    Small,
    Download,
    Upload,
}

/// A permit for a request or transfer. Dropping it lets the next one start.
#[derive(Debug)]
pub struct Permit {
    _permit: Option<OwnedSemaphorePermit>,
}

/// The permits of every host.
#[derive(Debug)]
pub(super) struct Limits {
    transfers: usize,
    hosts: Mutex<HashMap<String, HostLimits>>,
}

/// The permits of one host. A request that holds a permit, or waits for one, shares them.
#[derive(Debug)]
struct HostLimits {
    small: Arc<Semaphore>,
    downloads: Arc<Semaphore>,
    uploads: Arc<Semaphore>,
}

impl HostLimits {
    fn new(transfers: usize) -> Self {
        let permits = |count| Arc::new(Semaphore::new(count));
        Self {
            small: permits(SMALL_REQUESTS),
            downloads: permits(transfers),
            uploads: permits(transfers),
        }
    }

    /// Whether a request or transfer holds a permit, or waits for one.
    fn is_used(&self, transfers: usize) -> bool {
        let all = [
            (&self.small, SMALL_REQUESTS),
            (&self.downloads, transfers),
            (&self.uploads, transfers),
        ];
        let mut all = all.into_iter();
        all.any(|(permits, count)| {
            Arc::strong_count(permits) > 1 || permits.available_permits() < count
        })
    }
}

impl Limits {
    pub(super) fn new(transfers: usize) -> Self {
        Self {
            transfers: transfers.max(1),
            hosts: Mutex::default(),
        }
    }

    /// Waits for a permit.
    pub(super) async fn permit(&self, url: &Url, what: RequestClass) -> Permit {
        let permits = {
            let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
            let host = url.origin().ascii_serialization();
            if hosts.len() >= MOST_HOSTS && !hosts.contains_key(&host) {
                hosts.retain(|_, limits| limits.is_used(self.transfers));
            }
            let limits = hosts
                .entry(host)
                .or_insert_with(|| HostLimits::new(self.transfers));
            Arc::clone(match what {
                RequestClass::Small => &limits.small,
                RequestClass::Download => &limits.downloads,
                RequestClass::Upload => &limits.uploads,
            })
        };
        Permit {
            // The semaphores are never closed, so that acquiring a permit cannot fail.
            _permit: permits.acquire_owned().await.ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn hosts_without_requests_are_forgotten() {
        let limits = Limits::new(1);
        let take = |number: usize| {
            let url: Url = format!("https://h{number}.example/").parse().unwrap();
            let taken = limits.permit(&url, RequestClass::Download);
            taken.now_or_never()
        };
        let _held = take(0).unwrap();
        for number in 1..=MOST_HOSTS * 2 {
            assert!(take(number).is_some());
        }
        assert!(limits.hosts.lock().unwrap().len() <= MOST_HOSTS);
        assert!(take(0).is_none());
    }

    #[test]
    fn each_host_and_each_use_has_permits_of_its_own() {
        let limits = Limits::new(2);
        let url = |text: &str| text.parse::<Url>().unwrap();
        let take = |text: &str, what| limits.permit(&url(text), what).now_or_never();
        let mut held: Vec<Permit> = (0..2)
            .filter_map(|_| take("https://a.example/x", RequestClass::Download))
            .collect();
        assert_eq!(held.len(), 2);
        assert!(take("https://a.example/y", RequestClass::Download).is_none());
        assert!(take("https://a.example:8443/", RequestClass::Download).is_some());
        assert!(take("https://a.example/", RequestClass::Upload).is_some());
        let small: Vec<Permit> = (0..40)
            .filter_map(|_| take("https://a.example/", RequestClass::Small))
            .collect();
        assert_eq!(small.len(), SMALL_REQUESTS);
        held.pop();
        assert!(take("https://a.example/z", RequestClass::Download).is_some());
    }
}
