//! Keys that are trusted because the origin serves them over verified TLS.

use serde_json::json;

use super::locks::{LOCKED, NAME, lock, zh};
use super::origin_scene::{COPIED, OriginScene};
use super::{DARWIN, LINUX, demo};
use crate::support::origin::{Door, Fault, Provider, Setup, asks, at, lie};
use crate::support::signer::Signer;

const INSECURE: &str = "--insecure-skip-tls-verify";
const PINNING: &str = "--trust trust.toml --pin-new";

/// Mirrors `acme/demo` and asserts its authentication.
#[track_caller]
fn is(scene: &OriginScene, more: &str, authentication: &str) {
    let more = more.replace("[ELSEWHERE]", elsewhere(scene));
    let copied = COPIED.replace("signed [ACME ID] origin", authentication);
    scene.demo(&more).tells(&copied);
}

/// Tries to pin the key of `acme/demo`, which is refused.
#[track_caller]
fn refuses_to_pin(scene: &OriginScene, more: &str) {
    let more = more.replace("[ELSEWHERE]", elsewhere(scene));
    let run = scene.demo(&format!("{PINNING} {more}"));
    run.says(3, "error [ORIGIN]/acme/demo 1.0.0 [ORIGIN]");
    assert!(scene.installs().is_empty());
    assert!(!scene.path("trust.toml").exists());
}

fn elsewhere(scene: &OriginScene) -> &str {
    let (_, host) = scene.origin.doors().elsewhere.split_once("://").unwrap();
    host
}

#[test]
fn a_key_from_an_unverified_host_is_not_pinned() {
    let insecure = format!("{INSECURE} [ORIGIN]");
    let scene = OriginScene::of([demo()]);
    refuses_to_pin(&scene, &insecure);
    refuses_to_pin(&scene, &format!("{insecure} --dry-run"));
    is(&scene, &insecure, "signed [ACME ID] unverified-transport");
    // A version that is present is not verified again, so no key is pinned.
    scene.demo(&format!("{insecure} {PINNING} -q")).ends(0);
    assert!(!scene.path("trust.toml").exists());
    let run = scene.json(&format!("[ORIGIN]/acme/demo {insecure} --recheck"));
    let document = run.succeeds().json();
    let authentication = &document["providers"][0]["authentication"];
    assert_eq!(authentication["notes"], json!(["unverified-transport"]));
    assert_eq!(authentication.get("anchor"), None);
}

#[test]
fn a_key_served_without_tls_is_not_trusted() {
    let scene = OriginScene::of([demo()]);
    let plain = scene.origin.doors().plain.clone();
    let (_, plain) = plain.split_once("://").unwrap();
    let told = scene.mirror(&format!("{plain}/acme/demo --plain-http {plain}"));
    told.tells("Copied [PLAIN]/acme/demo 1.0.0 1 406 signed [ACME ID] Mirrored 1 1 406 [TIME]");
}

#[test]
fn every_host_that_decides_which_keys_are_served_has_to_be_verified() {
    // The discovery document decides which host serves the keys.
    let service = || OriginScene::new(Setup::new([demo()]).service_at(Door::Elsewhere).start());
    for insecure in ["[ORIGIN]", "[ELSEWHERE]"] {
        let scene = service();
        let insecure = format!("{INSECURE} {insecure}");
        refuses_to_pin(&scene, &insecure);
        is(&scene, &insecure, "signed [ACME ID] unverified-transport");
    }
    is(&service(), "", "signed [ACME ID] (origin)");
    // So do hosts that redirect, and hosts that are redirected to.
    for sort in ["discovery", "download"] {
        let scene = OriginScene::of([demo()]);
        let sort = at(Door::Front, asks(sort));
        scene.origin.always(sort, Fault::RedirectElsewhere);
        let insecure = format!("{INSECURE} [ELSEWHERE]");
        refuses_to_pin(&scene, &insecure);
        is(&scene, &insecure, "signed [ACME ID] unverified-transport");
    }
    // The keys may come from the answer for any platform.
    let scene = OriginScene::of([Provider::demo(&[DARWIN, LINUX])]);
    let unlisted = lie::lacks("versions/0/platforms");
    scene.origin.always(asks("versions"), unlisted);
    let linux = at(Door::Front, asks("download * * linux_amd64"));
    scene.origin.always(linux, Fault::RedirectElsewhere);
    refuses_to_pin(&scene, &format!("{INSECURE} [ELSEWHERE]"));
    // A host that only serves signed files does not.
    let scene = OriginScene::new(Setup::new([demo()]).files_at(Door::Elsewhere).start());
    let insecure = format!("{INSECURE} [ELSEWHERE]");
    is(&scene, &insecure, "signed [ACME ID] (origin)");
}

#[test]
fn a_pinned_key_needs_no_verified_origin() {
    let scene = OriginScene::of([demo()]);
    scene.write("acme.asc", Signer::acme().public_armored());
    let more = format!("--key acme.asc {INSECURE} [ORIGIN]");
    is(&scene, &more, "signed [ACME ID] (pinned)");
}

#[test]
fn a_lock_file_verifies_the_package_and_not_the_key() {
    let scene = OriginScene::of([demo()]);
    let zip = [zh(&scene.origin, "1.0.0", LINUX)];
    lock(&scene, NAME, "[ORIGIN]/acme/demo", "1.0.0", &zip);
    let more = format!("--from-lock . {INSECURE} [ORIGIN]");
    scene.mirror(&format!("{more} {PINNING} -q")).ends(3);
    assert!(!scene.path("trust.toml").exists());
    scene.mirror(&more).tells(LOCKED);
}
