//! From a registry into an image layout, so that the independent client, which reads layouts, can check what was pushed.

use std::fs;
use std::path::Path;

use oci_client::secrets::RegistryAuth;
use oci_client::{Client, Reference};
use serde_json::{Value, json};

use super::layout::blob;

use super::registry::Registry;
use super::registry::content::{Manifest, Repository};

const REF_NAME: &str = "org.opencontainers.image.ref.name";
const MEDIA_TYPES: [&str; 2] = [
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.oci.image.manifest.v1+json",
];

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
    write_tags(directory, &entries);
}

/// Reads everything that a repository holds through an independent client, tag by tag and part by part, into a directory.
pub async fn download(client: &Client, at: &Reference, secret: &RegistryAuth, directory: &Path) {
    let tags = client.list_tags(at, secret, None, None).await.unwrap().tags;
    let mut entries = Vec::new();
    for tag in tags {
        let (registry, name) = (at.registry().to_owned(), at.repository().to_owned());
        let at = Reference::with_tag(registry, name, tag.clone());
        let (bytes, digest) = client
            .pull_manifest_raw(&at, secret, &MEDIA_TYPES)
            .await
            .unwrap();
        let manifest: Value = serde_json::from_slice(&bytes).unwrap();
        entries.push(json!({
            "mediaType": manifest["mediaType"],
            "digest": digest,
            "size": bytes.len(),
            "annotations": { REF_NAME: tag },
        }));
        let mut open = vec![bytes];
        while let Some(bytes) = open.pop() {
            write_blob(directory, &bytes);
            let manifest: Value = serde_json::from_slice(&bytes).unwrap();
            for child in list(&manifest["manifests"]) {
                let at = at.clone_with_digest(child["digest"].as_str().unwrap().to_owned());
                let (bytes, _) = client
                    .pull_manifest_raw(&at, secret, &MEDIA_TYPES)
                    .await
                    .unwrap();
                open.push(bytes);
            }
            let config = Some(&manifest["config"]).filter(|config| config.is_object());
            for part in list(&manifest["layers"]).iter().chain(config) {
                let mut bytes = Vec::new();
                let digest = part["digest"].as_str().unwrap();
                client.pull_blob(&at, digest, &mut bytes).await.unwrap();
                write_blob(directory, &bytes);
            }
        }
    }
    write_tags(directory, &entries);
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Writes bytes to the path of their digest.
fn write_blob(directory: &Path, bytes: &[u8]) {
    let path = blob(directory, bytes);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn write_tags(directory: &Path, entries: &[Value]) {
    let index = json!({ "schemaVersion": 2, "manifests": entries });
    fs::create_dir_all(directory).unwrap();
    fs::write(directory.join("index.json"), index.to_string()).unwrap();
    fs::write(
        directory.join("oci-layout"),
        r#"{"imageLayoutVersion":"1.0.0"}"#,
    )
    .unwrap();
}

/// Puts the whole content of a layout into a repository, as a push does.
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
fn a_layout_is_the_same_after_a_registry() {
    let layout = super::testdata("layouts/good-empty-config");
    let registry = Registry::plain();
    import(&layout, &registry, "acme/demo");
    let directory = tempfile::TempDir::new().unwrap();
    export(&registry, "acme/demo", directory.path());
    let installs = super::judge::installs(directory.path());
    assert_eq!(installs, super::judge::installs(&layout));
    assert!(!installs.is_empty());
}
