//! The artifact: a provider version as OCI objects, byte for byte.
//!
//! ```text
//! tag 1.0.0 ──> index                                   artifactType application/vnd.opentofu.provider
//!                ├─ linux_amd64 ──> platform manifest    artifactType application/vnd.opentofu.provider-target
//!                │                   ├─ config           the empty object, two bytes
//!                │                   └─ layer            archive/zip: the author's zip, untouched
//!                └─ darwin_arm64 ─> platform manifest …
//!
//! tag evidence-1.0.0 ──> evidence manifest              artifactType application/vnd.tfoci.evidence.v1
//!                         ├─ config                      the empty object
//!                         ├─ layer text/plain            the checksum document, untouched
//!                         ├─ layer application/pgp-signature
//!                         └─ layer application/pgp-keys  the signing certificate alone, armoured
//! ```
//!
//! - A **platform manifest** depends only on the digest, size and file name of the zip.
//! - An **index** is a pure function of address, version and platform manifests. Its entries are sorted by operating system and
//!   architecture. Each has the annotation `org.tfoci.package`, the zip's digest, for people and scripts. tfoci does not rely on it.
//! - **Evidence** depends on the release only, so adding a platform does not change it.
//!
//! None of these contains a time, an `h1`, the URL of an origin, or white space, and none depends on map order. The same release therefore
//! has the same digests on every machine, from every source, and after any crash.
//!
//! A mirror with a key may attach an **attestation** to the index: a manifest with `subject` and the artifact type of its one layer, a Sigstore
//! bundle. Readers find it in the registry's list of referrers, otherwise in the index with the tag `sha256-HEX` of the digest. It says when it was
//! made, so each run that attests anew has another one ([`attestation`]).
//!
//! # Tags, annotations and members
//! The tag of a version is its canonical text with `_` in place of `+` ([`reference`](mod@reference)). A version has at most 119 characters,
//! so that the tag of its evidence has at most 128. A directory of layouts has one layout per provider, in `HOSTNAME/NAMESPACE/TYPE` with
//! the host in punycode and `_` before its port. The names of repositories in a registry are up to users ([`crate::template`]).
//!
//! | where | annotation | value |
//! | --- | --- | --- |
//! | index | [`TITLE`] | the address of the provider, with the host in punycode |
//! | index | [`VERSION`] | the version, with `+` |
//! | entry of the index | [`PACKAGE`] | the digest of the zip, `sha256:` and 64 hexadecimal digits |
//! | layer of a platform manifest | [`TITLE`] | the file name of the zip |
//! | evidence manifest | [`PROTOCOLS`] | the plugin protocol versions, ascending, such as `5.0,6.0`; empty if unknown |
//! | attestation | [`ATTESTATION`], [`CREATED`], [`PREDICATE`] | a digest of what it says, when it was made, and its type |
//!
//! Users may add annotations to the index. Digests depend on the order of members, so it is fixed. Members without a value are left out, and
//! strings have no escapes but those that JSON demands.
//!
//! | object | members in order |
//! | --- | --- |
//! | index | `schemaVersion` (2), `mediaType`, `artifactType`, `manifests`, `annotations` |
//! | platform manifest, evidence manifest | `schemaVersion` (2), `mediaType`, `artifactType`, `config`, `layers`, `annotations` |
//! | descriptor | `mediaType`, `artifactType`, `digest`, `size`, `platform`, `annotations` |
//! | platform of a descriptor | `architecture`, `os` |
//! | annotations | sorted by name |
//!
//! An entry of the index repeats the artifact type of its manifest; `config` and the layers have no artifact type. A release without a
//! signature or key has evidence without those layers. `testdata/golden` has one manifest of each kind, and a test compares every byte.
//!
//! # Why evidence has its own tag
//! Clients ignore tags that are not versions, and registries without the referrers API support them. Garbage collectors delete untagged
//! manifests but keep tagged ones. Some registries refuse a manifest with a `subject`.
//!
//! Reading follows [the client](crate::clients#oci-artifacts), which accepts more than tfoci writes. [`Refusal`] says why a client refuses an
//! artifact.

mod annotations;
pub mod attestation;
pub mod descriptor;
pub mod evidence;
pub mod index;
pub mod manifest;
mod parsed;
mod part;
pub mod reference;
pub mod referrers;
pub mod refusal;
pub mod tags;

pub(crate) use annotations::REF_NAME;
pub use descriptor::{Descriptor, DescriptorPlatform};
pub use evidence::Evidence;
pub use index::Index;
pub use manifest::Layer;
pub use part::Part;
pub use reference::{Repository, Tag};
pub use referrers::Referrers;
pub use refusal::Refusal;
pub use tags::{TagNames, Tags};

use bytes::Bytes;

use crate::digest::Digest;
use crate::json;
use crate::release::Expected;

/// The media type of an index.
pub const INDEX: &str = "application/vnd.oci.image.index.v1+json";
/// The media type of a manifest.
pub const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
/// The artifact type of a provider version's index.
pub const PROVIDER: &str = "application/vnd.opentofu.provider";
/// The artifact type of a platform manifest and of its entry in the index.
pub const PROVIDER_TARGET: &str = "application/vnd.opentofu.provider-target";
/// The media type of a package layer.
pub const ZIP: &str = "archive/zip";
/// The media type of the empty config.
pub const EMPTY: &str = "application/vnd.oci.empty.v1+json";
/// The content of the empty config.
pub const EMPTY_BYTES: &[u8] = b"{}";
/// The annotation for an artifact's address, or a layer's file name.
pub const TITLE: &str = "org.opencontainers.image.title";
/// The annotation for an artifact's version.
pub const VERSION: &str = "org.opencontainers.image.version";
/// The annotation for the digest of the zip, in an entry of an index. tfoci writes it but does not rely on it, because any writer of an
/// index can set it. The platform manifest contains the authoritative digest.
pub const PACKAGE: &str = "org.tfoci.package";
/// The annotation for the plugin protocol versions, in evidence.
pub const PROTOCOLS: &str = "org.tfoci.protocols";
/// The annotation for the digest of what is attested, apart from when. By it, a list of referrers tells whether an attestation is there.
pub const ATTESTATION: &str = "org.tfoci.attestation";
/// When something was made.
pub const CREATED: &str = "org.opencontainers.image.created";
/// Cosign's annotation for the type of the predicate.
pub const PREDICATE: &str = "dev.sigstore.bundle.predicateType";

/// The largest manifest that tfoci writes, in bytes. Registries refuse larger ones
/// ([clients: manifest limits](crate::clients#manifest-limits)).
pub const LARGEST_WRITTEN: usize = 4 << 20;
/// The largest manifest that tfoci reads, in bytes. Clients compare whole MiB, so they accept one byte less than 5 MiB
/// ([clients: manifest limits](crate::clients#manifest-limits)).
pub const LARGEST_READ: u64 = (5 << 20) - 1;

/// The most descriptors in one manifest: entries of an index, or layers. Real ones have some dozens; the limit bounds the memory for a
/// hostile one.
pub const MOST_ENTRIES: usize = 1_000;
/// The most platforms that a version can have. Go supports about fifty.
pub const MOST_PLATFORMS: usize = 200;

/// A manifest or index, byte for byte. All its properties are derived from the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawManifest {
    /// The media type in the store.
    pub media_type: String,
    /// The artifact type that the store reports. Layouts may report one, registries never do.
    pub artifact_type: Option<String>,
    /// As the store sent them: the digest is of exactly these bytes.
    pub bytes: Bytes,
    /// The digest and size of the manifest.
    pub expected: Expected,
}

impl RawManifest {
    /// The part of the artifact that it is, for a manifest that is written.
    pub fn part(&self) -> Part {
        match self.artifact_type.as_deref() {
            Some(evidence::EVIDENCE) => Part::Evidence,
            _ if self.media_type == INDEX => Part::Index,
            _ => Part::Manifest,
        }
    }

    /// Creates a manifest, and computes its digest.
    pub fn new(media_type: &str, artifact_type: &str, bytes: Vec<u8>) -> Self {
        let expected = Expected::of(&bytes);
        Self {
            media_type: media_type.to_owned(),
            artifact_type: Some(artifact_type.to_owned()),
            bytes: bytes.into(),
            expected,
        }
    }

    /// Its media type, digest and size, as an index or another manifest names them.
    pub fn descriptor(&self) -> Descriptor {
        Descriptor {
            artifact_type: self.artifact_type.clone(),
            ..Descriptor::new(&self.media_type, self.expected)
        }
    }

    /// The descriptors of the parts of an index or manifest. The subject is not a part, and need not exist.
    ///
    /// # Errors
    /// The bytes are not a valid index or manifest, so their references are unknown.
    pub fn parts(&self) -> Result<Vec<Descriptor>, Refusal> {
        self.descriptors(&["config"])
    }

    /// All descriptors in an index or manifest.
    ///
    /// # Errors
    /// The errors of [`RawManifest::parts`].
    pub fn children(&self) -> Result<Vec<Descriptor>, Refusal> {
        self.descriptors(&["config", "subject"])
    }

    /// The manifests that an index names.
    ///
    /// # Errors
    /// The errors of [`RawManifest::parts`].
    pub fn manifests(&self) -> Result<Vec<Descriptor>, Refusal> {
        let mut parts = self.parts()?;
        parts.retain(Descriptor::may_refer_to_others);
        Ok(parts)
    }

    /// The digest of the manifest that this one is attached to.
    ///
    /// # Errors
    /// The bytes are not a valid manifest.
    pub fn subject(&self) -> Result<Option<Digest>, Refusal> {
        let subject = json::Object::parse(&self.bytes)
            .and_then(|mut manifest| manifest.object("subject", Descriptor::read));
        let subject = subject.map_err(|source| Refusal::unread(self.part(), source))?;
        Ok(subject.and_then(|subject| subject.digest.parse().ok()))
    }

    fn descriptors(&self, members: &[&'static str]) -> Result<Vec<Descriptor>, Refusal> {
        let read = || {
            let mut object = json::Object::parse(&self.bytes)?;
            let mut all = Vec::new();
            for list in ["manifests", "layers", "blobs"] {
                all.extend(object.list(list, MOST_ENTRIES, Descriptor::of)?);
            }
            for member in members {
                all.extend(object.object(member, Descriptor::read)?);
            }
            Ok(all)
        };
        read().map_err(|source| Refusal::unread(self.part(), source))
    }
}

/// A manifest that cannot be created.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message of a variant names its fields")]
pub enum Error {
    /// The manifest exceeds the size limit.
    #[error(
        "the manifest is too large for a registry\n  expected at most {LARGEST_WRITTEN} bytes\n  received {size}"
    )]
    TooLarge { size: usize },
    /// The parts cannot be serialized. This does not happen for parts that tfoci parsed or built.
    #[error("the manifest cannot be written")]
    Json(#[from] serde_json::Error),
}

/// The valid digests of descriptors.
pub fn digests(entries: &[Descriptor]) -> impl Iterator<Item = Digest> {
    entries.iter().filter_map(|entry| entry.digest.parse().ok())
}

/// Serializes one of tfoci's types as a canonical manifest.
fn write(
    media_type: &str,
    artifact_type: &str,
    manifest: &impl serde::Serialize,
) -> Result<RawManifest, Error> {
    let bytes = serde_json::to_vec(manifest)?;
    if bytes.len() > LARGEST_WRITTEN {
        return Err(Error::TooLarge { size: bytes.len() });
    }
    Ok(RawManifest::new(media_type, artifact_type, bytes))
}
