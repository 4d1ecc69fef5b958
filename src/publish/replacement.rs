//! What a replacement changes, platform by platform.

use std::collections::BTreeMap;

use super::{Platform, Publication, Release, RepoMut};
use crate::hash::PackageHash;
use crate::oci::Index;
use crate::outcome::PlatformChange;
use crate::store::At;

/// What the publication replaces, removes or adds; nothing if it replaces no version, or the stored version cannot be read.
pub(super) async fn changes<B>(
    release: &Release<B>,
    publication: &Publication<B>,
    to: &RepoMut,
) -> Vec<PlatformChange> {
    let mut changes = Vec::new();
    if publication.index.was.is_none() || !publication.moves_index {
        return changes;
    }
    let Some(mut stored) = stored_zips(publication, to).await else {
        return changes;
    };
    for package in &release.packages {
        let from = stored.remove(&package.platform);
        let to = Some(package.zh());
        if from != to {
            changes.push(PlatformChange {
                platform: package.platform.clone(),
                from,
                to,
            });
        }
    }
    let removed = stored.into_iter();
    changes.extend(removed.map(|(platform, old)| PlatformChange {
        platform,
        from: Some(old),
        to: None,
    }));
    changes
}

/// The zips of the version that the tag refers to; `None` if they cannot be read. The list is for the user only: the plan itself has failed by
/// now if the store cannot be read.
async fn stored_zips<B>(
    publication: &Publication<B>,
    to: &RepoMut,
) -> Option<BTreeMap<Platform, PackageHash>> {
    let raw = to.manifest(At::Tag(&publication.index.tag)).await.ok()??;
    let index = Index::read(&raw).ok()?;
    let packages = to.packages(&index.platforms().ok()?).await.ok()?;
    let zips = packages.into_iter().map(|package| {
        let zh = PackageHash::of_zip(&package.layer.expected.digest);
        (package.platform, zh)
    });
    Some(zips.collect())
}
