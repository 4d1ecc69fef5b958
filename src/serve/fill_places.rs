//! The places for versions that are mirrored on demand, and the queue for them.
//!
//! Clients name the origins, and a slow one keeps its place for as long as its transfers may take. So an origin, which is a host, has at most half
//! of the places and of the queue.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::quota::Quota;
use crate::address::Hostname;

/// The number of versions that are mirrored concurrently. Most servers have one origin, and half of these places are enough to use its bandwidth.
/// `tfoci help deployment` states this number.
const PLACES: u32 = 8;

pub(super) struct FillPlaces {
    all: Arc<Semaphore>,
    of_origin: Quota<Hostname>,
    /// Versions with a place count too.
    queue: Quota<Hostname>,
}

/// A place, to hold while a version is mirrored.
pub(super) struct FillPlace {
    _permits: Vec<OwnedSemaphorePermit>,
}

impl FillPlaces {
    /// `queue` is the most versions that may have a place, or wait for one.
    pub(super) fn new(queue: usize) -> Self {
        Self {
            all: Arc::new(Semaphore::new(PLACES as usize)),
            of_origin: Quota::half_of(PLACES as usize),
            queue: Quota::half_of(queue),
        }
    }

    /// Waits until nobody has a place, after all that wait for one now.
    pub(super) async fn all_free(&self) {
        // The semaphore is never closed.
        let _all = self.all.acquire_many(PLACES).await;
    }

    /// Waits for a place for a version of an origin, first come, first served; `None` if too many of its versions wait.
    pub(super) fn place(
        &self,
        origin: &Hostname,
    ) -> Option<impl Future<Output = FillPlace> + Send + use<>> {
        let queued = self.queue.of(origin.clone()).try_acquire_owned().ok()?;
        // In this order, so that the versions of one origin that wait for each other hold no place of others.
        let awaited = [self.of_origin.of(origin.clone()), self.all.clone()];
        Some(async move {
            let mut permits = vec![queued];
            for one in awaited {
                // The semaphores are never closed.
                permits.extend(one.acquire_owned().await);
            }
            FillPlace { _permits: permits }
        })
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn an_origin_has_half_of_the_places_and_of_the_queue() {
        let places = FillPlaces::new(16);
        let [slow, good] = ["slow.example", "good.example"].map(|host| host.parse().unwrap());
        let ask = |origin: &Hostname| places.place(origin).map(Box::pin);
        let mut slow_ones: Vec<_> = (0..8).map(|_| ask(&slow).unwrap()).collect();
        assert!(ask(&slow).is_none());
        let mut held: Vec<_> = slow_ones.iter_mut().map(|one| one.now_or_never()).collect();
        let with_place = held.iter().take_while(|one| one.is_some()).count();
        assert_eq!((with_place, held.iter().flatten().count()), (4, 4));
        let good_ones: Vec<_> = (0..4).map(|_| ask(&good).unwrap().now_or_never()).collect();
        assert!(good_ones.iter().all(Option::is_some));
        assert!(ask(&good).unwrap().now_or_never().is_none());
        // The next one gets the place of the first, and the queue has room again.
        held.swap_remove(0);
        assert!(slow_ones[4].as_mut().now_or_never().is_some());
        assert!(ask(&slow).is_some());
    }
}
