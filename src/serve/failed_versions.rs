//! The versions that could not be mirrored on demand, and why.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::address::ProviderAddr;
use crate::blob;
use crate::error::Category;
use crate::outcome::{Failure, PackageError, Problem};
use crate::version::Version;

/// The pause after the first download with wrong bytes. Clients ask again after five seconds, so the first repetition costs them nothing.
const FIRST_PAUSE: Duration = Duration::from_secs(2);

/// The versions that could not be mirrored. A failure counts for a while only, because an origin may repair what it serves.
pub(super) struct FailedVersions {
    all: Mutex<HashMap<ProviderAddr, BTreeMap<Version, FailedVersion>>>,
    /// How long a failure counts. No pause is longer.
    longest: Duration,
}

struct FailedVersion {
    failure: Arc<Failure>,
    since: Instant,
    /// Whether the policy refused it. It is hidden until it may be mirrored again.
    is_refused: bool,
    /// The number of downloads in a row that gave wrong bytes; zero if it failed otherwise.
    bad_downloads: u32,
}

impl FailedVersions {
    pub(super) fn new(longest: Duration) -> Self {
        Self {
            all: Mutex::default(),
            longest,
        }
    }

    /// The versions of a provider that the policy refused, with the reasons.
    pub(super) fn refused_of(&self, provider: &ProviderAddr) -> BTreeMap<Version, Arc<Problem>> {
        let all = self.lock();
        let failed = all.get(provider).into_iter().flatten();
        failed
            .filter(|(_, one)| one.is_refused && self.counts(one))
            .map(|(version, one)| (version.clone(), one.failure.problem.clone()))
            .collect()
    }

    /// The versions of a provider that could not be mirrored for another reason than the policy.
    pub(super) fn others_of(&self, provider: &ProviderAddr) -> BTreeSet<Version> {
        let all = self.lock();
        let failed = all.get(provider).into_iter().flatten();
        failed
            .filter(|(_, one)| !one.is_refused && self.counts(one))
            .map(|(version, _)| version.clone())
            .collect()
    }

    /// The failure of the last download, if it is too early for another one. The pause doubles each time. Without it, a client that asks again and
    /// again would keep the link to the origin busy.
    pub(super) fn bad_download(
        &self,
        provider: &ProviderAddr,
        version: &Version,
    ) -> Option<Arc<Failure>> {
        let all = self.lock();
        let one = all.get(provider)?.get(version)?;
        let earlier = one.bad_downloads.checked_sub(1)?;
        let pause = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(earlier));
        let is_early = one.since.elapsed() < pause.min(self.longest);
        is_early.then(|| one.failure.clone())
    }

    pub(super) fn remember(&self, (provider, version): (ProviderAddr, Version), failure: Failure) {
        // Another download of the package may have the right bytes, so the version stays listed.
        let is_download = matches!(*failure.problem, Problem::Package { .. } | Problem::Blob(_));
        let has_wrong_bytes = match &*failure.problem {
            Problem::Blob(error) => has_wrong_bytes(error),
            Problem::Package { source, .. } => {
                matches!(&**source, PackageError::Blob(error) if has_wrong_bytes(error))
            }
            _ => false,
        };
        let mut all = self.lock();
        // After the longest pause, the last failure no longer counts. If the next download fails too, the pause stays the longest.
        let is_remembered = |one: &FailedVersion| one.since.elapsed() < self.longest * 2;
        all.retain(|_, versions| {
            versions.retain(|_, one| is_remembered(one));
            !versions.is_empty()
        });
        let versions = all.entry(provider).or_default();
        let earlier = versions.get(&version).map_or(0, |one| one.bad_downloads);
        let failed = FailedVersion {
            is_refused: failure.category() == Category::Untrusted && !is_download,
            bad_downloads: match has_wrong_bytes {
                true => earlier.saturating_add(1),
                false => 0,
            },
            failure: Arc::new(failure),
            since: Instant::now(),
        };
        versions.insert(version, failed);
    }

    /// Forgets the failure of a version.
    pub(super) fn forget(&self, (provider, version): &(ProviderAddr, Version)) {
        if let Some(versions) = self.lock().get_mut(provider) {
            versions.remove(version);
        }
    }

    /// Forgets all failures, because the policy changed.
    pub(super) fn clear(&self) {
        self.lock().clear();
    }

    fn counts(&self, failed: &FailedVersion) -> bool {
        failed.since.elapsed() < self.longest
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ProviderAddr, BTreeMap<Version, FailedVersion>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a package arrived whole, and is another one. A lost connection is another matter: it costs the origin less, and may be over soon.
fn has_wrong_bytes(error: &blob::Error) -> bool {
    matches!(
        error,
        blob::Error::Digest { .. } | blob::Error::Longer { .. } | blob::Error::Archive(_)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_download_is_repeated_after_a_pause() {
        let failed = FailedVersions::new(Duration::from_secs(20));
        let provider: ProviderAddr = "a.example/acme/demo".parse().unwrap();
        let version: Version = "1.0.0".parse().unwrap();
        let pauses = || failed.bad_download(&provider, &version).is_some();
        let fail = |problem: Problem| {
            let key = (provider.clone(), version.clone());
            failed.remember(key, problem.into());
        };
        let wrong = || Problem::Blob(blob::Error::Longer { expected: 1 });
        let goes_by = |seconds: u64| {
            let mut all = failed.lock();
            let one = all.get_mut(&provider).unwrap().get_mut(&version).unwrap();
            one.since -= Duration::from_secs(seconds);
        };
        assert!(!pauses());
        for seconds in [2, 4, 8, 16, 20, 20] {
            fail(wrong());
            goes_by(seconds - 1);
            assert!(pauses(), "{seconds}");
            goes_by(1);
            assert!(!pauses(), "{seconds}");
        }
        assert!(failed.others_of(&provider).is_empty());
        fail(wrong());
        assert_eq!(failed.others_of(&provider).len(), 1);
        // A lost connection is no reason to wait.
        fail(Problem::Blob(blob::Error::Missing));
        assert!(!pauses());
        fail(Problem::NoEvidence);
        assert!(!pauses());
        assert_eq!(failed.refused_of(&provider).len(), 1);
        // It is forgotten, and the next failure is the first one.
        fail(wrong());
        goes_by(40);
        fail(wrong());
        goes_by(2);
        assert!(!pauses());
    }
}
