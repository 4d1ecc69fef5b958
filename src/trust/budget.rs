//! What one proof may cost.
//!
//! Keys and signatures come from untrusted sources, which decide how large their numbers are and how many there are of them. Work
//! is counted before it is done, so that the same release gives the same answer on every machine. Another thread can end it
//! earlier with [`Budget::end`].

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a release may cost: about a second. The costliest of 101 real keys takes a thousandth of it.
const RELEASE: u64 = 2_000_000_000;

/// What an honest release costs at the most, in some ten milliseconds.
const HONEST: u64 = RELEASE / 50;

/// The work that is left for one proof. A unit is about the product of two machine words, or half a nanosecond.
#[derive(Clone, Debug)]
pub struct Budget {
    limit: u64,
    left: Arc<AtomicU64>,
}

/// There is no work left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spent;

/// Enough for every honest release, several times over.
impl Default for Budget {
    fn default() -> Self {
        Self::of(RELEASE)
    }
}

impl Budget {
    /// Enough for honest releases only: run proofs that cost more where they block no other work.
    pub fn honest() -> Self {
        Self::of(HONEST)
    }

    fn of(limit: u64) -> Self {
        Self {
            limit,
            left: Arc::new(AtomicU64::new(limit)),
        }
    }

    /// Takes away what is left: the proof ends before its next piece of work.
    pub fn end(&self) {
        self.left.store(0, Ordering::Relaxed);
    }

    /// How much work was done.
    pub fn spent(&self) -> u64 {
        self.limit - self.left.load(Ordering::Relaxed)
    }

    /// Subtracts a piece of work before it is done. Work beyond the budget ends the proof.
    #[cfg_attr(not(feature = "openpgp"), expect(dead_code))]
    pub(super) fn spend(&self, work: u64) -> Result<(), Spent> {
        let order = Ordering::Relaxed;
        let paid = self
            .left
            .fetch_update(order, order, |left| left.checked_sub(work));
        paid.map(|_| ()).map_err(|_| {
            self.end();
            Spent
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_paid_for_ends_it() {
        let budget = Budget::default();
        assert_eq!(budget.spend(5), Ok(()));
        assert_eq!(budget.spent(), 5);
        assert_eq!(budget.spend(RELEASE), Err(Spent));
        assert_eq!(budget.spend(1), Err(Spent));
        let other = Budget::default();
        other.clone().end();
        assert_eq!(other.spend(1), Err(Spent));
    }
}
