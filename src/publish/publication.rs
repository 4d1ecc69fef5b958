//! A publication: what is to be written of a version, known before anything is.

use super::{Blob, Change, Content, Digest, Tag};
use crate::store::Move;

/// What is to be written of a version.
#[derive(Debug)]
pub(super) struct Publication<B> {
    /// The version's tag, and its index.
    pub(super) index: Target<B>,
    /// Whether the version's tag moves.
    pub(super) moves_index: bool,
    /// The tag of the evidence, and the evidence; `None` where the repository keeps what it has.
    pub(super) evidence: Option<Target<B>>,
    /// Whether each package of the release is delivered, in its order. One that is not delivered is there.
    pub(super) delivers: Vec<bool>,
    /// Whether anything but evidence is missing, as far as could be told without reading packages.
    pub(super) is_incomplete: bool,
    /// Whether what nothing leads to is removed: after a replacement, and after one that was killed before it came to this.
    pub(super) sweeps: bool,
    /// What the user should know before it is carried out.
    pub(super) warning: Option<String>,
}

/// A tag, and what it will stand for.
#[derive(Debug)]
pub(super) struct Target<B> {
    pub(super) tag: Tag,
    /// What the tag stands for now.
    pub(super) was: Option<Digest>,
    /// What it will stand for. What of it is known to be there is left out.
    pub(super) content: Content<Blob<B>>,
}

impl<B> Publication<B> {
    /// The tags that move, the version's last.
    pub(super) fn moves(&self) -> Vec<Move<'_>> {
        let evidence = self.evidence.as_ref().map(Target::as_move);
        let index = self.moves_index.then(|| self.index.as_move());
        evidence.into_iter().chain(index).collect()
    }

    /// What carrying it out comes to.
    pub(super) fn change(&self) -> Change {
        match self.index.was {
            None => Change::Copied,
            Some(_) if self.is_incomplete || self.evidence.is_some() => Change::Updated,
            Some(_) => Change::Present,
        }
    }
}

impl<B> Target<B> {
    fn as_move(&self) -> Move<'_> {
        Move {
            tag: &self.tag,
            to: &self.content.root,
            was: self.was.as_ref(),
        }
    }
}
