//! The end of one verification.
//!
//! Keys and signatures are untrusted input: an attacker chooses how many there are and how large their numbers are. Limits bound what one
//! certificate and one signature cost. The deadline is looked at between them, because a thread that computes cannot be stopped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::Error;

/// The longest verification of one release. An honest one takes milliseconds, and what is begun at the end takes some seconds at most.
const LONGEST: Duration = Duration::from_secs(5);

/// When a verification ends, finished or not. Clones end together.
#[derive(Clone, Debug)]
pub struct Deadline {
    at: Instant,
    is_ended: Arc<AtomicBool>,
}

/// The deadline for one release that begins now.
impl Default for Deadline {
    fn default() -> Self {
        Self {
            at: Instant::now() + LONGEST,
            is_ended: Arc::default(),
        }
    }
}

impl Deadline {
    /// Ends the verification before its next step.
    pub fn end(&self) {
        self.is_ended.store(true, Ordering::Relaxed);
    }

    /// Whether there is time for the next step.
    #[cfg_attr(
        not(feature = "openpgp"),
        expect(dead_code, reason = "only OpenPGP verification takes long")
    )]
    pub(super) fn check(&self) -> Result<(), Error> {
        match self.is_ended.load(Ordering::Relaxed) || Instant::now() > self.at {
            true => Err(Error::Costly),
            false => Ok(()),
        }
    }
}
