//! Installs unpacked packages of filesystem mirrors, by copying their directories.

use std::collections::BTreeSet;

use super::{InstalledPackage, Installer, PackageHash, Place, Problem, ProviderAddr, jobs};
use crate::source::filesystem_mirror::Unpacked;

impl Installer<'_> {
    /// Installs unpacked packages of a filesystem mirror, which must have the `locked` `h1` if there are any.
    ///
    /// # Errors
    /// A directory cannot be read, a package is not locked, or its path is occupied. Packages that were installed before the error remain.
    pub async fn copy(
        &self,
        provider: &ProviderAddr,
        packages: Vec<Unpacked>,
        locked: &BTreeSet<PackageHash>,
    ) -> Result<Vec<InstalledPackage>, Problem> {
        let request = self.request;
        let locks = self.locks.acquire(request, self.reporter).await?;
        let mut installed = Vec::new();
        for package in packages {
            let version = package.version.version();
            self.refuse_other_spellings(provider, version).await?;
            let place = Place::of(request, provider, version, &package.platform);
            let (place, locked, locks) = (place.without_cache(), locked.clone(), locks.clone());
            let dry_run = request.dry_run;
            let copied = jobs::in_thread(move || {
                let _locks = locks;
                place.refuse_other_form()?;
                let accept = |h1: &PackageHash| refuse_unlocked(h1, &locked);
                let (transfer, h1) = place.copy(&package.path, false, dry_run, &accept)?;
                Ok::<_, Problem>(InstalledPackage {
                    h1: Some(h1),
                    ..InstalledPackage::new(&package.platform, &place, transfer)
                })
            });
            installed.push(copied.await?);
        }
        Ok(installed)
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
