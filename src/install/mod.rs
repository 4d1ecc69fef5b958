//! Install: downloads providers into a filesystem mirror, from which unmodified clients install offline, or into the directory where they
//! keep the providers of a working directory.
//!
//! | form | path below the directory |
//! | --- | --- |
//! | packed | `HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_OS_ARCH.zip` |
//! | unpacked | `HOST/NAMESPACE/TYPE/VERSION/OS_ARCH/` with the zip's contents |
//!
//! Host names are in Unicode, with their port, as clients expect ([clients: filesystem mirrors](crate::clients#filesystem-mirrors)).
//!
//! 1. The version is **selected** and **verified** in its store.
//! 2. The directory is **locked**. Several providers are installed at the same time and share the lock.
//! 3. A package that is there is **kept** if it is identical and no other user can change it. tfoci never overwrites anything else.
//! 4. Any other package is **extracted** into a hidden directory while it arrives. A packed one, and a zip that
//!    [cannot be extracted that way](crate::archive::Stream), is streamed into a hidden file, whose digest is checked before the zip is opened.
//! 5. It is **renamed** to its path after its digest matched and its central directory was checked.
//!
//! The clients' plugin cache is theirs alone.
//!
//! # Why never both forms
//! If a mirror contains a package in both forms, the order of directory entries decides which one clients use.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::{StreamExt as _, stream};
use serde::Serialize;
use tokio::sync::OnceCell;

use crate::address::ProviderAddr;
use crate::archive::{Archive, Hashes, Limits};
use crate::authentication::{Authentication, Note};
use crate::disk::{self, Staged};
use crate::event::{Event, Reporter, Subject, Transfer};
use crate::examine::{StoredProvider, TrustOptions};
use crate::hash::PackageHash;
use crate::jobs::{self, Jobs, PROVIDERS};
pub use crate::outcome::Form;
use crate::outcome::{Failure, Problem};
use crate::place::Place;
use crate::platform::{Platform, Platforms};
use crate::publish::PackageBlob;
use crate::release::{Package, Release, canonical_file_name};
use crate::selection::Selection;
use crate::source::filesystem_mirror::LocalPackage;
use crate::trust::{self, Verified};
use crate::version::Version;

mod download;
mod package;
mod place;
mod spelling;

pub(crate) use download::{Download, Inspected, each_package};
use package::PackageInstallation;
use place::PackagePlace;

/// Whom a directory is for. It decides the layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectoryKind {
    /// A filesystem mirror.
    Mirror,
    /// The providers of a working directory ([clients: plugin folders](crate::clients#plugin-folders)).
    Providers,
    /// A [site](crate::site): hosts are in punycode, and a file that is not the package is replaced.
    Site,
}

/// The options of an installation.
#[derive(Clone, Debug)]
pub struct Request {
    /// The filesystem mirror or the plugin folder; it need not exist.
    pub into: PathBuf,
    /// Whether clients find it as a mirror or as the providers of a working directory.
    pub kind: DirectoryKind,
    /// The platforms to install.
    pub platforms: Platforms,
    /// Whether they stay zips or are unpacked.
    pub form: Form,
    /// The keys to trust, and the packages to refuse.
    pub trust: TrustOptions,
    /// Whether to return a plan instead of writing anything.
    pub dry_run: bool,
    /// The number of concurrent installations.
    pub jobs: Jobs,
}

/// A provider to install.
#[derive(Clone, Debug)]
pub struct Task {
    /// Where its packages come from.
    pub from: StoredProvider,
    /// The newest version that it selects is installed.
    pub selection: Selection,
}

/// An installed provider version.
#[derive(Clone, Debug, Serialize)]
pub struct Installed {
    /// The provider's address.
    pub provider: ProviderAddr,
    /// The version whose packages these are.
    pub version: Version,
    /// How the version was authenticated.
    pub authentication: Authentication,
    /// The packages, sorted by platform.
    pub packages: Vec<InstalledPackage>,
    /// The hashes of these packages, sorted: the `zh` of each zip, the `h1` of each unpacked directory, and the `h1` of the zip if it
    /// differs.
    pub hashes: Vec<PackageHash>,
}

/// A package that is in the directory now, or would be after a dry run.
#[derive(Clone, Debug, Serialize)]
pub struct InstalledPackage {
    /// The operating system and architecture that it was built for.
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
    /// The `zh` hash, if it is known, and, except in a dry run, the `h1` hashes of the directory and of the zip.
    #[serde(skip)]
    pub hashes: Vec<PackageHash>,
    /// The `zh` of the zip that was compared, or would be in a real run; `None` for a package that was there with a locked `h1`.
    #[serde(skip)]
    pub zh: Option<PackageHash>,
    /// The `h1` of the unpacked directory, which clients record; `None` in a dry run.
    #[serde(skip)]
    pub h1: Option<PackageHash>,
}

impl InstalledPackage {
    fn has_two_h1(&self) -> bool {
        let mut h1 = self.hashes.iter().filter(|hash| hash.is_h1());
        h1.any(|hash| self.h1.as_ref() != Some(hash))
    }
}

/// Serializes a path lossily: JSON cannot contain a path that is not UTF-8, and the report must be valid for every path.
fn as_text<S: serde::Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

/// Receives the result of each provider as soon as it is known.
pub type OnInstalled<'a> = dyn Fn(Result<Installed, Failure>) + Send + Sync + 'a;

/// Installs several providers concurrently, the newest version of each that its selection admits. Selections of one provider follow one
/// after the other, because they may select the same version.
pub async fn install(
    tasks: Vec<Task>,
    request: &Request,
    reporter: &Arc<dyn Reporter>,
    on_result: &OnInstalled<'_>,
) {
    let installer = Installer::new(request, reporter);
    let providers = stream::iter(by_provider(tasks));
    let installing = providers.for_each_concurrent(PROVIDERS, async |(_, tasks)| {
        for task in tasks {
            if let Some(result) = installer.newest(&task).await.transpose() {
                on_result(result);
            }
        }
    });
    installing.await;
}

pub(crate) fn by_provider(tasks: Vec<Task>) -> BTreeMap<ProviderAddr, Vec<Task>> {
    let mut providers: BTreeMap<ProviderAddr, Vec<Task>> = BTreeMap::new();
    for task in tasks {
        let same = providers.entry(task.from.provider.clone());
        same.or_default().push(task);
    }
    providers
}

/// Installs the packages of several providers into one directory.
pub struct Installer<'a> {
    request: &'a Request,
    reporter: &'a Arc<dyn Reporter>,
    /// The lock of the directory, from the first package to the last.
    lock: OnceCell<DirectoryLock>,
}

/// The lock of a directory; `None` in a dry run. What writes there holds it even if its caller is cancelled: the next process that acquires it
/// deletes unfinished files.
pub(crate) type DirectoryLock = Option<Arc<disk::Lock>>;

impl<'a> Installer<'a> {
    /// An installer for this directory.
    pub fn new(request: &'a Request, reporter: &'a Arc<dyn Reporter>) -> Self {
        Self {
            request,
            reporter,
            lock: OnceCell::new(),
        }
    }

    /// Creates and locks the directory when the first package needs it, except in a dry run.
    pub(crate) async fn lock(&self) -> Result<DirectoryLock, Problem> {
        let lock = self.lock.get_or_try_init(|| self.acquire()).await;
        lock.cloned()
    }

    async fn acquire(&self) -> Result<DirectoryLock, Problem> {
        let (directory, reporter) = (&self.request.into, &**self.reporter);
        if self.request.dry_run {
            return Ok(None);
        }
        disk::create_directory(directory)?;
        let lock = match self.request.kind {
            DirectoryKind::Mirror | DirectoryKind::Site => {
                disk::Lock::acquire(directory.join(".tfoci.lock"), reporter).await?
            }
            // Clients would not expect a file there.
            DirectoryKind::Providers => disk::Lock::of_directory(directory, reporter).await?,
        };
        disk::sweep(directory)?;
        Ok(Some(Arc::new(lock)))
    }

    /// Installs the newest version that is selected; `None` if the store lists the provider and has no version of it.
    async fn newest(&self, Task { from, selection }: &Task) -> Result<Option<Installed>, Failure> {
        let trust = &self.request.trust;
        let available = from.allowed(&selection.constraints, trust, self.reporter);
        let Some(available) = available.await? else {
            return Ok(None);
        };
        let version = from.select(&available, selection)?;
        self.reporter.report(Event::VersionsSelected {
            subject: Subject::provider(&from.provider),
            versions: vec![(version.clone(), None)],
        });
        self.install(from, &version).await.map(Some)
    }

    /// Installs one version.
    ///
    /// # Errors
    /// The store fails, verification fails, a zip is unusable, or the path of a package is occupied. Packages that were installed before the
    /// error remain.
    pub async fn install(
        &self,
        from: &StoredProvider,
        version: &Version,
    ) -> Result<Installed, Failure> {
        let request = self.request;
        let about = |problem| from.failure(Some(version), problem);
        let has_capitals = version.to_string().bytes().any(|b| b.is_ascii_uppercase());
        if request.form == Form::Packed && has_capitals {
            return Err(about(Problem::CapitalLetters));
        }
        let examined = from.examine(version, &request.platforms, &request.trust);
        let release = examined.await?.accepted(&from.provider, self.reporter);
        let release = release.map_err(about)?;
        self.deliver(&release, &from.place, &BTreeSet::new()).await
    }

    /// Locks the directory, and looks for packages that clients would use instead of the packages of a version.
    async fn ready(
        &self,
        provider: &ProviderAddr,
        version: &Version,
    ) -> Result<DirectoryLock, Problem> {
        let lock = self.lock().await?;
        self.refuse_other_spellings(provider, version).await?;
        Ok(lock)
    }

    /// Installs the packages of a verified release. A package must match one of the `locked` hashes, if there are any.
    ///
    /// # Errors
    /// The source fails, a zip is unusable or not locked, or the path of a package is occupied. Packages that were installed before the
    /// error remain.
    pub async fn deliver<B: PackageBlob>(
        &self,
        release: &Verified<Release<B>>,
        at: &Place,
        locked: &BTreeSet<PackageHash>,
    ) -> Result<Installed, Failure> {
        let Self {
            request, reporter, ..
        } = self;
        let (provider, version) = (&release.provider, &release.version);
        let locked = Arc::new(locked.clone());
        let fail =
            |problem: Problem| problem.of(Subject::version(provider, version), Some(at.clone()));
        let lock = self.ready(provider, version).await.map_err(fail)?;
        let install = |download: Download<B>| {
            let work = PackageInstallation {
                place: PackagePlace::of(request, provider, version, &download.package.platform),
                download,
                locked: Arc::clone(&locked),
                trusts_lock: !request.trust.has_own_rule(provider),
                _lock: lock.clone(),
            };
            work.install()
        };
        let packages = each_package(release, &request.jobs, at, reporter, install);
        Ok(Installed::of(release, packages.await?))
    }

    /// Installs unpacked packages of one version in a filesystem mirror by copying their directories, which must have the `locked` `h1` if there are
    /// any.
    ///
    /// # Errors
    /// A directory cannot be read, a package is not locked, or its path is occupied. Packages that were installed before the error remain.
    pub async fn copy(
        &self,
        provider: &ProviderAddr,
        version: &Version,
        packages: Vec<LocalPackage>,
        locked: &BTreeSet<PackageHash>,
    ) -> Result<Vec<InstalledPackage>, Problem> {
        let lock = self.ready(provider, version).await?;
        let (request, locked) = (self.request.clone(), locked.clone());
        let (provider, version) = (provider.clone(), version.clone());
        let copied = jobs::in_thread(move || {
            let _lock = lock;
            let accept = |h1: &PackageHash| refuse_unlocked(h1, &locked);
            let copied = packages.iter().map(|package| {
                let place = PackagePlace::of(&request, &provider, &version, &package.platform);
                place.refuse_other_form()?;
                let (transfer, h1) = place.copy(&package.path, &accept)?;
                Ok(InstalledPackage {
                    h1: Some(h1),
                    ..place.installed(transfer)
                })
            });
            copied.collect()
        });
        copied.await
    }

    /// The packages for these platforms, if all are installed with one of these `h1`, so that clients use them as they are.
    ///
    /// # Errors
    /// A directory cannot be read, or the path of a package is occupied.
    pub async fn installed_already(
        &self,
        provider: &ProviderAddr,
        version: &Version,
        platforms: &[Platform],
        locked: &BTreeSet<PackageHash>,
    ) -> Result<Option<Vec<InstalledPackage>>, Problem> {
        if platforms.is_empty() || locked.is_empty() {
            return Ok(None);
        }
        self.refuse_other_spellings(provider, version).await?;
        let places = platforms.iter();
        let places =
            places.map(|platform| PackagePlace::of(self.request, provider, version, platform));
        let (places, locked): (Vec<PackagePlace>, _) = (places.collect(), locked.clone());
        // Hashes every file, which can take seconds.
        let found = jobs::in_thread(move || {
            let found = places.iter().map(|place| {
                let found = place.unpacked_already(&locked).transpose()?;
                Some(found.map(|_| place.installed(Transfer::Present)))
            });
            found.collect::<Option<Result<Vec<_>, _>>>().transpose()
        });
        found.await
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

impl Installed {
    fn of<B>(release: &Verified<Release<B>>, packages: Vec<InstalledPackage>) -> Self {
        let mut authentication = release.authentication().clone();
        let note = Note::DirectoryEntries;
        if packages.iter().any(|package| package.has_two_h1())
            && !authentication.notes.contains(&note)
        {
            authentication.notes.push(note);
        }
        let hashes = packages.iter().flat_map(|package| &package.hashes);
        let hashes: BTreeSet<PackageHash> = hashes.cloned().collect();
        Self {
            provider: release.provider.clone(),
            version: release.version.clone(),
            authentication,
            packages,
            hashes: hashes.into_iter().collect(),
        }
    }
}
