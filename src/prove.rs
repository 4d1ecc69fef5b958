//! Runs [`crate::trust`] so that a costly verification does not block other work.
//!
//! Keys and signatures are untrusted input, and their verification cannot be interrupted. An honest release takes about a millisecond on
//! the current thread. A more expensive verification moves to its own thread and has a time limit. So a hostile provider does not delay
//! other providers, and an aborted run does not wait for it.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, SystemTime};

use tokio::sync::Semaphore;

use crate::authentication::Anchor;
use crate::fingerprint::Fingerprint;
use crate::release::{KeyRing, Release};
use crate::trust::{self, Budget, Error, KeyDescription, Rule, Verified};

/// The time limit for verifying one release. An honest release takes milliseconds.
const LONGEST: Duration = Duration::from_secs(10);

/// The most bytes of keys that are verified on the current thread. Real key rings have about 20 KiB.
const LARGEST_AT_ONCE: usize = 256 << 10;

/// The number of concurrent expensive verifications. Several, so that a hostile provider does not delay the others; few, because each
/// thread uses memory.
static PROOFS: Semaphore = Semaphore::const_new(4);

/// Verifies a release against a rule, as [`trust::verify`] does.
///
/// # Errors
/// As [`trust::verify`], and [`Error::Costly`] if verification takes too long.
pub async fn prove<L: Clone + Send + 'static>(
    release: Release<L>,
    rule: &Rule,
    now: SystemTime,
) -> Result<Verified<Release<L>>, Error> {
    if release.signatures.is_empty() {
        return trust::verify(release, rule, now);
    }
    let keys = release.keys.iter().chain(&rule.keys);
    let size = keys.map(|ring| ring.bytes.len()).sum::<usize>();
    if size > LARGEST_AT_ONCE {
        return on_a_thread(release, rule, now).await;
    }
    let copy = release.clone();
    let at_once = || trust::verify_within(copy, rule, now, &Budget::honest());
    // A panic of the OpenPGP library on a malformed key must not abort the run.
    match catch_unwind(AssertUnwindSafe(at_once)) {
        Ok(Err(Error::Costly)) => on_a_thread(release, rule, now).await,
        Ok(done) => done,
        Err(_) => Err(Error::Costly),
    }
}

/// Which of two copies of a key its owner changed later; `None` if that is not known.
pub fn compare(copy: &[u8], other: &[u8], key: &Fingerprint, now: SystemTime) -> Option<Ordering> {
    if copy == other {
        return Some(Ordering::Equal);
    }
    let updated = |copy: &[u8]| {
        let ring = KeyRing {
            name: String::new(),
            bytes: copy.to_vec(),
            anchor: Anchor::Embedded,
        };
        describe(&[ring], now).get(key)?.updated
    };
    Some(updated(copy)?.cmp(&updated(other)?))
}

/// What keys say of themselves, all copies of a key together; nothing if they cannot be read, or cost more work than honest keys.
pub fn describe(rings: &[KeyRing], now: SystemTime) -> BTreeMap<Fingerprint, KeyDescription> {
    let describe = || trust::describe(rings, now, &Budget::honest());
    // The OpenPGP library may panic, as above.
    let described = catch_unwind(AssertUnwindSafe(describe));
    let keys = described.into_iter().flatten().flatten().flatten();
    keys.map(|key| (key.fingerprint.clone(), key)).collect()
}

/// Verifies a release on a blocking thread, within the time limit.
async fn on_a_thread<L: Send + 'static>(
    release: Release<L>,
    rule: &Rule,
    now: SystemTime,
) -> Result<Verified<Release<L>>, Error> {
    // The semaphore is never closed. The time limit does not include waiting for a permit.
    let _permit = PROOFS.acquire().await;
    let budget = Budget::default();
    let work = {
        let (rule, budget) = (rule.clone(), budget.clone());
        tokio::task::spawn_blocking(move || trust::verify_within(release, &rule, now, &budget))
    };
    let _ended = EndOnDrop(budget);
    match tokio::time::timeout(LONGEST, work).await {
        Ok(Ok(verified)) => verified,
        // Timed out, or the OpenPGP library panicked.
        Err(_) | Ok(Err(_)) => Err(Error::Costly),
    }
}

/// Ends the verification when its result is no longer needed.
struct EndOnDrop(Budget);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.end();
    }
}
