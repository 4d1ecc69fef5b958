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
use crate::trust::{self, Checksums, ReleaseId, Verified};
use crate::version::Version;

use super::method::Found;
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
    let subject = ReleaseId {
        provider: &release.provider,
        version: &release.version,
    };
    let checksums = release.checksums().ok_or(trust::Error::NoDocument)?;
    let mut names = checksums.lines().map(|(name, _)| name);
    if !names.any(|name| subject.platform_of(name).is_some()) {
        let version = release.version.clone();
        return Err(trust::Error::OtherRelease { version }.into());
    }
    let lines = checksums.lines();
    Ok(lines
        .filter_map(|(_, digest)| PackageHash::of_zip(&digest))
        .collect())
}

impl Recorded {
    /// The hashes of this version in the lock file that match no package of the release; empty if not all of the release's are known.
    /// Clients accept packages that match them, and keep such hashes too. Of `h1`, it is known which there are only if every package was
    /// unpacked.
    pub(super) fn strangers(
        &self,
        wanted: &Wanted,
        version: &Version,
        task: &Task,
        trust: &TrustOptions,
    ) -> Vec<PackageHash> {
        if self.only.is_some() || self.hashes.is_empty() {
            return Vec::new();
        }
        let is_strange = |hash: &PackageHash| match hash {
            PackageHash::Zh(_) => true,
            PackageHash::H1(_) => matches!(self.unpacked, Unpacked::All),
            // A value that no package can have. Hashes of other schemes are not known.
            PackageHash::Other { scheme, .. } => matches!(scheme.as_str(), "zh" | "h1"),
        };
        let unknown = self.unknown(wanted, version, task, trust);
        unknown.filter(|hash| is_strange(hash)).cloned().collect()
    }

    /// The `h1` in the lock file that may be of a package that the store or source lacks.
    pub(super) fn uncompared(
        &self,
        wanted: &Wanted,
        version: &Version,
        task: &Task,
        trust: &TrustOptions,
    ) -> Option<Uncompared> {
        let Unpacked::Without(platforms) = &self.unpacked else {
            return None;
        };
        let unknown = self.unknown(wanted, version, task, trust);
        let hashes: Vec<PackageHash> = unknown.filter(|hash| hash.is_h1()).cloned().collect();
        (!hashes.is_empty()).then(|| Uncompared {
            hashes,
            platforms: platforms.clone(),
        })
    }

    /// The number of hashes of this version in the lock file that stay beside those of the release.
    pub(super) fn kept(
        &self,
        wanted: &Wanted,
        version: &Version,
        task: &Task,
        trust: &TrustOptions,
    ) -> usize {
        self.unknown(wanted, version, task, trust).count()
    }

    /// The hashes of this version in the lock file that are not among those of the release.
    fn unknown<'w>(
        &self,
        wanted: &'w Wanted,
        version: &Version,
        task: &Task,
        trust: &TrustOptions,
    ) -> impl Iterator<Item = &'w PackageHash> {
        let believes_origin = believes_origin(wanted.client, task, trust);
        let locked = wanted.locked.as_ref();
        let locked = locked.filter(|(locked, _)| locked == version);
        let locked = locked.into_iter().flat_map(|(_, hashes)| hashes);
        locked.filter(move |hash| {
            let is_reported = believes_origin && self.reported.h1.contains(hash);
            !is_reported && !self.hashes.contains(hash)
        })
    }

    /// The hashes for the lock file of a client.
    ///
    /// Only `tofu` records reported hashes, and only those of its default origin
    /// ([clients: recorded hashes](crate::clients#recorded-hashes)). No signature covers them, so tfoci leaves them out where a key is
    /// pinned.
    pub(super) fn hashes_for(
        &self,
        client: Client,
        task: &Task,
        trust: &TrustOptions,
    ) -> BTreeSet<PackageHash> {
        let mut hashes = self.hashes.clone();
        if believes_origin(client, task, trust) {
            let Reported { h1, lines } = &self.reported;
            hashes.extend(h1.iter().chain(lines).cloned());
        }
        hashes
    }

    /// The only platforms that the lock file of a client has hashes for; `None` for all.
    pub(super) fn only_for(
        &self,
        client: Client,
        task: &Task,
        trust: &TrustOptions,
    ) -> Option<Vec<Platform>> {
        let has_all = !self.reported.lines.is_empty() && believes_origin(client, task, trust);
        self.only.clone().filter(|_| !has_all)
    }
}

/// Whether a client records what the origin reports.
fn believes_origin(client: Client, task: &Task, trust: &TrustOptions) -> bool {
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
        let locked = wanted.locked.as_ref();
        let locked = locked.filter(|(locked, _)| locked == found.version());
        let locked = locked.map(|(_, hashes)| hashes.clone()).unwrap_or_default();
        if let Some(installed) = self.installed_already(task, found, &locked).await? {
            return Ok(installed);
        }
        match found {
            Found::Stored(stored, version) => self.record_stored(stored, version, &locked).await,
            Found::Released(source, available) => {
                self.record_released(task, source, available, &locked).await
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
        Ok(Some(Recorded {
            authentication: Authentication {
                status: Status::Unverified,
                anchor: Some(Anchor::Lock),
                fingerprint: None,
                notes: Vec::new(),
            },
            hashes: locked.clone(),
            reported: Reported::default(),
            installed,
            unpacked: Unpacked::Some,
            only: None,
        }))
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
        let release = self.wanted_of(release);
        let Some(installer) = self.installer else {
            hashes.extend(self.measure(release, subject, at).await?);
            return Ok(Vec::new());
        };
        let installed = installer.deliver(&release, &at, locked).await?;
        hashes.extend(release.packages.iter().filter_map(|package| package.zh()));
        hashes.extend(installed.packages.iter().filter_map(|one| one.h1.clone()));
        Ok(installed.packages)
    }

    /// Which `h1` of a release are known once its packages are unpacked.
    pub(super) fn unpacked<L>(&self, release: &Verified<Release<L>>) -> Unpacked {
        let asks_for_all = self.options.h1 && self.options.platforms.named().is_none();
        let Some(checksums) = release.checksums().filter(|_| asks_for_all) else {
            return Unpacked::Some;
        };
        let subject = ReleaseId::of(release);
        let names = checksums.lines().map(|(name, _)| name);
        let mut listed: Vec<Platform> = names
            .filter_map(|name| subject.platform_of(name))
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

    /// Checks an unsigned release that lists its zips: one of them must be locked.
    ///
    /// # Errors
    /// It is another release than the locked one.
    pub(super) fn is_the_locked<L>(
        release: &Verified<Release<L>>,
        locked: &BTreeSet<PackageHash>,
        proven: &Proven,
    ) -> Result<(), Problem> {
        let is_listed = release.checksums().is_some() || matches!(proven, Proven::Stated(_));
        let (Some(first), true) = (release.packages.first(), is_listed) else {
            return Ok(());
        };
        if matches!(proven, Proven::Lines(_)) {
            return Ok(());
        }
        let subject = ReleaseId {
            provider: &release.provider,
            version: &release.version,
        };
        let listed = release.checksums().into_iter().flat_map(Checksums::lines);
        // A manifest may be the same in every release.
        let listed = listed.filter(|(name, _)| subject.platform_of(name).is_some());
        let listed = listed.filter_map(|(_, digest)| PackageHash::of_zip(&digest));
        let packages = release.packages.iter().filter_map(|package| package.zh());
        let own: BTreeSet<PackageHash> = listed.chain(packages).collect();
        let is_zip = |hash: &&PackageHash| hash.zip_digest().is_some();
        let zips: Vec<PackageHash> = locked.iter().filter(is_zip).cloned().collect();
        if zips.is_empty() || zips.iter().any(|zip| own.contains(zip)) {
            return Ok(());
        }
        Err(trust::Error::NotLocked {
            platform: first.platform.clone(),
            expected: zips,
            received: first.expected.digest,
        }
        .into())
    }

    /// A release without packages for other platforms.
    pub(super) fn wanted_of<L>(&self, release: Verified<Release<L>>) -> Verified<Release<L>> {
        release.only(|platform| self.options.platforms.has(platform))
    }
}
