//! Mirrors exactly the versions and packages in lock files.

use std::collections::{BTreeMap, BTreeSet};

use crate::address::ProviderAddr;
use crate::hash::PackageHash;
use crate::lockfile::LockFile;
use crate::version::Version;

/// The union of several lock files, which often lock the same version with different hashes.
#[derive(Clone, Debug, Default)]
pub struct Locks(BTreeMap<ProviderAddr, BTreeMap<Version, BTreeSet<PackageHash>>>);

impl Locks {
    /// Adds a lock file. The hashes that several files have for one version are joined.
    pub fn add(&mut self, file: LockFile) {
        for (provider, entry) in file.entries {
            let versions = self.0.entry(provider).or_default();
            let hashes = versions.entry(entry.version).or_default();
            hashes.extend(entry.hashes);
        }
    }

    /// The locked versions.
    pub fn versions(&self) -> impl Iterator<Item = (&ProviderAddr, &Version)> {
        self.0.iter().flat_map(|(provider, versions)| {
            versions.keys().map(move |version| (provider, version))
        })
    }

    /// The hashes of each locked version of a provider.
    pub fn hashes_of(&self, provider: &ProviderAddr) -> BTreeMap<Version, BTreeSet<PackageHash>> {
        self.0.get(provider).cloned().unwrap_or_default()
    }
}
