//! Parcels: one version as it lies in the store that is copied from, read and judged.

use crate::blob::{BlobSource, Body, Error, Kept, Memory};
use crate::examine::Shelf;
use crate::oci::{EMPTY_BYTES, Tag};
use crate::release::{Expected, Release};
use crate::store::ReadStore;
use crate::trust::Verified;

use super::tree::Tree;

/// One version on its way.
#[derive(Debug)]
pub(super) struct Parcel<B> {
    pub(super) tag: Tag,
    pub(super) evidence_tag: Tag,
    /// Its index, and everything below that.
    pub(super) tree: Tree,
    /// Its evidence, and everything below that.
    pub(super) evidence: Option<Tree>,
    /// What all of it is to clients.
    pub(super) release: Verified<Release<B>>,
}

/// A blob of which the bytes are at hand, perhaps; the store has it in any case.
#[derive(Clone)]
pub(super) struct Part<B> {
    blob: B,
    at_hand: Option<Memory>,
}

impl<B: BlobSource> BlobSource for Part<B> {
    fn expected(&self) -> Expected {
        self.blob.expected()
    }

    fn can_be_cut(&self) -> bool {
        self.at_hand.is_none() && self.blob.can_be_cut()
    }

    fn kept(&self) -> Option<Kept<'_>> {
        self.blob.kept()
    }

    async fn open(&self, from: u64) -> Result<Body, Error> {
        match &self.at_hand {
            Some(memory) => memory.open(from).await,
            None => self.blob.open(from).await,
        }
    }
}

/// Everything of a tree that is no package: configs, documents of evidence, and what other tools put beside a zip. What was
/// read already is not read again, and the empty config is not read at all: some tools name it and leave it out.
pub(super) fn others<S: ReadStore>(
    tree: &Tree,
    release: &Release<S::Blob>,
    from: &Shelf<S>,
) -> Vec<Part<S::Blob>> {
    let Release {
        checksums,
        signatures,
        keys,
        packages,
        ..
    } = release;
    let documents = checksums.iter().chain(signatures);
    let read = documents.map(|document| &*document.bytes);
    let keys = keys.iter().map(|ring| &*ring.bytes);
    let at_hand: Vec<Memory> = read
        .chain(keys)
        .chain([EMPTY_BYTES])
        .map(|bytes| Memory::new(bytes.to_vec()))
        .collect();
    let is_package = |blob: &&Expected| packages.iter().any(|one| one.expected == **blob);
    let others = tree.blobs.iter().filter(|blob| !is_package(blob));
    others
        .map(|expected| Part {
            blob: from.store.blob(&from.repository, *expected),
            at_hand: at_hand
                .iter()
                .find(|memory| memory.expected() == *expected)
                .cloned(),
        })
        .collect()
}
