//! Records whether the store answers.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Category;
use crate::outcome::Failure;

/// Whether the store has ever answered, and whether the last request to it failed. The page at `/` and `/readyz` report it.
#[derive(Debug, Default)]
pub(super) struct StoreHealth {
    is_unreachable: AtomicBool,
    /// Whether it has ever answered, even with a refusal.
    has_answered: AtomicBool,
    /// Whether it has ever had a version.
    had_content: AtomicBool,
}

/// A change of whether the store can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reachability {
    Lost,
    Back,
}

impl StoreHealth {
    pub(super) fn is_unreachable(&self) -> bool {
        self.is_unreachable.load(Ordering::Relaxed)
    }

    /// Whether the store has answered since the server started. Until then, the server has no list that it could go on with.
    pub(super) fn has_answered(&self) -> bool {
        self.has_answered.load(Ordering::Relaxed)
    }

    /// Whether the store has ever had a version since the server started. If its directory is then missing or empty, its disk is away.
    pub(super) fn had_content(&self) -> bool {
        self.had_content.load(Ordering::Relaxed)
    }

    /// Records that the store has a version.
    pub(super) fn record_content(&self) {
        self.had_content.store(true, Ordering::Relaxed);
    }

    /// Records the result of a request that concerns the whole store. Returns the change, if there is one.
    pub(super) fn record_ping(&self, result: &Result<(), Failure>) -> Option<Reachability> {
        if !matches!(
            result.as_ref().map_err(Failure::category),
            // There may be no store yet: a directory is empty where its disk is not mounted.
            Err(Category::Unreachable | Category::Local | Category::NotFound)
        ) {
            self.has_answered.store(true, Ordering::Relaxed);
        }
        self.note(result.is_err())
    }

    /// Records the result of a request for one provider. A failure that concerns only this provider leaves the state as it was. Returns what
    /// [`StoreHealth::record_ping`] does.
    pub(super) fn record<T>(&self, result: &Result<T, Failure>) -> Option<Reachability> {
        match result.as_ref().map_err(Failure::category) {
            Ok(_) => {
                self.has_answered.store(true, Ordering::Relaxed);
                self.note(false)
            }
            Err(Category::Unreachable | Category::Unauthorized | Category::Local) => {
                self.note(true)
            }
            Err(_) => None,
        }
    }

    fn note(&self, is_unreachable: bool) -> Option<Reachability> {
        let was_unreachable = self.is_unreachable.swap(is_unreachable, Ordering::Relaxed);
        match (was_unreachable, is_unreachable) {
            (false, true) => Some(Reachability::Lost),
            (true, false) => Some(Reachability::Back),
            _ => None,
        }
    }
}
