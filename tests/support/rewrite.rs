//! Alters documents of a layout, and corrects every document that refers to them.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::layout::{blob, digest};

/// Alters the documents of version 1.0.0, each by a function of its text: the manifest of each platform, then the index above them.
/// Returns whether anything changed.
pub fn rewrite(
    repository: &Path,
    manifest: impl Fn(&str, usize) -> String,
    index: impl Fn(&str) -> String,
) -> bool {
    let tags = read(&repository.join("index.json"));
    let tagged = of_tag(&tags, "1.0.0");
    let before = read(&path_of(repository, &tagged));
    let mut text = before.clone();
    let document: Value = serde_json::from_str(&before).unwrap();
    for (number, entry) in document["manifests"].as_array().unwrap().iter().enumerate() {
        let old = read(&path_of(repository, entry));
        let new = manifest(&old, number);
        if new != old {
            text = text.replace(&pointer(&old), &pointer(&new));
            fs::write(blob(repository, new.as_bytes()), new).unwrap();
        }
    }
    let text = index(&text);
    if text == before {
        return false;
    }
    fs::write(blob(repository, text.as_bytes()), &text).unwrap();
    point(repository, &before, &text);
    true
}

/// Alters the manifest of the evidence of version 1.0.0.
pub fn rewrite_evidence(repository: &Path, alter: impl Fn(&str) -> String) {
    let tags = read(&repository.join("index.json"));
    let before = read(&path_of(repository, &of_tag(&tags, "evidence-1.0.0")));
    let after = alter(&before);
    fs::write(blob(repository, after.as_bytes()), &after).unwrap();
    point(repository, &before, &after);
}

/// Moves a tag to another document.
fn point(repository: &Path, before: &str, after: &str) {
    let path = repository.join("index.json");
    let tags = read(&path).replace(&pointer(before), &pointer(after));
    fs::write(path, tags).unwrap();
}

/// The digest and size members of a canonical descriptor.
fn pointer(text: &str) -> String {
    let (digest, size) = (digest(text.as_bytes()), text.len());
    format!("\"digest\":\"{digest}\",\"size\":{size}")
}

fn of_tag(tags: &str, tag: &str) -> Value {
    let tags: Value = serde_json::from_str(tags).unwrap();
    let mut entries = tags["manifests"].as_array().unwrap().iter();
    let named = |entry: &&Value| entry["annotations"]["org.opencontainers.image.ref.name"] == tag;
    entries.find(named).unwrap().clone()
}

fn path_of(repository: &Path, descriptor: &Value) -> std::path::PathBuf {
    let digest = descriptor["digest"].as_str().unwrap();
    repository.join("blobs").join(digest.replace(':', "/"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}
