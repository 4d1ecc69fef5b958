use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::{ABOUT, CHECKSUMS, HEAD, PACKAGES, inspect, push, pushed};
use crate::support::scene::Scene;

fn blob(scene: &Scene, store: &str, hex: &str) -> PathBuf {
    scene.path(format!(
        "{store}/registry.opentofu.org/acme/demo/blobs/sha256/{hex}"
    ))
}

#[test]
fn altered_and_missing_evidence_is_reported() {
    let scene = pushed();
    let path = blob(&scene, "mirror", CHECKSUMS);
    let mut bytes = fs::read(&path).unwrap();
    bytes[0] ^= 1;
    fs::write(&path, bytes).unwrap();
    let run = inspect(&scene, &[]).exits(3);
    assert_eq!(
        run.stdout,
        format!(
            "{}authentication  refused\n{PACKAGES}",
            HEAD.replace("protocols       5.0, 6.0\n", "")
        )
    );
    let facts = format!("error {ABOUT} sha256:{CHECKSUMS}");
    run.says(&format!("{facts} digest"));
    fs::remove_file(path).unwrap();
    let run = inspect(&scene, &[]).exits(3);
    assert!(run.stdout.ends_with(PACKAGES));
    run.says(&format!("{facts} missing"));
}

#[test]
fn evidence_of_another_release_proves_nothing() {
    let scene = Scene::new();
    push(
        &scene,
        "linux_amd64",
        "mirror",
        None,
        &["--key", "signer.asc"],
    );
    push(
        &scene,
        "darwin_arm64",
        "other",
        None,
        &["--key", "signer.asc"],
    );
    let repository = |store: &str| scene.path(store).join("registry.opentofu.org/acme/demo");
    let index = |store: &str| -> Value {
        serde_json::from_slice(&fs::read(repository(store).join("index.json")).unwrap()).unwrap()
    };
    for entry in fs::read_dir(repository("other").join("blobs/sha256")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(
            entry.path(),
            blob(&scene, "mirror", entry.file_name().to_str().unwrap()),
        )
        .unwrap();
    }
    let mut mixed = index("mirror");
    mixed["manifests"][1] = index("other")["manifests"][1].clone();
    fs::write(repository("mirror").join("index.json"), mixed.to_string()).unwrap();
    let run = inspect(&scene, &[]).exits(3);
    assert!(run.stdout.contains("package         linux_amd64"));
    run.says(&format!(
        "error {ABOUT} terraform-provider-demo_1.0.0_linux_amd64.zip"
    ));
}
