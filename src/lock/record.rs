//! Verifies a version, and collects the hashes that lock files record of it.

use std::collections::BTreeSet;

use super::release_zips::{ReleaseZips, Voucher};
use super::{Found, Journey, Locked, Method, Needed};
use crate::address::{Hostname, ProviderAddr};
use crate::authentication::{Anchor, Authentication, Status};
use crate::event::Subject;
use crate::examine::StoredProvider;
use crate::hash::PackageHash;
use crate::install::InstalledPackage;
use crate::lockfile::Client;
use crate::outcome::{Failure, Problem};
use crate::platform::{Platform, Platforms};
use crate::prove::prove;
use crate::publish::PackageBlob;
use crate::release::Release;
use crate::source::{self, Source, SourcePackage};
use crate::store::StoreBlob;
use crate::trust::rule::Unsigned;
use crate::trust::{self, Rule, Verified};

/// What is known of a version after its release was verified, whichever lock file needs it.
#[derive(Clone, Debug)]
pub(super) struct Recorded {
    pub(super) authentication: Authentication,
    /// Hashes that every client records.
    pub(super) hashes: BTreeSet<PackageHash>,
    /// What the origin reports and no signature covers: the `h1` of every platform in its metadata, and the lines of a checksum document without
    /// a key.
    pub(super) reported: BTreeSet<PackageHash>,
    pub(super) installed: Vec<InstalledPackage>,
    /// If every package was unpacked: whether these are all that the checksum document lists.
    pub(super) has_all_h1: Option<bool>,
    /// The only platforms that the hashes are for; `None` for all.
    pub(super) only: Option<Vec<Platform>>,
    /// The zips of the release; `None` for packages that were installed and match the lock file.
    pub(super) zips: Option<ReleaseZips>,
}

impl Recorded {
    /// Packages that only the lock file calls packages of the release. Nothing new is recorded of them, except the `h1` of a
    /// locked zip.
    pub(super) fn by_lock(
        locked: &BTreeSet<PackageHash>,
        installed: Vec<InstalledPackage>,
    ) -> Self {
        let is_locked =
            |one: &&InstalledPackage| one.zh.as_ref().is_some_and(|zh| locked.contains(zh));
        let of_locked = installed.iter().filter(is_locked);
        let new = of_locked.filter_map(|one| one.h1.clone());
        Self {
            authentication: Authentication {
                status: Status::Unverified,
                anchor: Some(Anchor::Lock),
                fingerprint: None,
                signer: None,
                signed_at: None,
                notes: Vec::new(),
            },
            hashes: locked.iter().cloned().chain(new).collect(),
            reported: BTreeSet::new(),
            installed,
            has_all_h1: None,
            only: None,
            zips: None,
        }
    }

    /// The result for a lock file. `believes_origin` says whether its client records what the origin reports.
    pub(super) fn locked(
        &self,
        entry: &Needed,
        found: &Found<'_>,
        believes_origin: bool,
    ) -> Locked {
        let mut hashes = self.hashes.clone();
        if believes_origin {
            hashes.extend(self.reported.iter().cloned());
        }
        // What the lock file has of this version, and the release does not.
        let of_version = entry.locked_hashes(found.version());
        let others = of_version.map(|known| known - &hashes).unwrap_or_default();
        let is_unknown = |hash: &PackageHash| match hash {
            PackageHash::Zh(_) => true,
            PackageHash::H1(_) => self.has_all_h1 == Some(true),
            // A value that no package can have. Hashes of other schemes are not known.
            PackageHash::Other { scheme, .. } => matches!(scheme.as_str(), "zh" | "h1"),
        };
        let knows_all = self.only.is_none() && !self.hashes.is_empty();
        let unknown = others.iter().filter(|hash| knows_all && is_unknown(hash));
        let h1 = others.iter().filter(|hash| hash.is_h1()).cloned();
        let (uncompared, unchecked) = match self.has_all_h1 {
            None => (Vec::new(), h1.count()),
            Some(true) => (Vec::new(), 0),
            Some(false) => (h1.collect(), 0),
        };
        let has_all = believes_origin && self.reported.iter().any(|hash| !hash.is_h1());
        Locked {
            provider: found.provider.clone(),
            version: found.version().clone(),
            place: found.method.place(found.provider),
            authentication: self.authentication.clone(),
            packages: self.installed.clone(),
            unknown: unknown.cloned().collect(),
            hashes,
            uncompared,
            unchecked,
            only: self.only.clone().filter(|_| !has_all),
            files: BTreeSet::new(),
        }
    }
}

/// The hashes that a release proves without its packages, and who says so. `is_trusted` says whether the statements of its store or mirror are
/// believed.
///
/// # Errors
/// The checksum document is that of another version: a store could otherwise give another one of the same author.
fn proven<L>(
    release: &Verified<Release<L>>,
    is_trusted: bool,
) -> Result<(Voucher, BTreeSet<PackageHash>), Problem> {
    let Authentication { status, anchor, .. } = release.authentication();
    let is_known = matches!(anchor, Some(Anchor::Pinned | Anchor::Origin));
    if *status == Status::Signed && is_known {
        return Ok((Voucher::Signed, lines(release)?));
    }
    if !is_trusted {
        return Ok((Voucher::Unproven, BTreeSet::new()));
    }
    // With the hashes of manifests and other files, as without `--trust-store`.
    let mut hashes = lines(release).unwrap_or_default();
    hashes.extend(release.packages.iter().map(|package| package.zh()));
    Ok((Voucher::Stated, hashes))
}

/// Every line of the checksum document. Clients record the lines of manifests and other files too.
fn lines<L>(release: &Verified<Release<L>>) -> Result<BTreeSet<PackageHash>, Problem> {
    let checksums = release.required_checksums()?;
    if release.listed_platforms().next().is_none() {
        let version = release.version.clone();
        return Err(trust::Error::OtherRelease { version }.into());
    }
    let lines = checksums.lines();
    Ok(lines
        .map(|(_, digest)| PackageHash::of_zip(&digest))
        .collect())
}

impl Journey<'_> {
    /// Whether a client records what the origin reports. Only `tofu` does, and only of its default origin
    /// ([clients: recorded hashes](crate::clients#recorded-hashes)). No signature covers it, so tfoci leaves it out where a key is pinned.
    pub(super) fn believes_origin(&self, client: Client, provider: &ProviderAddr) -> bool {
        let is_default = *provider.hostname() == Hostname::default_origin();
        let rule = self.options.trust.rule_at_source(provider);
        client == Client::OpenTofu && is_default && rule.is_ok_and(|rule| !rule.pinned())
    }

    /// Verifies a version and collects its hashes.
    pub(super) async fn record(
        &self,
        entry: &Needed,
        found: &Found<'_>,
    ) -> Result<Recorded, Failure> {
        let locked = entry.locked_hashes(found.version());
        let locked = &locked.cloned().unwrap_or_default();
        if let Some(installed) = self.installed_already(found, locked).await? {
            return Ok(installed);
        }
        match found.method {
            Method::Store(stored) => self.record_stored(stored, found, locked).await,
            Method::Source(source) => self.record_offered(source, found, locked).await,
        }
    }

    /// Records a version of a store, which says already where its packages are, and reports no `h1`.
    async fn record_stored(
        &self,
        stored: &StoredProvider,
        found: &Found<'_>,
        locked: &BTreeSet<PackageHash>,
    ) -> Result<Recorded, Failure> {
        let options = self.options;
        let rule = options.trust.rule_for(found.provider);
        let rule = rule.map_err(|problem| found.failure(problem))?;
        // A signature by a pinned key covers every package, so that their manifests need not be read.
        let enough = rule.pinned().then_some(Platforms::Only(Vec::new()));
        let first = self.first_platforms(enough, options.trust_store);
        let verify = async |platforms: &Platforms| {
            let release = self.stored_release(stored, found, platforms).await?;
            Ok((release, BTreeSet::new()))
        };
        let complete = async |release| Ok(release);
        self.record_release(found, locked, first, verify, complete)
            .await
    }

    /// The verified release of a store, with the packages for some platforms.
    async fn stored_release(
        &self,
        stored: &StoredProvider,
        found: &Found<'_>,
        platforms: &Platforms,
    ) -> Result<Verified<Release<StoreBlob>>, Failure> {
        let examined = stored.examine(found.version(), platforms, &self.options.trust);
        let examined = examined.await?;
        if let Some(warning) = examined.warning(found.provider) {
            let subject = Subject::version(found.provider, found.version());
            self.reporter.warn(subject, warning);
        }
        examined.proof.map_err(|problem| found.failure(problem))
    }

    /// Records a version of an origin or a mirror.
    async fn record_offered(
        &self,
        source: &Source,
        found: &Found<'_>,
        locked: &BTreeSet<PackageHash>,
    ) -> Result<Recorded, Failure> {
        let options = self.options;
        let fail = |problem: Problem| found.failure(problem);
        if let Source::FilesystemMirror(mirror) = source {
            let unpacked = self.record_unpacked(mirror, found, locked).await;
            if let Some(recorded) = unpacked.map_err(fail)? {
                return Ok(recorded);
            }
        }
        let is_by_lock = self.is_by_lock(found, locked);
        let rule = self.rule_for_source(found, is_by_lock).map_err(fail)?;
        // The metadata of any one platform leads to the checksum document of all.
        let listed = found.available.platforms.as_deref();
        let any = || options.platforms.any_of(listed);
        let enough = found.method.is_origin().then(any);
        let first = self.first_platforms(enough, options.trust_store);
        let verify = async |platforms: &Platforms| {
            let release = self.offered_release(source, &rule, found, platforms).await;
            release.map_err(fail)
        };
        let complete = async |release| {
            let complete = source::complete(release).await;
            complete.map_err(|error| fail(error.into()))
        };
        self.record_release(found, locked, first, verify, complete)
            .await
    }

    /// The verified release of a source, with the packages for some platforms, and the `h1` that the source reports.
    async fn offered_release(
        &self,
        source: &Source,
        rule: &Rule,
        found: &Found<'_>,
        platforms: &Platforms,
    ) -> Result<(Verified<Release<SourcePackage>>, BTreeSet<PackageHash>), Problem> {
        let (provider, available) = (found.provider, &found.available);
        let whole = source.whole_release(provider, available, platforms, rule.pinned());
        let (release, reported) = whole.await?;
        let verified = prove(release, rule, self.options.trust.now).await?;
        Ok((verified, reported))
    }

    /// Reads and verifies a release, and collects its hashes. `verify` returns it with the packages for some platforms, and the `h1` that the
    /// source reports of all; `complete` adds where the packages are.
    async fn record_release<L, B: PackageBlob>(
        &self,
        found: &Found<'_>,
        locked: &BTreeSet<PackageHash>,
        first: Platforms,
        verify: impl AsyncFn(
            &Platforms,
        ) -> Result<(Verified<Release<L>>, BTreeSet<PackageHash>), Failure>,
        complete: impl AsyncFnOnce(Verified<Release<L>>) -> Result<Verified<Release<B>>, Failure>,
    ) -> Result<Recorded, Failure> {
        let options = self.options;
        let fail = |problem: Problem| found.failure(problem);
        // An origin cannot be trusted more than its signatures, and a mirror has none.
        let is_trusted = options.trust_store && !found.method.is_origin();
        let (mut release, mut reported) = verify(&first).await?;
        let authentication = release.authentication().clone();
        self.reporter.report(release.event());
        let (voucher, mut hashes) = proven(&release, is_trusted).map_err(fail)?;
        let zips = ReleaseZips::of(&release, voucher);
        if self.installer.is_some() {
            zips.check(locked).map_err(fail)?;
        }
        let needs_packages = voucher == Voucher::Unproven;
        let is_stored = matches!(found.method, Method::Store(_));
        if needs_packages && is_stored && authentication.status == Status::Unverified {
            return Err(fail(Problem::NoEvidence));
        }
        // The policy accepts the release as it is, without a key.
        if needs_packages && found.method.is_origin() {
            reported.extend(lines(&release).unwrap_or_default());
        }
        let (mut installed, mut only, mut has_all_h1) = (Vec::new(), None, None);
        if options.wants_h1() || needs_packages {
            if needs_packages && first != options.platforms {
                (release, _) = verify(&options.platforms).await?;
            }
            let platforms = release.packages.iter().map(|one| one.platform.clone());
            let hashed = platforms.filter(|platform| options.platforms.has(platform));
            only = needs_packages.then(|| hashed.collect());
            has_all_h1 = self.has_all_h1(&release);
            // If the packages need not be hashed, only packages whose `h1` is wanted are read.
            let wanted = match needs_packages {
                true => &options.platforms,
                false => &options.h1,
            };
            let packages = complete(release.only(|platform| wanted.has(platform))).await?;
            installed = self
                .deliver_or_measure(packages, found, locked, &mut hashes)
                .await?;
        }
        if self.is_by_lock(found, locked) {
            return Ok(Recorded::by_lock(locked, installed));
        }
        Ok(Recorded {
            authentication,
            hashes,
            reported,
            installed,
            has_all_h1,
            only,
            zips: Some(zips),
        })
    }

    /// The platforms to ask for first. `enough` is given if a signature covers the packages of all platforms: fewer than all then suffice, unless the
    /// user named platforms or wants their `h1`.
    fn first_platforms(&self, enough: Option<Platforms>, is_trusted: bool) -> Platforms {
        let options = self.options;
        match enough {
            Some(_) if options.wants_h1() => options.h1.clone(),
            Some(enough) if !options.are_named => enough,
            None if is_trusted => Platforms::All,
            _ => options.platforms.clone(),
        }
    }

    /// The rule for a provider at a source. A source without signatures is believed only if the user or the lock file says so.
    pub(super) fn rule_for_source(
        &self,
        found: &Found<'_>,
        is_by_lock: bool,
    ) -> Result<Rule, Problem> {
        let mut rule = self.options.trust.rule_at_source(found.provider)?;
        let is_allowed = self.options.trust_store && found.method.is_mirror();
        if is_allowed && !rule.pinned() || is_by_lock {
            rule.unsigned = Unsigned::Allow;
        }
        Ok(rule)
    }

    /// Whether the lock file alone decides about packages: a source without signatures is installed from, and the user says nothing else.
    /// Clients ask for no more.
    fn is_by_lock(&self, found: &Found<'_>, locked: &BTreeSet<PackageHash>) -> bool {
        self.installer.is_some()
            && !locked.is_empty()
            && found.method.is_mirror()
            && !self.options.trust_store
            && !self.options.trust.has_own_rule(found.provider)
    }

    /// A locked version whose packages are installed with a locked `h1`. Clients use it as it is.
    async fn installed_already(
        &self,
        found: &Found<'_>,
        locked: &BTreeSet<PackageHash>,
    ) -> Result<Option<Recorded>, Failure> {
        let (provider, version) = (found.provider, found.version());
        let (Some(installer), Some(platforms)) = (self.installer, self.options.platforms.named())
        else {
            return Ok(None);
        };
        // A lock file does not replace the signature that the user requires.
        if self.options.trust.has_own_rule(provider) {
            return Ok(None);
        }
        let installed = installer.installed_already(provider, version, platforms, locked);
        let fail = |problem: Problem| problem.of(Subject::version(provider, version), None);
        let installed = installed.await.map_err(fail)?;
        Ok(installed.map(|installed| Recorded::by_lock(locked, installed)))
    }

    /// Installs the packages of a release, or downloads them to hash them, and adds their hashes.
    async fn deliver_or_measure<B: PackageBlob>(
        &self,
        release: Verified<Release<B>>,
        found: &Found<'_>,
        locked: &BTreeSet<PackageHash>,
        hashes: &mut BTreeSet<PackageHash>,
    ) -> Result<Vec<InstalledPackage>, Failure> {
        let at = &found.method.place(found.provider);
        let Some(installer) = self.installer else {
            hashes.extend(self.measure(&release, at).await?);
            return Ok(Vec::new());
        };
        let packages = installer.deliver(&release, at, locked).await?.packages;
        let own = packages.iter().flat_map(|one| [&one.zh, &one.h1]);
        hashes.extend(own.flatten().cloned());
        Ok(packages)
    }

    /// See [`Recorded::has_all_h1`].
    fn has_all_h1<L>(&self, release: &Verified<Release<L>>) -> Option<bool> {
        let asks_for_all = self.options.h1.named().is_none();
        release.checksums().filter(|_| asks_for_all)?;
        let has =
            |platform: &Platform| release.packages.iter().any(|one| one.platform == *platform);
        Some(release.listed_platforms().all(|platform| has(&platform)))
    }
}
