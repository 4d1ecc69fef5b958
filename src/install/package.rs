//! Installs one package.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;

use super::arriving::Reader;
use super::download::Download;
use super::place::Held;
use super::{
    Authentication, Event, Hashes, InstalledPackage, Package, PackageHash, Place, Problem,
    Reporter, Subject, Transfer, disk, jobs, trust,
};
use crate::blob::Body;
use crate::disk::temp_file::TempFileWriter;
use crate::publish::PackageBlob;

/// A package, and where to install it.
#[derive(Clone)]
pub(super) struct PackageInstallation<B> {
    pub(super) package: Package<B>,
    pub(super) place: Place,
    pub(super) subject: Subject,
    pub(super) authentication: Authentication,
    /// Hashes of which the package must match one; any package is accepted if there are none.
    pub(super) locked: Arc<BTreeSet<PackageHash>>,
    /// Whether a locked `h1` proves a package that is there. It does not replace a signature that the user requires: an attacker who can
    /// change the lock file could also have put the package there.
    pub(super) trusts_lock: bool,
    pub(super) dry_run: bool,
    /// Held until the last package is at its path, even if the caller is cancelled: the next process that acquires a lock deletes
    /// unfinished files.
    pub(super) locks: Held,
    pub(super) reporter: Arc<dyn Reporter>,
}

/// What is at the path of a package.
struct Delivered {
    transfer: Transfer,
    /// Its `h1`; `None` in a dry run.
    hashes: Option<Hashes>,
    /// The `zh` of the zip that was compared with it, or would be; `None` if a locked `h1` was enough, because nobody has read the zip then.
    zh: Option<PackageHash>,
}

impl<B: PackageBlob> PackageInstallation<B> {
    pub(super) async fn install(self) -> Result<InstalledPackage, Problem> {
        let Delivered {
            transfer,
            hashes,
            zh,
        } = self.deliver().await?;
        let has_two_h1 = hashes
            .as_ref()
            .is_some_and(|hashes| hashes.zip != hashes.directory);
        if has_two_h1 {
            self.reporter.report(Event::Warning {
                subject: self.subject.clone(),
                warning: self.place.about_two_h1(),
            });
        }
        let size = self.package.expected.size;
        self.reporter.report(Event::Finished {
            subject: self.subject,
            size,
            transfer,
            authentication: self.authentication,
        });
        let directory = hashes.as_ref().map(|hashes| hashes.directory.clone());
        let h1 = hashes.map(|hashes| [hashes.directory, hashes.zip]);
        Ok(InstalledPackage {
            path: self.place.path().to_owned(),
            transfer,
            size,
            hashes: zh.iter().cloned().chain(h1.into_iter().flatten()).collect(),
            h1: directory,
            zh,
            has_two_h1,
            platform: self.package.platform,
        })
    }

    async fn deliver(&self) -> Result<Delivered, Problem> {
        self.place.refuse_other_form()?;
        if let Some(there) = self.place.packed_already(&self.package).await? {
            return Ok(self.compared(Transfer::Present, Some(there)));
        }
        if let Some(there) = self.unpacked_already().await? {
            return Ok(there);
        }
        let has_h1 = self
            .locked
            .iter()
            .any(|hash| matches!(hash, PackageHash::H1(_)));
        if !has_h1 {
            self.refuse_unlocked(None)?;
        }
        if self.dry_run {
            return self.plan().await;
        }
        let mut locks = self.locks.clone();
        if let Some(path) = self.place.cache_lock()? {
            let lock = disk::Lock::of_clients(path, &*self.reporter).await?;
            locks.push(Arc::new(lock));
            // Another process may have installed it meanwhile.
            if let Some(there) = self.unpacked_already().await? {
                return Ok(there);
            }
        }
        let mut staged = self.place.stage()?;
        let download = self.download();
        let mut body = download.start().await?;
        let mut next = download.next(&mut body).await?;
        if let Some(front) = &next
            && self.place.can_unpack_arriving(front)?
        {
            if let Some(unpacked) = self.unpack_arriving(next, &mut body, &locks).await? {
                let (transfer, hashes) = unpacked;
                return Ok(self.compared(transfer, Some(hashes)));
            }
            body = download.start().await?;
            next = download.next(&mut body).await?;
        }
        while let Some(chunk) = next {
            staged.write(&chunk)?;
            next = download.next(&mut body).await?;
        }
        let (place, file_name) = (self.place.clone(), self.package.file_name.clone());
        let this = self.clone();
        let settled = jobs::in_thread(move || {
            let _locks = locks;
            let accept = |hashes: &Hashes| this.refuse_unlocked(Some(hashes));
            place.move_into_place(staged, &file_name, &accept)
        });
        let (transfer, hashes) = settled.await?;
        Ok(self.compared(transfer, Some(hashes)))
    }

    fn compared(&self, transfer: Transfer, hashes: Option<Hashes>) -> Delivered {
        Delivered {
            transfer,
            hashes,
            zh: self.package.zh(),
        }
    }

    /// Unpacks the package while the rest of its `body` arrives. `None` if it is verified, and has to be unpacked from a file.
    async fn unpack_arriving(
        &self,
        front: Option<Bytes>,
        body: &mut Body<B::Failure>,
        locks: &Held,
    ) -> Result<Option<(Transfer, Hashes)>, Problem> {
        let (this, locks) = (self.clone(), locks.clone());
        let unpack = move |reader: Reader| {
            let _locks = locks;
            let accept = |hashes: &Hashes| this.refuse_unlocked(Some(hashes));
            let (size, file) = (this.package.expected.size, &this.package.file_name);
            this.place.unpack_arriving(reader, size, file, &accept)
        };
        self.download().arriving(front, body, unpack).await
    }

    /// An unpacked package that is there with a locked `h1`, if that is enough.
    async fn unpacked_already(&self) -> Result<Option<Delivered>, Problem> {
        if !self.trusts_lock {
            return Ok(None);
        }
        let found = self
            .place
            .unpacked_already(&self.locked, self.dry_run, &self.locks);
        Ok(found.await?.map(|(transfer, h1)| {
            let (zip, directory) = (h1.clone(), h1);
            Delivered {
                transfer,
                hashes: Some(Hashes { zip, directory }),
                zh: None,
            }
        }))
    }

    /// Refuses a package that matches none of the locked hashes.
    fn refuse_unlocked(&self, hashes: Option<&Hashes>) -> Result<(), Problem> {
        let h1 = hashes.map(|hashes| [hashes.zip.clone(), hashes.directory.clone()]);
        let mut own = self
            .package
            .zh()
            .into_iter()
            .chain(h1.into_iter().flatten());
        if self.locked.is_empty() || own.any(|hash| self.locked.contains(&hash)) {
            return Ok(());
        }
        Err(trust::Error::NotLocked {
            platform: self.package.platform.clone(),
            expected: self.locked.iter().cloned().collect(),
            received: self.package.expected.digest,
        }
        .into())
    }

    /// The outcome of a real run. If the path exists, this downloads the package to a temporary file and compares the two.
    async fn plan(&self) -> Result<Delivered, Problem> {
        if !self.place.is_occupied()? {
            return Ok(self.compared(Transfer::Planned, None));
        }
        let mut writer = TempFileWriter::new()?;
        self.download().to(|chunk| writer.write(chunk)).await?;
        let (zip, place) = (writer.finish(), self.place.clone());
        let file_name = self.package.file_name.clone();
        let hashes = jobs::in_thread(move || place.compare_with(&zip, &file_name)).await?;
        Ok(self.compared(Transfer::Present, Some(hashes)))
    }

    fn download(&self) -> Download<'_, B> {
        Download {
            package: &self.package,
            subject: &self.subject,
            reporter: &self.reporter,
        }
    }
}
