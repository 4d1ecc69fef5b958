//! Hashes packages: zips that are downloaded, and unpacked packages of filesystem mirrors, which clients know by their `h1` alone.

use std::collections::BTreeSet;

use crate::archive::Limits;
use crate::disk;
use crate::event::Transfer;
use crate::hash::PackageHash;
use crate::install::{Download, each_package, refuse_unlocked};
use crate::jobs;
use crate::outcome::{Failure, Problem};
use crate::place::Place;
use crate::platform::{Platform, Platforms};
use crate::prove::prove;
use crate::publish::PackageBlob;
use crate::release::Release;
use crate::source::filesystem_mirror::{FilesystemMirror, LocalPackage};
use crate::trust::Verified;

use super::record::Recorded;
use super::release_zips::ReleaseZips;
use super::{Found, Journey};

impl Journey<'_> {
    /// Downloads the packages of a release. Returns the `zh` of each, and with [`super::Options::h1`] the `h1` of its unpacked directory.
    pub(super) async fn measure<B: PackageBlob>(
        &self,
        release: &Verified<Release<B>>,
        at: &Place,
    ) -> Result<BTreeSet<PackageHash>, Failure> {
        let options = self.options;
        let measured = each_package(release, &options.jobs, at, self.reporter, |download| {
            let wants_h1 = options.h1.has(&download.package.platform);
            async move {
                let hashes = hashes(&download, wants_h1).await?;
                Ok::<_, Problem>((hashes, Transfer::Copied))
            }
        });
        Ok(measured.await?.into_iter().flatten().collect())
    }

    /// Hashes or installs the unpacked packages of a version; `None` if it is packed. The lock file accepts those whose `h1` it has, and the
    /// policy decides about others.
    pub(super) async fn record_unpacked(
        &self,
        mirror: &FilesystemMirror,
        found: &Found<'_>,
        locked: &BTreeSet<PackageHash>,
    ) -> Result<Option<Recorded>, Problem> {
        let (options, provider, version) = (self.options, found.provider, found.version());
        let mut unpacked = mirror.unpacked(provider, version, &options.platforms)?;
        if unpacked.is_empty() {
            return Ok(None);
        }
        let has_h1 = locked.iter().any(PackageHash::is_h1);
        let is_by_lock = has_h1 && !options.trust_store && !options.trust.has_own_rule(provider);
        let rule = self.rule_for_source(found, is_by_lock)?;
        let release = Release::<()>::unproven(provider, version, Vec::new());
        let release = prove(release, &rule, options.trust.now).await?;
        let (mut installed, mut own) = (Vec::new(), BTreeSet::new());
        if let Some(installer) = self.installer {
            installed = installer.copy(provider, version, unpacked, locked).await?;
        } else {
            if options.trust_store {
                unpacked = mirror.unpacked(provider, version, &Platforms::All)?;
            }
            own = hashed(unpacked).await?;
            let mut others = own.iter().filter(|(h1, _)| !locked.contains(h1));
            if is_by_lock || options.trust_store && others.clone().count() == own.len() {
                others.try_for_each(|(h1, _)| refuse_unlocked(h1, locked))?;
            }
        }
        let mut recorded = Recorded::by_lock(locked, installed);
        if is_by_lock {
            return Ok(Some(recorded));
        }
        let of_installed = recorded.installed.iter();
        own.extend(of_installed.filter_map(|one| Some((one.h1.clone()?, one.platform.clone()))));
        recorded.authentication = release.authentication().clone();
        recorded.hashes.extend(own.iter().map(|(h1, _)| h1.clone()));
        let platforms = own.iter().map(|(_, platform)| platform.clone());
        recorded.only = (!options.trust_store).then(|| platforms.collect());
        recorded.zips = Some(ReleaseZips {
            own,
            ..ReleaseZips::default()
        });
        Ok(Some(recorded))
    }
}

/// The `zh` of a package, and the `h1` if it is wanted.
async fn hashes<B: PackageBlob>(
    download: &Download<B>,
    wants_h1: bool,
) -> Result<Vec<PackageHash>, Problem> {
    let mut hashes = vec![download.package.zh()];
    match wants_h1 {
        true => hashes.push(download.inspected().await?.hashes.directory),
        false => download.to(|_| Ok(())).await?,
    }
    Ok(hashes)
}

/// The `h1` of each package.
async fn hashed(unpacked: Vec<LocalPackage>) -> Result<BTreeSet<(PackageHash, Platform)>, Problem> {
    let hashed = jobs::in_thread(move || {
        let hashed = unpacked.into_iter().map(|one| {
            let h1 = disk::directory_h1(&one.path, &Limits::default())?;
            Ok((h1, one.platform))
        });
        hashed.collect()
    });
    hashed.await
}
