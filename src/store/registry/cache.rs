//! What all repositories of a registry share during a run: the facts that tfoci detects, and the uploads that are in progress.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, Weak};

use tokio::sync::OwnedMutexGuard;

use crate::digest::Digest;
use crate::jobs::locked;

/// The most locations of blobs that are remembered: about a megabyte. Blobs that occur repeatedly do so within a short time,
/// such as keys, configs and zips that several platforms share. A forgotten blob costs one request.
const MOST_LOCATIONS: usize = 4096;

/// Facts about a registry that need no further request.
#[derive(Default)]
pub(super) struct RegistryCache {
    /// Blobs that are known to exist. They are not uploaded again, and other repositories can mount them.
    pub(super) blobs: BlobLocations,
    /// Whether the registry has refused to mount a blob from a repository into the same one.
    pub(super) refuses_mounts: bool,
    /// Whether the registry has taken or refused the media types of evidence.
    pub(super) takes_evidence: Option<bool>,
    /// Whether the registry has no lists of referrers.
    pub(super) lists_no_referrers: bool,
    /// Repositories that had no tag, so that no blob is expected in them.
    pub(super) empty: BTreeSet<String>,
    /// The length of chunks that worked after an upload in one request had failed.
    pub(super) chunk: Option<usize>,
}

/// Blobs and the repositories that are known to have them, oldest first. The oldest are forgotten first.
#[derive(Default)]
pub(super) struct BlobLocations(VecDeque<(Digest, String)>);

impl BlobLocations {
    /// Remembers that a repository has a blob.
    pub(super) fn insert(&mut self, digest: Digest, name: &str) {
        if self.of(&digest).any(|known| known == name) {
            return;
        }
        if self.0.len() == MOST_LOCATIONS {
            self.0.pop_front();
        }
        self.0.push_back((digest, name.to_owned()));
    }

    /// The known repositories that have a blob, the oldest first.
    pub(super) fn of(&self, digest: &Digest) -> impl Iterator<Item = &str> {
        let of_blob = self.0.iter().filter(move |(known, _)| known == digest);
        of_blob.map(|(_, name)| name.as_str())
    }
}

type Lock = tokio::sync::Mutex<()>;

/// Serialises the uploads of equal blobs to one registry: when the second upload begins, the first one has ended, and its
/// blob can be mounted or is already there.
#[derive(Default)]
pub(super) struct SingleFlight(Mutex<HashMap<Digest, Weak<Lock>>>);

impl SingleFlight {
    /// Waits until no other task uploads this blob, and keeps others waiting until the guard is dropped.
    pub(super) async fn enter(&self, digest: Digest) -> OwnedMutexGuard<()> {
        let lock = {
            let mut locks = locked(&self.0);
            locks.retain(|_, lock| lock.strong_count() > 0);
            let lock = locks.get(&digest).and_then(Weak::upgrade);
            let lock: Arc<Lock> = lock.unwrap_or_default();
            locks.insert(digest, Arc::downgrade(&lock));
            lock
        };
        lock.lock_owned().await
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;
    use crate::release::Expected;

    fn digest(number: usize) -> Digest {
        Expected::of(&number.to_le_bytes()).digest
    }

    #[test]
    fn the_oldest_locations_are_forgotten() {
        let mut locations = BlobLocations::default();
        let first = digest(0);
        for name in ["b", "a", "b"] {
            locations.insert(first, name);
        }
        let of = |locations: &BlobLocations, digest| -> Vec<String> {
            locations.of(&digest).map(str::to_owned).collect()
        };
        assert_eq!(of(&locations, first), ["b", "a"]);
        assert!(of(&locations, digest(1)).is_empty());
        for number in 1..MOST_LOCATIONS {
            locations.insert(digest(number), "c");
        }
        assert_eq!(of(&locations, first), ["a"]);
        for number in MOST_LOCATIONS..3 * MOST_LOCATIONS {
            locations.insert(digest(number), "c");
        }
        assert!(of(&locations, first).is_empty());
        assert_eq!(of(&locations, digest(3 * MOST_LOCATIONS - 1)), ["c"]);
        assert_eq!(locations.0.len(), MOST_LOCATIONS);
    }

    #[test]
    fn equal_blobs_wait_for_each_other_and_others_do_not() {
        let [first, second] = [b"a", b"b"].map(|bytes| Expected::of(bytes).digest);
        let flights = SingleFlight::default();
        let guard = flights.enter(first).now_or_never();
        assert!(guard.is_some());
        assert!(flights.enter(first).now_or_never().is_none());
        assert!(flights.enter(second).now_or_never().is_some());
        drop(guard);
        assert!(flights.enter(first).now_or_never().is_some());
        let _other = flights.enter(second).now_or_never();
        assert_eq!(flights.0.lock().unwrap().len(), 1);
    }
}
