//! Attacks by a writer of a store: alters a document of a layout, and corrects the digests that refer to it.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::layout::{blob, digest};

const REF_NAME: &str = "org.opencontainers.image.ref.name";

/// Stores bytes. Returns a descriptor of them.
pub fn put(layout: &Path, media_type: &str, bytes: &[u8]) -> Value {
    let path = blob(layout, bytes);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
    json!({"mediaType": media_type, "digest": digest(bytes), "size": bytes.len()})
}

/// The document that a descriptor points at.
pub fn document(layout: &Path, descriptor: &Value) -> Value {
    let digest = descriptor["digest"].as_str().unwrap().replace(':', "/");
    serde_json::from_slice(&fs::read(layout.join("blobs").join(digest)).unwrap()).unwrap()
}

/// Alters `index.json`.
pub fn tags(layout: &Path, change: impl FnOnce(&mut Vec<Value>)) {
    let path = layout.join("index.json");
    let mut index: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(index["manifests"].as_array_mut().unwrap());
    fs::write(path, index.to_string()).unwrap();
}

/// Removes a tag.
pub fn untag(layout: &Path, tag: &str) {
    tags(layout, |tags| {
        tags.retain(|entry| entry["annotations"][REF_NAME] != tag);
    });
}

/// The descriptor of a tag.
pub fn tagged(layout: &Path, tag: &str) -> Value {
    let mut found = Value::Null;
    tags(layout, |tags| {
        let mut entries = tags.iter();
        let entry = entries.find(|entry| entry["annotations"][REF_NAME] == tag);
        found = entry.unwrap().clone();
    });
    found
}

/// Alters the document of a tag.
pub fn alter(layout: &Path, tag: &str, change: impl FnOnce(&mut Value)) {
    let mut descriptor = tagged(layout, tag);
    let mut altered = document(layout, &descriptor);
    change(&mut altered);
    let bytes = altered.to_string();
    let media_type = descriptor["mediaType"].as_str().unwrap().to_owned();
    let stored = put(layout, &media_type, bytes.as_bytes());
    for member in ["digest", "size"] {
        descriptor[member] = stored[member].clone();
    }
    tags(layout, |tags| {
        tags.retain(|entry| entry["annotations"][REF_NAME] != tag);
        tags.push(descriptor);
    });
}

/// Makes the index of a version name another zip for a platform. The manifest is not changed.
pub fn lie(layout: &Path, version: &str, platform: &str, zip: &str) {
    let (os, arch) = platform.split_once('_').unwrap();
    alter(layout, version, |index| {
        let mut entries = index["manifests"].as_array_mut().unwrap().iter_mut();
        let entry = entries.find(|entry| {
            entry["platform"]["os"] == os && entry["platform"]["architecture"] == arch
        });
        entry.unwrap()["annotations"]["org.tfoci.package"] = zip.into();
    });
}

/// Copies the evidence of a version from one layout into another.
pub fn transplant(from: &Path, to: &Path, version: &str) {
    let tag = format!("evidence-{version}");
    let descriptor = tagged(from, &tag);
    let evidence = document(from, &descriptor);
    let parts = evidence["layers"].as_array().unwrap().iter();
    for part in parts.chain([&evidence["config"], &descriptor]) {
        let digest = part["digest"].as_str().unwrap().replace(':', "/");
        let bytes = fs::read(from.join("blobs").join(digest)).unwrap();
        put(to, "", &bytes);
    }
    tags(to, |tags| {
        tags.retain(|entry| entry["annotations"][REF_NAME] != *tag);
        tags.push(descriptor);
    });
}
