//! The versions of one provider: served, hidden, or offered by the origin.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use super::served::{HiddenVersion, ServedVersion};
use crate::address::ProviderAddr;
use crate::examine::{StoredProvider, TrustOptions};
use crate::outcome::{Failure, Problem};
use crate::version::Version;

/// The number of versions that are read concurrently. Each takes several requests in a row. Eight hide the latency of the store, and a new
/// provider with hundreds of versions leaves connections for other requests.
const CONCURRENT_VERSIONS: usize = 8;
/// A provider in the store.
#[derive(Debug)]
pub struct ProviderListing {
    /// Whose versions these are.
    pub provider: ProviderAddr,
    /// Whether the store has the provider.
    pub exists: bool,
    /// The verified versions, by precedence.
    pub versions: BTreeMap<Version, Arc<ServedVersion>>,
    /// The versions that did not verify, with the reasons.
    pub hidden: BTreeMap<Version, HiddenVersion>,
    /// The versions that are mirrored from the origin when a client requests them.
    pub offered: BTreeSet<Version>,
}

impl ProviderListing {
    /// The listing of a provider that the store does not have.
    pub(super) fn absent(provider: &ProviderAddr) -> Self {
        Self {
            provider: provider.clone(),
            exists: false,
            versions: BTreeMap::new(),
            hidden: BTreeMap::new(),
            offered: BTreeSet::new(),
        }
    }

    /// Reads a provider. Versions of the old listing are reused unless a tag moved.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(super) async fn read(
        stored: &StoredProvider,
        trust: &TrustOptions,
        old: Option<&Self>,
    ) -> Result<Self, Failure> {
        let listed = match stored.versions().await {
            Ok(listed) => listed.versions,
            Err(failure) if matches!(*failure.problem, Problem::NoProvider) => Vec::new(),
            Err(failure) => return Err(failure),
        };
        let mut listing = Self {
            exists: !listed.is_empty(),
            ..Self::absent(&stored.provider)
        };
        let mut new = Vec::new();
        for version in listed {
            let known = old.and_then(|old| old.versions.get(&version));
            match known.filter(|served| !served.has_moved()) {
                Some(served) => {
                    listing.versions.insert(version, served.clone());
                }
                None => new.push(version),
            }
        }
        let reads = new.into_iter().map(|version| async move {
            // Reads of a layout never yield, so without this thousands of versions would block the thread.
            tokio::task::yield_now().await;
            let read = ServedVersion::read(stored, &version, trust).await?;
            Ok::<_, Failure>((version, read))
        });
        let reads: Vec<_> = reads.collect();
        let mut reads = stream::iter(reads).buffer_unordered(CONCURRENT_VERSIONS);
        while let Some((version, read)) = reads.try_next().await? {
            listing.add(version, read);
        }
        Ok(listing)
    }

    /// Adds the versions that the origin offers, and hides those that the policy refused.
    pub(super) fn offer(
        &mut self,
        offered: Option<BTreeSet<Version>>,
        refused: BTreeMap<Version, Arc<Problem>>,
    ) {
        for (version, problem) in refused {
            self.hidden
                .entry(version)
                .or_insert(HiddenVersion { problem });
        }
        self.exists |= offered.is_some();
        let is_new = |version: &Version| {
            !self.versions.contains_key(version) && !self.hidden.contains_key(version)
        };
        self.offered = offered
            .unwrap_or_default()
            .into_iter()
            .filter(is_new)
            .collect();
    }

    /// The versions that clients can install.
    pub fn installable(&self) -> impl Iterator<Item = &Version> {
        self.versions.keys().chain(&self.offered)
    }

    /// The versions that the provider registry lists.
    pub fn signed(&self) -> impl Iterator<Item = &Version> {
        let signed = self
            .versions
            .iter()
            .filter(|(_, served)| served.is_signed());
        signed.map(|(version, _)| version).chain(&self.offered)
    }

    fn add(&mut self, version: Version, read: Result<ServedVersion, HiddenVersion>) {
        match read {
            Ok(served) => {
                self.versions.insert(version, Arc::new(served));
            }
            Err(hidden) => {
                self.hidden.insert(version, hidden);
            }
        }
    }

    /// The approximate size in memory, in bytes.
    pub(super) fn weight(&self) -> usize {
        // An entry of a map with a version and a problem.
        const EACH: usize = 512;
        let versions = self.versions.values().map(|served| served.weight());
        let others = (self.hidden.len() + self.offered.len()) * EACH;
        EACH + self.provider.length() + versions.sum::<usize>() + others
    }
}
