//! The hashes of a version that lock files record.

use std::collections::BTreeSet;

use crate::address::Hostname;
use crate::authentication::{Anchor, Authentication, Status};
use crate::event::Subject;
use crate::examine::TrustOptions;
use crate::hash::PackageHash;
use crate::install::InstalledPackage;
use crate::lockfile::Client;
use crate::outcome::{At, Failure, Problem};
use crate::platform::Platform;
use crate::publish::PackageBlob;
use crate::release::Release;
use crate::trust::{self, Verified};
use crate::version::Version;

use super::method::Found;
use super::release_zips::{Claim, ReleaseZips};
use super::{Journey, Task, Uncompared, Wanted};

/// What is known of a version after its release was verified.
#[derive(Clone, Debug)]
pub(super) struct Recorded {
    pub(super) authentication: Authentication,
    /// Hashes that every client records.
    pub(super) hashes: BTreeSet<PackageHash>,
    /// What the origin reports of every platform, and no signature covers.
    pub(super) reported: Reported,
    pub(super) installed: Vec<InstalledPackage>,
    /// Which `h1` of the release are among the hashes.
    pub(super) unpacked: Unpacked,
    /// The only platforms that the hashes are for; `None` for all.
    pub(super) only: Option<Vec<Platform>>,
    /// The zips of the release; `None` for packages that were installed and match the lock file.
    pub(super) zips: Option<ReleaseZips>,
}

/// The packages whose `h1` is known.
#[derive(Clone, Debug)]
pub(super) enum Unpacked {
    /// Those of every platform of the release.
    All,
    /// All that there are, but the checksum document also lists these platforms.
    Without(Vec<Platform>),
    /// Some, because the user did not ask for all, or nothing lists them.
    Some,
}

/// What an origin says of the packages of a version.
#[derive(Clone, Debug, Default)]
pub(super) struct Reported {
    /// The `h1` in the metadata of its packages.
    pub(super) h1: BTreeSet<PackageHash>,
    /// Every line of a checksum document without a key.
    pub(super) lines: BTreeSet<PackageHash>,
}

/// The hashes that a release proves without its packages.
pub(super) enum Proven {
    /// Every line of a checksum document whose signer is known.
    Lines(BTreeSet<PackageHash>),
    /// What a trusted store or mirror states.
    Stated(BTreeSet<PackageHash>),
    /// None: the packages have to be hashed.
    Nothing,
}

impl Proven {
    /// What a verified release proves. `is_trusted` says whether the statements of its store or mirror are believed.
    ///
    /// # Errors
    /// The checksum document is that of another version: a store could otherwise give another one of the same author.
    pub(super) fn of<L>(release: &Verified<Release<L>>, is_trusted: bool) -> Result<Self, Problem> {
        let Authentication { status, anchor, .. } = release.authentication();
        let is_known = matches!(anchor, Some(Anchor::Pinned | Anchor::Origin));
        if *status == Status::Signed && is_known {
            return lines(release).map(Self::Lines);
        }
        Ok(match is_trusted {
            true => {
                // With those of manifests and other files, as without `--trust-store`.
                let mut hashes = lines(release).unwrap_or_default();
                let packages = release.packages.iter();
                hashes.extend(packages.filter_map(|package| package.zh()));
                Self::Stated(hashes)
            }
            false => Self::Nothing,
        })
    }

    /// Who says that these are the hashes of the release.
    pub(super) fn claim(&self) -> Claim {
        match self {
            Self::Lines(_) => Claim::Signed,
            Self::Stated(_) => Claim::Stated,
            Self::Nothing => Claim::Unproven,
        }
    }

    /// The hashes, and whether the packages have to be hashed in any case.
    pub(super) fn hashes(self) -> (BTreeSet<PackageHash>, bool) {
        match self {
            Self::Lines(hashes) | Self::Stated(hashes) => (hashes, false),
            Self::Nothing => (BTreeSet::new(), true),
        }
    }
}

/// Every line of the checksum document. Clients record the lines of manifests and other files too.
pub(super) fn lines<L>(release: &Verified<Release<L>>) -> Result<BTreeSet<PackageHash>, Problem> {
    let checksums = release.checksums().ok_or(trust::Error::NoDocument)?;
    if release.listed_platforms().next().is_none() {
        let version = release.version.clone();
        return Err(trust::Error::OtherRelease { version }.into());
    }
    let lines = checksums.lines();
    Ok(lines
        .filter_map(|(_, digest)| PackageHash::of_zip(&digest))
        .collect())
}

impl Recorded {
    /// Packages of which only the lock file says that they are those of the release. Nothing new is recorded of them, except the `h1` of a
    /// locked zip.
    pub(super) fn by_lock(
        locked: &BTreeSet<PackageHash>,
        installed: Vec<InstalledPackage>,
    ) -> Self {
        let mut hashes = locked.clone();
        let is_locked = |one: &&InstalledPackage| {
            let zh = one.zh.as_ref();
            zh.is_some_and(|zh| locked.contains(zh))
        };
        hashes.extend(
            installed
                .iter()
                .filter(is_locked)
                .filter_map(|one| one.h1.clone()),
        );
        Self {
            authentication: Authentication {
                status: Status::Unverified,
                anchor: Some(Anchor::Lock),
                fingerprint: None,
                notes: Vec::new(),
            },
            hashes,
            reported: Reported::default(),
            installed,
            unpacked: Unpacked::Some,
            only: None,
            zips: None,
        }
    }

    /// The release, compared with what a lock file has of this version. `believes_origin` says whether its client records what the origin
    /// reports.
    pub(super) fn compared<'a>(
        &'a self,
        wanted: &'a Wanted,
        version: &Version,
        believes_origin: bool,
    ) -> Compared<'a> {
        Compared {
            recorded: self,
            locked: wanted.locked_hashes(version),
            believes_origin,
        }
    }
}

/// A release, and the hashes that a lock file has of the same version.
pub(super) struct Compared<'a> {
    recorded: &'a Recorded,
    locked: Option<&'a BTreeSet<PackageHash>>,
    believes_origin: bool,
}

impl<'a> Compared<'a> {
    /// The hashes of this version in the lock file that match no package of the release; empty if not all of the release's are known.
    /// Clients accept packages that match them, and keep such hashes too. Of `h1`, it is known which there are only if every package was
    /// unpacked.
    pub(super) fn strangers(&self) -> Vec<PackageHash> {
        let recorded = self.recorded;
        if recorded.only.is_some() || recorded.hashes.is_empty() {
            return Vec::new();
        }
        let is_strange = |hash: &&PackageHash| match hash {
            PackageHash::Zh(_) => true,
            PackageHash::H1(_) => matches!(recorded.unpacked, Unpacked::All),
            // A value that no package can have. Hashes of other schemes are not known.
            PackageHash::Other { scheme, .. } => matches!(scheme.as_str(), "zh" | "h1"),
        };
        self.unknown().filter(is_strange).cloned().collect()
    }

    /// The `h1` in the lock file that may be of a package that the store or source lacks.
    pub(super) fn uncompared(&self) -> Option<Uncompared> {
        let Unpacked::Without(platforms) = &self.recorded.unpacked else {
            return None;
        };
        let unknown = self.unknown().filter(|hash| hash.is_h1());
        let hashes: Vec<PackageHash> = unknown.cloned().collect();
        (!hashes.is_empty()).then(|| Uncompared {
            hashes,
            platforms: platforms.clone(),
        })
    }

    /// The number of `h1` in the lock file that may be of any package, since not every package was unpacked.
    pub(super) fn unchecked(&self) -> usize {
        match self.recorded.unpacked {
            Unpacked::Some => self.unknown().filter(|hash| hash.is_h1()).count(),
            Unpacked::All | Unpacked::Without(_) => 0,
        }
    }

    /// The number of hashes of this version in the lock file that stay beside those of the release.
    pub(super) fn kept(&self) -> usize {
        self.unknown().count()
    }

    /// The hashes of this version in the lock file that are not among those of the release.
    fn unknown(&self) -> impl Iterator<Item = &'a PackageHash> {
        let (recorded, believes_origin) = (self.recorded, self.believes_origin);
        let locked = self.locked.into_iter().flatten();
        locked.filter(move |hash| {
            let is_reported = believes_origin && recorded.reported.h1.contains(hash);
            !is_reported && !recorded.hashes.contains(hash)
        })
    }

    /// The hashes for the lock file.
    ///
    /// Only `tofu` records reported hashes, and only those of its default origin
    /// ([clients: recorded hashes](crate::clients#recorded-hashes)). No signature covers them, so tfoci leaves them out where a key is
    /// pinned.
    pub(super) fn hashes(&self) -> BTreeSet<PackageHash> {
        let mut hashes = self.recorded.hashes.clone();
        if self.believes_origin {
            let Reported { h1, lines } = &self.recorded.reported;
            hashes.extend(h1.iter().chain(lines).cloned());
        }
        hashes
    }

    /// The only platforms that the lock file has hashes for; `None` for all.
    pub(super) fn only(&self) -> Option<Vec<Platform>> {
        let has_all = !self.recorded.reported.lines.is_empty() && self.believes_origin;
        self.recorded.only.clone().filter(|_| !has_all)
    }
}

/// Whether a client records what the origin reports.
pub(super) fn believes_origin(client: Client, task: &Task, trust: &TrustOptions) -> bool {
    let is_default = *task.provider.hostname() == Hostname::default_origin();
    let rule = trust.rule_at_source(&task.provider);
    let is_pinned = rule.map_or(true, |rule| rule.pinned());
    client == Client::OpenTofu && is_default && !is_pinned
}

impl Journey<'_> {
    /// Verifies a version and collects its hashes.
    pub(super) async fn record(
        &self,
        task: &Task,
        wanted: &Wanted,
        found: &Found<'_>,
    ) -> Result<Recorded, Failure> {
        let locked = wanted.locked_hashes(found.version());
        let locked = locked.cloned().unwrap_or_default();
        if let Some(installed) = self.installed_already(task, found, &locked).await? {
            return Ok(installed);
        }
        match found {
            Found::Stored(stored, version) => {
                self.record_stored(task, stored, version, &locked).await
            }
            Found::Released(source, available) => {
                let unpacked = self.record_unpacked(task, source, available, &locked);
                let subject = Subject::version(&task.provider, found.version());
                let fail = |problem: Problem| problem.of(subject, found.at(&task.provider));
                match unpacked.await.map_err(fail)? {
                    Some(recorded) => Ok(recorded),
                    None => self.record_released(task, source, available, &locked).await,
                }
            }
        }
    }

    /// A locked version whose packages are installed with a locked `h1`. Clients use it as it is.
    async fn installed_already(
        &self,
        task: &Task,
        found: &Found<'_>,
        locked: &BTreeSet<PackageHash>,
    ) -> Result<Option<Recorded>, Failure> {
        let platforms = self.options.platforms.named();
        let (Some(installer), Some(platforms)) = (self.installer, platforms) else {
            return Ok(None);
        };
        let (provider, version) = (&task.provider, found.version());
        // A lock file does not replace the signature that the user requires.
        if self.options.trust.has_own_rule(provider) {
            return Ok(None);
        }
        let installed = installer.installed_already(provider, version, platforms, locked);
        let fail = |problem: Problem| problem.of(Subject::version(provider, version), At::Here);
        let Some(installed) = installed.await.map_err(fail)? else {
            return Ok(None);
        };
        Ok(Some(Recorded::by_lock(locked, installed)))
    }

    /// Installs the packages for the wanted platforms, or downloads them to hash them, and adds their hashes.
    pub(super) async fn read<B: PackageBlob>(
        &self,
        release: Verified<Release<B>>,
        subject: &Subject,
        at: At,
        locked: &BTreeSet<PackageHash>,
        hashes: &mut BTreeSet<PackageHash>,
    ) -> Result<Vec<InstalledPackage>, Failure> {
        let Some(installer) = self.installer else {
            hashes.extend(self.measure(release, subject, at).await?);
            return Ok(Vec::new());
        };
        let installed = installer.deliver(&release, &at, locked).await?;
        hashes.extend(installed.packages.iter().filter_map(|one| one.zh.clone()));
        hashes.extend(installed.packages.iter().filter_map(|one| one.h1.clone()));
        Ok(installed.packages)
    }

    /// Which `h1` of a release are known once its packages are unpacked.
    pub(super) fn unpacked<L>(&self, release: &Verified<Release<L>>) -> Unpacked {
        let asks_for_all = self.options.h1.named().is_none();
        if !asks_for_all || release.checksums().is_none() {
            return Unpacked::Some;
        }
        let mut listed: Vec<Platform> = release
            .listed_platforms()
            .filter(|platform| !release.packages.iter().any(|one| one.platform == *platform))
            .collect();
        listed.sort();
        listed.dedup();
        match listed.is_empty() {
            true => Unpacked::All,
            false => Unpacked::Without(listed),
        }
    }

    /// The platforms of packages that had to be hashed.
    pub(super) fn hashed<L>(&self, release: &Release<L>) -> Option<Vec<Platform>> {
        let platforms = release
            .packages
            .iter()
            .map(|package| package.platform.clone());
        let wanted = platforms.filter(|platform| self.options.platforms.has(platform));
        Some(wanted.collect())
    }

    /// A release without packages for other platforms. If the packages need not be hashed, only those count of which an `h1` is wanted.
    pub(super) fn wanted_of<L>(
        &self,
        release: Verified<Release<L>>,
        needs_packages: bool,
    ) -> Verified<Release<L>> {
        let wanted = match needs_packages {
            true => &self.options.platforms,
            false => &self.options.h1,
        };
        release.only(|platform| wanted.has(platform))
    }
}
