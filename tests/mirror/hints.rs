//! Statements of a store about itself: the zip of each entry of an index, and the evidence of each version. Every writer of the store
//! can forge them.

use serde_json::json;

use super::locks::{NAME, lock, not_locked, pack, versions, zh};
use super::origin_scene::OriginScene;
use super::team::Team;
use super::{DARWIN, LINUX};
use crate::support::tamper;

const PROVIDER: &str = "example.com/acme/demo";

/// `store` has the zip of 1.1.0 as 1.0.0, and its index states that it is the zip of 1.0.0.
fn lying() -> OriginScene {
    let scene = OriginScene::of([versions()]);
    pack(&scene, "1.1.0", LINUX);
    let from = "--from filesystem-mirror:mirror --allow-unsigned */*/* -q";
    scene.mirror(&format!("{PROVIDER} {from}")).says(0, "");
    let layout = scene.path(format!("store/{PROVIDER}"));
    let hint = zh(&scene.origin, "1.0.0", LINUX).replace("zh:", "sha256:");
    tamper::lie(&layout, "1.0.0", LINUX, &hint);
    scene
}

/// The manifest names another zip than the lock file, although the index does not.
#[test]
fn a_lock_is_not_satisfied_by_a_hint_of_an_index() {
    let scene = lying();
    for platform in [DARWIN, LINUX] {
        pack(&scene, "1.0.0", platform);
    }
    let hashes = [DARWIN, LINUX].map(|platform| zh(&scene.origin, "1.0.0", platform));
    lock(&scene, NAME, PROVIDER, "1.0.0", &hashes);
    let says = not_locked(&hashes, &zh(&scene.origin, "1.1.0", LINUX));
    let before = scene.tree();
    for more in ["", "--platform linux_amd64"] {
        let from = format!("--from-lock . --from filesystem-mirror:mirror {more}");
        scene.mirror(&from).says(3, &says);
        assert_eq!(scene.tree(), before);
    }
}

/// The same for a version that the source has withdrawn, where no list contradicts the store.
#[test]
fn a_withdrawn_version_is_not_present_by_a_hint_of_an_index() {
    let scene = lying();
    pack(&scene, "1.0.0", LINUX);
    let from = scene.path(format!("mirror/{PROVIDER}"));
    let [has, other] = ["1.0.0", "2.0.0"]
        .map(|version| from.join(format!("terraform-provider-demo_{version}_linux_amd64.zip")));
    std::fs::rename(has, other).unwrap();
    let hashes = [zh(&scene.origin, "1.0.0", LINUX)];
    lock(&scene, NAME, PROVIDER, "1.0.0", &hashes);
    let says = not_locked(&hashes, &zh(&scene.origin, "1.1.0", LINUX));
    let told = scene.mirror("--from-lock . --from filesystem-mirror:mirror");
    told.says(3, &says);
}

/// For a version that is present, only the index is read, which proves no hash. With a lock file, the manifests are read too.
#[test]
fn only_hashes_that_were_read_from_manifests_are_reported() {
    let scene = lying();
    let package = |arguments: &str| {
        let run = scene.json(&format!("{arguments} --from filesystem-mirror:mirror"));
        let document = run.succeeds().json();
        assert_eq!(document["providers"][0]["status"], "present");
        document["providers"][0]["packages"][0].clone()
    };
    let present = json!({"platform": LINUX, "status": "present"});
    assert_eq!(
        package(&format!("{PROVIDER} --allow-unsigned */*/*")),
        present
    );
    let is_there = zh(&scene.origin, "1.1.0", LINUX);
    let hashes = std::slice::from_ref(&is_there);
    lock(&scene, NAME, PROVIDER, "1.0.0", hashes);
    let size = scene.origin.zip("acme/demo", "1.1.0", LINUX).len();
    let read = json!({"platform": LINUX, "status": "present", "size": size, "zh": is_there});
    assert_eq!(package("--from-lock ."), read);
}

/// The checksum document of a new platform must cover the stored zips that the manifests name, not those that the index names.
#[test]
fn an_added_platform_is_checked_against_manifests_not_hints() {
    let scene = OriginScene::of([versions()]);
    scene.demo("--platform linux_amd64 -q").says(0, "");
    let repository = scene.named("[ORIGIN]").replace(':', "_");
    let layout = scene.path(format!("store/{repository}/acme/demo"));
    // Another writer replaces the package, and leaves the index as it is.
    let zip = scene.origin.zip("acme/demo", "1.0.0", LINUX);
    let layer = tamper::put(&layout, "archive/zip", &zip);
    tamper::alter(&layout, "2.0.0", |index| {
        let entry = &mut index["manifests"][0];
        let mut manifest = tamper::document(&layout, entry);
        for member in ["digest", "size"] {
            manifest["layers"][0][member] = layer[member].clone();
        }
        let media_type = entry["mediaType"].as_str().unwrap().to_owned();
        let stored = tamper::put(&layout, &media_type, manifest.to_string().as_bytes());
        for member in ["digest", "size"] {
            entry[member] = stored[member].clone();
        }
    });
    let before = scene.tree();
    scene.demo("--platform darwin_arm64").says(3, "error [ORIGIN]/acme/demo 2.0.0 oci-layout:store/[ORIGIN]/acme/demo linux_amd64 received sha256:4fa7e60d506416362ae4a4933f2da2a5c755191e68c2d41fb7c13d5c8e023bec");
    assert_eq!(scene.tree(), before);
}

/// Evidence in a registry that proves another version. It is not read again, unless the user asks for a comparison.
#[test]
fn recheck_reads_the_evidence_that_is_there() {
    let team = Team::of(vec![versions()]);
    team.mirror("").succeeds();
    let good = team.tags();
    team.registry.repository("mirror/acme/demo", |held| {
        let mut tags = held.tags.iter();
        let (_, other) = tags.find(|(tag, _)| tag == "evidence-1.1.0").unwrap();
        let other = other.clone();
        held.tag("evidence-1.0.0", &other);
    });
    assert_ne!(team.tags(), good);
    team.mirror("").succeeds();
    assert_ne!(team.tags(), good);
    team.mirror("--recheck").succeeds();
    assert_eq!(team.tags(), good);
}
