//! Whether the store answers.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Category;
use crate::outcome::Failure;

/// Whether the store answered when it was last asked for anything. People and probes are told.
#[derive(Debug, Default)]
pub(super) struct StoreHealth {
    is_unreachable: AtomicBool,
}

impl StoreHealth {
    /// Whether the store could not be asked.
    pub(super) fn is_unreachable(&self) -> bool {
        self.is_unreachable.load(Ordering::Relaxed)
    }

    /// Notes whether the store itself answered.
    pub(super) fn set(&self, is_unreachable: bool) {
        self.is_unreachable.store(is_unreachable, Ordering::Relaxed);
    }

    /// Notes how a question about one provider ended. What is wrong with that provider says nothing of the store.
    pub(super) fn note<T>(&self, asked: &Result<T, Failure>) {
        match asked.as_ref().map_err(Failure::category) {
            Ok(_) => self.set(false),
            Err(Category::Unreachable | Category::Unauthorized | Category::Local) => self.set(true),
            Err(_) => {}
        }
    }
}
