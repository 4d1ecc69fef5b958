//! Installs one package.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::download::{Download, Inspected};
use super::{
    DirectoryLock, Event, Hashes, InstalledPackage, PackageHash, PackagePlace, Problem, Transfer,
    jobs, trust,
};
use crate::blob::BlobLocation;
use crate::publish::PackageBlob;

/// A package, and where to install it.
#[derive(Clone)]
pub(super) struct PackageInstallation<B> {
    pub(super) download: Download<B>,
    pub(super) place: PackagePlace,
    /// The package must match one of these hashes; any package is accepted if there are none.
    pub(super) locked: Arc<BTreeSet<PackageHash>>,
    /// Whether a locked `h1` proves a package that is there. It does not replace a signature that the user requires: an attacker who can
    /// change the lock file could also have put the package there.
    pub(super) trusts_lock: bool,
    pub(super) _lock: DirectoryLock,
}

impl<B: PackageBlob> PackageInstallation<B> {
    pub(super) async fn install(self) -> Result<(InstalledPackage, Transfer), Problem> {
        let installed = self.deliver().await?;
        let transfer = installed.transfer;
        Ok((installed, transfer))
    }

    async fn deliver(&self) -> Result<InstalledPackage, Problem> {
        if let Some(there) = self.in_thread(|this| this.present()).await? {
            return Ok(there);
        }
        if !self.locked.iter().any(PackageHash::is_h1) {
            self.refuse_unlocked(None)?;
        }
        if self.place.dry_run {
            return self.plan().await;
        }
        if let Some(linked) = self.linked().await? {
            return Ok(linked);
        }
        let mut staged = self.place.stage()?;
        let unpacking = self.clone();
        let unpacked = self.download.arriving_or_to(
            |front| self.place.can_unpack_arriving(front),
            move |reader| {
                let accept = |hashes: &Hashes| unpacking.refuse_unlocked(Some(hashes));
                unpacking
                    .place
                    .unpack_arriving(reader, &unpacking.download.package, &accept)
            },
            |chunk| staged.write(chunk),
        );
        let (transfer, hashes) = match unpacked.await? {
            Some(unpacked) => unpacked,
            None => {
                let moved = self.in_thread(move |this| {
                    let accept = |hashes: &Hashes| this.refuse_unlocked(Some(hashes));
                    this.place
                        .move_into_place(staged, &this.download.package.file_name, &accept)
                });
                moved.await?
            }
        };
        Ok(self.compared(transfer, Some(hashes)))
    }

    /// The package of a site, as a hard link to the zip in a layout.
    async fn linked(&self) -> Result<Option<InstalledPackage>, Problem> {
        let location = self.download.package.location.info().location;
        let Some(BlobLocation::InFile(path)) = location.filter(|_| self.place.is_in_site()) else {
            return Ok(None);
        };
        self.download.reporter.report(Event::Started {
            subject: self.download.subject.clone(),
            size: self.download.package.expected.size,
        });
        let path = path.to_owned();
        let linked = self.in_thread(move |this| this.place.link(&path, &this.download.package));
        let hashes = linked.await?;
        Ok(hashes.map(|hashes| self.compared(Transfer::Mounted, Some(hashes))))
    }

    /// Runs work that reads whole packages on a thread that may block. The lock is held until it ends.
    async fn in_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce(Self) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let this = self.clone();
        jobs::in_thread(move || work(this)).await
    }

    /// The package, after its zip was read, or in a dry run.
    fn compared(&self, transfer: Transfer, hashes: Option<Hashes>) -> InstalledPackage {
        let (h1, zip) = hashes.map(|both| (both.directory, both.zip)).unzip();
        let zh = self.download.package.zh();
        // Clients of a network mirror hash zips only.
        let directory = h1.clone().filter(|_| !self.place.is_in_site());
        let all = [zip, directory, Some(zh.clone())].into_iter().flatten();
        InstalledPackage {
            size: self.download.package.expected.size,
            hashes: all.collect::<BTreeSet<_>>().into_iter().collect(),
            zh: Some(zh),
            h1,
            ..self.place.installed(transfer)
        }
    }

    /// The package that is there: the same zip, or an unpacked one with a locked `h1` if that is enough.
    fn present(&self) -> Result<Option<InstalledPackage>, Problem> {
        let place = &self.place;
        place.refuse_other_form()?;
        if let Some(there) = place.packed_already(&self.download.package)? {
            return Ok(Some(self.compared(Transfer::Present, Some(there))));
        }
        if !self.trusts_lock {
            return Ok(None);
        }
        let found = place.unpacked_already(&self.locked)?;
        Ok(found.map(|h1| InstalledPackage {
            size: self.download.package.expected.size,
            hashes: vec![h1.clone()],
            h1: Some(h1),
            ..place.installed(Transfer::Present)
        }))
    }

    /// Refuses a package that matches none of the locked hashes.
    fn refuse_unlocked(&self, hashes: Option<&Hashes>) -> Result<(), Problem> {
        let own = hashes.map(|hashes| [hashes.zip.clone(), hashes.directory.clone()]);
        let zh = self.download.package.zh();
        let mut own = std::iter::once(zh).chain(own.into_iter().flatten());
        if self.locked.is_empty() || own.any(|hash| self.locked.contains(&hash)) {
            return Ok(());
        }
        Err(trust::Error::NotLocked {
            platform: self.download.package.platform.clone(),
            expected: self.locked.iter().cloned().collect(),
            received: self.download.package.expected.digest,
        }
        .into())
    }

    /// The outcome of a real run. If the path exists, this downloads the package and compares the two.
    async fn plan(&self) -> Result<InstalledPackage, Problem> {
        if self.place.is_in_site() || !self.place.is_occupied()? {
            return Ok(self.compared(Transfer::Planned, None));
        }
        let Inspected { hashes, executable } = self.download.inspected().await?;
        executable.map_err(|source| Problem::Archive {
            file: self.download.package.file_name.clone(),
            source,
        })?;
        let h1 = hashes.directory.clone();
        let compared = self.in_thread(move |this| this.place.compare_h1(&h1));
        compared.await?;
        Ok(self.compared(Transfer::Present, Some(hashes)))
    }
}
