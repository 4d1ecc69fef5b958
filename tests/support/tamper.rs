//! Attacks by a writer of a store: alters a document of a layout, and corrects the digests that refer to it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::layout::{digest, place, store};

const REF_NAME: &str = "org.opencontainers.image.ref.name";

/// Stores bytes. Returns a descriptor of them.
pub fn put(layout: &Path, media_type: &str, bytes: &[u8]) -> Value {
    store(layout, bytes);
    json!({"mediaType": media_type, "digest": digest(bytes), "size": bytes.len()})
}

/// The file that a descriptor points at.
pub fn file(layout: &Path, descriptor: &Value) -> PathBuf {
    place(layout, descriptor["digest"].as_str().unwrap())
}

/// The document that a descriptor points at.
pub fn document(layout: &Path, descriptor: &Value) -> Value {
    serde_json::from_str(&read(&file(layout, descriptor))).unwrap()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

/// Alters `index.json`.
pub fn tags(layout: &Path, change: impl FnOnce(&mut Vec<Value>)) {
    let path = layout.join("index.json");
    let mut index: Value = serde_json::from_str(&read(&path)).unwrap();
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
    let index: Value = serde_json::from_str(&read(&layout.join("index.json"))).unwrap();
    let mut entries = index["manifests"].as_array().unwrap().iter();
    let entry = entries.find(|entry| entry["annotations"][REF_NAME] == tag);
    entry.unwrap().clone()
}

/// Makes a tag name what another one names.
pub fn retag(layout: &Path, tag: &str, like: &str) {
    let mut descriptor = tagged(layout, like);
    descriptor["annotations"][REF_NAME] = tag.into();
    untag(layout, tag);
    tags(layout, |tags| tags.push(descriptor));
}

/// Alters the document of a tag.
pub fn alter(layout: &Path, tag: &str, change: impl FnOnce(&mut Value)) {
    let mut descriptor = tagged(layout, tag);
    let mut altered = document(layout, &descriptor);
    change(&mut altered);
    let stored = put(layout, "", altered.to_string().as_bytes());
    for member in ["digest", "size"] {
        descriptor[member] = stored[member].clone();
    }
    untag(layout, tag);
    tags(layout, |tags| tags.push(descriptor));
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
        store(to, &fs::read(file(from, part)).unwrap());
    }
    untag(to, &tag);
    tags(to, |tags| tags.push(descriptor));
}

/// Alters the texts of the documents of version 1.0.0, byte by byte: the manifest of each platform, then the index above them. Returns
/// whether anything changed.
pub fn rewrite(
    layout: &Path,
    manifest: impl Fn(&str, usize) -> String,
    index: impl Fn(&str) -> String,
) -> bool {
    let before = read(&file(layout, &tagged(layout, "1.0.0")));
    let mut text = before.clone();
    let document: Value = serde_json::from_str(&before).unwrap();
    for (number, entry) in document["manifests"].as_array().unwrap().iter().enumerate() {
        let old = read(&file(layout, entry));
        let new = manifest(&old, number);
        text = text.replace(&pointer(&old), &pointer(&new));
        store(layout, new.as_bytes());
    }
    let text = index(&text);
    point(layout, &before, &text);
    text != before
}

/// The same with the manifest of its evidence.
pub fn rewrite_evidence(layout: &Path, alter: impl Fn(&str) -> String) {
    let before = read(&file(layout, &tagged(layout, "evidence-1.0.0")));
    point(layout, &before, &alter(&before));
}

/// Moves a tag to another document.
fn point(layout: &Path, before: &str, after: &str) {
    store(layout, after.as_bytes());
    let path = layout.join("index.json");
    let tags = read(&path).replace(&pointer(before), &pointer(after));
    fs::write(path, tags).unwrap();
}

/// The digest and size members of a canonical descriptor.
fn pointer(text: &str) -> String {
    let (digest, size) = (digest(text.as_bytes()), text.len());
    format!("\"digest\":\"{digest}\",\"size\":{size}")
}
