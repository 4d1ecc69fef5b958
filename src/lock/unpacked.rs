//! Unpacked packages of filesystem mirrors. Clients know them by their `h1` alone.

use std::collections::BTreeSet;

use crate::archive::Limits;
use crate::disk;
use crate::hash::PackageHash;
use crate::install::refuse_unlocked;
use crate::jobs;
use crate::outcome::Problem;
use crate::platform::{Platform, Platforms};
use crate::prove::prove;
use crate::release::Release;
use crate::source::filesystem_mirror::Unpacked;
use crate::source::{AvailableVersion, Source};

use super::recorded::{self, Recorded, Reported};
use super::release_zips::ReleaseZips;
use super::{Journey, Task};

impl Journey<'_> {
    /// Hashes or installs the unpacked packages of a version; `None` if it is packed. The lock file accepts those whose `h1` it has, and the
    /// policy decides about others.
    pub(super) async fn record_unpacked(
        &self,
        task: &Task,
        source: &Source,
        available: &AvailableVersion,
        locked: &BTreeSet<PackageHash>,
    ) -> Result<Option<Recorded>, Problem> {
        let (options, provider) = (self.options, &task.provider);
        let version = available.version.version();
        let Source::FilesystemMirror(mirror) = source else {
            return Ok(None);
        };
        let mut unpacked = mirror.unpacked(provider, version, &options.platforms)?;
        if unpacked.is_empty() {
            return Ok(None);
        }
        let has_h1 = locked.iter().any(PackageHash::is_h1);
        let is_by_lock =
            has_h1 && !options.trust_store && !options.trust.has_own_rule(&task.provider);
        let rule = self.rule_for_source(task, source, is_by_lock)?;
        let release = Release::<()>::unproven(provider, version, Vec::new());
        let release = prove(release, &rule, options.trust.now).await?;
        let (mut installed, mut own) = (Vec::new(), BTreeSet::new());
        if let Some(installer) = self.installer {
            installed = installer.copy(provider, unpacked, locked).await?;
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
        if is_by_lock {
            return Ok(Some(Recorded::by_lock(locked, installed)));
        }
        let of_installed = installed.iter();
        own.extend(of_installed.filter_map(|one| Some((one.h1.clone()?, one.platform.clone()))));
        let platforms = own.iter().map(|(_, platform)| platform.clone());
        let h1 = own.iter().map(|(h1, _)| h1);
        Ok(Some(Recorded {
            authentication: release.authentication().clone(),
            hashes: locked.iter().chain(h1).cloned().collect(),
            reported: Reported::default(),
            only: (!options.trust_store).then(|| platforms.collect()),
            installed,
            unpacked: recorded::Unpacked::Some,
            zips: Some(ReleaseZips {
                own,
                ..ReleaseZips::default()
            }),
        }))
    }
}

/// The `h1` of each package.
async fn hashed(unpacked: Vec<Unpacked>) -> Result<BTreeSet<(PackageHash, Platform)>, Problem> {
    let hashed = jobs::in_thread(move || {
        let hashed = unpacked.into_iter().map(|one| {
            let h1 = disk::directory_h1(&one.path, &Limits::default())?;
            Ok((h1, one.platform))
        });
        hashed.collect()
    });
    hashed.await
}
