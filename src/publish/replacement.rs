//! What a replacement would change, platform by platform. Only dry runs ask.

use std::collections::BTreeMap;

use super::{Digest, Platform, Publication, Release, RepoMut};
use crate::oci::Index;
use crate::store::At;

/// One line for each platform that the publication replaces, removes or adds; none if it replaces no version.
pub(super) async fn changes<L, B>(
    release: &Release<L>,
    publication: &Publication<B>,
    to: &RepoMut,
) -> Vec<String> {
    if publication.index.was.is_none() || !publication.moves_index {
        return Vec::new();
    }
    let Some(mut stored) = stored_zips(publication, to).await else {
        return vec!["would replace a version that cannot be read".to_owned()];
    };
    let mut lines = Vec::new();
    for package in &release.packages {
        let platform = &package.platform;
        let zh = package.expected.digest.hex();
        match stored.remove(platform) {
            Some(old) if old == package.expected.digest => {}
            Some(old) => lines.push(format!(
                "would replace {platform} zh:{} by zh:{zh}",
                old.hex()
            )),
            None => lines.push(format!("would add {platform} zh:{zh}")),
        }
    }
    let removed = stored.into_iter();
    lines
        .extend(removed.map(|(platform, old)| format!("would remove {platform} zh:{}", old.hex())));
    lines
}

/// The zips of the version that the tag refers to; `None` if they cannot be read. The list is a courtesy of the dry run: the plan itself has
/// failed by now if the store cannot be read.
async fn stored_zips<B>(
    publication: &Publication<B>,
    to: &RepoMut,
) -> Option<BTreeMap<Platform, Digest>> {
    let raw = to.manifest(At::Tag(&publication.index.tag)).await.ok()??;
    let index = Index::read(&raw).ok()?;
    let packages = to.packages(&index, |_| true).await.ok()?;
    let zips = packages.into_iter();
    Some(
        zips.map(|package| (package.platform, package.layer.expected.digest))
            .collect(),
    )
}
