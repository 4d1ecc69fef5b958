use super::{LINUX, demo};
use crate::mirror::origin_scene::OriginScene;
use crate::support::release::ReleaseFolder;
use crate::support::signer::Signer;

/// A second release, by another author.
fn rotated(scene: &OriginScene) {
    let next = ReleaseFolder::new("demo", "1.1.0")
        .platform(LINUX)
        .signed_by(Signer::stranger());
    scene.origin.publish(demo().release(next));
}

#[test]
fn new_keys_are_pinned_and_others_refused() {
    let scene = OriginScene::of([demo()]);
    let pinning = "--trust trust.toml --pin-new";
    scene.demo(pinning).tells("Copied [ORIGIN]/acme/demo 1.0.0 1 406 signed [ACME ID] origin Pinned [ORIGIN]/acme/demo [ACME] <security@acme.example> Ed25519 1.0.0 Note Mirrored 1 1 406 [TIME]",
    );
    let text = std::fs::read_to_string(scene.path("trust.toml")).unwrap();
    assert!(text.contains(&Signer::acme().fingerprint()), "{text}");

    rotated(&scene);
    let before = scene.tree();
    for more in [pinning, "--trust trust.toml"] {
        scene.demo(more).says(3, "error [ORIGIN]/acme/demo 1.1.0 [ORIGIN] SHA256SUMS.sig expected [ACME] <security@acme.example> 4 received [STRANGER] <else@stranger.example>");
    }
    assert_eq!(scene.tree(), before);
    let after = std::fs::read_to_string(scene.path("trust.toml")).unwrap();
    assert_eq!(after, text);
    scene.demo("").tells(
        "Copied [ORIGIN]/acme/demo 1.1.0 1 406 signed [STRANGER ID] origin Mirrored 1 1 406 [TIME]",
    );
}

#[test]
fn keys_are_pinned_in_the_named_trust_file() {
    let scene = OriginScene::of([demo()]);
    scene.demo("--pin-new").says(2, "error");
}
