//! Proving: [`crate::trust`] at work, beside everything else.
//!
//! Keys and signatures come from strangers, and checking them is arithmetic that no signal interrupts. An honest proof takes about a
//! millisecond, and is done at once. One that costs more goes to a thread of its own, within a time that a release has in all: a hostile
//! provider delays no other one, and a run that is stopped does not wait.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, SystemTime};

use tokio::sync::Semaphore;

use crate::release::{Package, Release};
use crate::trust::{self, Budget, Error, Rule, Verified};

/// The time that a release's proof may take. An honest one takes milliseconds.
const LONGEST: Duration = Duration::from_secs(10);

/// The most bytes of keys for a proof that is done at once. Real rings have 20 KiB.
const LARGEST_AT_ONCE: usize = 256 << 10;

/// How many costly proofs are under way at once: more than one provider has, so that a hostile one does not hold up the others, and
/// few, because each thread keeps memory.
static PROOFS: Semaphore = Semaphore::const_new(4);

/// Checks a release against a rule, as [`trust::verify`] does.
///
/// # Errors
/// As [`trust::verify`], and [`Error::Costly`] when it takes too long.
pub async fn prove<L>(
    release: Release<L>,
    rule: &Rule,
    now: SystemTime,
) -> Result<Verified<Release<L>>, Error> {
    if release.signatures.is_empty() {
        return trust::verify(release, rule, now);
    }
    // Where the packages lie is nothing that the proof needs to know.
    let (release, locations) = apart(release);
    if size_of_keys(&release, rule) > LARGEST_AT_ONCE {
        return Ok(on_a_thread(release, rule, now).await?.located(locations));
    }
    let copy = release.clone();
    let at_once = || trust::verify_within(copy, rule, now, &Budget::honest());
    // The library must not take the run along where it stumbles over a key.
    let verified = match catch_unwind(AssertUnwindSafe(at_once)) {
        Ok(Err(Error::Costly)) => on_a_thread(release, rule, now).await?,
        Ok(done) => done?,
        Err(_) => return Err(Error::Costly),
    };
    Ok(verified.located(locations))
}

fn size_of_keys(release: &Release<()>, rule: &Rule) -> usize {
    let rings = release.keys.iter().chain(&rule.keys);
    rings.map(|ring| ring.bytes.len()).sum()
}

/// Checks a release whose proof costs more than honest ones do.
async fn on_a_thread(
    release: Release<()>,
    rule: &Rule,
    now: SystemTime,
) -> Result<Verified<Release<()>>, Error> {
    // The semaphore is never closed. Waiting for a permit does not count.
    let _permit = PROOFS.acquire().await;
    let budget = Budget::default();
    let work = {
        let (rule, budget) = (rule.clone(), budget.clone());
        tokio::task::spawn_blocking(move || trust::verify_within(release, &rule, now, &budget))
    };
    let _ended = EndOnDrop(budget);
    match tokio::time::timeout(LONGEST, work).await {
        Ok(Ok(verified)) => verified,
        // Too late, or keys that the library stumbles over.
        Err(_) | Ok(Err(_)) => Err(Error::Costly),
    }
}

/// Ends the work when its result is not needed any more.
struct EndOnDrop(Budget);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// A release without the places of its packages, and those with their sizes.
fn apart<L>(mut release: Release<L>) -> (Release<()>, Vec<(L, u64)>) {
    let packages = std::mem::take(&mut release.packages).into_iter();
    let (packages, locations) = packages
        .map(|package| {
            let there = (package.location, package.expected.size);
            let package = Package {
                platform: package.platform,
                file_name: package.file_name,
                expected: package.expected,
                location: (),
            };
            (package, there)
        })
        .unzip();
    (release.with_packages(packages), locations)
}
