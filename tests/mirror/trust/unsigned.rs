//! Providers whose authors sign nothing, under a policy that is strict otherwise.

use serde_json::json;

use super::demo;
use crate::mirror::origin_scene::OriginScene;
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

const PINS: &str = "[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"acme.asc\"]\n";

#[test]
fn an_entry_above_the_pins_of_others_accepts_what_its_author_never_signs() {
    let scene = scene();
    scene.demo("--trust trust.toml").says(
        3,
        "error [ORIGIN]/acme/demo 1.0.0 [ORIGIN] expected 3 received",
    );
    let allowed = "--trust trust.toml --allow-unsigned [ORIGIN]/acme/demo";
    scene.demo(allowed).says(
        3,
        "error [ORIGIN]/acme/demo 1.0.0 [ORIGIN] expected 3 received",
    );
    scene
        .command_of("lock", "[ORIGIN]/acme/demo --trust trust.toml")
        .says(
            3,
            "error [ORIGIN]/acme/demo 1.0.0 [ORIGIN] expected 3 received",
        );

    let entry = "[[provider]]\nmatch = \"[ORIGIN]/acme/demo\"\nunsigned = \"allow\"\n";
    scene.write("trust.toml", scene.named(&format!("{entry}{PINS}")));
    let strict = "--trust trust.toml --require-pinned";
    scene.demo(strict).says(2, "error [ORIGIN]/acme/demo");
    scene
        .demo(&format!("{strict} --exclude [ORIGIN]/acme/demo"))
        .says(0, "Mirrored [TIME]");
    scene.demo("--trust trust.toml").says(
        0,
        "Copied [ORIGIN]/acme/demo 1.0.0 1 406 checksum Mirrored 1 1 406 [TIME]",
    );
    assert_eq!(scene.installs(), ["acme/demo 1.0.0 linux_amd64"]);

    for from in ["oci-layout:store", "origin"] {
        let arguments = format!("[ORIGIN]/acme/demo@1.0.0 --from {from} {strict}");
        let said = scene.command_of("inspect", &arguments).ends(2);
        let hint = "hint: [ORIGIN]/acme/demo is allowed without a signature, which `--require-pinned` does not accept: it needs a run of its own, without that option\n";
        assert!(said.ends_with(hint), "{said}");
    }
    let said = scene
        .command_of("inspect", "[ORIGIN]/acme/demo@1.0.0 --from origin")
        .ends(3);
    let hint = "hint: nothing proves who made it. `tfoci mirror` and `tfoci lock` take it only with `--allow-unsigned [ORIGIN]/acme/demo`\n";
    assert!(said.ends_with(hint), "{said}");
}

/// A pin of one provider says that its author signs.
#[test]
fn an_entry_for_one_provider_is_not_to_be_overruled() {
    let scene = scene();
    let entry = PINS.replace("*/*/*", &scene.named("[ORIGIN]/acme/demo"));
    scene.write("trust.toml", entry);
    scene.demo("--trust trust.toml").says(
        3,
        "error [ORIGIN]/acme/demo 1.0.0 [ORIGIN] expected 3 received",
    );
}
