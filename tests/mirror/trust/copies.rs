//! Copies of pinned keys beside the trust file.

use sequoia_openpgp::types::ReasonForRevocation;

use crate::mirror::origin_scene::{OriginScene, folder};
use crate::support::origin::{Provider, Release};
use crate::support::signer::Signer;

const TRUST: &str = "--trust trust.toml";

#[test]
fn a_key_that_is_revoked_between_two_runs_is_refused() {
    let acme = Signer::acme();
    let copy = format!("keys/{}.asc", acme.fingerprint());
    let release = Release::from(folder());
    let demo = |key: &str| Provider::new("acme/demo").release(release.clone().keys(&[key]));
    for reason in [
        ReasonForRevocation::KeyCompromised,
        ReasonForRevocation::KeyRetired,
    ] {
        let revoked = acme.armored_revoked(reason);
        let scene = OriginScene::of([demo(&acme.public_armored())]);
        scene.demo(&format!("{TRUST} --pin-new")).ends(0);
        let kept = std::fs::read(scene.path(&copy)).unwrap();
        scene.origin.publish(demo(&revoked));
        scene.demo(TRUST).ends(0);
        let refused = "error [ORIGIN]/acme/demo 1.0.0 [ORIGIN] SHA256SUMS.sig [ACME]";
        scene.demo(&format!("{TRUST} --recheck")).says(3, refused);
        assert_eq!(std::fs::read(scene.path(&copy)).unwrap(), kept);

        // The origin's revocation was put beside the trust file, and the origin forgot it.
        scene.write(&copy, &revoked);
        scene.origin.publish(demo(&acme.public_armored()));
        scene.demo(&format!("{TRUST} --recheck")).says(3, refused);
        let from = format!("[ORIGIN]/acme/demo --from oci-layout:store {TRUST}");
        for (command, more) in [
            ("inspect", ""),
            ("install", "--into out"),
            ("lock", ""),
            ("site", "public"),
            ("copy", "--to oci-layout:other"),
        ] {
            let arguments = format!("{more} {from}");
            let said = scene.command_of(command, &arguments).ends(3);
            assert!(said.contains("revoked"), "{command}: {said}");
        }
        // `--key` adds to what the copy says.
        scene.write("acme.asc", acme.public_armored());
        let arguments = format!("{from} --key acme.asc");
        scene.command_of("inspect", &arguments).ends(3);
    }
}

#[test]
fn a_copy_that_is_there_stays_and_has_to_be_of_its_key() {
    let acme = Signer::acme();
    let copy = format!("keys/{}.asc", acme.fingerprint());
    let scene = OriginScene::of([Provider::new("acme/demo").release(folder())]);
    let renewed = acme.armored_renewed();
    scene.write(&copy, &renewed);
    scene.demo(&format!("{TRUST} --pin-new")).ends(0);
    let kept = std::fs::read_to_string(scene.path(&copy)).unwrap();
    assert_eq!(kept, renewed);

    scene.write(&copy, Signer::stranger().public_armored());
    let other = "error keys/[ACME].asc received [STRANGER] keys trust.toml 2";
    scene.demo(TRUST).says(2, other);
    std::fs::remove_file(scene.path("trust.toml")).unwrap();
    let unpinned = "error trust.toml [ORIGIN]/acme/demo [ACME] keys/[ACME].asc";
    let run = scene.demo(&format!("{TRUST} --pin-new --recheck"));
    run.says(2, unpinned);
    assert!(!scene.path("trust.toml").exists());
}
