//! What other tools attach to a manifest: signatures, SBOMs and attestations.
//!
//! An attached manifest, a *referrer*, names the other one as its `subject` (OCI distribution specification 1.1, "Listing Referrers"). Some registries
//! list the referrers of a manifest. For others, and in files, an index lists them. Its tag is the digest of the subject, `sha256-HEX`. The lists
//! that tfoci writes have the entries that a registry would list, sorted by digest, so that all stores have the same one. Cosign 2 uses no subject: it
//! adds `.sig`, `.att` or `.sbom` to that tag.

use serde::Serialize;
use serde_json::value::RawValue;

use super::{
    Descriptor, INDEX, MANIFEST, MOST_ENTRIES, Part, RawManifest, Refusal, Tag, annotations,
};
use crate::digest::Digest;
use crate::json::{self, Object};
use crate::release::Expected;

/// How deep attachments of attachments are followed. A signature of an SBOM has depth 2.
pub const DEEPEST: usize = 4;
/// How the artifact types begin that are copied by default.
const KNOWN_TYPES: [&str; 6] = [
    "application/vnd.dev.sigstore.bundle",
    "application/vnd.dev.cosign.artifact.sig",
    "application/vnd.dev.cosign.artifact.att",
    "application/vnd.cncf.notary.signature",
    "application/spdx",
    "application/vnd.cyclonedx",
];
/// The media types of manifests and indexes.
const MEDIA_TYPES: [&str; 4] = [
    MANIFEST,
    INDEX,
    "application/vnd.docker.distribution.manifest.v2+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
];
/// How the tags of cosign end that are copied by default.
const KNOWN_TAGS: [&str; 3] = [".sig", ".att", ".sbom"];

/// Which attachments are copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Referrers {
    /// Signatures, SBOMs and attestations of the common tools
    #[default]
    Known,
    /// Everything
    All,
    /// Nothing
    None,
}

impl Referrers {
    /// Whether attachments of this artifact type are copied.
    pub fn has_type(self, artifact_type: &str) -> bool {
        self == Self::All || KNOWN_TYPES.iter().any(|one| artifact_type.starts_with(one))
    }

    /// Whether what this tag of cosign refers to is copied.
    pub fn has_tag(self, tag: &Tag) -> bool {
        self == Self::All || KNOWN_TAGS.iter().any(|end| tag.as_str().ends_with(end))
    }
}

impl Tag {
    /// The tag of the list of what is attached to a manifest.
    pub fn of_referrers(subject: &Digest) -> Self {
        Self(subject.to_string().replacen(':', "-", 1))
    }
}

/// The digest of the subject in a tag such as `sha256-HEX` or `sha256-HEX.sig`.
pub fn subject_of(tag: &str) -> Option<Digest> {
    let hex = tag.strip_prefix("sha256-")?.get(..64)?;
    format!("sha256:{hex}").parse().ok()
}

/// The entry of a list for a manifest; `None` if it is not attached to this subject.
///
/// # Errors
/// The bytes are no manifest.
pub fn entry(raw: &RawManifest, subject: &Digest) -> Result<Option<Descriptor>, Refusal> {
    if raw.subject()?.as_ref() != Some(subject) {
        return Ok(None);
    }
    let described = described(raw).map_err(|source| Refusal::unread(Part::Manifest, source))?;
    Ok(Some(described))
}

fn described(raw: &RawManifest) -> Result<Descriptor, json::Error> {
    let mut manifest = Object::parse(&raw.bytes)?;
    let artifact_type = manifest.text("artifactType")?;
    let config = manifest.object("config", Descriptor::read)?;
    let config = config.map(|config| config.media_type).unwrap_or_default();
    Ok(Descriptor {
        artifact_type: Some(match artifact_type.as_str() {
            "" => config,
            _ => artifact_type,
        }),
        annotations: annotations::take(&mut manifest, |_| true)?,
        ..Descriptor::new(&raw.media_type, raw.expected)
    })
}

/// Refuses a manifest whose descriptor has another media type than the manifest itself, or the type of something else. A registry may serve the
/// manifest with that type from then on.
///
/// # Errors
/// It is such a manifest.
pub fn check_media_type(raw: &RawManifest) -> Result<(), Refusal> {
    let own = Object::parse(&raw.bytes).and_then(|mut manifest| manifest.text("mediaType"));
    let own = own.map_err(|source| Refusal::unread(Part::Manifest, source))?;
    let named = &raw.media_type;
    let (expected, received) = match MEDIA_TYPES.contains(&named.as_str()) {
        true if own.is_empty() || own == *named => return Ok(()),
        true => (named.clone(), own),
        false => ("that of a manifest or an index".to_owned(), named.clone()),
    };
    Err(Refusal::wrong(
        Part::Manifest,
        "mediaType",
        expected,
        received,
    ))
}

/// A list with these entries.
///
/// # Errors
/// None for descriptors.
pub fn list(entries: &impl Serialize) -> Result<RawManifest, Refusal> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct List<'a, E> {
        schema_version: u8,
        media_type: &'static str,
        manifests: &'a E,
    }
    let bytes = serde_json::to_vec(&List {
        schema_version: 2,
        media_type: INDEX,
        manifests: entries,
    });
    let bytes = bytes.map_err(|error| unread(error.into()))?;
    Ok(RawManifest {
        media_type: INDEX.to_owned(),
        artifact_type: None,
        expected: Expected::of(&bytes),
        bytes: bytes.into(),
    })
}

/// The list of a store with the entries of another list, too. Its own entries stay as they are.
///
/// # Errors
/// One of them is not an index, or they have too many entries together.
pub fn merged(own: &RawManifest, more: &RawManifest) -> Result<RawManifest, Refusal> {
    let read = |list: &RawManifest| {
        let mut object = Object::parse(&list.bytes)?;
        object.list("manifests", MOST_ENTRIES, |raw: &RawValue| {
            Ok((Descriptor::of(raw)?.digest, raw.to_owned()))
        })
    };
    let own = read(own).map_err(unread)?;
    let more = read(more).map_err(unread)?;
    let is_new = |digest: &String| own.iter().all(|(known, _)| known != digest);
    let new = more.iter().filter(|(digest, _)| is_new(digest));
    let entries: Vec<&RawValue> = own.iter().chain(new).map(|(_, raw)| &**raw).collect();
    if entries.len() > MOST_ENTRIES {
        return Err(unread(json::Error::too_many("items", MOST_ENTRIES)));
    }
    list(&entries)
}

fn unread(source: json::Error) -> Refusal {
    Refusal::unread(Part::Index, source)
}
