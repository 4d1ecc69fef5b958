//! The requests that have not ended: progress shows for which host a run waits.

use std::sync::{Arc, Mutex, MutexGuard};
use tfoci::jobs::locked;

/// The hosts of the requests that have not ended, the oldest request first.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingRequests(Arc<Mutex<Vec<String>>>);

impl PendingRequests {
    pub(super) fn begin(&self, host: String) {
        self.hosts().push(host);
    }

    pub(super) fn end(&self, host: &str) {
        let mut hosts = self.hosts();
        if let Some(place) = hosts.iter().position(|one| one == host) {
            hosts.remove(place);
        }
    }

    /// The host of the oldest request.
    pub(super) fn oldest(&self) -> Option<String> {
        self.hosts().first().cloned()
    }

    fn hosts(&self) -> MutexGuard<'_, Vec<String>> {
        locked(&self.0)
    }
}
