use super::{LINUX, demo};
use crate::mirror::origin_scene::OriginScene;
use crate::support::origin::Provider;
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
    scene.demo(&format!("{pinning} --dry-run")).says(
        0,
        "
Would copy [ORIGIN]/acme/demo 1.0.0   1 package, 406 B   signed [ACME ID] (origin)
 Would pin [ORIGIN]/acme/demo   [ACME] in trust.toml   Acme Provider Signing (test key) <security@acme.example>, Ed25519, first seen with 1.0.0
Would mirror 1 version, 1 package (406 B to copy) in [TIME]
",
    );
    assert!(!scene.path("trust.toml").exists());
    scene.demo(pinning).says(
        0,
        "
    Copied [ORIGIN]/acme/demo 1.0.0   1 package, 406 B   signed [ACME ID] (origin)
    Pinned [ORIGIN]/acme/demo   [ACME] in trust.toml   Acme Provider Signing (test key) <security@acme.example>, Ed25519, first seen with 1.0.0
      Note compare the keys in trust.toml with those that their authors publish, and commit the file and the directory `keys` beside it
  Mirrored 1 version, 1 package (406 B copied) in [TIME]
",
    );
    let text = std::fs::read_to_string(scene.path("trust.toml")).unwrap();
    assert!(text.contains(&Signer::acme().fingerprint()), "{text}");

    rotated(&scene);
    let before = scene.tree();
    scene.demo(pinning).says(3, r#"
error: [ORIGIN]/acme/demo 1.1.0 ([ORIGIN]): the signature `SHA256SUMS.sig` is by a key that is not pinned
  expected [ACME] `Acme Provider Signing (test key) <security@acme.example>` (named by trust.toml, line 4)
  received [STRANGER] `Another Author (test key) <else@stranger.example>`

hint: nothing of this version was written. If the author says that this key is theirs, add "[STRANGER]" to `keys` in trust.toml, line 4; until then, the constraint `!= 1.1.0` leaves it out
"#);
    scene.demo("--trust trust.toml").says(3, r#"
error: [ORIGIN]/acme/demo 1.1.0 ([ORIGIN]): the signature `SHA256SUMS.sig` is by a key that is not pinned
  expected [ACME] `Acme Provider Signing (test key) <security@acme.example>` (named by trust.toml, line 4)
  received [STRANGER] `Another Author (test key) <else@stranger.example>`

hint: nothing of this version was written. If the author says that this key is theirs, add "[STRANGER]" to `keys` in trust.toml, line 4; until then, the constraint `!= 1.1.0` leaves it out
"#);
    assert_eq!(scene.tree(), before);
    let after = std::fs::read_to_string(scene.path("trust.toml")).unwrap();
    assert_eq!(after, text);
    scene.demo("").says(
        0,
        "
    Copied [ORIGIN]/acme/demo 1.1.0   1 package, 406 B   signed [STRANGER ID] (origin)
  Mirrored 1 version, 1 package (406 B copied) in [TIME]
",
    );
}

#[test]
fn keys_are_pinned_in_the_named_trust_file() {
    let scene = OriginScene::of([demo()]);
    scene.demo("--pin-new").says(
        2,
        "
error: there is no trust file into which new keys could be written

hint: name it with `--trust FILE`, or by `trust` in the mirror file: it is created if it does not exist
",
    );
}

#[test]
fn keys_of_several_owners_are_pinned() {
    let other = Provider::new("acme/other").release(
        ReleaseFolder::new("other", "1.0.0")
            .platform(LINUX)
            .signed_by(Signer::stranger()),
    );
    let scene = OriginScene::of([demo(), other]);
    scene
        .mirror("[ORIGIN]/acme/demo [ORIGIN]/acme/other --trust trust.toml --pin-new --jobs 1 -q")
        .says(0, "");
    let text = std::fs::read_to_string(scene.path("trust.toml")).unwrap();
    for signer in [Signer::acme(), Signer::stranger()] {
        assert!(text.contains(&signer.fingerprint()), "{text}");
    }
}
