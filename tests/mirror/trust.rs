use serde_json::json;

use super::origin_scene::{ARRIVED, COPIED, OriginScene, TWO_ARRIVED, folder};
use super::{LINUX, demo};
use crate::support::origin::{Release, asks, lie};
use crate::support::release::{Mistake, ReleaseFolder};
use crate::support::signer::Signer;

/// Copies of pinned keys, which may have a revocation.
mod copies;
mod unsigned;

/// Mirrors this release, which is refused.
#[track_caller]
fn refused(release: impl Into<Release>, more: &str, code: i32, facts: &str) {
    let scene = OriginScene::release(release);
    let says = format!("error [ORIGIN]/acme/demo 1.0.0 [ORIGIN] {facts}");
    scene.demo(more).says(code, &says).gives("");
    assert_eq!(scene.origin.count(asks("package")), 0);
    assert!(scene.installs().is_empty());
}

#[test]
fn a_key_that_expired_after_signing_is_accepted() {
    let scene = OriginScene::release(folder().signed_by(Signer::expired_since()));
    scene.demo("-q").says(0, "");
    assert_eq!(scene.installs(), ARRIVED);
}

#[test]
fn the_trust_file_can_refuse_expired_keys() {
    let scene = OriginScene::release(Release::of_testdata("expired-before"));
    let entry = "[[provider]]\nmatch = \"[ORIGIN]/acme/*\"\nexpired = \"refuse\"\n";
    scene.write("trust.toml", scene.named(entry));
    scene.demo("--trust trust.toml").says(3, "error [ORIGIN]/acme/demo 1.0.0 [ORIGIN] SHA256SUMS.sig FB115E33801559B027AA1233AE4169F062F4082A");
    assert!(scene.installs().is_empty());
    // The signed files of this fixture are not zips, so nothing can be mirrored.
    let plan = scene.demo("--dry-run --platform linux_amd64");
    plan.tells(
        "Would [ORIGIN]/acme/demo 1.0.0 1 11 signed AE4169F062F4082A origin Would 1 1 11 [TIME]",
    );
}

#[test]
fn any_of_the_origins_keys_may_have_signed() {
    let both = [Signer::stranger(), Signer::acme()];
    let scene = OriginScene::release(Release::from(folder()).signers(&both));
    scene.demo("").tells(COPIED);
    let scene = OriginScene::of([demo()]);
    let broken = lie::broken_first_key();
    scene.origin.always(asks("download"), broken);
    scene.demo("").tells(COPIED);
    assert_eq!(scene.installs(), ARRIVED);
}

#[test]
fn a_release_without_a_key_needs_allow_unsigned() {
    let allowed = "--allow-unsigned other/*";
    for more in ["", allowed, "--trust trust.toml --pin-new"] {
        refused(Release::from(folder()).keys(&[]), more, 3, "");
    }
    // The first advice of the hint.
    let scene = OriginScene::release(Release::from(folder()).keys(&[]));
    scene.write("acme.asc", Signer::acme().public_armored());
    scene.demo("--key acme.asc -q").says(0, "");
    let scene = OriginScene::release(Release::from(folder()).keys(&[]));
    let pattern = "--allow-unsigned [ORIGIN]/acme/*";
    scene.demo(pattern).tells(UNSIGNED);
    assert_eq!(scene.installs(), ARRIVED);
    scene.demo(pattern).tells("Mirrored 1 [TIME]");
    assert_eq!(scene.origin.count(asks("package")), 1);
}

const UNSIGNED: &str = "Copied [ORIGIN]/acme/demo 1.0.0 1 406 checksum Mirrored 1 1 406 [TIME]";

/// An origin that serves neither keys nor signatures.
fn unsigned() -> OriginScene {
    let scene = OriginScene::of([demo()]);
    for fields in ["shasums_signature_url", "signing_keys"] {
        let lie = lie::says(fields, json!(null));
        scene.origin.always(asks("download"), lie);
    }
    scene
}

#[test]
fn a_release_without_a_signature_needs_allow_unsigned() {
    let scene = unsigned();
    let says = "error [ORIGIN]/acme/demo 1.0.0 [ORIGIN]";
    scene.demo("").says(3, says);
    scene
        .demo("--allow-unsigned [ORIGIN]/acme/demo")
        .tells(UNSIGNED);
    assert_eq!(scene.installs(), ARRIVED);
}

#[test]
fn the_users_key_takes_precedence_over_the_origins() {
    let scene = OriginScene::of([demo()]);
    scene.write("acme.asc", Signer::acme().public_armored());
    scene.write("stranger.asc", Signer::stranger().public_armored());
    scene.demo("--key stranger.asc").says(3, "error [ORIGIN]/acme/demo 1.0.0 [ORIGIN] SHA256SUMS.sig expected [STRANGER] received [ACME]");
    let pinned = COPIED.replace("] origin", "] pinned");
    scene.demo("--key acme.asc").tells(&pinned);
    assert_eq!(scene.installs(), ARRIVED);
}

#[test]
fn a_bad_version_does_not_stop_the_others() {
    let bad = ReleaseFolder::new("demo", "1.0.1").platform(LINUX);
    let bad = bad.mistake(Mistake::SignatureByStranger);
    let provider = demo().release(bad).version("1.1.0", &[LINUX]);
    let scene = OriginScene::of([provider]);
    scene.mirror("[ORIGIN]/acme/demo@>=1.0 -q").says(3, "error [ORIGIN]/acme/demo 1.0.1 [ORIGIN] SHA256SUMS.sig expected [ACME] received [STRANGER]");
    assert_eq!(scene.installs(), TWO_ARRIVED);
}

#[test]
fn require_pinned_refuses_providers_without_a_pinned_key() {
    let scene = OriginScene::release(folder());
    let said = scene.demo("--require-pinned");
    said.says(2, "error [ORIGIN]/acme/demo");
    // An entry for other providers does not apply to this one.
    let table = "[[provider]]\nmatch = \"other.example/acme/*\"\nkeys = [\"acme.asc\"]\n";
    scene.write("trust.toml", table);
    scene.write("acme.asc", Signer::acme().public_armored());
    let strict = "--require-pinned --trust trust.toml";
    let quiet = format!("{strict} -q");
    scene.demo(&quiet).says(2, "error [ORIGIN]/acme/demo");
    assert_eq!(scene.origin.count(asks("package")), 0);
    assert!(scene.installs().is_empty());
    scene.write("trust.toml", table.replace("other.example/acme", "*/*"));
    for more in ["", "", "--recheck"] {
        scene.demo(&format!("{strict} {more}")).ends(0);
    }
    std::fs::remove_file(scene.path("trust.toml")).unwrap();
    // `--require-pinned` and `--pin-new` exclude each other.
    let both = "--require-pinned --pin-new --trust trust.toml";
    scene.demo(both).says(2, "error --require-pinned --pin-new");
}

/// Pins that were changed do not take back what clients install already.
#[test]
fn a_stored_version_that_the_pins_refuse_is_to_be_withdrawn() {
    let stage = OriginScene::of([demo()]);
    stage.demo("-q").says(0, "");
    let before = stage.tree();
    let entry = |key: &str| format!("[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"{key}\"]\n");
    let fingerprint = Signer::stranger().fingerprint();
    stage.write("trust.toml", entry(&fingerprint));
    let told = stage.demo("--recheck --require-pinned --trust trust.toml -q");
    told.says(3, "error [ORIGIN]/acme/demo 1.0.0 [ORIGIN] SHA256SUMS.sig expected [STRANGER] received [ACME]");
    assert_eq!(stage.tree(), before);
}
