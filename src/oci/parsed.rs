//! Decodes indexes and manifests as clients do, and checks the types that they declare.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::annotations;
use super::{Descriptor, LARGEST_READ, LARGEST_WRITTEN, MOST_ENTRIES, Part, RawManifest, Refusal};
use crate::authentication::Note;
use crate::json::{self, Object};

/// The kind of a manifest, which depends on its list of descriptors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ManifestKind {
    /// It has `manifests`.
    Index,
    /// It has `layers` and a `config`.
    Image,
}

/// A decoded index or manifest.
#[derive(Clone, Debug, Default)]
pub(super) struct ParsedManifest {
    media_type: String,
    artifact_type: String,
    /// Its `manifests` or `layers`.
    pub(super) items: Vec<ListedDescriptor>,
    pub(super) annotations: BTreeMap<String, String>,
    /// Whether a member had its name in an unusual letter case.
    pub(super) lenient: bool,
    /// The other members.
    pub(super) rest: Vec<(String, Box<RawValue>)>,
}

/// A descriptor of the list, and irregularities of its form.
#[derive(Clone, Debug)]
pub(super) struct ListedDescriptor {
    pub(super) descriptor: Descriptor,
    pub(super) raw: Box<RawValue>,
}

impl ParsedManifest {
    /// Parses as clients do: a wrong type of any member that they know makes the whole manifest invalid.
    pub(super) fn parse(bytes: &[u8], kind: ManifestKind) -> Result<Self, json::Error> {
        let mut object = Object::parse(bytes)?;
        object.integer("schemaVersion")?;
        let (list, others) = match kind {
            ManifestKind::Index => ("manifests", ["subject"].as_slice()),
            ManifestKind::Image => ("layers", ["config", "subject"].as_slice()),
        };
        let items = object.list(list, MOST_ENTRIES, |raw| {
            Ok(ListedDescriptor {
                descriptor: Descriptor::of(raw)?,
                raw: raw.to_owned(),
            })
        })?;
        for name in others {
            if let Some(value) = object.peek(name)? {
                Descriptor::of(value).map_err(|error| error.within(name))?;
            }
        }
        let mut manifest = Self {
            media_type: object.text("mediaType")?,
            artifact_type: object.text("artifactType")?,
            annotations: annotations::take(&mut object, |_| true)?,
            lenient: items.iter().any(|item| item.descriptor.lenient),
            items,
            rest: Vec::new(),
        };
        manifest.lenient |= object.is_lenient();
        manifest.rest = object.into_rest();
        Ok(manifest)
    }

    /// Parses a manifest from a store, and checks that it repeats the two types by which the store knows it ([clients:
    /// index](crate::clients#index), [platform manifest](crate::clients#platform-manifest)).
    pub(super) fn read(
        raw: &RawManifest,
        kind: ManifestKind,
        what: Part,
        artifact_type: &'static str,
    ) -> Result<Self, Refusal> {
        Refusal::check_size(what, LARGEST_READ, raw.expected.size)?;
        let parsed = Self::parse(&raw.bytes, kind);
        let manifest = parsed.map_err(|source| Refusal::unread(what, source))?;
        for (member, expected, received) in [
            ("mediaType", raw.media_type.as_str(), &manifest.media_type),
            ("artifactType", artifact_type, &manifest.artifact_type),
        ] {
            if received != expected {
                return Err(Refusal::wrong(what, member, expected, received));
            }
        }
        Ok(manifest)
    }

    /// Irregularities of this manifest that clients accept and stricter parsers may refuse.
    pub(super) fn notes(&self, raw: &RawManifest) -> Vec<Note> {
        let large = raw.bytes.len() > LARGEST_WRITTEN;
        let lenient = self.lenient.then_some(Note::LenientJson);
        let large = large.then_some(Note::LargeManifest);
        lenient.into_iter().chain(large).collect()
    }
}
