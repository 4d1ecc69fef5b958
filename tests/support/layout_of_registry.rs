//! From a registry into an image layout, so that the independent client, which reads layouts, can check what was pushed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use bytes::Bytes;
use oci_client::secrets::RegistryAuth;
use oci_client::{Client, Reference};
use serde_json::{Value, json};

use super::layout::{place, store};
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
    let manifests = held.manifests.iter();
    let manifests = manifests.map(|(digest, manifest)| (digest, &manifest.bytes));
    for (digest, bytes) in held.blobs.iter().chain(manifests) {
        let path = place(directory, digest);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let entries = held.tags.iter().map(|(tag, digest)| {
        let manifest = &held.manifests[digest];
        entry(tag, digest, &json!(manifest.media_type), &manifest.bytes)
    });
    write_tags(directory, &entries.collect::<Vec<_>>());
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
        entries.push(entry(&tag, &digest, &manifest["mediaType"], &bytes));
        let mut open = vec![bytes];
        while let Some(bytes) = open.pop() {
            store(directory, &bytes);
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
                store(directory, &bytes);
            }
        }
    }
    write_tags(directory, &entries);
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The entry of a tag in `index.json`.
fn entry(tag: &str, digest: &str, media_type: &Value, bytes: &[u8]) -> Value {
    json!({
        "mediaType": media_type, "digest": digest, "size": bytes.len(), "annotations": { REF_NAME: tag },
    })
}

fn write_tags(directory: &Path, entries: &[Value]) {
    let index = json!({ "schemaVersion": 2, "manifests": entries });
    fs::create_dir_all(directory).unwrap();
    fs::write(directory.join("index.json"), index.to_string()).unwrap();
    let marker = r#"{"imageLayoutVersion":"1.0.0"}"#;
    fs::write(directory.join("oci-layout"), marker).unwrap();
}

/// Puts the whole content of a layout into a repository, as a push does. What a descriptor states is the media type of an answer.
pub fn import(layout: &Path, registry: &Registry, name: &str) {
    let parsed = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap_or_default();
    let index = parsed(&fs::read(layout.join("index.json")).unwrap_or_default());
    let (mut all, mut types) = (BTreeMap::new(), BTreeMap::new());
    let mut describe = |document: &Value| {
        for entry in list(&document["manifests"]) {
            let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
            types.insert(text("digest"), text("mediaType"));
        }
    };
    for algorithm in ["sha256", "sha512"] {
        let files = fs::read_dir(layout.join("blobs").join(algorithm));
        for file in files.into_iter().flatten().flatten() {
            let digest = format!("{algorithm}:{}", file.file_name().display());
            all.insert(digest, fs::read(file.path()).unwrap());
        }
    }
    all.values().for_each(|bytes| describe(&parsed(bytes)));
    describe(&index);
    let mut held = Repository::default();
    for (digest, bytes) in all {
        let own = parsed(&bytes)["mediaType"].as_str().map(str::to_owned);
        let bytes = Bytes::from(bytes);
        if let Some(media_type) = types.get(&digest).cloned().or(own) {
            let manifest = Manifest { media_type, bytes };
            held.manifests.insert(digest, manifest);
        } else {
            held.blobs.insert(digest, bytes);
        }
    }
    for entry in list(&index["manifests"]) {
        if let Some(tag) = entry["annotations"][REF_NAME].as_str() {
            held.tag(tag, entry["digest"].as_str().unwrap());
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
