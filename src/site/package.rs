//! Puts one package into a site.

use std::fs::Metadata;
use std::io::{Read, Seek};
use std::path::PathBuf;
use std::sync::Arc;

use super::folder::ProviderFolder;
use crate::archive::Hashes;
use crate::authentication::Authentication;
use crate::blob::{BlobLocation, BlobSource};
use crate::disk::exposed::exposure;
use crate::disk::{self, Blocks, Staged};
use crate::event::{Event, Reporter, Subject, Transfer};
use crate::install::{Download, InstalledPackage, package_hashes};
use crate::jobs;
use crate::outcome::Problem;
use crate::release::Package;
use crate::store::StoreBlob;

/// A package to put into a site.
#[derive(Clone)]
pub(super) struct PackageWriting {
    pub(super) package: Package<StoreBlob>,
    pub(super) folder: ProviderFolder,
    /// The file name of the zip in the site.
    pub(super) name: String,
    pub(super) type_name: String,
    pub(super) subject: Subject,
    pub(super) authentication: Authentication,
    pub(super) dry_run: bool,
    /// Held until the package is at its path, even if the caller is cancelled: the next process that acquires the lock deletes unfinished
    /// files.
    pub(super) _lock: Option<Arc<disk::Lock>>,
    pub(super) reporter: Arc<dyn Reporter>,
}

impl PackageWriting {
    pub(super) async fn write(self) -> Result<InstalledPackage, Problem> {
        let (transfer, hashes) = self.deliver().await?;
        let size = self.package.expected.size;
        self.reporter.report(Event::Finished {
            subject: self.subject,
            size,
            transfer,
            authentication: self.authentication,
        });
        let h1 = hashes.as_ref().map(|hashes| hashes.zip.clone());
        let zh = self.package.zh();
        let mut all: Vec<_> = h1.into_iter().chain(zh.clone()).collect();
        all.sort();
        Ok(InstalledPackage {
            path: self.folder.path(&self.name),
            transfer,
            size,
            hashes: all,
            zh,
            h1: hashes.map(|hashes| hashes.directory),
            platform: self.package.platform,
        })
    }

    async fn deliver(&self) -> Result<(Transfer, Option<Hashes>), Problem> {
        if let Some(hashes) = self.blocking(Self::present).await? {
            return Ok((Transfer::Present, Some(hashes)));
        }
        if self.dry_run {
            return Ok((Transfer::Planned, None));
        }
        if let Some(BlobLocation::InFile(path)) = self.package.location.info().location {
            self.reporter.report(Event::Started {
                subject: self.subject.clone(),
                size: self.package.expected.size,
            });
            let path = path.to_owned();
            let linked = self.blocking(move |this| this.link(path)).await?;
            if let Some(hashes) = linked {
                return Ok((Transfer::Mounted, Some(hashes)));
            }
        }
        let mut staged = Staged::hidden_in(self.folder.root(), &self.folder.path(&self.name))?;
        let download = Download {
            package: &self.package,
            subject: &self.subject,
            reporter: &self.reporter,
        };
        download.to(|chunk| staged.write(chunk)).await?;
        let shown = self.blocking(move |this| this.show(staged)).await?;
        Ok((Transfer::Copied, Some(shown)))
    }

    /// Runs work that reads whole packages on a thread that may block.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(Self) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let this = self.clone();
        jobs::in_thread(move || work(this)).await
    }

    /// The hashes of the package if the site has it already; `None` if its file is damaged or writable by every user, and has to be written again.
    fn present(self) -> Result<Option<Hashes>, Problem> {
        let path = self.folder.path(&self.name);
        let failed = |error| disk::Error::at_use(&path, error);
        let Some(directory) = self.folder.open()? else {
            return Ok(None);
        };
        let Some(found) = directory.metadata(&self.name).map_err(failed)? else {
            return Ok(None);
        };
        if !found.is_file() {
            return Err(disk::Error::special(&path, found.file_type()).into());
        }
        if !self.may_be(&found) {
            return Ok(None);
        }
        let open = || directory.read(&self.name).map_err(failed);
        let expected = self.package.expected.digest;
        if Blocks::of(open()?, &path, 0)?.digest(expected.algorithm())? != expected {
            return Ok(None);
        }
        self.hashes(open()?).map(Some)
    }

    fn may_be(&self, found: &Metadata) -> bool {
        found.len() == self.package.expected.size && exposure(found).is_none()
    }

    /// Hard-links the package from a layout, if its file is undamaged and the file system supports it.
    fn link(self, from: PathBuf) -> Result<Option<Hashes>, Problem> {
        let found = std::fs::symlink_metadata(&from);
        let fits = found.is_ok_and(|found| self.may_be(&found) && is_readable_by_all(&found));
        let hidden = self.folder.root().join(&self.name);
        let Some(link) = fits.then(|| Staged::link(&from, &hidden)).flatten() else {
            return Ok(None);
        };
        let expected = self.package.expected.digest;
        let received = Blocks::open(link.path(), 0)?.digest(expected.algorithm())?;
        if received != expected {
            // The download that follows reports the damage.
            return Ok(None);
        }
        self.show(link).map(Some)
    }

    /// Hashes a verified zip, and moves it to its path.
    fn show(self, staged: Staged) -> Result<Hashes, Problem> {
        let hashes = self.hashes(disk::open(staged.path())?)?;
        staged.show_in(&self.folder.open_or_create()?, &self.name)?;
        Ok(hashes)
    }

    fn hashes(&self, zip: impl Read + Seek) -> Result<Hashes, Problem> {
        package_hashes(zip, &self.type_name, &self.package.file_name)
    }
}

/// Whether a web server, which runs as another user, may read a file. A hard link has the mode of the store's file.
#[cfg(unix)]
fn is_readable_by_all(found: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    const READABLE: u32 = 0o444;
    found.mode() & READABLE == READABLE
}

#[cfg(not(unix))]
fn is_readable_by_all(_: &Metadata) -> bool {
    true
}
