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

    /// Records the result of a request that concerns the whole store. Returns whether the store was unreachable before, and is not any more.
    pub(super) fn record_ping(&self, result: &Result<(), Failure>) -> bool {
        self.note(result.is_err())
    }

    /// Records the result of a request for one provider. A failure that concerns only this provider leaves the state as it was. Returns what
    /// [`StoreHealth::record_ping`] does.
    pub(super) fn record<T>(&self, result: &Result<T, Failure>) -> bool {
        match result.as_ref().map_err(Failure::category) {
            Ok(_) => self.note(false),
            Err(Category::Unreachable | Category::Unauthorized | Category::Local) => {
                self.note(true)
            }
            Err(_) => false,
        }
    }

    fn note(&self, is_unreachable: bool) -> bool {
        self.is_unreachable.swap(is_unreachable, Ordering::Relaxed) && !is_unreachable
    }
}
