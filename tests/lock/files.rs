//! Lock files: when they are written, and which parts are kept.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use crate::support::judge;
use crate::support::origin::{Fault, Origin, asks};
use crate::support::scene::{Run, Scene};
use crate::support::signer::Signer;

use super::{
    LOCK, any_version, foreign_h1, foreign_zh, lock, platforms, read, requiring, with_hash,
};

/// A project that requires a provider of the origin.
fn project(scene: &Scene, origin: &Origin, directory: &str, constraint: &str) {
    let text = requiring(origin, "acme/demo", constraint);
    scene.write(format!("{directory}/main.tf"), text);
}

fn given() -> (Origin, Scene) {
    super::project("~> 1.0")
}

#[test]
fn an_empty_cli_configuration_is_none() {
    let (_origin, scene) = given();
    let scene = scene.env("TF_CLI_CONFIG_FILE", "/dev/null");
    lock(&scene, "").succeeds().omits("/dev/null");
    assert!(read(&scene, LOCK).contains("acme/demo"));
}

#[test]
fn four_requests_lock_every_platform() {
    let (origin, scene) = given();
    lock(&scene, "").succeeds();
    let requests = "1 discovery, 1 versions, 1 download, 1 document, 1 signature";
    assert_eq!(origin.counters(), requests);
}

#[test]
fn a_file_that_is_up_to_date_is_not_touched() {
    let (_origin, scene) = given();
    lock(&scene, "").succeeds();
    let before = fs::metadata(scene.path(LOCK)).unwrap();
    assert_eq!(before.permissions().mode() & 0o777, 0o644);
    lock(&scene, "").succeeds().tells(" Unchanged ");
    let after = fs::metadata(scene.path(LOCK)).unwrap();
    let [before, after] = [before, after].map(|found| (found.ino(), found.mtime_nsec()));
    assert_eq!(before, after);
    lock(&scene, "--check").succeeds();
    // Comments do not make a difference.
    let text = read(&scene, LOCK);
    scene.write(LOCK, text.replace("\n\n", "\n# mine\n\n"));
    lock(&scene, "--check").succeeds();
}

#[test]
fn a_difference_is_shown_and_exits_with_4() {
    let (origin, scene) = given();
    let run = lock(&scene, "--check").exits(4);
    run.tells(origin.address("acme/demo"));
    assert_eq!(origin.counters(), "");
    assert!(!scene.path(LOCK).exists());
    lock(&scene, "").succeeds();
    project(&scene, &origin, "project", "~> 1.1");
    let tree = judge::tree(&scene.path("project"));
    let said = lock(&scene, "--dry-run").succeeds().stdout;
    assert!(said.contains("+  constraints = \"~> 1.1\""), "{said}");
    assert_eq!(judge::tree(&scene.path("project")), tree);
    let run = lock(&scene, "--check").exits(4);
    let host = origin.host();
    let expected = format!(
        "\
--- {LOCK}
+++ {LOCK}
@@ -3,7 +3,7 @@
 
 provider \"{host}/acme/demo\" {{
   version     = \"1.2.0\"
-  constraints = \"~> 1.0\"
+  constraints = \"~> 1.1\"
   hashes = [
"
    );
    assert!(run.stdout.starts_with(&expected), "{}", run.stdout);
    let document = lock(&scene, "--check --format json").exits(4).json();
    assert_eq!(document["files"][0]["status"], "differs");
    assert_eq!(document["providers"][0]["version"], "1.2.0");
}

#[test]
fn a_locked_version_is_kept_until_an_upgrade() {
    let (origin, scene) = given();
    project(&scene, &origin, "project", "1.0.0");
    lock(&scene, "").succeeds();
    project(&scene, &origin, "project", ">= 1.0");
    lock(&scene, "").succeeds();
    let text = || read(&scene, LOCK);
    assert!(text().contains("version     = \"1.0.0\""), "{}", text());
    project(&scene, &origin, "project", "~> 1.1");
    let run = lock(&scene, "").exits(4);
    run.tells("\n  expected ~> 1.1\n  received 1.0.0 ");
    let upgrade = format!("{} --upgrade", origin.address("acme/demo"));
    run.tells(&upgrade);
    assert!(text().contains("version     = \"1.0.0\""));
    lock(&scene, &upgrade).succeeds();
    assert!(text().contains("version     = \"1.2.0\""), "{}", text());
}

#[test]
fn a_lock_file_that_clients_refuse_is_not_changed() {
    let (_origin, scene) = given();
    for text in [
        "<provider\n",
        "<<<<<<< HEAD\n",
        "provider \"example.com/a/b\" {\n  version = \"1.0\"\n}\n",
        "provider \"example.com/a/b\" {\n  version = \"1.0.0\"\n  hashes = []\n}\n",
    ] {
        scene.write(LOCK, text);
        lock(&scene, "").exits(1).tells("at line ").tells(LOCK);
        assert_eq!(read(&scene, LOCK), text);
    }
}

#[test]
fn several_directories_request_each_provider_once() {
    let (origin, scene) = given();
    project(&scene, &origin, "second", "~> 1.0.0");
    project(&scene, &origin, "third", "~> 1.1");
    let run = lock(&scene, "--chdir second --chdir third").succeeds();
    assert_eq!(run.stderr.matches(" Wrote ").count(), 3, "{}", run.stderr);
    let requests = "1 discovery, 1 versions, 2 download, 2 document, 2 signature";
    assert_eq!(origin.counters(), requests);
    lock(&scene, "--chdir second --lock-file x.hcl").exits(2);
    lock(&scene, "--lock-file x.hcl").succeeds();
    assert_eq!(read(&scene, "x.hcl"), read(&scene, LOCK));
}

#[test]
fn a_link_is_replaced_and_its_target_stays() {
    let (_origin, scene) = given();
    scene.write("elsewhere", "");
    symlink("../elsewhere", scene.path(LOCK)).unwrap();
    lock(&scene, "").succeeds();
    assert!(scene.path(LOCK).symlink_metadata().unwrap().is_file());
    assert_eq!(read(&scene, "elsewhere"), "");
}

/// Another program writes the file while the origin is asked.
#[test]
fn concurrent_changes_of_the_file_are_kept_or_reported() {
    let (origin, scene) = given();
    let other = "\nprovider \"registry.example.com/acme/kept\" {\n  version = \"7.0.0\"\n}\n";
    let header = "# This file is maintained automatically by \"terraform init\".\n# Manual edits may be lost in future updates.\n";
    let (file, text) = (scene.path(LOCK), format!("{header}{other}"));
    let write = move || fs::write(&file, &text).unwrap();
    origin.fault(1, asks("signature"), Fault::after(write));
    lock(&scene, "").succeeds();
    let text = read(&scene, LOCK);
    assert!(text.starts_with(header), "{text}");
    let has_both = text.contains("acme/kept") && text.contains("acme/demo");
    assert!(has_both, "{text}");

    let (file, changed) = (scene.path(LOCK), text.replace("1.2.0", "1.1.0"));
    let written = changed.clone();
    let write = move || fs::write(&file, &written).unwrap();
    origin.fault(1, asks("signature"), Fault::after(write));
    lock(&scene, "").exits(1).tells(LOCK);
    assert_eq!(read(&scene, LOCK), changed);
}

#[test]
fn nothing_is_written_if_a_provider_fails() {
    let (origin, scene) = given();
    let none = any_version(&origin.address("acme/none"));
    scene.write("project/main.tf", none + "resource \"x_y\" \"z\" {}\n");
    let document = lock(&scene, "--format json").exits(1).json();
    assert_eq!(document["files"][0]["status"], "failed");
    assert_eq!(document["providers"][0]["error"]["category"], "not_found");
    assert!(!scene.path(LOCK).exists());
}

/// Hashes that match no package are kept, as clients keep them, with a warning.
#[test]
fn hashes_of_another_release_are_kept_with_a_warning() {
    let (origin, scene) = given();
    let (demo, wrong) = (origin.address("acme/demo"), foreign_zh());
    project(&scene, &origin, "project", "1.0.0");
    lock(&scene, "").succeeds();
    scene.write(LOCK, with_hash(&read(&scene, LOCK), &wrong));
    project(&scene, &origin, "project", "~> 1.0");
    let run = lock(&scene, "").succeeds();
    let warns = |run: &Run, hash: &str| {
        let warning = format!("   Warning {demo} 1.0.0");
        let is_it = |line: &str| line.starts_with(&warning) && line.ends_with(hash);
        assert!(run.stderr.lines().any(is_it), "{}", run.stderr);
    };
    warns(&run, &wrong);
    // `--check` reports what clients would accept without a signature.
    warns(&lock(&scene, "--check").succeeds(), &wrong);
    let strict = "--check --require-pinned --key acme.asc --format json";
    scene.write("acme.asc", Signer::acme().public_armored());
    let run = lock(&scene, strict).exits(4);
    warns(&run, &wrong);
    let document = run.json();
    assert_eq!(document["providers"][0]["strangers"][0], wrong);
    assert_eq!(document["files"][0]["status"], "differs");
    let file = read(&scene, LOCK);
    let without = file.replace(&format!("    \"{wrong}\",\n"), "");
    scene.write(LOCK, without);
    lock(&scene, strict).succeeds();
    scene.write(LOCK, file);
    assert!(read(&scene, LOCK).contains(&wrong));
    // All `h1` hashes are known only if every package was unpacked.
    let planted = foreign_h1();
    lock(&scene, "--h1 --platform all").succeeds();
    let file = read(&scene, LOCK).replace(&wrong, &planted);
    scene.write(LOCK, file);
    let run = lock(&scene, strict).succeeds();
    run.tells("   Warning 3 `h1` of ");
    let run = lock(&scene, &format!("{strict} --h1 --platform all")).exits(4);
    run.omits(" `h1` of ");
    warns(&run, &planted);
    // A value that no package can have is said without any package.
    let long = format!("zh:{}", "0".repeat(65));
    let file = read(&scene, LOCK).replace(&planted, &long);
    scene.write(LOCK, file);
    warns(&lock(&scene, strict).exits(4), &long);
    // Without `--check`, tfoci leaves such hashes where they are, as clients do.
    let run = lock(&scene, "--require-pinned --key acme.asc").succeeds();
    let said = " Unchanged project/.terraform.lock.hcl\n";
    assert!(run.stderr.ends_with(said), "{}", run.stderr);
}

/// An `h1` may be of a package that the store lacks, so that it cannot be compared.
#[test]
fn an_h1_of_a_missing_package_is_not_passed_over() {
    let (origin, scene) = given();
    let demo = origin.address("acme/demo");
    scene.write("acme.asc", Signer::acme().public_armored());
    let mirror = |platforms: &str| {
        let mirror = format!("mirror {demo}@1.2.0 --to oci-layout:store");
        scene.line(format!("{mirror} {platforms}")).succeeds();
    };
    let [here, _] = platforms();
    mirror(&format!("--platform {here}"));
    let strict = "--from oci-layout:store --key acme.asc --h1 --platform all --require-pinned";
    lock(&scene, strict).succeeds();
    lock(&scene, &format!("{strict} --check")).succeeds();
    let planted = foreign_h1();
    scene.write(LOCK, with_hash(&read(&scene, LOCK), &planted));
    let relaxed = strict.replace(" --require-pinned", "");
    let run = lock(&scene, &format!("{relaxed} --check")).succeeds();
    let mut lines = run.stderr.lines();
    let warning = lines.find(|line| line.ends_with(&planted)).unwrap();
    assert!(warning.contains(&format!("{demo} 1.2.0")));
    let check = format!("{strict} --check --format json");
    let found = lock(&scene, &check).exits(4).json();
    assert_eq!(found["providers"][0]["uncompared"][0], planted);
    assert_eq!(found["files"][0]["status"], "differs");
    // With all packages, it is known that the hash is of none.
    mirror("");
    let found = lock(&scene, &check).exits(4).json();
    assert_eq!(found["providers"][0]["strangers"][0], planted);
}
