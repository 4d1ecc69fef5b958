//! A publication: everything to write for a version, decided before anything is written.

use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use super::{Blob, Change, ContentGraph, Digest, RepoMut, Tag};
use crate::event::Warning;
use crate::oci::Part;
use crate::store::{self, Move, Tagged};

/// The number of manifests or documents that are written at once: half of the small requests that one host may receive. An index may refer
/// to hundreds.
pub(super) const CONCURRENT_WRITES: usize = 8;

/// The changes to a repository that publish a version.
#[derive(Debug)]
pub(super) struct Publication<B> {
    /// The version's tag and its index.
    pub(super) index: TagUpdate<B>,
    /// Whether the version's tag moves.
    pub(super) moves_index: bool,
    /// The least time until moved tags are read again; `None` if others hardly write the version.
    pub(super) look_again: Option<Duration>,
    /// The tag of the evidence and the evidence to write; `None` if the repository keeps what it has.
    pub(super) evidence: Option<TagUpdate<B>>,
    /// For each package of the release, in order, whether to deliver it. The repository already has the others.
    pub(super) delivers: Vec<bool>,
    /// Whether anything other than evidence is missing, as far as tfoci can tell without reading packages.
    pub(super) is_incomplete: bool,
    /// Whether to remove unreferenced blobs afterwards: after a replacement, or after an earlier one that was killed before this step.
    pub(super) sweeps: bool,
    /// A warning to show before anything is written.
    pub(super) warning: Option<Warning>,
}

/// A tag, and the content to write for it.
#[derive(Debug)]
pub(super) struct TagUpdate<B> {
    pub(super) tag: Tag,
    /// The digest that the tag refers to now.
    pub(super) was: Option<Digest>,
    /// The new content. Parts that the repository is known to have are left out.
    pub(super) content: ContentGraph<Blob<B>>,
}

impl<B> Publication<B> {
    /// Writes every manifest below the tags.
    pub(super) async fn put_manifests(&self, to: &RepoMut) -> Result<(), store::Error> {
        let targets = std::iter::once(&self.index).chain(&self.evidence);
        for batch in targets.flat_map(|target| &target.content.manifests) {
            let writes: Vec<_> = batch.iter().map(|one| to.put_manifest(one)).collect();
            let writes = stream::iter(writes).buffer_unordered(CONCURRENT_WRITES);
            writes.try_collect::<()>().await?;
        }
        Ok(())
    }

    /// Writes the manifests below the tags, unless `has_manifests`, and moves the tags, the version's tag last. If the store does not accept the
    /// evidence, it is left out and the refusal is returned.
    pub(super) async fn move_tags(
        &mut self,
        to: &RepoMut,
        mut has_manifests: bool,
    ) -> Result<(Tagged, Option<store::Error>), store::Error> {
        let mut refused = None;
        loop {
            let below = async {
                match has_manifests {
                    true => Ok(()),
                    false => self.put_manifests(to).await,
                }
            };
            let index = Some(&self.index).filter(|_| self.moves_index);
            let moves = self.evidence.iter().chain(index);
            let moves = moves.map(|update| Move {
                tag: &update.tag,
                to: &update.content.root,
                was: update.was.as_ref(),
            });
            let moves: Vec<_> = moves.collect();
            if moves.is_empty() {
                below.await?;
                return Ok((Tagged::Moved, refused));
            }
            match to.tag(below, &moves, self.look_again).await {
                // No tag has moved yet, because the evidence comes first.
                Err(error) if error.unwelcome().is_some() => {
                    refused = Some(self.leave_out(error)?);
                    has_manifests = true;
                }
                moved => return Ok((moved?, refused)),
            }
        }
    }

    /// Leaves the evidence out if the store does not accept evidence, and returns the store's refusal. If the repository has other
    /// evidence, this is an error: that evidence would stay, and may not prove the new index.
    fn leave_out(&mut self, error: store::Error) -> Result<store::Error, store::Error> {
        let is_unwelcome = error.unwelcome() == Some(Part::Evidence);
        match self.evidence.take() {
            Some(TagUpdate { was: None, .. }) if is_unwelcome => Ok(error),
            _ => Err(error),
        }
    }

    /// Removes what was replaced. Returns a warning if that fails, because the version is already published.
    pub(super) async fn sweep(&self, to: &RepoMut) -> Option<Warning> {
        let swept = match self.sweeps {
            true => to.sweep().await,
            false => Ok(()),
        };
        let failed = swept.err();
        failed.map(|error| Warning::Other(format!("what was replaced is not removed: {error}")))
    }

    /// Every blob below the tags except packages, with the part that it is of.
    pub(super) fn all_blobs(&self) -> impl Iterator<Item = (&Blob<B>, Part)> {
        let index = self.index.content.blobs.iter();
        let evidence = self.evidence.iter();
        let evidence = evidence.flat_map(|target| &target.content.blobs);
        let index = index.map(|blob| (blob, Part::Blob));
        index.chain(evidence.map(|blob| (blob, Part::Evidence)))
    }

    /// The status to report for the version.
    pub(super) fn change(&self) -> Change {
        match self.index.was {
            None => Change::Copied,
            Some(_) if self.is_incomplete || self.evidence.is_some() => Change::Updated,
            Some(_) => Change::Present,
        }
    }
}
