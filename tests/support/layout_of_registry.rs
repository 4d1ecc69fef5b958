//! From the registry double into an image layout, so that whoever judges layouts can judge what was pushed.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::registry::Registry;
use super::registry::content::{Manifest, Repository};

const REF_NAME: &str = "org.opencontainers.image.ref.name";

/// Writes everything that a repository holds into a directory.
pub fn export(registry: &Registry, name: &str, directory: &Path) {
    let held = registry.repository(name, |repository| repository.clone());
    let blobs = held.blobs.iter();
    let manifests = held
        .manifests
        .iter()
        .map(|(digest, manifest)| (digest, &manifest.bytes));
    for (digest, bytes) in blobs.chain(manifests) {
        let path = directory.join("blobs").join(digest.replace(':', "/"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let entries: Vec<Value> = held
        .tags
        .iter()
        .map(|(tag, digest)| {
            let manifest = &held.manifests[digest];
            json!({
                "mediaType": manifest.media_type,
                "digest": digest,
                "size": manifest.bytes.len(),
                "annotations": { REF_NAME: tag },
            })
        })
        .collect();
    let index = json!({ "schemaVersion": 2, "manifests": entries });
    fs::create_dir_all(directory).unwrap();
    fs::write(directory.join("index.json"), index.to_string()).unwrap();
    fs::write(
        directory.join("oci-layout"),
        r#"{"imageLayoutVersion":"1.0.0"}"#,
    )
    .unwrap();
}

/// Puts everything that a layout holds into a repository, as if somebody had pushed it.
pub fn import(layout: &Path, registry: &Registry, name: &str) {
    let read = |path: &Path| -> Value { serde_json::from_slice(&fs::read(path).unwrap()).unwrap() };
    let index = read(&layout.join("index.json"));
    let mut held = Repository::default();
    for entry in fs::read_dir(layout.join("blobs/sha256")).unwrap() {
        let entry = entry.unwrap();
        let digest = format!("sha256:{}", entry.file_name().to_str().unwrap());
        let bytes = fs::read(entry.path()).unwrap();
        let document: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        match document["mediaType"].as_str() {
            Some(media_type) => {
                let media_type = media_type.to_owned();
                held.manifests.insert(
                    digest,
                    Manifest {
                        media_type,
                        bytes: bytes.into(),
                    },
                );
            }
            None => {
                held.blobs.insert(digest, bytes.into());
            }
        }
    }
    for entry in index["manifests"].as_array().unwrap() {
        let digest = entry["digest"].as_str().unwrap();
        if let Some(tag) = entry["annotations"][REF_NAME].as_str() {
            held.tag(tag, digest);
        }
    }
    registry.repository(name, |repository| *repository = held);
}

#[test]
fn a_layout_survives_the_way_into_a_registry_and_out_again() {
    let layout = super::testdata("layouts/good-empty-config");
    let registry = Registry::plain();
    import(&layout, &registry, "acme/demo");
    let directory = tempfile::TempDir::new().unwrap();
    export(&registry, "acme/demo", directory.path());
    let installs = super::judge::installs(directory.path());
    assert_eq!(installs, super::judge::installs(&layout));
    assert!(!installs.is_empty());
}
