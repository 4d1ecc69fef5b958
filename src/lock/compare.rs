//! Compares a release with what a lock file has of its version.

use std::collections::BTreeSet;

use super::record::Recorded;
use super::{Entry, Found, Locked};
use crate::digest::Digest;
use crate::hash::PackageHash;
use crate::outcome::Problem;
use crate::platform::Platform;
use crate::release::{Package, Release};
use crate::trust::{self, Checksums, ReleaseId, Verified};

/// What a release says its zips are, and who says so.
#[derive(Clone, Debug, Default)]
pub(super) struct ReleaseZips {
    /// Everything that its checksum document lists.
    pub(super) listed: BTreeSet<PackageHash>,
    /// The zips among them and those of its packages, or the unpacked packages of a mirror.
    pub(super) own: BTreeSet<(PackageHash, Platform)>,
    /// The zips of its packages.
    pub(super) packages: Vec<(Platform, Digest)>,
    pub(super) has_document: bool,
    pub(super) claim: Claim,
}

/// Who says that these are the zips of the release.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Claim {
    /// A known key signed them.
    Signed,
    /// A trusted store or mirror states them.
    Stated,
    /// Nothing proves them: the packages have to be hashed.
    #[default]
    Unproven,
}

impl ReleaseZips {
    pub(super) fn of<L>(release: &Verified<Release<L>>, claim: Claim) -> Self {
        let subject = ReleaseId::of(release);
        let packages = release.packages.iter();
        let platform_of = |one: &Package<L>| Some((one.zh()?, one.platform.clone()));
        let mut zips = Self {
            own: packages.clone().filter_map(platform_of).collect(),
            packages: packages
                .map(|one| (one.platform.clone(), one.expected.digest))
                .collect(),
            has_document: release.checksums().is_some(),
            listed: BTreeSet::new(),
            claim,
        };
        for (name, digest) in release.checksums().into_iter().flat_map(Checksums::lines) {
            let hash = PackageHash::of_zip(&digest);
            // A manifest may be the same in every release.
            if let Some(platform) = subject.platform_of(name) {
                zips.own.extend(hash.clone().map(|hash| (hash, platform)));
            }
            zips.listed.extend(hash);
        }
        zips
    }

    /// Compares the release with the hashes in a lock file. It is the locked release if one of the locked zips is of it, and if it has no new zip
    /// in the place of a locked one that its checksum document lacks. Otherwise the version was published again with other packages, which are
    /// not added to the locked ones, even if a known key signed them. A platform that was added is no other package.
    ///
    /// # Errors
    /// It is another release than the locked one.
    pub(super) fn check(&self, locked: &BTreeSet<PackageHash>) -> Result<(), Problem> {
        let is_zip = |hash: &&PackageHash| hash.zip_digest().is_some();
        let zips: BTreeSet<PackageHash> = locked.iter().filter(is_zip).cloned().collect();
        let lost: Vec<PackageHash> = zips.difference(&self.listed).cloned().collect();
        let own = self.own.iter().map(|(zip, _)| zip);
        let mut new = own.clone().filter(|zip| !zips.contains(zip)).peekable();
        let is_exchanged = self.has_document && new.peek().is_some();
        let is_disjoint = !own.clone().any(|zip| zips.contains(zip));
        if lost.is_empty() || !(is_exchanged || is_disjoint) {
            return Ok(());
        }
        let is_new = |(_, digest): &&(Platform, Digest)| {
            PackageHash::of_zip(digest).is_none_or(|zh| !zips.contains(&zh))
        };
        match (self.claim, self.packages.iter().find(is_new)) {
            (Claim::Signed, _) => Err(Problem::OtherRelease {
                locked: lost,
                received: new.cloned().collect(),
            }),
            (claim, Some((platform, received))) if self.has_document || claim == Claim::Stated => {
                Err(trust::Error::NotLocked {
                    platform: platform.clone(),
                    expected: lost,
                    received: *received,
                }
                .into())
            }
            _ => Ok(()),
        }
    }
}

impl Recorded {
    /// The result for a lock file. `believes_origin` says whether its client records what the origin reports.
    pub(super) fn locked(&self, entry: &Entry, found: &Found<'_>, believes_origin: bool) -> Locked {
        let of_version = entry.locked_hashes(found.version());
        // What the lock file has of this version, and the release does not.
        let mut unknown: Vec<PackageHash> = of_version.into_iter().flatten().cloned().collect();
        unknown.retain(|hash| !self.hashes.contains(hash));
        let mut hashes = self.hashes.clone();
        if believes_origin {
            unknown.retain(|hash| !self.reported_h1.contains(hash));
            hashes.extend(self.reported_h1.iter().cloned());
            hashes.extend(self.reported_lines.iter().cloned());
        }
        let are_all_unpacked = self.not_unpacked.as_ref().is_some_and(Vec::is_empty);
        let is_strange = |hash: &&PackageHash| match hash {
            PackageHash::Zh(_) => true,
            PackageHash::H1(_) => are_all_unpacked,
            // A value that no package can have. Hashes of other schemes are not known.
            PackageHash::Other { scheme, .. } => matches!(scheme.as_str(), "zh" | "h1"),
        };
        let strangers = unknown.iter().filter(is_strange);
        let knows_all = self.only.is_none() && !self.hashes.is_empty();
        let h1 = unknown.iter().filter(|hash| hash.is_h1());
        let h1: Vec<PackageHash> = h1.cloned().collect();
        let has_all = believes_origin && !self.reported_lines.is_empty();
        let mut locked = Locked {
            provider: found.provider().clone(),
            version: found.version().clone(),
            place: found.method.place(found.provider()),
            authentication: self.authentication.clone(),
            packages: self.installed.clone(),
            hashes,
            strangers: strangers.filter(|_| knows_all).cloned().collect(),
            uncompared: Vec::new(),
            missing: Vec::new(),
            unchecked: 0,
            kept: unknown.len(),
            only: self.only.clone().filter(|_| !has_all),
            files: BTreeSet::new(),
        };
        match &self.not_unpacked {
            None => locked.unchecked = h1.len(),
            Some(missing) if !missing.is_empty() && !h1.is_empty() => {
                (locked.uncompared, locked.missing) = (h1, missing.clone());
            }
            Some(_) => {}
        }
        locked
    }
}
