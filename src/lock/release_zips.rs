//! Compares the zips of a release with those that a lock file has of its version.

use std::collections::BTreeSet;

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
    /// The zips among them and the zips of its packages, or the unpacked packages of a mirror.
    pub(super) own: BTreeSet<(PackageHash, Platform)>,
    /// The zips of its packages.
    pub(super) packages: Vec<(Platform, Digest)>,
    pub(super) voucher: Voucher,
}

/// Who says that these are the zips of the release.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Voucher {
    /// A known key signed them.
    Signed,
    /// A trusted store or mirror states them.
    Stated,
    /// Nothing proves them: the packages have to be hashed.
    #[default]
    Unproven,
}

impl ReleaseZips {
    pub(super) fn of<L>(release: &Verified<Release<L>>, voucher: Voucher) -> Self {
        let subject = ReleaseId::of(release);
        let packages = release.packages.iter();
        let platform_of = |one: &Package<L>| (one.zh(), one.platform.clone());
        let mut zips = Self {
            own: packages.clone().map(platform_of).collect(),
            packages: packages
                .map(|one| (one.platform.clone(), one.expected.digest))
                .collect(),
            listed: BTreeSet::new(),
            voucher,
        };
        for (name, digest) in release.checksums().into_iter().flat_map(Checksums::lines) {
            let hash = PackageHash::of_zip(&digest);
            // A manifest may be the same in every release.
            if let Some(platform) = subject.platform_of(name) {
                zips.own.insert((hash.clone(), platform));
            }
            zips.listed.insert(hash);
        }
        zips
    }

    /// Compares the release with the hashes in a lock file. It is the locked release if one of the locked zips is of it, and if it has no new zip
    /// instead of a locked one that its checksum document does not have. Otherwise the version was published again with other packages, which are
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
        let has_document = !self.listed.is_empty();
        let is_exchanged = has_document && new.peek().is_some();
        let is_disjoint = !own.clone().any(|zip| zips.contains(zip));
        if lost.is_empty() || !(is_exchanged || is_disjoint) {
            return Ok(());
        }
        let is_new =
            |(_, digest): &&(Platform, Digest)| !zips.contains(&PackageHash::of_zip(digest));
        match (self.voucher, self.packages.iter().find(is_new)) {
            (Voucher::Signed, _) => Err(Problem::OtherRelease {
                locked: lost,
                received: new.cloned().collect(),
            }),
            (voucher, Some((platform, received))) if has_document || voucher == Voucher::Stated => {
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
