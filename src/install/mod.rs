//! Install: from a store into a filesystem mirror, from which unmodified clients install without a network.
//!
//! | form | place below the directory |
//! | --- | --- |
//! | packed | `HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_OS_ARCH.zip` |
//! | unpacked | `HOST/NAMESPACE/TYPE/VERSION/OS_ARCH/` with the zip's contents |
//!
//! The host is spelled in Unicode, with its port, as clients look for it (contract 7). A package streams into a hidden file, where its
//! digest is checked while it passes; only then is it opened, unpacked into a hidden directory, and renamed into its place.
//! What is there already stays if it is the same, and is never replaced by something else.
//!
//! # Why never both forms
//! Clients that find one package packed and unpacked choose by an accident of sorting.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::StreamExt as _;
use serde::Serialize;

use crate::address::ProviderAddr;
use crate::archive::{Archive, Hashes, Limits};
use crate::authentication::Authentication;
use crate::blob::{self, BlobSource, hold_back};
use crate::disk::{self, Staged};
use crate::event::{Event, Reporter, Subject, Transfer};
use crate::examine::{Belief, Examined, Platforms, Shelf};
use crate::hash::PackageHash;
use crate::jobs;
use crate::oci::Part;
use crate::outcome::{Failure, Problem};
use crate::platform::Platform;
use crate::release::{Package, canonical_file_name};
use crate::store::{self, ReadStore};
use crate::version::Version;

mod place;

use place::Place;

/// In which of the two forms a mirror keeps packages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// As zips.
    #[default]
    Packed,
    /// As directories.
    Unpacked,
}

/// What to install, and how.
#[derive(Clone, Debug)]
pub struct Request {
    /// The directory of the mirror.
    pub into: PathBuf,
    /// For which platforms.
    pub platforms: Platforms,
    /// In which form.
    pub form: Form,
    /// Whom to believe.
    pub belief: Belief,
    /// Whether to stop before anything is written.
    pub dry_run: bool,
    /// How many packages are installed at once.
    pub jobs: usize,
}

/// One provider version that was installed.
#[derive(Clone, Debug, Serialize)]
pub struct Installed {
    /// The provider.
    pub provider: ProviderAddr,
    /// The version.
    pub version: Version,
    /// How it was authenticated.
    pub authentication: Authentication,
    /// Its packages, by platform.
    pub packages: Vec<InstalledPackage>,
    /// The hashes of these packages, sorted: `zh` of each zip, `h1` of each unpacked directory, and `h1` of a zip where it differs.
    pub hashes: Vec<PackageHash>,
}

/// One package that was installed.
#[derive(Clone, Debug, Serialize)]
pub struct InstalledPackage {
    /// The platform.
    pub platform: Platform,
    /// Where it is.
    pub path: PathBuf,
    /// What became of it.
    #[serde(skip)]
    pub transfer: Transfer,
    /// Its size in bytes, zipped.
    #[serde(skip)]
    pub size: u64,
}

/// Installs one version.
///
/// # Errors
/// The store's, a proof that does not hold, a zip that cannot be used, or something else in its place. Packages
/// that were installed before the error stay.
pub async fn install<S: ReadStore>(
    shelf: &Shelf<S>,
    version: &Version,
    request: &Request,
    reporter: &Arc<dyn Reporter>,
) -> Result<Installed, Failure> {
    let about = |problem| shelf.failure(Some(version), problem);
    if request.form == Form::Packed && version.to_string().bytes().any(|b| b.is_ascii_uppercase()) {
        return Err(about(Problem::CapitalLetters));
    }
    let Examined { proof, .. } = shelf
        .examine(version, &request.platforms, &request.belief)
        .await?;
    let release = proof.map_err(about)?;
    let authentication = release.authentication().clone();
    let subject = Subject::version(&shelf.provider, version);
    reporter.report(Event::Verified {
        subject: subject.clone(),
        authentication: authentication.clone(),
    });
    let _lock = match request.dry_run {
        true => None,
        false => Some(prepare(&request.into, reporter).await.map_err(about)?),
    };
    let work = release.packages.iter().map(|package| {
        let place = Place::of(
            &request.into,
            request.form,
            &shelf.provider,
            version,
            &package.platform,
        );
        Work {
            package: package.clone(),
            place,
            subject: subject.platform(&package.platform),
            dry_run: request.dry_run,
        }
    });
    let done = jobs::run(request.jobs, work, |work| {
        let (reporter, authentication) = (Arc::clone(reporter), authentication.clone());
        let place = shelf.place.clone();
        async move {
            let delivered = work.deliver(&reporter).await;
            let (transfer, hashes) =
                delivered.map_err(|problem| problem.of(work.subject.clone(), &place))?;
            let size = work.package.expected.size;
            reporter.report(Event::Finished {
                subject: work.subject.clone(),
                size,
                transfer,
                authentication,
            });
            let path = work.place.path().to_owned();
            Ok::<_, Failure>((
                InstalledPackage {
                    platform: work.package.platform,
                    path,
                    transfer,
                    size,
                },
                hashes,
            ))
        }
    });
    let (packages, hashes): (Vec<_>, Vec<_>) = done.await?.into_iter().unzip();
    let mut hashes: Vec<PackageHash> = hashes.into_iter().flatten().collect();
    hashes.sort();
    hashes.dedup();
    Ok(Installed {
        provider: shelf.provider.clone(),
        version: version.clone(),
        authentication,
        packages,
        hashes,
    })
}

async fn prepare(into: &Path, reporter: &Arc<dyn Reporter>) -> Result<disk::Lock, Problem> {
    disk::create_dir(into)?;
    let lock = disk::Lock::acquire(into.join(".tfoci.lock"), &**reporter).await?;
    disk::sweep(into)?;
    Ok(lock)
}

/// One package on its way to its place.
struct Work<B> {
    package: Package<B>,
    place: Place,
    subject: Subject,
    dry_run: bool,
}

impl<B: BlobSource> Work<B> {
    async fn deliver(
        &self,
        reporter: &Arc<dyn Reporter>,
    ) -> Result<(Transfer, Vec<PackageHash>), Problem> {
        self.place.refuse_other_form()?;
        let zh = self.package.zh();
        if let Some(there) = self.place.packed_already(&self.package).await? {
            return Ok((Transfer::Present, all(zh, there)));
        }
        if self.dry_run {
            let transfer = if self.place.is_occupied()? {
                Transfer::Present
            } else {
                Transfer::Planned
            };
            return Ok((transfer, zh.into_iter().collect()));
        }
        let staged = self.fetch(reporter).await?;
        let (place, file_name) = (self.place.clone(), self.package.file_name.clone());
        let settled = tokio::task::spawn_blocking(move || place.settle(staged, &file_name));
        let (transfer, hashes) = settled
            .await
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))?;
        Ok((transfer, all(zh, hashes)))
    }

    /// Streams the zip into a hidden file of the mirror's directory; its digest is right when this returns.
    async fn fetch(&self, reporter: &Arc<dyn Reporter>) -> Result<Staged, Problem> {
        let Package {
            expected, location, ..
        } = &self.package;
        reporter.report(Event::Started {
            subject: self.subject.clone(),
            size: expected.size,
        });
        let unusable = |source| store::Error::reading(Part::Package, expected.digest, source);
        let mut staged = self.place.stage()?;
        let mut body = hold_back(location.open(0).await.map_err(unusable)?, *expected);
        while let Some(chunk) = body.next().await {
            let chunk = chunk.map_err(unusable)?;
            staged.write(&chunk)?;
            reporter.report(Event::Advanced {
                subject: self.subject.clone(),
                bytes: chunk.len() as u64,
            });
            // A local store never waits; without this the task could not be stopped.
            tokio::task::consume_budget().await;
        }
        Ok(staged)
    }
}

fn all(zh: Option<PackageHash>, hashes: Hashes) -> Vec<PackageHash> {
    zh.into_iter()
        .chain([hashes.directory, hashes.zip])
        .collect()
}
