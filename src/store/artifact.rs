//! A version in a store: its index, packages and evidence, and the release that they form.

use super::Error;
use crate::address::ProviderAddr;
use crate::authentication::{Anchor, Note};
use crate::oci::{Descriptor, Evidence, Index, Layer, Part, RawManifest, Refusal, manifest};
use crate::platform::Platform;
use crate::release::{Document, KeyRing, Package, Release, canonical_file_name};
use crate::version::Version;

/// A version's index, both raw and parsed.
#[derive(Clone, Debug)]
pub struct Artifact {
    /// The bytes that the tag refers to.
    pub raw: RawManifest,
    /// What these bytes say.
    pub index: Index,
}

/// One platform of an artifact.
#[derive(Clone, Debug)]
pub struct StoredPackage {
    /// The platform that it is built for.
    pub platform: Platform,
    /// The entry of the index.
    pub entry: Descriptor,
    /// The zip's layer in the platform manifest.
    pub layer: Layer,
}

/// The manifest and the documents of stored evidence.
#[derive(Clone, Debug)]
pub struct StoredEvidence {
    /// The evidence manifest, byte for byte.
    pub raw: RawManifest,
    /// The content of the documents that the manifest lists.
    pub evidence: Evidence<Vec<u8>>,
}

/// Builds a release from what a store holds of a version. It has the same type as a release from an origin, so that the same
/// checks apply to both. Its key is trusted for no other reason than being in the store ([`Anchor::Embedded`]).
pub fn release<L>(
    provider: &ProviderAddr,
    version: &Version,
    packages: Vec<Package<L>>,
    evidence: Option<Evidence<Vec<u8>>>,
) -> Release<L> {
    let evidence = evidence.unwrap_or_default();
    let signature = evidence.signature;
    let signature = signature.map(|bytes| Document::new("SHA256SUMS.sig", bytes));
    let keys = evidence.keys.map(|bytes| KeyRing {
        name: "key in the evidence".to_owned(),
        bytes,
        anchor: Anchor::Embedded,
    });
    let checksums = evidence.checksums;
    Release {
        provider: provider.clone(),
        version: version.clone(),
        protocols: evidence.protocols,
        checksums: checksums.map(|bytes| Document::new("SHA256SUMS", bytes)),
        signatures: signature.into_iter().collect(),
        keys: keys.into_iter().collect(),
        packages,
        notes: Vec::new(),
    }
}

impl StoredPackage {
    /// The package that an index entry refers to, from its platform manifest; `raw` is `None` if the store does not have the manifest.
    ///
    /// # Errors
    /// The manifest is missing, or clients would refuse the platform.
    pub fn read(
        platform: &Platform,
        entry: &Descriptor,
        raw: Option<&RawManifest>,
    ) -> Result<Self, Error> {
        let what = Part::Manifest;
        let digest = entry.expected_of(what)?.digest;
        let raw = raw.ok_or(Error::Missing { what, digest })?;
        Ok(Self {
            platform: platform.clone(),
            entry: entry.clone(),
            layer: manifest::read(raw, platform)?,
        })
    }

    /// The package as part of a release. Without a title in its manifest it gets the canonical file name.
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
    /// Irregularities in the index and in these packages that clients accept.
    pub fn notes(&self, packages: &[StoredPackage]) -> Vec<Note> {
        let layers = packages.iter().flat_map(|package| &package.layer.notes);
        let mut notes: Vec<Note> = self.index.notes().iter().chain(layers).copied().collect();
        notes.sort_unstable();
        notes.dedup();
        notes
    }

    /// The index entry that clients select for a platform.
    ///
    /// # Errors
    /// The reason why a client on that platform refuses the index.
    pub fn entry(&self, platform: &Platform) -> Result<&Descriptor, Refusal> {
        self.index.select(platform)
    }
}
