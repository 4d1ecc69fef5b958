//! What is learnt of a registry in a run: shared by its repositories, and bounded, however much is mirrored.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::digest::Digest;

/// How many places of blobs are kept in mind: about a megabyte. Blobs that come up again do so soon, as the keys and the
/// config do with every version, and zips that are the same for several platforms; what was forgotten is sent once more, or looked
/// for.
const MOST_PLACES: usize = 4096;

/// What was learnt of a registry in this run.
#[derive(Default)]
pub(super) struct Seen {
    /// Where blobs are: there they need not be looked for, and from there they can be mounted.
    pub(super) blobs: Places,
    /// Whether the registry has refused to mount a blob from the repository that it was for.
    pub(super) refuses_mounts: bool,
    /// Whether the registry has refused evidence as a kind of thing that it does not take.
    pub(super) refuses_evidence: bool,
    /// Repositories that had no tag, in which nothing needs to be looked for.
    pub(super) empty: BTreeSet<String>,
    /// The length of chunks that got through, where one piece did not.
    pub(super) chunk: Option<usize>,
}

/// In which repositories blobs are, those that were noted last.
#[derive(Default)]
pub(super) struct Places {
    /// In the order in which they were noted.
    names: HashMap<Digest, VecDeque<Arc<str>>>,
    /// Of all places the order in which they were noted.
    order: VecDeque<Digest>,
}

impl Places {
    /// Notes that a repository has a blob.
    pub(super) fn note(&mut self, digest: Digest, name: &str) {
        if self.has(&digest, name) {
            return;
        }
        self.names
            .entry(digest)
            .or_default()
            .push_back(Arc::from(name));
        self.order.push_back(digest);
        if self.order.len() > MOST_PLACES
            && let Some(oldest) = self.order.pop_front()
            && let Some(names) = self.names.get_mut(&oldest)
        {
            names.pop_front();
            if names.is_empty() {
                self.names.remove(&oldest);
            }
        }
    }

    pub(super) fn has(&self, digest: &Digest, name: &str) -> bool {
        self.of(digest).any(|other| other == name)
    }

    /// The repository that has had a blob for longest, among those other than one.
    pub(super) fn other(&self, digest: &Digest, name: &str) -> Option<&str> {
        self.of(digest).find(|other| *other != name)
    }

    fn of(&self, digest: &Digest) -> impl Iterator<Item = &str> {
        self.names
            .get(digest)
            .into_iter()
            .flatten()
            .map(|name| &**name)
    }
}

/// Blobs that are on their way: whoever has the same one waits, and then it is there, or can be mounted.
#[derive(Default)]
pub(super) struct Flights(Mutex<HashMap<Digest, Weak<Flight>>>);

/// The right to send one blob, for one at a time.
pub(super) type Flight = tokio::sync::Mutex<()>;

impl Flights {
    pub(super) fn of(&self, digest: Digest) -> Arc<Flight> {
        let mut flights = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        flights.retain(|_, flight| flight.strong_count() > 0);
        let found = flights.get(&digest).and_then(Weak::upgrade);
        found.unwrap_or_else(|| {
            let flight = Arc::default();
            flights.insert(digest, Arc::downgrade(&flight));
            flight
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::Expected;

    fn digest(number: usize) -> Digest {
        Expected::of(&number.to_le_bytes()).digest
    }

    #[test]
    fn places_are_known_until_there_are_too_many() {
        let mut places = Places::default();
        let first = digest(0);
        for name in ["b", "a", "b"] {
            places.note(first, name);
        }
        assert!(places.has(&first, "a") && places.has(&first, "b"));
        assert_eq!(places.other(&first, "c"), Some("b"));
        assert_eq!(places.other(&first, "b"), Some("a"));
        assert_eq!(places.other(&digest(1), "b"), None);
        for number in 1..MOST_PLACES {
            places.note(digest(number), "c");
        }
        assert_eq!(places.other(&first, "c"), Some("a"));
        for number in MOST_PLACES..3 * MOST_PLACES {
            places.note(digest(number), "c");
        }
        assert!(!places.has(&first, "a"));
        assert!(places.has(&digest(3 * MOST_PLACES - 1), "c"));
        assert_eq!(places.order.len(), MOST_PLACES);
        assert_eq!(places.names.len(), MOST_PLACES);
    }

    #[test]
    fn a_flight_is_shared_while_it_lasts() {
        let flights = Flights::default();
        let first = flights.of(digest(0));
        assert!(Arc::ptr_eq(&first, &flights.of(digest(0))));
        assert!(!Arc::ptr_eq(&first, &flights.of(digest(1))));
        drop(first);
        let _other = flights.of(digest(2));
        assert_eq!(flights.0.lock().unwrap().len(), 1);
    }
}
