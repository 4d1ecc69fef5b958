//! Filesystem mirrors with unpacked packages, as `init` installs from them.

use std::fs;
use std::os::unix::fs::symlink;

use crate::clients::{init, run};
use crate::support::judge;
use crate::support::origin::Origin;
use crate::support::scene::Scene;
use crate::support::signer::Signer;

use super::installs::LOCK;
use super::plugin_cache::has_link;
use super::{any_version, clients, platforms, read};

/// A mirror of `acme/demo` 1.0.0 that `install --into` has written, which the CLI configuration names, and a project that requires it.
fn given() -> (Origin, Scene) {
    let (origin, scene) = super::given();
    let address = origin.address("acme/demo");
    let mirror = format!("mirror {address}@1.0.0 --to oci-layout:store");
    scene.line(mirror).succeeds();
    let into = "--from oci-layout:store --into fm --unpacked --platform all";
    scene.line(format!("install {address} {into}")).succeeds();
    let mirror = scene.path("fm");
    let block =
        format!("provider_installation {{\n  filesystem_mirror {{ path = {mirror:?} }}\n}}\n");
    let hosts = read(&scene, "client.tfrc");
    scene.write("client.tfrc", hosts + &block);
    for directory in ["ours", "theirs"] {
        scene.write(format!("{directory}/main.tf"), any_version(&address));
    }
    (origin, scene)
}

/// The directory of the package for this machine.
fn package(scene: &Scene, origin: &Origin) -> std::path::PathBuf {
    let here = &platforms()[0];
    scene.path(format!("fm/{}/1.0.0/{here}", origin.address("acme/demo")))
}

#[test]
fn what_is_locked_is_installed_and_compared() {
    let (origin, scene) = given();
    // A mirror has no signatures.
    scene.line("install --chdir ours").exits(3);
    scene.line("lock --chdir ours").exits(3);
    scene.line("install --chdir ours --trust-store").succeeds();
    let lock = read(&scene, LOCK);
    assert!(lock.contains("\"h1:") && !lock.contains("\"zh:"), "{lock}");
    let installed = scene.path("ours/.terraform/providers");
    let remove = || fs::remove_dir_all(scene.path("ours/.terraform")).unwrap();
    for arguments in [
        "install --chdir ours",
        "install --chdir ours --locked",
        "install --chdir ours --trust-store",
        "lock --chdir ours",
        "lock --chdir ours --check --h1",
        "lock --chdir ours --check --platform same",
    ] {
        let installs = arguments.starts_with("install");
        let run = scene.line(arguments).succeeds();
        run.tells(if installs { "Present" } else { "" });
        remove();
        let dry_run = format!("{} --dry-run", arguments.replace("--check", ""));
        scene.line(dry_run).succeeds();
        assert!(!installed.exists());
        scene.line(arguments).succeeds();
        assert_eq!(installed.exists(), installs);
        scene.line("install --chdir ours").succeeds();
        assert!(!has_link(&installed));
        let path = format!("{}/1.0.0/{}", origin.address("acme/demo"), platforms()[0]);
        let [ours, theirs] = [installed.join(path), package(&scene, &origin)];
        assert_eq!(judge::tree(&ours), judge::tree(&theirs));
        assert_eq!(read(&scene, LOCK), lock, "{arguments}");
    }
    // Every platform that the mirror has.
    scene.line("lock --chdir ours --trust-store").succeeds();
    let all = read(&scene, LOCK);
    assert_eq!(all.matches("\"h1:").count(), 2, "{all}");
    scene.line("install --chdir ours --locked").succeeds();
}

#[test]
fn the_lock_file_and_the_packages_are_those_of_init() {
    for client in clients() {
        let (_origin, scene) = given();
        let theirs = scene.path("theirs");
        init(&scene, "theirs", client).succeeds();
        let lock = read(&scene, "theirs/.terraform.lock.hcl");
        // Even beside the link that the client made.
        scene.line("install --chdir theirs --locked").succeeds();
        assert!(!has_link(&theirs.join(".terraform/providers")), "{client}");
        let trusting = "install --chdir ours --trust-store --client";
        scene.line(format!("{trusting} {client}")).succeeds();
        assert_eq!(read(&scene, LOCK), lock, "{client}");
        let check = format!("lock --chdir theirs --check --client {client}");
        scene.line(check).succeeds();
        let init = ["init", "-no-color", "-lockfile=readonly"];
        run(&scene, &scene.path("ours"), client, init).succeeds();
        assert_eq!(read(&scene, "theirs/.terraform.lock.hcl"), lock, "{client}");
    }
}

#[test]
fn other_packages_and_other_files_are_refused() {
    let (origin, scene) = given();
    scene.line("install --chdir ours --trust-store").succeeds();
    let lock = read(&scene, LOCK);
    fs::remove_dir_all(scene.path("ours/.terraform")).unwrap();
    let place = format!("ours/.terraform/providers/{}", origin.address("acme/demo"));
    let refused = |arguments: &str, code: i32| {
        let run = scene.line(format!("{arguments} --chdir ours"));
        let said = run.exits(code).stderr;
        assert!(!scene.path(&place).exists(), "{arguments}");
        assert_eq!(read(&scene, LOCK), lock, "{arguments}");
        said
    };
    // A lock file is no signature.
    scene.write("acme.asc", Signer::acme().public_armored());
    refused("install --key acme.asc", 3);
    refused("lock --key acme.asc", 3);
    refused("install --require-pinned --locked", 2);
    refused("lock --platform freebsd_386", 1);

    let package = package(&scene, &origin);
    fs::write(package.join("more"), "more").unwrap();
    for arguments in "install|install --locked|install --trust-store|lock|lock --check".split('|') {
        let said = refused(arguments, 3);
        assert!(said.contains("\n  expected one of h1:"), "{said}");
    }
    fs::remove_file(package.join("more")).unwrap();
    symlink("/etc/hostname", package.join("link")).unwrap();
    for arguments in ["install", "lock"] {
        assert!(refused(arguments, 1).contains("/link "));
    }
    fs::remove_file(package.join("link")).unwrap();
    scene.run("mkfifo", [package.join("pipe")]).succeeds();
    for arguments in ["install", "lock"] {
        refused(arguments, 3);
    }
    // Copies need the author's zip.
    let address = origin.address("acme/demo");
    let mirror = format!("mirror {address} --from filesystem-mirror:fm --to oci-layout:other");
    scene.line(&mirror).exits(1);
}
