use std::fs;

use super::{listed, names, of_demo, site, with_two, zip};
use crate::install::{DEMO, demo, push, sha256};
use crate::support::release::Mistake;
use crate::support::scene::Scene;
use crate::support::signer::Signer;

#[test]
fn versions_that_do_not_verify_are_not_written_and_others_are() {
    let scene = with_two();
    let package = of_package(&scene);
    let mut bytes = fs::read(&package).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&package, bytes).unwrap();
    let run = site(&scene, &[]).exits(3);
    assert!(
        run.stderr.contains("error: example.com/acme/demo 1.0.0"),
        "{}",
        run.stderr
    );
    assert_eq!(listed(&scene), ["1.1.0"]);
    assert!(!of_demo(&scene, &zip("1.0.0", "linux_amd64")).exists());
}

/// The blob of the package of 1.0.0 for `linux_amd64`.
fn of_package(scene: &Scene) -> std::path::PathBuf {
    let zip = crate::install::released(scene, DEMO, "1.0.0").join(zip("1.0.0", "linux_amd64"));
    let hex = sha256(&fs::read(zip).unwrap());
    scene
        .path("store")
        .join(DEMO)
        .join("blobs/sha256")
        .join(hex)
}

#[test]
fn versions_of_a_key_that_is_no_longer_trusted_are_deleted() {
    let scene = with_two();
    site(&scene, &["--key", "acme.asc", "--require-pinned"]).succeeds();
    scene.write("stranger.asc", Signer::stranger().public_armored());
    let pinned = ["--key", "stranger.asc", "--require-pinned"];
    site(&scene, &pinned).exits(3);
    assert_eq!(listed(&scene), ["1.0.0", "1.1.0"]);
    site(&scene, &[&pinned[..], &["--delete"]].concat()).exits(3);
    assert_eq!(names(&scene), [""; 0]);
    let run = site(&scene, &["--require-pinned"]).exits(2);
    assert!(run.stderr.contains("no key is pinned"), "{}", run.stderr);
}

#[test]
fn unsigned_versions_need_an_option_if_a_rule_refuses_them() {
    let scene = Scene::new();
    push(&scene, DEMO, "1.0.0", &demo("1.0.0"));
    let folder = crate::install::released(&scene, DEMO, "2.0.0");
    demo("2.0.0")
        .mistake(Mistake::SignatureMissing)
        .write(&folder);
    let provider = format!("{DEMO}@2.0.0");
    let arguments = [
        "push",
        folder.to_str().unwrap(),
        "--provider",
        &provider,
        "--to",
        "oci-layout:store",
        "--allow-unsigned",
        "*/*/*",
    ];
    scene.tfoci(arguments).succeeds();
    let trust = "[[provider]]\nmatch = \"*/*/*\"\nunsigned = \"refuse\"\n";
    scene.write("trust.toml", trust);
    let trust = ["--trust", "trust.toml"];
    site(&scene, &trust).exits(3);
    assert_eq!(listed(&scene), ["1.0.0"]);
    site(
        &scene,
        &[&trust[..], &["--allow-unsigned", "example.com/*/*"]].concat(),
    )
    .succeeds();
    assert_eq!(listed(&scene), ["1.0.0", "2.0.0"]);
}
