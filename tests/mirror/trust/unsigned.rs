//! Providers whose authors sign nothing, under a policy that is strict otherwise.

use serde_json::json;

use super::demo;
use crate::mirror::origin_scene::{ARRIVED, OriginScene};
use crate::support::origin::{asks, lie};
use crate::support::signer::Signer;

/// An origin without a signature, and a trust file that pins a key for everything.
fn scene() -> OriginScene {
    let scene = OriginScene::of([demo()]);
    for fields in ["shasums_signature_url", "signing_keys"] {
        let lie = lie::says(fields, json!(null));
        scene.origin.always(asks("download"), lie);
    }
    scene.write("acme.asc", Signer::acme().public_armored());
    scene.write("trust.toml", PINS);
    scene
}

const UNSIGNED: &str = "error [ORIGIN]/acme/demo 1.0.0 [ORIGIN] expected 3 received";
const PINS: &str = "[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"acme.asc\"]\n";

#[test]
fn an_entry_above_the_pins_of_others_accepts_what_its_author_never_signs() {
    let scene = scene();
    for more in ["", "--allow-unsigned [ORIGIN]/acme/demo"] {
        let more = format!("--trust trust.toml {more}");
        scene.demo(&more).says(3, UNSIGNED);
    }
    scene
        .command_of("lock", "[ORIGIN]/acme/demo --trust trust.toml")
        .says(3, UNSIGNED);

    let entry = "[[provider]]\nmatch = \"[ORIGIN]/acme/demo\"\nunsigned = \"allow\"\n";
    scene.write("trust.toml", scene.named(&format!("{entry}{PINS}")));
    let strict = "--trust trust.toml --require-pinned";
    scene.demo(strict).says(2, "error [ORIGIN]/acme/demo");
    scene
        .demo(&format!("{strict} --exclude [ORIGIN]/acme/demo"))
        .tells("Mirrored [TIME]");
    scene
        .demo("--trust trust.toml")
        .tells("Copied [ORIGIN]/acme/demo 1.0.0 1 406 checksum Mirrored 1 1 406 [TIME]");
    assert_eq!(scene.installs(), ARRIVED);

    for from in ["oci-layout:store", "origin"] {
        let arguments = format!("[ORIGIN]/acme/demo@1.0.0 --from {from} {strict}");
        let run = scene.command_of("inspect", &arguments);
        run.says(2, "error [ORIGIN]/acme/demo");
    }
    scene
        .command_of("inspect", "[ORIGIN]/acme/demo@1.0.0 --from origin")
        .ends(3);
}

/// A pin of one provider says that its author signs.
#[test]
fn an_entry_for_one_provider_is_not_to_be_overruled() {
    let scene = scene();
    let entry = PINS.replace("*/*/*", &scene.named("[ORIGIN]/acme/demo"));
    scene.write("trust.toml", entry);
    scene.demo("--trust trust.toml").says(3, UNSIGNED);
}
