use super::locks::{BOTH_LOCKS, NAME, lock, two_locked, zh};
use super::origin_scene::{ARRIVED, BOTH_ARRIVED, OriginScene};
use super::{DARWIN, LINUX, demo};
use crate::support::origin::Provider;

/// Withdraws every version but 1.0.0.
fn withdraw(scene: &OriginScene) {
    scene.origin.publish(Provider::demo(&[DARWIN, LINUX]));
}

const WITHDRAWN: &str = "error [ORIGIN]/acme/demo 1.1.0 [ORIGIN] 1.0.0";

#[test]
fn a_withdrawn_version_fails_alone() {
    let scene = two_locked();
    withdraw(&scene);
    scene.mirror("--from-lock b").says(1, WITHDRAWN);
    scene.mirror(&format!("{BOTH_LOCKS} --jobs 1")).says(1, &format!("Copied [ORIGIN]/acme/demo 1.0.0 2 813 signed [ACME ID] lock {WITHDRAWN} Mirrored 1 2 813 [TIME] 1 2"));
    assert_eq!(scene.installs(), BOTH_ARRIVED);
}

#[test]
fn every_requirement_without_a_match_fails_alone() {
    let scene = OriginScene::of([demo()]);
    let entries = ["2.0.0", ">= 1.0", ">= 3.0"].map(|constraints| {
        scene.named(&format!(
            "[[provider]]\naddress = \"[ORIGIN]/acme/demo\"\nconstraints = \"{constraints}\"\n"
        ))
    });
    scene.write("mirror.toml", entries.concat());
    scene.mirror("--file mirror.toml").says(
        1,
        "Copied [ORIGIN]/acme/demo 1.0.0 1 406 signed [ACME ID] origin error [ORIGIN]/acme/demo [ORIGIN] 2.0.0 1.0.0 error [ORIGIN]/acme/demo [ORIGIN] >= 3.0.0 1.0.0",
    );
    assert_eq!(scene.installs(), ARRIVED);
}

#[test]
fn a_withdrawn_version_that_is_stored_is_present() {
    let scene = two_locked();
    scene.mirror(&format!("{BOTH_LOCKS} -q")).says(0, "");
    withdraw(&scene);
    let before = scene.tree();
    scene.origin.forget();
    for platforms in ["", "--platform linux_amd64"] {
        let said = scene.mirror(&format!("{BOTH_LOCKS} {platforms}"));
        said.tells("Warning [ORIGIN]/acme/demo 1.1.0 [ORIGIN] Mirrored 4 [TIME]")
            .gives("[ORIGIN]/acme/demo:1.0.0 [ORIGIN]/acme/demo:1.1.0");
    }
    assert_eq!(scene.origin.counters(), "2 discovery, 2 versions");
    scene.mirror(&format!("{BOTH_LOCKS} --dry-run")).tells("Present [ORIGIN]/acme/demo 1.0.0 Present [ORIGIN]/acme/demo 1.1.0 Warning [ORIGIN]/acme/demo 1.1.0 [ORIGIN] Would 4 [TIME]",
    );
    assert_eq!(scene.tree(), before);
}

#[test]
fn a_withdrawn_version_that_is_stored_in_part_fails() {
    let scene = two_locked();
    let linux = "--from-lock b --platform linux_amd64";
    scene.mirror(&format!("{linux} -q")).says(0, "");
    withdraw(&scene);
    scene
        .mirror("--from-lock b --platform darwin_arm64")
        .says(1, WITHDRAWN);
    for there in [linux, "--from-lock b"] {
        scene
            .mirror(there)
            .tells("Warning [ORIGIN]/acme/demo 1.1.0 [ORIGIN] Mirrored 1 [TIME]");
    }
    // A withdrawn version cannot be compared.
    scene
        .mirror(&format!("{linux} --recheck"))
        .says(1, WITHDRAWN);
}

#[test]
fn a_withdrawn_version_that_is_stored_must_match_the_lock() {
    let scene = two_locked();
    scene.mirror("--from-lock b -q").says(0, "");
    let [other, stored] = ["1.0.0", "1.1.0"].map(|version| zh(&scene.origin, version, DARWIN));
    withdraw(&scene);
    let path = format!("b/{NAME}");
    let hashes = std::slice::from_ref(&other);
    lock(&scene, &path, "[ORIGIN]/acme/demo", "1.1.0", hashes);
    scene.mirror("--from-lock b").says(3, &format!("error [ORIGIN]/acme/demo 1.1.0 oci-layout:store/[ORIGIN]/acme/demo darwin_arm64 expected {other} received {stored}"));
}
