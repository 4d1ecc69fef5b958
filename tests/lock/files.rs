//! Lock files: when they are written, and which parts are kept.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use serde_json::Value;

use crate::support::judge;
use crate::support::origin::{Fault, Origin, asks};
use crate::support::scene::{Run, Scene};
use crate::support::signer::Signer;

use super::{origin, platforms, read, requiring, scene};

const LOCK: &str = "project/.terraform.lock.hcl";

/// A project that requires a provider of the origin.
fn project(scene: &Scene, origin: &Origin, directory: &str, constraint: &str) {
    let text = requiring(origin, "acme/demo", constraint);
    scene.write(format!("{directory}/main.tf"), text);
}

fn given() -> (Origin, Scene) {
    let origin = origin();
    let scene = scene(&origin);
    project(&scene, &origin, "project", "~> 1.0");
    (origin, scene)
}

fn lock(scene: &Scene, arguments: &str) -> Run {
    scene.line(format!("lock --chdir project {arguments}"))
}

#[test]
fn an_empty_cli_configuration_is_none() {
    let (origin, scene) = given();
    let scene = scene.env("TF_CLI_CONFIG_FILE", "/dev/null");
    lock(&scene, "").succeeds().omits("/dev/null");
    assert!(read(&scene, LOCK).contains("acme/demo"));
    drop(origin);
}

#[test]
fn four_requests_lock_every_platform() {
    let (origin, scene) = given();
    lock(&scene, "").succeeds();
    assert_eq!(
        origin.counters(),
        "1 discovery, 1 versions, 1 download, 1 document, 1 signature"
    );
}

#[test]
fn a_file_that_is_up_to_date_is_not_touched() {
    let (_origin, scene) = given();
    lock(&scene, "").succeeds();
    let before = fs::metadata(scene.path(LOCK)).unwrap();
    assert_eq!(before.permissions().mode() & 0o777, 0o644);
    lock(&scene, "").succeeds().tells(" Unchanged ");
    let after = fs::metadata(scene.path(LOCK)).unwrap();
    assert_eq!(
        (before.ino(), before.mtime_nsec()),
        (after.ino(), after.mtime_nsec())
    );
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
    let demo = origin.address("acme/demo");
    run.tells(&demo);
    assert_eq!(origin.counters(), "");
    assert!(!scene.path(LOCK).exists());
    lock(&scene, "").succeeds();
    project(&scene, &origin, "project", "~> 1.1");
    let tree = judge::tree(&scene.path("project"));
    let run = lock(&scene, "--dry-run").succeeds();
    assert!(
        run.stdout.contains("+  constraints = \"~> 1.1\""),
        "{}",
        run.stdout
    );
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
    let run = lock(&scene, "--check --format json").exits(4);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
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
        let run = lock(&scene, "").exits(1);
        for said in ["at line ", LOCK] {
            run.tells(said);
        }
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
    assert_eq!(
        origin.counters(),
        "1 discovery, 1 versions, 2 download, 2 document, 2 signature"
    );
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
    assert!(
        text.contains("acme/kept") && text.contains("acme/demo"),
        "{text}"
    );

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
    let text = format!(
        "resource \"x_y\" \"z\" {{}}\nterraform {{\n  required_providers {{\n    x = {{ source = \"{}/acme/none\" }}\n  }}\n}}\n",
        origin.host()
    );
    scene.write("project/main.tf", text);
    let run = lock(&scene, "--format json").exits(1);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(document["files"][0]["status"], "failed");
    assert_eq!(document["providers"][0]["error"]["category"], "not_found");
    assert!(!scene.path(LOCK).exists());
}

/// Hashes that match no package are kept, as clients keep them, with a warning.
#[test]
fn hashes_of_another_release_are_kept_with_a_warning() {
    let (origin, scene) = given();
    let host = origin.host();
    let wrong = format!("zh:{}", "0".repeat(64));
    project(&scene, &origin, "project", "1.0.0");
    lock(&scene, "").succeeds();
    let list = "  hashes = [\n";
    let entry = read(&scene, LOCK);
    let entry = entry.replace(list, &format!("{list}    \"{wrong}\",\n"));
    scene.write(LOCK, entry);
    project(&scene, &origin, "project", "~> 1.0");
    let run = lock(&scene, "").succeeds();
    let warns = |run: &Run, hash: &str| {
        let mut lines = run.stderr.lines();
        let warning = format!("   Warning {host}/acme/demo 1.0.0");
        assert!(
            lines.any(|line| line.starts_with(&warning) && line.ends_with(hash)),
            "{}",
            run.stderr
        );
    };
    warns(&run, &wrong);
    // `--check` reports what clients would accept without a signature.
    warns(&lock(&scene, "--check").succeeds(), &wrong);
    let strict = "--check --require-pinned --key acme.asc --format json";
    scene.write("acme.asc", Signer::acme().public_armored());
    let run = lock(&scene, strict).exits(4);
    warns(&run, &wrong);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(document["providers"][0]["strangers"][0], wrong);
    assert_eq!(document["files"][0]["status"], "differs");
    let file = read(&scene, LOCK);
    let without = file.replace(&format!("    \"{wrong}\",\n"), "");
    scene.write(LOCK, without);
    lock(&scene, strict).succeeds();
    scene.write(LOCK, file);
    assert!(read(&scene, LOCK).contains(&wrong));
    // All `h1` hashes are known only if every package was unpacked.
    let planted = format!("h1:{}=", "A".repeat(43));
    lock(&scene, "--h1 --platform all").succeeds();
    let file = read(&scene, LOCK).replace(&wrong, &planted);
    scene.write(LOCK, file);
    let said = lock(&scene, strict).succeeds().stderr;
    assert!(said.contains("   Warning 3 `h1` of "), "{said}");
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
    let host = origin.host();
    scene.write("acme.asc", Signer::acme().public_armored());
    let mirror = |platforms: &str| {
        let demo = format!("{host}/acme/demo@1.2.0");
        let arguments = format!("mirror {demo} --to oci-layout:store {platforms}");
        scene.line(arguments).succeeds();
    };
    let [here, _] = platforms();
    mirror(&format!("--platform {here}"));
    let strict = "--from oci-layout:store --key acme.asc --h1 --platform all --require-pinned";
    lock(&scene, strict).succeeds();
    lock(&scene, &format!("{strict} --check")).succeeds();
    let planted = format!("h1:{}=", "A".repeat(43));
    let file = read(&scene, LOCK);
    let file = file.replacen(
        "  hashes = [\n",
        &format!("  hashes = [\n    \"{planted}\",\n"),
        1,
    );
    scene.write(LOCK, file);
    let relaxed = strict.replace(" --require-pinned", "");
    let run = lock(&scene, &format!("{relaxed} --check")).succeeds();
    let mut lines = run.stderr.lines();
    let warning = lines.find(|line| line.ends_with(&planted)).unwrap();
    assert!(warning.contains(&format!("{host}/acme/demo 1.2.0")));
    let document = |run: Run| -> Value { serde_json::from_str(&run.stdout).unwrap() };
    let check = format!("{strict} --check --format json");
    let found = document(lock(&scene, &check).exits(4));
    assert_eq!(found["providers"][0]["uncompared"][0], planted);
    assert_eq!(found["files"][0]["status"], "differs");
    // With all packages, it is known that the hash is of none.
    mirror("");
    let found = document(lock(&scene, &check).exits(4));
    assert_eq!(found["providers"][0]["strangers"][0], planted);
}
