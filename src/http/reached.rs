//! The hosts that have responded.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use url::Url;

use super::{Http, authority};

/// The most hosts that are remembered. To forget one costs no more than retries that are in vain.
const MOST: usize = 4_096;

/// The hosts that have responded, with their ports.
#[derive(Debug, Default)]
pub(super) struct Reached(Mutex<BTreeSet<String>>);

impl Reached {
    pub(super) fn insert(&self, url: &Url) {
        if let Some(host) = authority(url) {
            let mut reached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if reached.len() >= MOST {
                reached.clear();
            }
            reached.insert(host);
        }
    }

    fn has(&self, url: &Url) -> bool {
        let reached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        authority(url).is_some_and(|host| reached.contains(&host))
    }
}

impl Http {
    /// Whether the host of a URL has responded to a request.
    pub(super) fn has_reached(&self, url: &Url) -> bool {
        self.0.reached.has(url)
    }
}
