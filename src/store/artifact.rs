//! What a store holds of a version: its index, its packages, its evidence, and the release that these make.

use crate::address::ProviderAddr;
use crate::authentication::{Anchor, Note};
use crate::oci::{Descriptor, Evidence, Index, Layer, RawManifest, Refusal};
use crate::platform::Platform;
use crate::release::{Document, KeyRing, Package, Protocols, Release, canonical_file_name};
use crate::version::Version;

/// A version's index as it is stored and as it reads.
#[derive(Clone, Debug)]
pub struct Artifact {
    /// The document.
    pub raw: RawManifest,
    /// What it says.
    pub index: Index,
}

/// One platform of an artifact.
#[derive(Clone, Debug)]
pub struct StoredPackage {
    /// What it is built for.
    pub platform: Platform,
    /// The entry of the index.
    pub entry: Descriptor,
    /// What its manifest says.
    pub layer: Layer,
}

/// Evidence with its documents, and its manifest.
#[derive(Clone, Debug)]
pub struct StoredEvidence {
    /// The manifest.
    pub raw: RawManifest,
    /// The documents.
    pub evidence: Evidence<Vec<u8>>,
}

/// What a store holds of a version, as a release: the same shape in which an origin offers one, so that the same
/// checks serve both. Its keys are anchored in nothing but the store.
pub fn release<L>(
    provider: &ProviderAddr,
    version: &Version,
    packages: Vec<Package<L>>,
    evidence: Option<Evidence<Vec<u8>>>,
) -> Release<L> {
    let named = |name: &str, bytes| Document {
        name: name.to_owned(),
        bytes,
    };
    let evidence = evidence.unwrap_or_else(|| Evidence {
        checksums: None,
        signature: None,
        keys: None,
        protocols: Protocols::default(),
    });
    Release {
        provider: provider.clone(),
        version: version.clone(),
        protocols: evidence.protocols,
        checksums: evidence
            .checksums
            .map(|bytes| named("checksum document in the evidence", bytes)),
        signatures: evidence
            .signature
            .map(|bytes| named("signature in the evidence", bytes))
            .into_iter()
            .collect(),
        keys: evidence
            .keys
            .map(|bytes| KeyRing {
                name: "key in the evidence".to_owned(),
                bytes,
                anchor: Anchor::Embedded,
            })
            .into_iter()
            .collect(),
        packages,
        notes: Vec::new(),
    }
}

impl StoredPackage {
    /// This package as a release has it, at some location.
    pub fn at<L>(&self, provider: &ProviderAddr, version: &Version, location: L) -> Package<L> {
        let canonical = || canonical_file_name(provider, version, &self.platform);
        Package {
            platform: self.platform.clone(),
            file_name: self.layer.title.clone().unwrap_or_else(canonical),
            expected: self.layer.expected,
            location,
        }
    }
}

impl Artifact {
    /// What clients let pass in the index and in these packages.
    pub fn notes(&self, packages: &[StoredPackage]) -> Vec<Note> {
        let layers = packages.iter().flat_map(|package| &package.layer.notes);
        let mut notes: Vec<Note> = self.index.notes().iter().chain(layers).copied().collect();
        notes.sort_unstable();
        notes.dedup();
        notes
    }

    /// The entry for a platform.
    ///
    /// # Errors
    /// The reason for which a client on that platform refuses.
    pub fn entry(&self, platform: &Platform) -> Result<&Descriptor, Refusal> {
        self.index.select(platform)
    }
}
