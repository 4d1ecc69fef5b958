use serde_json::{Value, json};

use super::{FROM, NAME, PINNED, PROVIDER, TO, at, copy, copy_demo, filled, other};
use crate::support::author::Author;
use crate::support::layout::{blob, digest};
use crate::support::registry::Registry;
use crate::support::tamper;

const ATTESTATION: &[u8] = b"{\"an\":\"attestation\"}";

/// A version of which the index has an attestation besides its packages.
fn attested() -> Author {
    let author = Author::pushed();
    let layout = author.repository("");
    let media_type = "application/vnd.oci.image.manifest.v1+json";
    let layer = tamper::put(&layout, "application/vnd.in-toto+json", ATTESTATION);
    let config = tamper::put(&layout, "application/vnd.oci.empty.v1+json", b"{}");
    let manifest = json!({
        "schemaVersion": 2, "mediaType": media_type, "artifactType": "application/vnd.in-toto+json", "config": config, "layers": [layer],
    });
    let mut entry = tamper::put(&layout, media_type, manifest.to_string().as_bytes());
    entry["artifactType"] = manifest["artifactType"].clone();
    tamper::alter(&layout, "1.0.0", |index| {
        index["manifests"].as_array_mut().unwrap().push(entry);
    });
    author
}

fn line(verb: &str) -> String {
    let digest = digest(ATTESTATION);
    format!("{verb} {PROVIDER} 1.0.0 {digest}   20 B   unverified\n")
}

/// The attestation is copied byte for byte, shown as unverified, and its bytes are counted.
#[test]
fn artifacts_beside_the_packages_are_reported_and_counted() {
    let author = attested();
    let run = copy(&author, FROM, TO, "--dry-run").succeeds();
    run.says("Would registry.opentofu.org/acme/demo 1.0.0 sha256:944a37b6c8d101a3741d45c2c8f4f1dd488b357a060d50621d3140846ca3b3df 20 unverified Would registry.opentofu.org/acme/demo 1.0.0 2 813 signed [ACME ID] embedded Would 1 2 833 [TIME]");
    assert!(!author.path("other").exists());
    let (from, to) = (filled(&author), Registry::plain());
    let run = copy_demo(&author, &at(&from), &at(&to), "").succeeds();
    assert!(run.stderr.contains(&line("    Copied")), "{}", run.stderr);
    assert!(run.stderr.contains("(833 B copied)"), "{}", run.stderr);
    assert_eq!(from.tags(NAME), to.tags(NAME));
    // No signature covers them, so they do not have the colour of verified packages.
    let coloured = Registry::plain();
    let run = copy_demo(&author, &at(&from), &at(&coloured), "--color always").succeeds();
    let digest = digest(ATTESTATION);
    let line = run.stderr.lines().find(|line| line.contains(&digest));
    let cyan = "\u{1b}[36m\u{1b}[1m    Copied";
    assert!(line.unwrap().starts_with(cyan), "{:?}", run.stderr);
    let to = Registry::plain();
    let json = || copy_demo(&author, &at(&from), &at(&to), "--format json");
    let document = json().succeeds().json();
    assert_eq!(document["bytes"], 407 + 406 + 20);
    let beside = &document["providers"][0]["beside"];
    assert_eq!(*beside, json!({"blobs": 1, "size": 20}));
    let document = json().succeeds().json();
    assert_eq!(document["bytes"], 0);
    assert_eq!(document["providers"][0]["beside"], Value::Null);
    // Only the index was read, and an index proves no hash.
    let package = &document["providers"][0]["packages"][0];
    let present = json!({"platform": "darwin_arm64", "status": "present"});
    assert_eq!(*package, present);
}

/// A pinned key covers packages only. Other artifacts are not copied along with them.
#[test]
fn require_pinned_refuses_or_leaves_out_other_artifacts() {
    let author = attested();
    let run = copy(&author, FROM, TO, PINNED).exits(3).without_result();
    run.says(&format!(
        "error {PROVIDER} 1.0.0 {FROM}/{PROVIDER} received {}",
        digest(ATTESTATION)
    ));
    assert!(!author.path("other").exists());
    copy(&author, FROM, TO, format!("{PINNED} --rebuild-index")).succeeds();
    assert!(!blob(&other(&author), ATTESTATION).exists());
    let index = tamper::document(&other(&author), &tamper::tagged(&other(&author), "1.0.0"));
    assert_eq!(index["manifests"].as_array().unwrap().len(), 2);
}

/// The same for a layer of the evidence of an unknown type.
#[test]
fn evidence_with_other_content_is_written_anew() {
    let author = Author::pushed();
    let layout = author.repository("");
    let whole = tamper::tagged(&layout, "evidence-1.0.0")["digest"].clone();
    let layer = tamper::put(&layout, "application/vnd.in-toto+json", ATTESTATION);
    tamper::alter(&layout, "evidence-1.0.0", |evidence| {
        evidence["layers"].as_array_mut().unwrap().push(layer);
    });
    let run = copy(&author, FROM, TO, PINNED).exits(3).without_result();
    run.says("error registry.opentofu.org/acme/demo 1.0.0 oci-layout:store/registry.opentofu.org/acme/demo received sha256:944a37b6c8d101a3741d45c2c8f4f1dd488b357a060d50621d3140846ca3b3df");
    copy(&author, FROM, TO, format!("{PINNED} --rebuild-index")).succeeds();
    let copied = tamper::tagged(&other(&author), "evidence-1.0.0");
    assert_eq!(copied["digest"], whole);
    assert!(!blob(&other(&author), ATTESTATION).exists());
}

/// Each part costs a request: an index cannot ask for a million of them.
#[test]
fn blobs_that_an_index_refers_to_are_counted() {
    let author = Author::pushed();
    let layout = author.repository("");
    let media_type = "application/vnd.oci.image.manifest.v1+json";
    let entries = (0..5).map(|manifest| {
        let blob = |layer| json!({"mediaType": "x", "digest": digest(format!("{manifest} {layer}").as_bytes()), "size": 3});
        let layers: Vec<Value> = (0..1000).map(blob).collect();
        let manifest = json!({"schemaVersion": 2, "mediaType": media_type, "layers": layers});
        tamper::put(&layout, media_type, manifest.to_string().as_bytes())
    });
    let entries: Vec<Value> = entries.collect();
    tamper::alter(&layout, "1.0.0", |index| {
        index["manifests"].as_array_mut().unwrap().extend(entries);
    });
    let run = copy(&author, FROM, TO, "").exits(1).without_result();
    run.says(&format!("error {PROVIDER} 1.0.0 {FROM}/{PROVIDER} 4000"));
    assert!(!other(&author).exists());
}
