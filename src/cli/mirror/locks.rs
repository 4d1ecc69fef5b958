//! `--from-lock`: exactly what configurations are locked to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use tfoci::address::ProviderAddr;
use tfoci::constraint::VersionConstraints;
use tfoci::hash::PackageHash;
use tfoci::lockfile::{FILE_NAME, LockFile};
use tfoci::mirror::Wish;
use tfoci::version::Version;

use super::plan::Item;
use crate::cli::diagnose::Complaint;
use crate::cli::options::read;
use crate::cli::printer::{Printer, Tone};

/// What several lock files have together. A version is in several of them often, with other hashes here and there.
pub(super) struct Locks(BTreeMap<ProviderAddr, BTreeMap<Version, BTreeSet<PackageHash>>>);

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
                let text = format!("{} locks no provider", path.display());
                printer.line(Tone::Warning, "Warning", &text);
            }
            for (provider, entry) in file.entries {
                let versions = all.0.entry(provider).or_default();
                versions
                    .entry(entry.version)
                    .or_default()
                    .extend(entry.hashes);
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
            wish: Wish {
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
        self.0.get(provider).cloned().unwrap_or_default()
    }
}
