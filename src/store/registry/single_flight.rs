//! One upload of a blob at a time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::OwnedMutexGuard;

use crate::digest::Digest;

type Lock = tokio::sync::Mutex<()>;

/// Serialises the uploads of equal blobs to one registry: when the second upload begins, the first one has ended, and its
/// blob can be mounted or is already there.
#[derive(Default)]
pub(super) struct SingleFlight(Mutex<HashMap<Digest, Weak<Lock>>>);

impl SingleFlight {
    /// Waits until no other task uploads this blob, and keeps others waiting until the guard is dropped.
    pub(super) async fn enter(&self, digest: Digest) -> OwnedMutexGuard<()> {
        let lock = {
            let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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
