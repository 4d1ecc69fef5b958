//! The `index.json` of an OCI image layout: which tag stands for what.

use std::collections::BTreeMap;

use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::value::RawValue;

use super::document::Item;
use super::json::{self, Object, to_raw};
use super::{Descriptor, INDEX, RawManifest, Tag};

/// The annotation of a descriptor in `index.json` with its tag.
pub const REF_NAME: &str = "org.opencontainers.image.ref.name";
/// The content of the file `oci-layout`.
pub const LAYOUT: &[u8] = b"{\"imageLayoutVersion\":\"1.0.0\"}";

/// Whether this content of a file `oci-layout` marks a layout that can be read.
pub fn is_layout(marker: &[u8]) -> bool {
    let version = Object::parse(marker).and_then(|mut object| object.text("imageLayoutVersion"));
    version.is_ok_and(|version| version == "1.0.0")
}

/// The tags of one repository in a layout, and whatever else its `index.json` lists.
#[derive(Clone, Debug, Default)]
pub struct Tags {
    entries: Vec<Item>,
    rest: Vec<(String, Box<RawValue>)>,
}

impl Item {
    fn name(&self) -> Option<&str> {
        let name = self.descriptor.annotations.get(REF_NAME)?;
        Some(name)
    }
}

impl Tags {
    /// Reads an `index.json`.
    ///
    /// # Errors
    /// What is not JSON of its kind.
    pub fn read(bytes: &[u8]) -> Result<Self, json::Error> {
        let mut object = Object::parse(bytes)?;
        object.integer("schemaVersion")?;
        object.text("mediaType")?;
        object.check::<String>("artifactType")?;
        object.check::<BTreeMap<String, Option<String>>>("annotations")?;
        object.check::<Descriptor>("subject")?;
        Ok(Self {
            entries: object.take("manifests")?.unwrap_or_default(),
            rest: object.into_rest(),
        })
    }

    /// What a tag stands for. The last of several wins, as with clients.
    pub fn find(&self, tag: &Tag) -> Option<&Descriptor> {
        self.entries
            .iter()
            .rfind(|entry| entry.name() == Some(tag.as_str()))
            .map(|entry| &entry.descriptor)
    }

    /// All names, sorted: tags, and whatever else somebody wrote in their place.
    pub fn names(&self) -> Vec<String> {
        let names = self.entries.iter().filter_map(Item::name);
        let mut names: Vec<String> = names.map(str::to_owned).collect();
        names.sort();
        names.dedup();
        names
    }

    /// Every descriptor, tagged or not: where a walk over what is in use begins.
    pub fn descriptors(&self) -> impl Iterator<Item = &Descriptor> {
        self.entries.iter().map(|entry| &entry.descriptor)
    }

    /// Lets a tag stand for a manifest.
    ///
    /// # Errors
    /// None that what was built here can cause.
    pub fn set(&mut self, tag: &Tag, manifest: &RawManifest) -> Result<(), serde_json::Error> {
        let mut descriptor = manifest.descriptor();
        descriptor
            .annotations
            .insert(REF_NAME.to_owned(), tag.to_string());
        self.entries
            .retain(|entry| entry.name() != Some(tag.as_str()));
        self.entries.push(Item {
            raw: to_raw(&descriptor)?,
            descriptor,
        });
        Ok(())
    }

    /// The document: tagged descriptors sorted by tag, then the others as they were.
    ///
    /// # Errors
    /// None that what was read or built here can cause.
    pub fn write(&self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(self)
    }
}

impl Serialize for Tags {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (mut tagged, others): (Vec<&Item>, Vec<&Item>) = self
            .entries
            .iter()
            .partition(|entry| entry.name().is_some());
        tagged.sort_by_key(|entry| entry.name());
        let manifests: Vec<&RawValue> = tagged
            .into_iter()
            .chain(others)
            .map(|entry| &*entry.raw)
            .collect();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oci::PROVIDER;

    #[test]
    fn tags_are_sorted_and_foreign_entries_kept() {
        let foreign = r#"{"mediaType":"x","digest":"y", "size":3}"#;
        let mut tags = Tags::read(
            format!(r#"{{"schemaVersion":2,"manifests":[{foreign}],"z":1}}"#).as_bytes(),
        )
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
        let names = Tags::read(text.as_bytes()).unwrap().names();
        assert_eq!(names, ["1.0.0", "2.0.0"]);
        assert!(is_layout(LAYOUT) && !is_layout(b"{\"imageLayoutVersion\":\"2.0.0\"}"));
    }
}
