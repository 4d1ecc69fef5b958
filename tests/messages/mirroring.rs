//! Origins and stores from which, or into which, `mirror` cannot copy a version.

use super::{Case, check};
use crate::mirror::origin_scene::{OriginScene, folder};
use crate::support::origin::{Fault, Provider, Release, asks};
use crate::support::registry::{Access, Personality, Setup};
use crate::support::release::ReleaseFolder;
use crate::support::signer::Signer;
use crate::support::{copy, testdata};

const TRUST: &str = "[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"acme.asc\"]\n";

/// A scene with the trust file `trust.toml`.
fn trusting(stage: OriginScene, trust: &str) -> OriginScene {
    let key = Signer::acme().public_armored();
    stage.scene.write("acme.asc", key);
    stage.scene.write("trust.toml", trust);
    stage
}

#[test]
fn versions_that_are_not_verified_again_are_counted() {
    let demo = Provider::new("acme/demo");
    let demo = demo
        .version("1.0.0", &["linux_amd64"])
        .version("1.1.0", &["linux_amd64"]);
    let stage = trusting(OriginScene::of([demo]), TRUST);
    let strict = "[ORIGIN]/acme/demo@>=1.0 --require-pinned --trust trust.toml";
    stage.mirror(&format!("{strict} -q")).says(0, "");
    stage.mirror(strict).says(
        0,
        "
      Note 2 versions that the store has already were not verified again; `--recheck` does so
  Mirrored nothing: 2 packages already present, in [TIME]
",
    );
}

#[test]
fn what_follows_from_a_trust_file_for_other_providers() {
    let others = TRUST.replace("*/*/*", "other.example/*/*");
    let stage = trusting(OriginScene::release(folder()), &others);
    let said = stage.demo("--trust trust.toml").ends(0);
    let warning = "   Warning no entry of trust.toml matches [ORIGIN]/acme/demo: the keys that their origins serve are believed\n";
    assert!(said.contains(warning), "{said}");
    let said = stage.demo("--trust trust.toml --require-pinned").ends(2);
    let warning = "   Warning no entry of trust.toml matches [ORIGIN]/acme/demo: refused by `--require-pinned`\n";
    assert!(said.contains(warning), "{said}");
}

#[test]
fn an_origin_that_is_asked_too_often() {
    let stage = OriginScene::release(folder());
    stage.origin.always(asks("versions"), Fault::status(429));
    let said = stage.demo("").ends(1);
    let hint = "\n\nhint: run it again later, with fewer at once (`--jobs`): what is done is not repeated\n";
    assert!(said.ends_with(hint), "{said}");
}

#[test]
fn an_image_has_the_tag_of_the_version() {
    let stage = OriginScene::release(folder());
    let layout = testdata("layouts").join("tag-is-image-manifest");
    copy(&layout, &stage.scene.path("store"));
    stage.demo("--exact-repository -q").says(
        3,
        "
error: [ORIGIN]/acme/demo 1.0.0 (oci-layout:store): the tag refers to something other than a provider
  the tag leads to an image manifest
    expected a provider's index

hint: nothing of this version was changed. Mirror into another repository, or delete the tag in the store first
",
    );
}

#[test]
fn a_release_that_proves_less_than_before() {
    let stage = OriginScene::release(folder());
    stage.demo("-q").says(0, "");
    // The checksum document lists another platform, so it would replace the signed one.
    let other = ReleaseFolder::new("demo", "1.0.0");
    let other = other.platform("darwin_arm64").platform("linux_amd64");
    let unsigned = Release::from(other).keys(&[]);
    stage
        .origin
        .publish(Provider::new("acme/demo").release(unsigned));
    let before = stage.tree();
    let said = stage.demo("-q --allow-unsigned [ORIGIN]/acme/demo").ends(3);
    let hint =
        "hint: nothing of this version was changed. Mirror it from where its author signs it\n";
    assert!(said.ends_with(hint), "{said}");
    assert_eq!(stage.tree(), before);
}

#[test]
fn a_tag_that_does_not_move() {
    let demo = Provider::demo(&["darwin_arm64", "linux_amd64"]);
    let stage = OriginScene::of([demo]);
    let registry = Setup::of(Personality::Ecr)
        .access(Access::Open)
        .create("acme/demo")
        .quirks(|quirks| quirks.immutable = true)
        .start();
    let host = registry.host();
    let storage = registry.doors().elsewhere.replace("http://", "");
    let mirror = format!("[ORIGIN]/acme/demo --exact-repository --to {host}/acme/demo -q");
    let mirror = format!("{mirror} --plain-http {host} --plain-http {storage}");
    stage
        .run(&format!("{mirror} --platform linux_amd64"))
        .says(0, "");
    let said = stage.run(&mirror).ends(1);
    let hint = "hint: the version is as it was. Mirror all platforms of a version at once, or have the registry's operator let the tags of this repository move\n";
    assert!(said.ends_with(hint), "{said}");
}

#[test]
fn a_trust_file_that_could_not_be_written() {
    check(&[Case {
        label: "the directory above it is missing",
        given: |author| {
            let file = "trust = \"nowhere/trust.toml\"\nto = [\"oci-layout:store\"]\n[[provider]]\naddress = \"acme.test/acme/demo\"\n";
            author.scene.write("mirror.toml", file);
        },
        arguments: "mirror --file mirror.toml --pin-new",
        exit: 1,
        says: r"
error: cannot create a file in nowhere
  No such file or directory (os error 2)
  named by `trust` in the mirror file
",
    }]);
}
