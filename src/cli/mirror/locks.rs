//! `--from-lock`: exactly what configurations are locked to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use tfoci::address::ProviderAddr;
use tfoci::constraint::VersionConstraints;
use tfoci::error::printable_path;
use tfoci::hash::PackageHash;
use tfoci::lockfile::{FILE_NAME, LockFile};
use tfoci::mirror::VersionFilter;
use tfoci::outcome::{Failure, Problem};
use tfoci::trust;
use tfoci::version::Version;

use super::plan::Item;
use crate::cli::diagnose::Complaint;
use crate::cli::options::read;
use crate::cli::printer::{Printer, Tone};

/// What several lock files have together. A version is in several of them often, with other hashes here and there.
pub(super) struct Locks(BTreeMap<ProviderAddr, BTreeMap<Version, Locked>>);

/// What is locked of one version, and by which files.
#[derive(Default)]
struct Locked {
    hashes: BTreeSet<PackageHash>,
    files: BTreeSet<PathBuf>,
}

impl Locks {
    /// Reads lock files; a directory stands for the one in it.
    pub(super) fn read(paths: &[PathBuf], printer: &Printer) -> Result<Self, Complaint> {
        let mut all = Self(BTreeMap::new());
        for path in paths {
            let path = if path.is_dir() {
                path.join(FILE_NAME)
            } else {
                path.clone()
            };
            let bytes = read(&path)?;
            let file = LockFile::parse(&bytes).map_err(|source| Complaint::LockFile {
                path: path.clone(),
                source: Box::new(source),
            })?;
            if file.entries.is_empty() {
                let text = format!("{} locks no provider", printable_path(&path));
                printer.line(Tone::Warning, "Warning", &text);
            }
            for (provider, entry) in file.entries {
                let versions = all.0.entry(provider).or_default();
                let locked = versions.entry(entry.version).or_default();
                locked.hashes.extend(entry.hashes);
                locked.files.insert(path.clone());
            }
        }
        Ok(all)
    }

    /// Each version that is locked.
    pub(super) fn items(&self) -> impl Iterator<Item = Item> {
        let versions = self.0.iter().flat_map(|(provider, versions)| {
            versions.keys().map(move |version| (provider, version))
        });
        versions.map(|(provider, version)| Item {
            provider: provider.clone(),
            filter: VersionFilter {
                versions: VersionConstraints::exactly(version.clone()),
                newest: None,
                prereleases: false,
                platforms: None,
            },
            to: Vec::new(),
        })
    }

    /// The hashes of each locked version of a provider.
    pub(super) fn hashes_of(
        &self,
        provider: &ProviderAddr,
    ) -> BTreeMap<Version, BTreeSet<PackageHash>> {
        let versions = self.0.get(provider).into_iter().flatten();
        versions
            .map(|(version, locked)| (version.clone(), locked.hashes.clone()))
            .collect()
    }

    /// Whether it was a lock file that refused a version.
    pub(super) fn refused(&self, failure: &Failure) -> bool {
        matches!(
            &*failure.problem,
            Problem::Trust(trust::Error::NotLocked { .. } | trust::Error::NoZipLocked)
        )
    }

    /// Such a failure, with the files that are to blame.
    pub(super) fn complaint(&self, failure: Failure) -> Complaint {
        let subject = failure.subject.as_ref();
        let locked = subject.and_then(|subject| {
            let versions = self.0.get(&subject.provider)?;
            versions.get(subject.version.as_ref()?)
        });
        Complaint::NotLocked {
            files: locked.map_or_else(BTreeSet::new, |locked| locked.files.clone()),
            failure,
        }
    }
}
