//! Errors of those who have bytes, and are unknown to those who move them.

use std::error::Error as StdError;
use std::fmt;

use crate::error::Category;

/// What a source says about bytes that it does not give.
#[derive(Debug)]
pub struct Foreign {
    category: Category,
    is_passing: bool,
    error: Box<dyn StdError + Send + Sync>,
}

impl Foreign {
    /// Wraps an error. `is_passing` says whether the same bytes may come through a moment later.
    pub fn new(
        category: Category,
        is_passing: bool,
        error: impl StdError + Send + Sync + 'static,
    ) -> Self {
        Self {
            category,
            is_passing,
            error: Box::new(error),
        }
    }

    /// What kind of problem it is.
    pub fn category(&self) -> Category {
        self.category
    }

    /// Whether the same bytes may come through a moment later.
    pub fn is_passing(&self) -> bool {
        self.is_passing
    }

    /// The error, for those who know its type.
    pub fn downcast<E: StdError + 'static>(&self) -> Option<&E> {
        self.error.downcast_ref()
    }
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl StdError for Foreign {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.error.source()
    }
}
