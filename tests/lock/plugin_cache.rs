//! What is at the path of a package: what clients left there for their plugin cache, which `tfoci install` leaves alone, or something else.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::clients::init;
use crate::support::judge;

use super::installs::{LOCK, given, install, other};
use super::{clients, read};

/// Whether a path or anything below it is a symbolic link.
pub fn has_link(path: &Path) -> bool {
    let entries = || fs::read_dir(path).unwrap();
    path.is_symlink() || path.is_dir() && entries().any(|entry| has_link(&entry.unwrap().path()))
}

#[test]
fn the_plugin_cache_of_clients_is_left_alone() {
    for client in clients() {
        let (_origin, scene) = given();
        let cache = scene.path("cache");
        fs::create_dir(&cache).unwrap();
        let scene = scene.env("TF_PLUGIN_CACHE_DIR", cache.to_str().unwrap());
        let installs = || {
            install(&scene, &format!("--client {client}")).succeeds();
            assert!(!has_link(&scene.path("ours/.terraform/providers")));
        };
        installs();
        assert_eq!(fs::read_dir(&cache).unwrap().count(), 0, "{client}");
        let lock = read(&scene, LOCK);
        fs::remove_dir_all(scene.path("ours/.terraform")).unwrap();
        init(&scene, "ours", client).succeeds();
        let cached = judge::tree(&cache);
        // What the client linked is replaced.
        installs();
        assert_eq!(judge::tree(&cache), cached, "{client}");
        assert_eq!(read(&scene, LOCK), lock, "{client}");
    }
}

#[test]
fn obstacles_are_replaced_only_if_nothing_is_lost() {
    let (origin, scene) = given();
    install(&scene, "").succeeds();
    let path = scene.path(other(&origin));
    crate::support::copy(&path, &scene.path("copy"));
    let whole = judge::tree(&path);
    let is_there = || !has_link(&path) && judge::tree(&path) == whole;

    // A link to elsewhere.
    fs::remove_dir_all(&path).unwrap();
    fs::create_dir(scene.path("elsewhere")).unwrap();
    symlink(scene.path("elsewhere"), &path).unwrap();
    install(&scene, "--dry-run").succeeds();
    assert!(path.is_symlink());
    install(&scene, "").succeeds();
    assert!(is_there());
    assert_eq!(fs::read_dir(scene.path("elsewhere")).unwrap().count(), 0);

    // An empty directory, and one that has the package.
    fs::remove_dir_all(&path).unwrap();
    fs::create_dir(&path).unwrap();
    install(&scene, "").succeeds();
    assert!(is_there());
    fs::remove_dir_all(&path).unwrap();
    crate::support::copy(&scene.path("copy"), &path);
    install(&scene, "").succeeds();
    assert!(is_there());

    // Something else.
    fs::write(path.join("mine"), "mine").unwrap();
    install(&scene, "").exits(3);
    assert!(path.join("mine").exists());
}
