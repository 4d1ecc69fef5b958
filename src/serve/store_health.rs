//! Records whether the store answers.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Category;
use crate::outcome::Failure;

/// Whether the last request to the store failed. The page at `/` and `/readyz` report it.
#[derive(Debug, Default)]
pub(super) struct StoreHealth {
    is_unreachable: AtomicBool,
}

impl StoreHealth {
    pub(super) fn is_unreachable(&self) -> bool {
        self.is_unreachable.load(Ordering::Relaxed)
    }

    /// Records the result of a request that concerns the whole store.
    pub(super) fn record_ping(&self, result: &Result<(), Failure>) {
        self.is_unreachable
            .store(result.is_err(), Ordering::Relaxed);
    }

    /// Records the result of a request for one provider. A failure that concerns only this provider leaves the state as it was.
    pub(super) fn record<T>(&self, result: &Result<T, Failure>) {
        let is_unreachable = match result.as_ref().map_err(Failure::category) {
            Ok(_) => false,
            Err(Category::Unreachable | Category::Unauthorized | Category::Local) => true,
            Err(_) => return,
        };
        self.is_unreachable.store(is_unreachable, Ordering::Relaxed);
    }
}
