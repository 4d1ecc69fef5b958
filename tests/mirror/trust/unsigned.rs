//! Providers whose authors sign nothing, under a policy that is strict otherwise.

use super::{UNSIGNED, unsigned};
use crate::mirror::origin_scene::{ARRIVED, OriginScene};
use crate::support::signer::Signer;

/// An origin without a signature, and a trust file that pins a key for everything.
fn scene() -> OriginScene {
    let scene = unsigned();
    scene.write("acme.asc", Signer::acme().public_armored());
    scene.write("trust.toml", PINS);
    scene
}

const REFUSED: &str = "error [ORIGIN]/acme/demo 1.0.0 [ORIGIN] expected acme.asc";
const PINS: &str = "[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"acme.asc\"]\n";

#[test]
fn an_entry_above_the_pins_of_others_accepts_what_its_author_never_signs() {
    let scene = scene();
    let trust = "--trust trust.toml";
    scene.demo(trust).says(3, REFUSED);
    let allowed = format!("{trust} --allow-unsigned [ORIGIN]/acme/demo");
    scene.demo(&allowed).says(3, REFUSED);
    let lock = scene.command_of("lock", "[ORIGIN]/acme/demo --trust trust.toml");
    lock.says(3, REFUSED);

    let entry = "[[provider]]\nmatch = \"[ORIGIN]/acme/demo\"\nunsigned = \"allow\"\n";
    scene.write("trust.toml", scene.named(&format!("{entry}{PINS}")));
    let strict = "--trust trust.toml --require-pinned";
    scene.demo(strict).says(2, "error [ORIGIN]/acme/demo");
    let told = scene.demo(&format!("{strict} --exclude [ORIGIN]/acme/demo"));
    told.tells("Mirrored [TIME]");
    scene.demo(trust).tells(UNSIGNED);
    assert_eq!(scene.installs(), ARRIVED);

    for from in ["oci-layout:store", "origin"] {
        let arguments = format!("[ORIGIN]/acme/demo@1.0.0 --from {from} {strict}");
        let run = scene.command_of("inspect", &arguments);
        run.says(2, "error [ORIGIN]/acme/demo");
    }
    let inspect = "[ORIGIN]/acme/demo@1.0.0 --from origin";
    scene.command_of("inspect", inspect).ends(3);
}

/// A pin of one provider says that its author signs.
#[test]
fn an_entry_for_one_provider_is_not_to_be_overruled() {
    let scene = scene();
    let entry = PINS.replace("*/*/*", &scene.named("[ORIGIN]/acme/demo"));
    scene.write("trust.toml", entry);
    scene.demo("--trust trust.toml").says(3, REFUSED);
}
