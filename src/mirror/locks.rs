//! Mirrors exactly the versions and packages in lock files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::address::ProviderAddr;
use crate::error::Category;
use crate::hash::PackageHash;
use crate::lockfile::LockFile;
use crate::outcome::{Failure, Problem};
use crate::trust;
use crate::version::Version;

/// The union of several lock files, which often lock the same version with different hashes.
#[derive(Clone, Debug, Default)]
pub struct Locks(BTreeMap<ProviderAddr, BTreeMap<Version, LockedVersion>>);

#[derive(Clone, Debug, Default)]
struct LockedVersion {
    hashes: BTreeSet<PackageHash>,
    files: BTreeSet<PathBuf>,
}

impl Locks {
    /// Adds a lock file. The hashes that several files have for one version are joined.
    pub fn add(&mut self, path: &Path, file: LockFile) {
        for (provider, entry) in file.entries {
            let versions = self.0.entry(provider).or_default();
            let locked = versions.entry(entry.version).or_default();
            locked.hashes.extend(entry.hashes);
            locked.files.insert(path.to_owned());
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
        let versions = self.0.get(provider).into_iter().flatten();
        versions
            .map(|(version, locked)| (version.clone(), locked.hashes.clone()))
            .collect()
    }

    /// The lock files whose version was refused or is not there; `None` if the failure has another reason.
    pub fn refusing(&self, failure: &Failure) -> Option<BTreeSet<PathBuf>> {
        let (is_about_lock, exact) = match &*failure.problem {
            Problem::Trust(trust::Error::NotLocked { .. } | trust::Error::NoZipLocked) => {
                (true, None)
            }
            Problem::NoVersion { constraints, .. } => {
                let exact = constraints.as_exact();
                (exact.is_some(), exact)
            }
            _ => (failure.category() == Category::NotFound, None),
        };
        let subject = failure.subject.as_ref().filter(|_| is_about_lock)?;
        let version = subject.version.as_ref().or(exact);
        let versions = self.0.get(&subject.provider)?.iter();
        let named = versions.filter(|(one, _)| version.is_none_or(|version| version == *one));
        let files: BTreeSet<PathBuf> = named.flat_map(|(_, locked)| locked.files.clone()).collect();
        (!files.is_empty()).then_some(files)
    }
}
