use std::fs;

use super::{ABOUT, CHECKSUMS, HEAD, PACKAGES, inspect, push, pushed};
use crate::support::release::ReleaseFolder;
use crate::support::scene::Scene;
use crate::support::tamper;

#[test]
fn altered_and_missing_evidence_is_reported() {
    let scene = pushed();
    let path = scene.path("mirror/registry.opentofu.org/acme/demo/blobs/sha256");
    let path = path.join(CHECKSUMS);
    let mut bytes = fs::read(&path).unwrap();
    bytes[0] ^= 1;
    fs::write(&path, bytes).unwrap();
    let run = inspect(&scene, "").exits(3);
    let head = HEAD.replace("protocols       5.0, 6.0\n", "");
    assert_eq!(
        run.stdout,
        format!("{head}authentication  refused\n{PACKAGES}")
    );
    let facts = format!("error {ABOUT} sha256:{CHECKSUMS}");
    run.says(&format!("{facts} digest"));
    fs::remove_file(path).unwrap();
    let run = inspect(&scene, "").exits(3);
    assert!(run.stdout.ends_with(PACKAGES));
    run.says(&format!("{facts} missing"));
}

#[test]
fn evidence_of_another_release_proves_nothing() {
    let scene = Scene::new();
    for (store, platform) in [("mirror", "linux_amd64"), ("other", "darwin_arm64")] {
        let release = ReleaseFolder::new("demo", "1.0.0").platform(platform);
        push(&scene, release, store, "--key signer.asc");
    }
    let repository = |store: &str| scene.path(store).join("registry.opentofu.org/acme/demo");
    tamper::transplant(&repository("other"), &repository("mirror"), "1.0.0");
    let run = inspect(&scene, "").exits(3);
    assert!(run.stdout.contains("package         linux_amd64"));
    let says = format!("error {ABOUT} terraform-provider-demo_1.0.0_linux_amd64.zip");
    run.says(&says);
}
