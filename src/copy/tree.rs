//! Trees: everything that a tag leads to, children first.

use std::collections::HashSet;

use crate::oci::{Descriptor, Part, RawManifest, Refusal, Repository, Tag, parts};
use crate::release::Expected;
use crate::store::{At, Error, ReadStore, WriteStore};

/// The most bytes of documents that a tag may lead to, since all of them are held at once. Those of a provider for a dozen
/// platforms have some ten thousand.
const LARGEST: u64 = 16 << 20;
/// The most documents and blobs that a tag may lead to, since each costs a request. An index of 200 platforms leads to 600.
const MOST: usize = 4_000;

/// A document, and everything that it leads to.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    /// The document that the tag stands for.
    pub(super) root: RawManifest,
    /// Those below it: each after all that it leads to.
    pub(super) documents: Vec<RawManifest>,
    /// What they consist of besides documents, each once.
    pub(super) blobs: Vec<Expected>,
}

/// What to do next on the way through a tree.
enum Step {
    Enter(Descriptor),
    Leave(RawManifest),
}

impl Tree {
    /// Reads every document below this one. Whatever is not there, or has other bytes than it should, is found here, but for blobs.
    ///
    /// # Errors
    /// The store's, a part that is missing or damaged, or more than is held at once.
    pub(super) async fn read<S: ReadStore>(
        store: &S,
        repository: &Repository,
        root: RawManifest,
    ) -> Result<Self, Error> {
        let mut open = below(&root)?;
        let (mut seen, mut held) = (HashSet::new(), 0);
        let (mut documents, mut blobs) = (Vec::new(), Vec::new());
        while let Some(step) = open.pop() {
            let entry = match step {
                Step::Enter(entry) => entry,
                Step::Leave(document) => {
                    documents.push(document);
                    continue;
                }
            };
            let what = if entry.leads_on() {
                Part::Manifest
            } else {
                Part::Blob
            };
            let expected = entry.leads_to(what)?;
            if !seen.insert(expected.digest) {
                continue;
            }
            if seen.len() > MOST {
                return Err(Error::TooManyParts { limit: MOST });
            }
            if what == Part::Blob {
                blobs.push(expected);
                continue;
            }
            held += expected.size;
            if held > LARGEST {
                return Err(Error::TooLarge {
                    what: Part::Index,
                    limit: LARGEST,
                    size: held,
                });
            }
            let document = store.manifest(repository, At::Entry(&entry)).await?;
            let digest = expected.digest;
            let document = RawManifest {
                // What the index says of it is what clients ask for.
                media_type: entry.media_type,
                ..document.ok_or(Error::Missing { what, digest })?
            };
            let below = below(&document)?;
            open.push(Step::Leave(document));
            open.extend(below);
        }
        Ok(Self {
            root,
            documents,
            blobs,
        })
    }

    /// The document that an entry of the index points at.
    pub(super) fn document(&self, entry: &Descriptor) -> Option<&RawManifest> {
        let documents = self.documents.iter();
        documents
            .clone()
            .find(|document| document.expected.digest.to_string() == entry.digest)
    }

    /// Whether a store has everything that a tag leads to; blobs are judged by their size.
    ///
    /// # Errors
    /// The store cannot tell.
    pub(super) async fn is_whole<S: WriteStore>(
        store: &S,
        repository: &Repository,
        tag: &Tag,
    ) -> Result<bool, Error> {
        if store.keeps_whole() {
            return Ok(true);
        }
        let read = match store.manifest(repository, At::Tag(tag)).await {
            Ok(Some(root)) => Self::read(store, repository, root).await,
            Ok(None) => return Ok(false),
            Err(error) => Err(error),
        };
        let tree = match read {
            Ok(tree) => tree,
            Err(error) if error.is_damage() => return Ok(false),
            Err(error) => return Err(error),
        };
        for blob in &tree.blobs {
            if !store.has_blob(repository, blob).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The way through the parts of a document, of which the last comes first.
fn below(document: &RawManifest) -> Result<Vec<Step>, Error> {
    let what = Part::Manifest;
    let parts = parts(&document.bytes).map_err(|source| Refusal::unread(what, source))?;
    // A descriptor that says nothing, as the absent config of some tools, leads nowhere.
    let parts = parts.into_iter().filter(|part| !part.digest.is_empty());
    Ok(parts.rev().map(Step::Enter).collect())
}
