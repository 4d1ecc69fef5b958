//! The `index.json` of an OCI image layout, which maps tags to descriptors.

use std::collections::BTreeSet;

use bytes::Bytes;
use serde::ser::{Error as _, Serialize, SerializeMap as _, Serializer};
use serde_json::value::RawValue;

use super::annotations::{self, REF_NAME};
use super::{Descriptor, INDEX, RawManifest, Tag};
use crate::digest::Digest;
use crate::json::{self, Object};

/// The content of the file `oci-layout`.
pub const LAYOUT: &[u8] = b"{\"imageLayoutVersion\":\"1.0.0\"}";

/// The most descriptors in an `index.json`: one for each tag of a provider. Real providers have some hundreds of tags.
pub const MOST_TAGS: usize = 20_000;

/// Whether an `oci-layout` file with this content marks a supported layout.
pub fn is_layout(marker: &[u8]) -> bool {
    let version = Object::parse(marker).and_then(|mut object| object.text("imageLayoutVersion"));
    version.is_ok_and(|version| version == "1.0.0")
}

/// The tags of one repository in a layout, and the other descriptors in its `index.json`.
#[derive(Clone, Debug, Default)]
pub struct Tags {
    entries: Vec<LayoutEntry>,
    rest: Vec<(String, Box<RawValue>)>,
}

/// A descriptor of the list, unparsed, and its name. There may be many, so the text is shared with the document and parsed on demand.
#[derive(Clone, Debug)]
struct LayoutEntry {
    name: Option<String>,
    text: Bytes,
}

impl LayoutEntry {
    fn read(raw: &RawValue, document: &Bytes) -> Result<Self, json::Error> {
        let mut descriptor = Descriptor::of(raw)?;
        Ok(Self {
            name: descriptor.annotations.remove(REF_NAME),
            text: document.slice_ref(raw.get().as_bytes()),
        })
    }

    fn raw(&self) -> Result<&RawValue, serde_json::Error> {
        serde_json::from_slice(&self.text)
    }

    fn is_named(&self, name: &str) -> bool {
        self.name.as_deref() == Some(name)
    }

    fn descriptor(&self) -> Descriptor {
        // It was parsed before.
        let raw = self.raw().ok();
        raw.and_then(|raw| Descriptor::of(raw).ok())
            .unwrap_or_default()
    }
}

impl Tags {
    /// Parses an `index.json`.
    ///
    /// # Errors
    /// The document is not JSON of the expected structure, or has a duplicate member or too many descriptors.
    pub fn read(document: impl Into<Bytes>) -> Result<Self, json::Error> {
        let document = document.into();
        let mut object = Object::parse(&document)?;
        object.must_have("manifests")?;
        object.integer("schemaVersion")?;
        object.text("mediaType")?;
        let entries = object.list("manifests", MOST_TAGS, |raw| {
            LayoutEntry::read(raw, &document)
        })?;
        let mut others = object.clone();
        others.text("artifactType")?;
        others.object("subject", Descriptor::read)?;
        annotations::take(&mut others, |_| false)?;
        Ok(Self {
            entries,
            rest: object.into_rest(),
        })
    }

    /// The descriptor of a tag. Like clients, this uses the last of several.
    pub fn find(&self, tag: &Tag) -> Option<Descriptor> {
        let mut entries = self.entries.iter();
        entries
            .rfind(|entry| entry.is_named(tag.as_str()))
            .map(LayoutEntry::descriptor)
    }

    /// All names, sorted, including names that are not tags.
    pub fn names(&self) -> Vec<String> {
        let names = self.entries.iter().filter_map(|entry| entry.name.clone());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names.dedup();
        names
    }

    /// The descriptors with a name, and the names.
    pub fn named(&self) -> impl Iterator<Item = (&str, Descriptor)> {
        let entries = self.entries.iter();
        entries.filter_map(|entry| Some((entry.name.as_deref()?, entry.descriptor())))
    }

    /// All descriptors, with and without tag. They are the roots of all blobs in use.
    pub fn descriptors(&self) -> impl Iterator<Item = Descriptor> {
        self.entries.iter().map(LayoutEntry::descriptor)
    }

    /// Makes a tag refer to a manifest.
    ///
    /// # Errors
    /// None for manifests that tfoci builds.
    pub fn set(&mut self, tag: &Tag, manifest: &RawManifest) -> Result<(), serde_json::Error> {
        let mut descriptor = manifest.descriptor();
        descriptor
            .annotations
            .insert(REF_NAME.to_owned(), tag.to_string());
        self.entries.retain(|entry| !entry.is_named(tag.as_str()));
        self.entries.push(LayoutEntry {
            name: Some(tag.to_string()),
            text: serde_json::to_vec(&descriptor)?.into(),
        });
        Ok(())
    }

    /// Forgets tags, and entries without a tag for some manifests.
    pub fn remove(&mut self, tags: &[Tag], manifests: &BTreeSet<Digest>) {
        let tags: BTreeSet<&str> = tags.iter().map(Tag::as_str).collect();
        self.entries.retain(|entry| match &entry.name {
            Some(name) => !tags.contains(&**name),
            None => {
                let digest = entry.descriptor().digest.parse();
                !digest.is_ok_and(|digest| manifests.contains(&digest))
            }
        });
    }

    /// The document: tagged descriptors sorted by tag, followed by the others unchanged.
    ///
    /// # Errors
    /// None for documents that tfoci parsed or built.
    pub fn write(&self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(self)
    }
}

impl Serialize for Tags {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (mut tagged, others): (Vec<&LayoutEntry>, Vec<&LayoutEntry>) =
            self.entries.iter().partition(|entry| entry.name.is_some());
        tagged.sort_by_key(|entry| &entry.name);
        let manifests: Result<Vec<&RawValue>, _> = tagged
            .into_iter()
            .chain(others)
            .map(LayoutEntry::raw)
            .collect();
        let manifests = manifests.map_err(S::Error::custom)?;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schemaVersion", &2)?;
        map.serialize_entry("mediaType", INDEX)?;
        map.serialize_entry("manifests", &manifests)?;
        for (key, value) in &self.rest {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// The names of a repository's tags. Other tools may have written names that are not valid tags.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagNames(BTreeSet<String>);

impl TagNames {
    /// Whether the repository has this tag.
    pub fn has(&self, tag: &Tag) -> bool {
        self.0.contains(tag.as_str())
    }

    /// Whether any version has evidence. Then the repository also has the blobs that all evidence shares.
    pub fn has_evidence(&self) -> bool {
        let is_evidence = |name: &String| Tag::parse(name).is_ok_and(|tag| tag.is_evidence());
        self.0.iter().any(is_evidence)
    }

    /// The names, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

impl FromIterator<String> for TagNames {
    fn from_iter<I: IntoIterator<Item = String>>(names: I) -> Self {
        Self(names.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oci::PROVIDER;

    #[test]
    fn tags_are_sorted_and_foreign_entries_kept() {
        let foreign = r#"{"mediaType":"x","digest":"y", "size":3}"#;
        let mut tags = Tags::read(format!(
            r#"{{"schemaVersion":2,"manifests":[{foreign}],"z":1}}"#
        ))
        .unwrap();
        let manifest = RawManifest::new(INDEX, PROVIDER, b"{}".to_vec());
        for tag in ["2.0.0", "1.0.0", "2.0.0"] {
            tags.set(&Tag::parse(tag).unwrap(), &manifest).unwrap();
        }
        let text = String::from_utf8(tags.write().unwrap()).unwrap();
        let entry = |tag: &str| {
            format!(
                r#"{{"mediaType":"{INDEX}","artifactType":"{PROVIDER}","digest":"{}","size":2,"annotations":{{"{REF_NAME}":"{tag}"}}}}"#,
                manifest.expected.digest
            )
        };
        assert_eq!(
            text,
            format!(
                r#"{{"schemaVersion":2,"mediaType":"{INDEX}","manifests":[{},{},{foreign}],"z":1}}"#,
                entry("1.0.0"),
                entry("2.0.0")
            )
        );
        let names = Tags::read(text).unwrap().names();
        assert_eq!(names, ["1.0.0", "2.0.0"]);
        assert!(is_layout(LAYOUT) && !is_layout(b"{\"imageLayoutVersion\":\"2.0.0\"}"));
    }
}
