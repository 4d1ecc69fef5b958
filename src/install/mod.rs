//! Install: downloads providers from a store into a filesystem mirror, from which unmodified clients install offline.
//!
//! | form | path below the directory |
//! | --- | --- |
//! | packed | `HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_OS_ARCH.zip` |
//! | unpacked | `HOST/NAMESPACE/TYPE/VERSION/OS_ARCH/` with the zip's contents |
//!
//! Host names are in Unicode, with their port, as clients expect ([clients: filesystem mirrors](crate::clients#filesystem-mirrors)). tfoci
//! streams a package into a hidden file and checks its digest at the same time. Only then does it open the zip, extract it into a hidden
//! directory if the form is unpacked, and rename the result to its final path. An installed package is kept if it is identical and no other
//! user can change it. tfoci never overwrites anything else.
//!
//! # Why never both forms
//! If a mirror contains a package in both forms, the order of directory entries decides which one clients use.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::StreamExt as _;
use serde::Serialize;

use crate::address::ProviderAddr;
use crate::archive::{Archive, Hashes, Limits};
use crate::authentication::{Authentication, Note};
use crate::blob::{BlobSource, proven};
use crate::disk::temp_file::TempFileWriter;
use crate::disk::{self, Staged};
use crate::event::{Event, Reporter, Subject, Transfer};
use crate::examine::{Examined, Platforms, StoredProvider, TrustOptions};
use crate::hash::PackageHash;
use crate::jobs;
use crate::oci::Part;
use crate::outcome::{At, Failure, Problem};
use crate::platform::Platform;
use crate::release::{Package, canonical_file_name};
use crate::selection::Selection;
use crate::store;
use crate::version::Version;

mod place;

use place::Place;

/// The form of the packages in a filesystem mirror.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Zip files.
    #[default]
    Packed,
    /// Directories with the content of the zips.
    Unpacked,
}

/// The options of an installation.
#[derive(Clone, Debug)]
pub struct Request {
    /// The directory of the filesystem mirror.
    pub into: PathBuf,
    /// The platforms to install.
    pub platforms: Platforms,
    /// The form of the installed packages.
    pub form: Form,
    /// The keys to trust, and the packages to refuse.
    pub trust: TrustOptions,
    /// Whether to return a plan instead of writing anything.
    pub dry_run: bool,
    /// The number of concurrent installations.
    pub jobs: usize,
}

/// An installed provider version.
#[derive(Clone, Debug, Serialize)]
pub struct Installed {
    /// The provider's address.
    pub provider: ProviderAddr,
    /// The installed version.
    pub version: Version,
    /// How the version was authenticated.
    pub authentication: Authentication,
    /// The packages, sorted by platform.
    pub packages: Vec<InstalledPackage>,
    /// The hashes of these packages, sorted: the `zh` of each zip, the `h1` of each unpacked directory, and the `h1` of the zip if it
    /// differs.
    pub hashes: Vec<PackageHash>,
}

/// An installed package.
#[derive(Clone, Debug, Serialize)]
pub struct InstalledPackage {
    /// The platform of the package.
    pub platform: Platform,
    /// The path of the zip or directory.
    #[serde(serialize_with = "as_text")]
    pub path: PathBuf,
    /// Whether the package was copied, was present, or is planned.
    #[serde(skip)]
    pub transfer: Transfer,
    /// The size of the zip in bytes.
    #[serde(skip)]
    pub size: u64,
    /// The `zh` hash and, except in a dry run, the `h1` hashes of the directory and of the zip.
    #[serde(skip)]
    pub hashes: Vec<PackageHash>,
    /// Whether the two `h1` hashes differ, because the zip contains directory entries.
    #[serde(skip)]
    pub has_two_h1: bool,
}

/// Serializes a path lossily: JSON cannot contain a path that is not UTF-8, and the report must be valid for every path.
fn as_text<S: serde::Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

/// Installs the newest version that matches a selection.
///
/// # Errors
/// As [`install`], or no version matches.
pub async fn newest(
    from: &StoredProvider,
    selection: &Selection,
    request: &Request,
    reporter: &Arc<dyn Reporter>,
) -> Result<Installed, Failure> {
    let (version, matching) = from.choose(selection).await?;
    reporter.report(Event::Selected {
        subject: Subject::version(&from.provider, &version),
        matching,
    });
    install(from, &version, request, reporter).await
}

/// Installs one version.
///
/// # Errors
/// The store fails, verification fails, a zip is unusable, or the path of a package is occupied. Packages that were installed before the
/// error remain.
pub async fn install(
    from: &StoredProvider,
    version: &Version,
    request: &Request,
    reporter: &Arc<dyn Reporter>,
) -> Result<Installed, Failure> {
    let about = |problem| from.failure(Some(version), problem);
    if request.form == Form::Packed && version.to_string().bytes().any(|b| b.is_ascii_uppercase()) {
        return Err(about(Problem::CapitalLetters));
    }
    let Examined { proof, .. } = from
        .examine(version, &request.platforms, &request.trust)
        .await?;
    let release = proof.map_err(about)?;
    let authentication = release.authentication().clone();
    let subject = Subject::version(&from.provider, version);
    reporter.report(Event::Verified {
        subject: subject.clone(),
        authentication: authentication.clone(),
    });
    let lock = match request.dry_run {
        true => None,
        false => Some(Arc::new(
            prepare(&request.into, reporter).await.map_err(about)?,
        )),
    };
    let work = release.packages.iter().map(|package| PackageInstallation {
        package: package.clone(),
        place: Place::of(request, &from.provider, version, &package.platform),
        subject: subject.platform(&package.platform),
        authentication: authentication.clone(),
        dry_run: request.dry_run,
        lock: lock.clone(),
        reporter: Arc::clone(reporter),
    });
    let packages = jobs::run(request.jobs, work, |work| {
        let (subject, store) = (work.subject.clone(), from.place.clone());
        async move {
            work.install()
                .await
                .map_err(|problem| problem.of(subject, At::From(store)))
        }
    });
    let authentication = release.authentication().clone();
    Ok(Installed::of(
        from,
        version,
        authentication,
        packages.await?,
    ))
}

async fn prepare(into: &Path, reporter: &Arc<dyn Reporter>) -> Result<disk::Lock, Problem> {
    disk::create_directory(into)?;
    let lock = disk::Lock::acquire(into.join(".tfoci.lock"), &**reporter).await?;
    disk::sweep(into)?;
    Ok(lock)
}

impl Installed {
    fn of(
        from: &StoredProvider,
        version: &Version,
        mut authentication: Authentication,
        packages: Vec<InstalledPackage>,
    ) -> Self {
        let note = Note::DirectoryEntries;
        if packages.iter().any(|package| package.has_two_h1)
            && !authentication.notes.contains(&note)
        {
            authentication.notes.push(note);
        }
        let hashes = packages.iter().flat_map(|package| &package.hashes);
        let mut hashes: Vec<PackageHash> = hashes.cloned().collect();
        hashes.sort();
        hashes.dedup();
        Self {
            provider: from.provider.clone(),
            version: version.clone(),
            authentication,
            packages,
            hashes,
        }
    }
}

/// A package to install.
struct PackageInstallation<B> {
    package: Package<B>,
    place: Place,
    subject: Subject,
    authentication: Authentication,
    dry_run: bool,
    /// Held until the last package is at its path, even if the caller is cancelled: the next process that acquires the lock deletes
    /// unfinished files.
    /// deletes unfinished files.
    lock: Option<Arc<disk::Lock>>,
    reporter: Arc<dyn Reporter>,
}

impl<B: BlobSource> PackageInstallation<B> {
    async fn install(self) -> Result<InstalledPackage, Problem> {
        let (transfer, hashes) = self.deliver().await?;
        let has_two_h1 = hashes
            .as_ref()
            .is_some_and(|hashes| hashes.zip != hashes.directory);
        if has_two_h1 {
            self.reporter.report(Event::Warning {
                subject: self.subject.clone(),
                message: self.place.about_two_h1().to_owned(),
            });
        }
        let size = self.package.expected.size;
        self.reporter.report(Event::Finished {
            subject: self.subject,
            size,
            transfer,
            authentication: self.authentication,
        });
        let h1 = hashes.map(|hashes| [hashes.directory, hashes.zip]);
        Ok(InstalledPackage {
            path: self.place.path().to_owned(),
            transfer,
            size,
            hashes: self
                .package
                .zh()
                .into_iter()
                .chain(h1.into_iter().flatten())
                .collect(),
            has_two_h1,
            platform: self.package.platform,
        })
    }

    async fn deliver(&self) -> Result<(Transfer, Option<Hashes>), Problem> {
        self.place.refuse_other_form()?;
        if let Some(there) = self.place.packed_already(&self.package).await? {
            return Ok((Transfer::Present, Some(there)));
        }
        if self.dry_run {
            return self.plan().await;
        }
        let mut staged = self.place.stage()?;
        self.fetch(|chunk| staged.write(chunk)).await?;
        let (place, file_name) = (self.place.clone(), self.package.file_name.clone());
        let lock = self.lock.clone();
        let settled = tokio::task::spawn_blocking(move || {
            let _lock = lock;
            place.move_into_place(staged, &file_name)
        });
        let (transfer, hashes) = settled
            .await
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))?;
        Ok((transfer, Some(hashes)))
    }

    /// The outcome of a real run. If the path exists, this downloads the package to a temporary file and compares the two.
    async fn plan(&self) -> Result<(Transfer, Option<Hashes>), Problem> {
        if !self.place.is_occupied()? {
            return Ok((Transfer::Planned, None));
        }
        let mut writer = TempFileWriter::new()?;
        self.fetch(|chunk| writer.write(chunk)).await?;
        let (zip, place) = (writer.finish(), self.place.clone());
        let file_name = self.package.file_name.clone();
        let compared =
            tokio::task::spawn_blocking(move || place.compare_with(&zip, &file_name)).await;
        let hashes =
            compared.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))?;
        Ok((Transfer::Present, Some(hashes)))
    }

    /// Streams the zip to `write`, and verifies its digest before it returns.
    async fn fetch(
        &self,
        mut write: impl FnMut(&[u8]) -> Result<(), disk::Error>,
    ) -> Result<(), Problem> {
        let Package {
            expected, location, ..
        } = &self.package;
        self.reporter.report(Event::Started {
            subject: self.subject.clone(),
            size: expected.size,
        });
        let unusable = |source| store::Error::reading(Part::Package, expected.digest, source);
        let mut body = proven(location).await.map_err(unusable)?;
        while let Some(chunk) = body.next().await {
            let chunk = chunk.map_err(unusable)?;
            write(&chunk)?;
            self.reporter.report(Event::Advanced {
                subject: self.subject.clone(),
                bytes: chunk.len() as u64,
            });
            // Local reads never yield, so without this the task could not be cancelled.
            tokio::task::consume_budget().await;
        }
        Ok(())
    }
}
