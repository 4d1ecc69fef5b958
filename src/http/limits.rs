//! How much is asked of one host at once.
//!
//! Two limits, not one: what is small must not wait behind packages, and more than 16 connections to a host cost more
//! handshakes than they save (both measured). A transfer's place is counted by its direction.
//!
//! # Why nobody waits for ever
//! Places are taken in one order: upload, download, small. Who uploads takes the place before anything of the blob is
//! read; who reads a blob never begins an upload; and a small request holds its place only until its answer is read
//! whole, and waits for nothing in the meantime but the network.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use url::Url;

/// How many small requests a host gets at once.
const SMALL_REQUESTS: usize = 16;

/// What is not larger than this many bytes is no transfer: it is sent and read like any other request.
pub const SMALL: u64 = 64 << 10;

/// What a place is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Small,
    Download,
    Upload,
}

/// A place among those that a host gives. Dropping it lets the next one in.
#[derive(Debug)]
pub struct Place {
    _permit: Option<OwnedSemaphorePermit>,
}

/// The places of every host.
#[derive(Debug)]
pub(super) struct Limits {
    transfers: usize,
    hosts: Mutex<HashMap<String, Gate>>,
}

/// The places of one host.
#[derive(Clone, Debug)]
struct Gate {
    small: Arc<Semaphore>,
    downloads: Arc<Semaphore>,
    uploads: Arc<Semaphore>,
}

impl Limits {
    pub(super) fn new(transfers: usize) -> Self {
        Self {
            transfers: transfers.max(1),
            hosts: Mutex::default(),
        }
    }

    /// Waits for a place.
    pub(super) async fn place(&self, url: &Url, what: Use) -> Place {
        let gate = self.gate(url);
        let places = match what {
            Use::Small => gate.small,
            Use::Download => gate.downloads,
            Use::Upload => gate.uploads,
        };
        Place {
            // Nobody closes them.
            _permit: places.acquire_owned().await.ok(),
        }
    }

    fn gate(&self, url: &Url) -> Gate {
        let host = url.origin().ascii_serialization();
        let places = |count| Arc::new(Semaphore::new(count));
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        let gate = hosts.entry(host).or_insert_with(|| Gate {
            small: places(SMALL_REQUESTS),
            downloads: places(self.transfers),
            uploads: places(self.transfers),
        });
        gate.clone()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn each_host_and_each_use_has_places_of_its_own() {
        let limits = Limits::new(2);
        let url = |text: &str| text.parse::<Url>().unwrap();
        let take = |text: &str, what| limits.place(&url(text), what).now_or_never();
        let mut held: Vec<Place> = (0..2)
            .filter_map(|_| take("https://a.example/x", Use::Download))
            .collect();
        assert_eq!(held.len(), 2);
        assert!(take("https://a.example/y", Use::Download).is_none());
        assert!(take("https://a.example:8443/", Use::Download).is_some());
        assert!(take("https://a.example/", Use::Upload).is_some());
        let small: Vec<Place> = (0..40)
            .filter_map(|_| take("https://a.example/", Use::Small))
            .collect();
        assert_eq!(small.len(), SMALL_REQUESTS);
        held.pop();
        assert!(take("https://a.example/z", Use::Download).is_some());
    }
}
