use std::fs;
use std::path::PathBuf;

use super::demo;
use super::origin_scene::{COPIED, OriginScene, folder, into_registry};
use crate::support::judge;
use crate::support::origin::{Provider, Release};
use crate::support::registry::{Fault, Registry, content, matching};
use crate::support::signer::Signer;

#[test]
fn recheck_compares_stored_packages() {
    let scene = OriginScene::of([demo()]);
    scene.demo("").tells(COPIED);
    scene.origin.forget();
    let before = scene.tree();
    let told = scene.demo("--recheck");
    told.tells("Present [ORIGIN]/acme/demo 1.0.0 1 signed [ACME ID] origin Mirrored 1 [TIME]");
    let asked = "1 discovery, 1 versions, 1 download, 1 document, 1 signature";
    assert_eq!(scene.origin.counters(), asked);
    assert_eq!(scene.tree(), before);
}

/// HashiCorp's key expired, and came back with a later end.
#[test]
fn recheck_renews_the_stored_key() {
    let signer = Signer::expired_since();
    let release = Release::from(folder().signed_by(signer));
    let demo = |key: &str| Provider::new("acme/demo").release(release.clone().keys(&[key]));
    let (old, new) = (signer.public_armored(), signer.armored_renewed());
    let scene = OriginScene::of([demo(&old)]);
    let registry = Registry::plain();
    let layout = "[ORIGIN]/acme/demo --to oci-layout:store".to_owned();
    let stores = [layout, into_registry(&registry)];
    let inspected = |to: &str| {
        let line = format!("inspect --ca-file ca.pem {}", to.replace("--to", "--from"));
        scene.line(scene.named(&line)).succeeds().stdout
    };
    let renewed = format!("Warning [ORIGIN]/acme/demo 1.0.0 {}", signer.fingerprint());
    for to in stores {
        scene.origin.publish(demo(&old));
        scene.run(&to).ends(0);
        let before = inspected(&to);
        assert!(before.contains("expired-key"), "{before}");
        scene.origin.publish(demo(&new));
        let again = format!("{to} --recheck");
        let plan = format!("Would [ORIGIN]/acme/demo 1.0.0 {renewed}");
        scene.run(&format!("{again} --dry-run")).tells(&plan);
        let done = format!("Updated [ORIGIN]/acme/demo 1.0.0 {renewed}");
        scene.run(&again).tells(&done);
        let after = inspected(&to);
        assert_eq!(after, before.replace(" expired-key", ""));
        // Neither the same copy nor the older one replaces it.
        for key in [&new, &old] {
            scene.origin.publish(demo(key));
            scene.run(&again).tells("Present [ORIGIN]/acme/demo 1.0.0");
            assert_eq!(inspected(&to), after);
        }
    }
}

/// Other commands see only the size of what a layout has.
#[test]
fn recheck_repairs_a_package_of_a_layout() {
    let scene = OriginScene::of([demo()]);
    scene.demo("").ends(0);
    let good = scene.tree();
    let store = scene.path("store");
    let mut files = judge::tree(&store).into_keys().map(|name| store.join(name));
    let is_zip = |path: &PathBuf| path.is_file() && fs::read(path).unwrap().starts_with(b"PK");
    let zip = files.find(is_zip).unwrap();
    let length = fs::read(&zip).unwrap().len();
    fs::write(&zip, vec![b'x'; length]).unwrap();
    scene.demo("").tells("Mirrored 1 [TIME]");
    let updated = COPIED.replace("Copied", "Updated");
    scene.demo("--recheck").tells(&updated);
    assert_eq!(scene.tree(), good);
}

/// docker-registry accepts what it has, and keeps its bytes. Packages of a registry are not read.
#[test]
fn recheck_reads_the_manifests_and_the_evidence_of_a_registry() {
    let scene = OriginScene::of([demo()]);
    let registry = Registry::plain();
    let to = into_registry(&registry);
    scene.run(&to).ends(0);
    scene.run(&format!("{to} --recheck")).ends(0);
    let held = registry.repository("acme/demo", |held| held.clone());
    let document = |digest: &str| serde_json::from_slice(&held.manifests[digest].bytes).unwrap();
    let [index, evidence] = ["1.0.0", "evidence-1.0.0"].map(|tag| held.resolve(tag).unwrap());
    let (_, manifests) = content::parts(&document(&index));
    let (blobs, _) = content::parts(&document(&evidence));
    // The blobs are the documents, and the empty config.
    let documents = blobs
        .into_iter()
        .filter(|digest| !digest.contains("44136fa355b3"));
    let parts = manifests.into_iter().chain(documents);
    let parts: Vec<String> = parts.chain([index, evidence]).collect();
    assert_eq!(parts.len(), 6);
    for part in parts {
        let tag = held.tags.iter().find(|(_, digest)| *digest == part);
        let tag = tag.map(|(tag, _)| format!("/manifests/{tag}"));
        let registry = Registry::plain();
        registry.repository("acme/demo", |empty| *empty = held.clone());
        for path in tag.into_iter().chain([part.clone()]) {
            registry.always(matching("GET", &path), Fault::wrong_bytes());
        }
        let to = into_registry(&registry);
        let run = scene.run(&format!("{to} --recheck"));
        run.says(3, &format!("error expected {part} received"));
    }
}

/// Clients ask for the tag.
#[test]
fn recheck_reads_what_the_tag_gives() {
    let scene = OriginScene::of([demo()]);
    let registry = Registry::plain();
    let to = into_registry(&registry);
    scene.run(&to).ends(0);
    registry.always(matching("GET", "/manifests/1.0.0"), Fault::wrong_bytes());
    let run = scene.run(&format!("{to} --recheck"));
    run.says(3, "error expected received");
}
