//! `tfoci install` without `--into` from mirrors, which have no signatures.

use std::collections::BTreeMap;
use std::fs;

use crate::support::origin::{Origin, asks, lie};
use crate::support::scene::Scene;
use crate::support::signer::Signer;

use super::installs::{LOCK, install, providers};
use super::{any_version, foreign_zh, platforms, read, with_foreign_hashes};

/// A project that requires a provider which a network mirror has, and the option that names the mirror.
fn given() -> (Origin, Scene, String) {
    let (origin, scene) = super::given();
    scene.write("ours/main.tf", any_version("hashicorp/null"));
    let mirror = format!("--from network-mirror:{}", origin.mirror_url());
    (origin, scene, mirror)
}

/// A mirror has no signatures. Clients compare its packages with the lock file.
#[test]
fn a_mirror_gives_what_is_locked() {
    let (_origin, scene, mirror) = given();
    scene.write("acme.asc", Signer::acme().public_armored());
    let arrives = |arguments: &str, code: i32| {
        let _ = fs::remove_dir_all(scene.path("ours/.terraform"));
        let run = install(&scene, &format!("{mirror} {arguments}")).exits(code);
        let at = scene.path("ours/.terraform/providers");
        let there = at.is_dir().then(|| providers(&scene, "ours"));
        let mut there = there.iter().flat_map(BTreeMap::keys);
        let is_there = there.any(|path| path.contains("/terraform-provider-null"));
        assert_eq!(is_there, code == 0, "{arguments}");
        run.stderr
    };
    // Nothing is locked.
    arrives("", 3);
    arrives("--trust-store", 0);
    let lock = read(&scene, LOCK);
    for arguments in ["", "--locked"] {
        arrives(arguments, 0);
        assert_eq!(read(&scene, LOCK), lock, "{arguments}");
    }
    // A lock file is no signature.
    let said = arrives("--locked --key acme.asc", 3);
    assert!(said.contains("\n  expected a signature by "), "{said}");
    let others = with_foreign_hashes(&lock);
    scene.write(LOCK, &others);
    for arguments in ["", "--locked"] {
        arrives(arguments, 3);
        assert_eq!(read(&scene, LOCK), others, "{arguments}");
    }
}

/// Of a package that is there with a locked `h1`, tfoci reads no zip, so that a mirror could state any hash of it.
#[test]
fn a_mirror_adds_no_hash_to_the_lock_file() {
    let (origin, scene, mirror) = given();
    let here = &platforms()[0];
    install(&scene, &format!("{mirror} --trust-store --platform all")).succeeds();
    let lock = read(&scene, LOCK);
    let hashes = format!("archives/{here}/hashes");
    let stated = serde_json::json!([foreign_zh()]);
    origin.always(asks("mirror-version"), lie::says(&hashes, stated));
    install(&scene, &format!("{mirror} --platform all")).succeeds();
    assert_eq!(read(&scene, LOCK), lock);
}
