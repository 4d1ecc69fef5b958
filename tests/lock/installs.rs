//! `tfoci install` without `--into`: the same working directory as after `init`.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use sha2::{Digest as _, Sha256};

use tfoci::hash::PackageHash;

use crate::clients::{run, said};
use crate::support::judge;
use crate::support::origin::{Origin, asks};
use crate::support::release::sha256;
use crate::support::scene::{Run, Scene};
use crate::support::signer::Signer;
use crate::support::tls::Authority;

use super::{clients, foreign_h1, foreign_zh, platforms, read, with_hash};

pub const LOCK: &str = "ours/.terraform.lock.hcl";

/// A project that requires two providers.
pub fn project(scene: &Scene, origin: &Origin, directory: &str) {
    let [demo, other] = ["acme/demo", "acme/other"].map(|name| origin.address(name));
    let text = crate::clients::requiring(&[(&demo, "~> 1.0"), (&other, "")]);
    let text = text + "output \"x\" {\n  value = \"y\"\n}\n";
    scene.write(format!("{directory}/main.tf"), text);
}

pub fn given() -> (Origin, Scene) {
    let (origin, scene) = super::given();
    project(&scene, &origin, "ours");
    (origin, scene)
}

/// The place of `acme/other` in the project.
pub fn other(origin: &Origin) -> String {
    let [here, _] = platforms();
    let address = origin.address("acme/other");
    format!("ours/.terraform/providers/{address}/3.1.4/{here}")
}

pub fn install(scene: &Scene, arguments: &str) -> Run {
    scene.line(format!("install --chdir ours {arguments}"))
}

/// The packages of a working directory. `tofu` leaves an empty file beside each, which it locks while it installs, and makes anew if it is gone.
pub fn providers(scene: &Scene, directory: &str) -> BTreeMap<String, String> {
    let mut tree = judge::tree(&scene.path(format!("{directory}/.terraform/providers")));
    tree.retain(|path, _| !path.ends_with(".lock"));
    tree
}

#[test]
fn packages_are_where_clients_expect_them() {
    for client in clients() {
        let (origin, scene) = given();
        project(&scene, &origin, "theirs");
        let theirs = scene.path("theirs");
        run(&scene, &theirs, client, ["init", "-no-color"]).succeeds();
        install(&scene, &format!("--client {client}")).succeeds();
        let theirs = read(&scene, "theirs/.terraform.lock.hcl");
        assert_eq!(read(&scene, LOCK), theirs, "{client}");
        let [ours, theirs] = ["ours", "theirs"].map(|directory| providers(&scene, directory));
        assert_eq!(ours, theirs, "{client}");
    }
}

/// The origin is no longer available.
#[test]
fn clients_work_without_a_network_and_leave_the_lock_file() {
    for client in clients() {
        let (origin, scene) = given();
        install(&scene, &format!("--client {client}")).succeeds();
        drop(origin);
        let before = read(&scene, LOCK);
        let directory = scene.path("ours");
        let run = |arguments: &[&str]| run(&scene, &directory, client, arguments);
        // The client has found the packages and compared them with the lock file, and starts the scripts in them. On a busy machine it
        // may read what a script prints only after the script has ended, and then names its path alone.
        let said = said(&run(&["plan", "-no-color"]).exits(1));
        let started = "terraform-provider-demo_v1.2.0 Mode: ";
        assert!(said.contains(started), "{said}");
        run(&["init", "-no-color", "-plugin-dir=.terraform/providers"]).succeeds();
        assert_eq!(read(&scene, LOCK), before);
    }
}

#[test]
fn installed_packages_are_not_downloaded_again() {
    let (origin, scene) = given();
    install(&scene, "").succeeds();
    let (lock, tree) = (read(&scene, LOCK), providers(&scene, "ours"));
    origin.forget();
    let document = install(&scene, "--format json").succeeds().json();
    assert_eq!(origin.counters(), "1 discovery, 2 versions");
    assert_eq!(document["files"][0]["status"], "present");
    assert_eq!(document["providers"][0]["authentication"]["anchor"], "lock");
    assert_eq!(read(&scene, LOCK), lock);
    // A missing directory is restored, and nothing else is written.
    let one = other(&origin);
    fs::remove_dir_all(scene.path(&one)).unwrap();
    origin.forget();
    install(&scene, "--locked").succeeds();
    assert_eq!(origin.count(asks("package")), 1);
    assert_eq!(providers(&scene, "ours"), tree);
    // Other content at its path is refused and kept.
    fs::set_permissions(scene.path(&one), fs::Permissions::from_mode(0o755)).unwrap();
    scene.write(format!("{one}/README.md"), "mine");
    install(&scene, "").exits(3);
    assert_eq!(read(&scene, &format!("{one}/README.md")), "mine");
}

#[test]
fn a_lock_file_decides_what_may_be_installed() {
    let (origin, scene) = given();
    install(&scene, "--locked").exits(4);
    assert!(!scene.path(LOCK).exists());
    assert!(!scene.path("ours/.terraform").exists());
    let demo = origin.address("acme/demo");
    for hash in [foreign_zh(), foreign_h1()] {
        let text = format!(
            "provider \"{demo}\" {{\n  version = \"1.1.0\"\n  hashes = [\n    \"{hash}\",\n  ]\n}}\n"
        );
        scene.write(LOCK, &text);
        install(&scene, "").exits(3).tells(hash);
        assert_eq!(read(&scene, LOCK), text);
        let place = scene.path(format!("ours/.terraform/providers/{demo}/1.1.0"));
        assert!(!place.join(&platforms()[0]).exists());
    }
}

#[test]
fn a_dry_run_and_a_data_directory() {
    let (origin, scene) = given();
    let before = judge::tree(&scene.path("ours"));
    let run = install(&scene, "--dry-run").succeeds();
    let demo = origin.address("acme/demo");
    run.tells(format!("Would copy {demo} 1.2.0   1 package, "));
    assert_eq!(judge::tree(&scene.path("ours")), before);
    let scene = scene.env("TF_DATA_DIR", "data");
    install(&scene, "").succeeds();
    assert!(scene.path("ours/data/providers").is_dir());
    assert!(!scene.path("ours/.terraform").exists());
    install(&scene, "--into mirror").exits(2);
}

/// A killed `tofu init` leaves a part of a package, which `tofu init` then refuses, too.
#[test]
fn an_altered_package_is_refused() {
    let (origin, scene) = given();
    install(&scene, "").succeeds();
    let one = other(&origin);
    let executable = scene.path(format!("{one}/terraform-provider-other_v3.1.4"));
    let replaced = |content: &str| fs::write(&executable, content).unwrap();
    let alter: [&dyn Fn(); 4] = [
        &|| fs::write(scene.path(format!("{one}/more")), "").unwrap(),
        &|| replaced("#!/usr/bin"),
        &|| fs::remove_file(&executable).unwrap(),
        &|| std::os::unix::fs::symlink("LICENSE", &executable).unwrap(),
    ];
    for altered in alter {
        altered();
        let before = providers(&scene, "ours");
        install(&scene, "").exits(3);
        assert_eq!(providers(&scene, "ours"), before);
    }
    fs::remove_dir_all(scene.path(&one)).unwrap();
    install(&scene, "").succeeds();
}

/// A lock file does not replace a required signature, even for packages that are installed already.
#[test]
fn installed_packages_must_match_the_pinned_key_too() {
    let (_origin, scene) = given();
    install(&scene, "").succeeds();
    scene.write("acme.asc", Signer::acme().public_armored());
    scene.write("stranger.asc", Signer::stranger().public_armored());
    let run = install(&scene, "--key acme.asc").succeeds();
    run.tells("(pinned)");
    install(&scene, "--key stranger.asc").exits(3);
    install(&scene, "--key acme.asc --require-pinned --locked").succeeds();
}

/// Whoever may change the lock file of a checkout may put a package beside it, too.
#[test]
fn a_locked_package_that_the_pinned_key_did_not_sign_is_refused() {
    let (origin, scene) = given();
    scene.write("acme.asc", Signer::acme().public_armored());
    let strict = "--key acme.asc --require-pinned";
    install(&scene, strict).succeeds();
    let package = other(&origin);
    fs::remove_dir_all(scene.path(&package)).unwrap();
    let (name, content) = ("terraform-provider-other_v3.1.4", "foreign\n");
    scene.write(format!("{package}/{name}"), content);
    let list = format!("{}  {name}\n", sha256(content.as_bytes()));
    let h1 = PackageHash::H1(Sha256::digest(list).into()).to_string();
    let entries = read(&scene, LOCK);
    let (first, other) = entries.split_at(entries.find("acme/other").unwrap());
    scene.write(LOCK, first.to_owned() + &with_hash(other, &h1));
    let before = judge::tree(&scene.path("ours"));
    for more in ["", "--locked", "--dry-run"] {
        install(&scene, &format!("{strict} {more}")).exits(3);
        assert_eq!(judge::tree(&scene.path("ours")), before, "{more}");
    }
    // Without a pin, the lock file decides.
    let run = install(&scene, "--locked").succeeds();
    run.tells("acme/other 3.1.4   1 package   unverified (lock)\n");
}

#[test]
fn one_address_leaves_the_others_locked() {
    let (origin, scene) = given();
    install(&scene, "").succeeds();
    let before = read(&scene, LOCK);
    install(&scene, &origin.address("acme/other")).succeeds();
    assert_eq!(read(&scene, LOCK), before);
}

/// A checkout could lead the installation anywhere.
#[test]
fn links_are_followed_only_if_the_user_names_them() {
    for link in [".terraform", ".terraform/providers"] {
        let (_origin, scene) = given();
        let (victim, at) = (scene.path("victim"), scene.path(format!("ours/{link}")));
        fs::create_dir(&victim).unwrap();
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&victim, at).unwrap();
        install(&scene, "").exits(1).tells(format!("ours/{link} "));
        assert_eq!(fs::read_dir(&victim).unwrap().count(), 0);
        let scene = scene.env("TF_DATA_DIR", ".terraform");
        install(&scene, "").succeeds();
    }
}

/// Terraform would run the package that a checkout brought, and whose `h1` it could bring too, instead of the one that tfoci has verified.
#[test]
fn packages_under_another_spelling_are_refused() {
    let (origin, scene) = given();
    install(&scene, "").succeeds();
    let place = other(&origin);
    let (version, here) = place.rsplit_once('/').unwrap();
    let (address, _) = version.rsplit_once('/').unwrap();
    for (meant, other) in [
        (address, address.replace("acme", "ACME")),
        (version, version.replace("3.1.4", "03.1.4")),
    ] {
        let executable = format!("{other}/{here}/terraform-provider-other_v3.1.4");
        scene.write(executable, "foreign");
        for arguments in ["", "--locked", "--dry-run"] {
            let run = install(&scene, arguments).exits(3);
            run.tells(format!("  expected {meant}\n  received {other}\n"));
        }
        fs::remove_dir_all(scene.path(other)).unwrap();
    }
    install(&scene, "--locked").succeeds();
}

#[test]
fn a_dry_run_says_what_a_locked_installation_does() {
    let (origin, scene) = given();
    install(&scene, "").succeeds();
    let lock = read(&scene, LOCK);
    let dry_run = || install(&scene, "--locked --dry-run");
    dry_run().succeeds().tells("   Present ");
    fs::remove_dir_all(scene.path("ours/.terraform")).unwrap();
    origin.forget();
    let run = dry_run().succeeds();
    run.tells("Would copy ")
        .tells(format!(" Unchanged {LOCK}\n"));
    assert_eq!(origin.count(asks("package")), 0);
    // The lock file lacks a provider.
    let without = lock.split("provider ").next().unwrap();
    scene.write(LOCK, without);
    dry_run().exits(4);
    assert!(!scene.path("ours/.terraform").exists());
    assert_eq!(read(&scene, LOCK), without);
}

/// Nobody reads the same error once for each provider.
#[test]
fn one_cause_of_several_failures_is_one_error() {
    let (_origin, scene) = given();
    let ca = Authority::new("others").write(&scene, "others.pem");
    let scene = scene.env("SSL_CERT_FILE", ca.to_str().unwrap());
    for command in ["lock", "install"] {
        let run = scene.line(format!("{command} --chdir ours --format json"));
        let run = run.exits(1);
        assert_eq!(run.stderr.matches("error: ").count(), 1, "{}", run.stderr);
        run.tells(" failed in the same way");
        let document = run.json();
        let failed = document["providers"].as_array().unwrap().iter();
        assert_eq!(failed.filter(|one| one["error"].is_object()).count(), 2);
    }
}
