//! Proving: [`crate::trust`] at work, beside everything else.
//!
//! Keys and signatures come from strangers, and checking them is arithmetic that no signal interrupts. So it happens on a thread of
//! its own, within a time that a release has in all: a hostile provider delays no other one, and a run that is stopped does not wait.

use std::time::{Duration, SystemTime};

use crate::release::{Package, Release};
use crate::trust::{self, Budget, Error, Rule, Verified};

/// The time that a release's proof may take. An honest one takes milliseconds.
const LONGEST: Duration = Duration::from_secs(10);

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
    // Where the packages lie is nothing that another thread needs to know.
    let (release, locations) = apart(release);
    let budget = Budget::default();
    let work = {
        let (rule, budget) = (rule.clone(), budget.clone());
        tokio::task::spawn_blocking(move || trust::verify_within(release, &rule, now, &budget))
    };
    let _ended = EndOnDrop(budget);
    let verified = match tokio::time::timeout(LONGEST, work).await {
        Ok(Ok(verified)) => verified?,
        // Too late, or keys that the library stumbles over.
        Err(_) | Ok(Err(_)) => return Err(Error::Costly),
    };
    Ok(verified.located(locations))
}

/// Ends the work when nobody waits for it any more.
struct EndOnDrop(Budget);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// A release without the places of its packages, and those with their sizes.
fn apart<L>(release: Release<L>) -> (Release<()>, Vec<(L, u64)>) {
    let (packages, locations) = release
        .packages
        .into_iter()
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
    let release = Release {
        packages,
        provider: release.provider,
        version: release.version,
        protocols: release.protocols,
        checksums: release.checksums,
        signatures: release.signatures,
        keys: release.keys,
        notes: release.notes,
    };
    (release, locations)
}
