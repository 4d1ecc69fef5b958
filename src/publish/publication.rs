//! A publication: everything to write for a version, decided before anything is written.

use super::{Blob, Change, ContentGraph, Digest, Tag};
use crate::store::Move;

/// The changes to a repository that publish a version.
#[derive(Debug)]
pub(super) struct Publication<B> {
    /// The version's tag and its index.
    pub(super) index: TagUpdate<B>,
    /// Whether the version's tag moves.
    pub(super) moves_index: bool,
    /// The tag of the evidence and the evidence to write; `None` if the repository keeps what it has.
    pub(super) evidence: Option<TagUpdate<B>>,
    /// For each package of the release, in order, whether to deliver it. The repository already has the others.
    pub(super) delivers: Vec<bool>,
    /// Whether anything other than evidence is missing, as far as tfoci can tell without reading packages.
    pub(super) is_incomplete: bool,
    /// Whether to remove unreferenced blobs afterwards: after a replacement, or after an earlier one that was killed before this step.
    pub(super) sweeps: bool,
    /// A warning to show before anything is written.
    pub(super) warning: Option<String>,
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
    /// The tag moves, the version's tag last.
    pub(super) fn moves(&self) -> Vec<Move<'_>> {
        let evidence = self.evidence.as_ref().map(TagUpdate::as_move);
        let index = self.moves_index.then(|| self.index.as_move());
        evidence.into_iter().chain(index).collect()
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

impl<B> TagUpdate<B> {
    fn as_move(&self) -> Move<'_> {
        Move {
            tag: &self.tag,
            to: &self.content.root,
            was: self.was.as_ref(),
        }
    }
}
