//! Runs [`crate::trust`] so that a costly verification does not block other work.
//!
//! Keys and signatures are untrusted input, and their verification cannot be interrupted. Unless it is small, it runs in a thread of its own and
//! has a time limit: a hostile provider does not delay other providers, and an aborted run does not wait for it.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, SystemTime};

use tokio::sync::Semaphore;

use crate::authentication::Anchor;
use crate::fingerprint::Fingerprint;
use crate::release::{KeyRing, Release};
use crate::trust::{self, Deadline, Error, KeyDescription, Rule, Verified};

/// The time limit for verifying one release. An honest release takes milliseconds.
const LONGEST: Duration = Duration::from_secs(10);

/// The most bytes of keys that are verified on the current thread. Threads for them would take 4 MiB of memory (measured with `mirror`). So few
/// bytes hold few signatures, and the [`Deadline`] ends their verification too.
const LARGEST_AT_ONCE: usize = 8 << 10;

/// The number of concurrent verifications in threads. Several, so that a hostile provider does not delay the others; few, because each thread
/// uses memory.
static PROOFS: Semaphore = Semaphore::const_new(4);

/// Verifies a release against a rule, as [`trust::verify`] does, in a thread of its own unless the keys are small.
///
/// # Errors
/// As [`trust::verify`], and [`Error::Costly`] if verification takes too long.
pub async fn prove<L: Send + 'static>(
    release: Release<L>,
    rule: &Rule,
    now: SystemTime,
) -> Result<Verified<Release<L>>, Error> {
    let keys = release.keys.iter().chain(&rule.keys);
    let keys: usize = keys.map(|ring| ring.bytes.len()).sum();
    if release.signatures.is_empty() || keys <= LARGEST_AT_ONCE {
        let verify = || trust::verify(release, rule, now);
        // The OpenPGP library may panic on a malformed key.
        return catch_unwind(AssertUnwindSafe(verify)).unwrap_or(Err(Error::Costly));
    }
    // The semaphore is never closed. The time limit does not include waiting for a permit.
    let _permit = PROOFS.acquire().await;
    let deadline = Deadline::default();
    let work = {
        let (rule, deadline) = (rule.clone(), deadline.clone());
        tokio::task::spawn_blocking(move || trust::verify_within(release, &rule, now, &deadline))
    };
    let _ended = EndOnDrop(deadline);
    match tokio::time::timeout(LONGEST, work).await {
        Ok(Ok(verified)) => verified,
        // Timed out, or the OpenPGP library panicked.
        Err(_) | Ok(Err(_)) => Err(Error::Costly),
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

/// What keys say of themselves, all copies of a key together; nothing if they cannot be read, or take too long.
pub fn describe(rings: &[KeyRing], now: SystemTime) -> BTreeMap<Fingerprint, KeyDescription> {
    let describe = || trust::describe(rings, now, &Deadline::default());
    // The OpenPGP library may panic on a malformed key.
    let described = catch_unwind(AssertUnwindSafe(describe));
    let keys = described.into_iter().flatten().flatten().flatten();
    keys.map(|key| (key.fingerprint.clone(), key)).collect()
}

/// Ends the verification when its result is no longer needed.
struct EndOnDrop(Deadline);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.end();
    }
}
