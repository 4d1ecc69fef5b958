//! The contents list of a bundle, `tfoci-bundle.json`, and what `tfoci have` prints.
//!
//! People and scripts read the list before they carry a bundle, and a reader learns from it which blobs a delta leaves out. It proves nothing:
//! digests and signatures decide. A reader refuses a list with other versions than `index.json` has.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::release::Expected;

/// The version of the format.
pub const FORMAT: u32 = 1;

/// What a bundle has, or what a store has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contents {
    /// [`FORMAT`]
    pub format: u32,
    /// The versions, sorted by provider and then by version.
    pub versions: Vec<BundledVersion>,
    /// How many manifests, documents and packages follow, each class sorted by digest; `None` in what a store has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub members: Option<[usize; 3]>,
    /// What a delta leaves out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<Base>,
    /// The other parts of the set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<Parts>,
}

/// A version in a bundle or in a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BundledVersion {
    /// `HOSTNAME/NAMESPACE/TYPE` of the provider, as in the names of `index.json`.
    pub address: String,
    /// The version.
    pub version: String,
    /// The digest of the index.
    pub index: String,
    /// The platforms of the index, in its order.
    pub platforms: Vec<String>,
    /// The digest of the evidence manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// The packages that a store has of the version. Those of a bundle are its members.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<ListedBlob>,
}

/// What a delta relies on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Base {
    /// The digest of the list that `--base` named.
    pub digest: String,
    /// The packages that the bundle leaves out, sorted by digest.
    pub omitted: Vec<ListedBlob>,
}

/// One of several bundles that belong together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parts {
    /// The name of the set: the digest of the list of its versions.
    pub set: String,
    /// The number of this part, from 1 on.
    pub number: usize,
    /// The number of parts.
    pub of: usize,
    /// `ADDR VERSION` of all parts, each with the number of its part.
    pub versions: BTreeMap<String, usize>,
}

/// A blob by its digest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListedBlob {
    /// Its digest.
    pub digest: String,
    /// Its size in bytes.
    pub size: u64,
}

impl Contents {
    /// Parses a list, in any spelling.
    ///
    /// # Errors
    /// It is not JSON of this form, or its format is not known.
    pub fn read(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        let read: Self = serde_json::from_slice(bytes)?;
        match read.format {
            FORMAT => Ok(read),
            _ => Err(serde::de::Error::custom("the format is not known")),
        }
    }
}

impl ListedBlob {
    /// A blob in a list.
    pub fn new(Expected { digest, size }: Expected) -> Self {
        let digest = digest.to_string();
        Self { digest, size }
    }

    /// The blob; `None` if its digest is malformed.
    pub fn expected(&self) -> Option<Expected> {
        let (digest, size) = (self.digest.parse().ok()?, self.size);
        Some(Expected { digest, size })
    }
}
