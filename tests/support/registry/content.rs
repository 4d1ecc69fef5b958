//! The content of a registry.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::Value;
use sha2::{Digest as _, Sha512};

use crate::support::layout::digest;

/// The repositories by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    pub repositories: BTreeMap<String, Repository>,
}

/// One repository. The same blob in two of them counts as two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repository {
    pub blobs: BTreeMap<String, Bytes>,
    pub manifests: BTreeMap<String, Manifest>,
    /// Tags and their digests, in the order in which they came.
    pub tags: Vec<(String, String)>,
    pub uploads: BTreeMap<String, Upload>,
    /// Whether there ever was a tag.
    pub was_tagged: bool,
}

/// A manifest or index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    pub media_type: String,
    pub bytes: Bytes,
}

/// An upload that is not finished.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Upload {
    pub bytes: Vec<u8>,
    /// How many bytes the last answer reported.
    pub told: u64,
    /// The state that its URL must carry.
    pub state: u64,
    /// Whether a chunk below the minimum length arrived, which must be the last one.
    pub ended: bool,
}

impl Content {
    pub fn repository(&mut self, name: &str) -> &mut Repository {
        self.repositories.entry(name.to_owned()).or_default()
    }
}

impl Repository {
    /// The digest of a tag. A digest is returned as it is.
    pub fn resolve(&self, reference: &str) -> Option<String> {
        if reference.contains(':') {
            return Some(reference.to_owned());
        }
        let found = self.tags.iter().find(|(tag, _)| tag == reference)?;
        Some(found.1.clone())
    }

    /// Creates or moves a tag.
    pub fn tag(&mut self, tag: &str, digest: &str) {
        self.was_tagged = true;
        match self.tags.iter_mut().find(|(name, _)| name == tag) {
            Some((_, stands)) => digest.clone_into(stands),
            None => self.tags.push((tag.to_owned(), digest.to_owned())),
        }
    }
}

/// The digest of bytes, by the algorithm of another digest.
pub fn digest_like(wanted: &str, bytes: &[u8]) -> String {
    if !wanted.starts_with("sha512:") {
        return digest(bytes);
    }
    let hash = Sha512::digest(bytes);
    let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha512:{hex}")
}

/// The digests that a manifest or index refers to: config and layers, or children.
pub fn parts(document: &Value) -> (Vec<String>, Vec<String>) {
    let digests = |items: &[Value]| {
        let found = items.iter().filter_map(|item| item["digest"].as_str());
        found.map(str::to_owned).collect::<Vec<_>>()
    };
    let list = |name: &str| document[name].as_array().cloned().unwrap_or_default();
    let mut blobs = digests(&list("layers"));
    blobs.extend(digests(&[document["config"].clone()]));
    (blobs, digests(&list("manifests")))
}
