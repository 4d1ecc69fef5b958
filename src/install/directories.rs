//! Installs unpacked packages of filesystem mirrors, by copying their directories.

use std::collections::BTreeSet;

use super::{InstalledPackage, Installer, PackageHash, Place, Problem, ProviderAddr, jobs};
use crate::source::filesystem_mirror::Unpacked;

impl Installer<'_> {
    /// Installs unpacked packages of one version in a filesystem mirror by copying their directories, which must have the `locked` `h1` if there are
    /// any.
    ///
    /// # Errors
    /// A directory cannot be read, a package is not locked, or its path is occupied. Packages that were installed before the error remain.
    pub async fn copy(
        &self,
        provider: &ProviderAddr,
        packages: Vec<Unpacked>,
        locked: &BTreeSet<PackageHash>,
    ) -> Result<Vec<InstalledPackage>, Problem> {
        let (request, locked) = (self.request.clone(), locked.clone());
        let locks = self.lock().await?;
        if let Some(package) = packages.first() {
            let version = package.version.version();
            self.refuse_other_spellings(provider, version).await?;
        }
        let provider = provider.clone();
        let copied = jobs::in_thread(move || {
            let _locks = locks;
            let accept = |h1: &PackageHash| refuse_unlocked(h1, &locked);
            let copied = packages.iter().map(|package| {
                let version = package.version.version();
                let place = Place::of(&request, &provider, version, &package.platform);
                let place = place.without_cache();
                place.refuse_other_form()?;
                let (transfer, h1) = place.copy(&package.path, false, request.dry_run, &accept)?;
                Ok(InstalledPackage {
                    h1: Some(h1),
                    ..place.installed(transfer)
                })
            });
            copied.collect()
        });
        copied.await
    }
}

/// Refuses an unpacked package if the lock file has other `h1` of its version.
pub(crate) fn refuse_unlocked(
    h1: &PackageHash,
    locked: &BTreeSet<PackageHash>,
) -> Result<(), Problem> {
    let others = locked.iter().filter(|hash| hash.is_h1());
    match others.clone().next().is_none() || locked.contains(h1) {
        true => Ok(()),
        false => Err(Problem::OtherRelease {
            locked: others.cloned().collect(),
            received: vec![h1.clone()],
        }),
    }
}
