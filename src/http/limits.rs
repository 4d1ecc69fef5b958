//! Limits on the number of concurrent requests to one host.
//!
//! A request needs a [`Permit`] of its host: one for small requests, one for downloads, or one for uploads. A small request must not wait
//! behind packages, so it has a limit of its own. More than 16 connections to a host cost more handshakes than they save. Both were measured.
//!
//! # Why this cannot deadlock
//! Permits are taken in one order: upload, download, small. An upload takes its permit before any of its blob is read; the reader of a blob
//! never begins an upload; and a small request holds its permit only until its answer is read, waiting for nothing but the network.

use crate::jobs::locked;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use url::Url;

/// The most small requests that are sent to one host at once. More connections cost more handshakes than they save (measured).
const SMALL_REQUESTS: usize = 16;

/// The most bytes of a body that counts as a small request: more than almost every manifest. A larger body needs a permit for a download or upload.
pub const SMALL: u64 = 64 << 10;

/// The most limits of hosts that are kept while no request uses them. Clients of a server may name any number.
const MOST_HOSTS: usize = 1_024;

/// The purpose of a permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum RequestClass {
    Small,
    Download,
    Upload,
}

/// A permit for a request or transfer. Dropping it lets the next one start.
pub type Permit = OwnedSemaphorePermit;

/// The permits of every host, for each purpose. A request that holds a permit, or waits for one, shares them.
#[derive(Debug)]
pub(super) struct Limits {
    transfers: usize,
    hosts: Mutex<HashMap<(String, RequestClass), Arc<Semaphore>>>,
}

impl Limits {
    pub(super) fn new(transfers: usize) -> Self {
        Self {
            transfers: transfers.max(1),
            hosts: Mutex::default(),
        }
    }

    fn most(&self, what: RequestClass) -> usize {
        match what {
            RequestClass::Small => SMALL_REQUESTS,
            RequestClass::Download | RequestClass::Upload => self.transfers,
        }
    }

    /// Waits for a permit. The semaphores are never closed, so there always is one.
    pub(super) async fn permit(&self, url: &Url, what: RequestClass) -> Option<Permit> {
        let permits = {
            let mut hosts = locked(&self.hosts);
            let of = (url.origin().ascii_serialization(), what);
            if hosts.len() >= MOST_HOSTS && !hosts.contains_key(&of) {
                hosts.retain(|(_, what), permits| {
                    Arc::strong_count(permits) > 1 || permits.available_permits() < self.most(*what)
                });
            }
            let permits = hosts.entry(of);
            let permits = permits.or_insert_with(|| Arc::new(Semaphore::new(self.most(what))));
            Arc::clone(permits)
        };
        permits.acquire_owned().await.ok()
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
            taken.now_or_never().flatten()
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
        let take = |text: &str, what| {
            let url = text.parse::<Url>().unwrap();
            limits.permit(&url, what).now_or_never().flatten()
        };
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
