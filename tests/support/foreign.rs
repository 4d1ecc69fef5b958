//! Artifacts as another tool would make them: without evidence, and with any bytes as zip.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// Writes a layout with one version that has one package, for `linux_amd64`.
pub fn write(layout: &Path, version: &str, zip: &[u8]) {
    fs::create_dir_all(layout.join("blobs/sha256")).unwrap();
    let layer = put(layout, "archive/zip", zip);
    let config = put(layout, "application/vnd.oci.empty.v1+json", b"{}");
    let target = "application/vnd.opentofu.provider-target";
    let manifest = json!({"schemaVersion": 2, "mediaType": MANIFEST, "artifactType": target, "config": config, "layers": [layer]});
    let mut entry = put(layout, MANIFEST, manifest.to_string().as_bytes());
    entry["artifactType"] = target.into();
    entry["platform"] = json!({"architecture": "amd64", "os": "linux"});
    let provider = "application/vnd.opentofu.provider";
    let index = json!({"schemaVersion": 2, "mediaType": INDEX, "artifactType": provider, "manifests": [entry]});
    let mut tagged = put(layout, INDEX, index.to_string().as_bytes());
    tagged["annotations"] = json!({"org.opencontainers.image.ref.name": version});
    let tags = json!({"schemaVersion": 2, "manifests": [tagged]});
    fs::write(layout.join("index.json"), tags.to_string()).unwrap();
    fs::write(
        layout.join("oci-layout"),
        r#"{"imageLayoutVersion":"1.0.0"}"#,
    )
    .unwrap();
}

fn put(layout: &Path, media_type: &str, bytes: &[u8]) -> Value {
    let digest = Sha256::digest(bytes);
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    fs::write(layout.join("blobs/sha256").join(&hex), bytes).unwrap();
    json!({"mediaType": media_type, "digest": format!("sha256:{hex}"), "size": bytes.len()})
}

#[test]
fn a_written_artifact_installs() {
    let directory = tempfile::TempDir::new().unwrap();
    write(directory.path(), "1.0.0", b"zip");
    assert_eq!(super::judge::installs(directory.path()).len(), 1);
}
