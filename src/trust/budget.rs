//! A limit on the work of one verification.
//!
//! Keys and signatures are untrusted input: an attacker chooses how many there are and how large their numbers are. Work is
//! counted before it is done, so that the same release gives the same result on every machine. Another thread can end the work
//! early with [`Budget::end`].

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The limit for one release: about a second. The costliest of 101 real keys takes a thousandth of it.
const RELEASE: u64 = 2_000_000_000;

/// The limit for an honest release: some ten milliseconds.
const HONEST: u64 = RELEASE / 50;

/// The remaining work of one verification. A unit is about one multiplication of two machine words, or half a nanosecond.
#[derive(Clone, Debug)]
pub struct Budget {
    left: Arc<AtomicU64>,
}

/// The budget is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OverBudget;

/// The budget for one release, several times what an honest one needs.
impl Default for Budget {
    fn default() -> Self {
        Self::of(RELEASE)
    }
}

impl Budget {
    /// A budget for honest releases only. A verification that exceeds it should run where it blocks no other work.
    pub fn honest() -> Self {
        Self::of(HONEST)
    }

    fn of(limit: u64) -> Self {
        Self {
            left: Arc::new(AtomicU64::new(limit)),
        }
    }

    /// Removes the remaining budget. The verification then fails before its next step.
    pub fn end(&self) {
        self.left.store(0, Ordering::Relaxed);
    }

    /// The units that a verification with the budget of a release has spent; after [`Budget::end`], all of them.
    #[cfg(test)]
    pub(super) fn spent(&self) -> u64 {
        RELEASE - self.left.load(Ordering::Relaxed)
    }

    /// Subtracts a step's cost before the step is done. A step beyond the budget ends the verification.
    #[cfg_attr(
        not(feature = "openpgp"),
        expect(dead_code, reason = "only OpenPGP verification spends")
    )]
    pub(super) fn spend(&self, work: u64) -> Result<(), OverBudget> {
        let order = Ordering::Relaxed;
        let paid = self
            .left
            .fetch_update(order, order, |left| left.checked_sub(work));
        paid.map(|_| ()).map_err(|_| {
            self.end();
            OverBudget
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
        assert_eq!(budget.spend(RELEASE), Err(OverBudget));
        assert_eq!(budget.spend(1), Err(OverBudget));
        let other = Budget::default();
        other.clone().end();
        assert_eq!(other.spend(1), Err(OverBudget));
    }
}
