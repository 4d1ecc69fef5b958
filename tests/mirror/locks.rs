use super::origin_scene::{ARRIVED, OriginScene};
use super::{DARWIN, LINUX, demo};
use crate::support::layout::Parts;
use crate::support::origin::{Origin, Provider, asks};
use crate::support::release::sha256;
use crate::support::signer::Signer;

pub fn versions() -> Provider {
    ["1.0.0", "1.1.0", "2.0.0"]
        .into_iter()
        .fold(Provider::new("acme/demo"), |provider, version| {
            provider.version(version, &[DARWIN, LINUX])
        })
}

pub fn zh(origin: &Origin, version: &str, platform: &str) -> String {
    format!("zh:{}", sha256(&origin.zip("acme/demo", version, platform)))
}

/// Writes a lock file with one entry.
pub fn lock(scene: &OriginScene, path: &str, address: &str, version: &str, hashes: &[String]) {
    let hashes = hashes.join("\",\n    \"");
    let entry = format!(
        "provider \"{address}\" {{\n  version = \"{version}\"\n  hashes = [\n    \"{hashes}\",\n  ]\n}}\n"
    );
    scene.write(path, scene.named(&entry));
}

pub const NAME: &str = ".terraform.lock.hcl";

#[test]
fn exactly_the_locked_packages_are_mirrored() {
    let scene = OriginScene::of([versions()]);
    for (directory, version) in [("a", "1.0.0"), ("b", "1.1.0")] {
        let hashes = [DARWIN, LINUX].map(|platform| zh(&scene.origin, version, platform));
        let path = format!("{directory}/{NAME}");
        lock(&scene, &path, "[ORIGIN]/acme/demo", version, &hashes);
    }
    scene
        .mirror(&format!("--from-lock a --from-lock b/{NAME} --jobs 1"))
        .tells("Copied [ORIGIN]/acme/demo 1.0.0 2 813 signed [ACME ID] lock Copied [ORIGIN]/acme/demo 1.1.0 2 813 signed [ACME ID] lock Mirrored 2 4 1.59 [TIME]",
        );
    assert_eq!(
        scene.installs(),
        [
            "acme/demo 1.0.0 darwin_arm64",
            "acme/demo 1.0.0 linux_amd64",
            "acme/demo 1.1.0 darwin_arm64",
            "acme/demo 1.1.0 linux_amd64",
        ]
    );
    scene.origin.forget();
    scene
        .mirror("--from-lock a --from-lock b")
        .tells("Mirrored 4 [TIME]");
    assert_eq!(scene.origin.counters(), "1 discovery, 1 versions");
}

/// The lock file of a project names providers that only a store has, too.
#[test]
fn providers_without_an_origin_are_excluded() {
    let scene = OriginScene::of([versions()]);
    let hashes = [DARWIN, LINUX].map(|platform| zh(&scene.origin, "1.0.0", platform));
    lock(&scene, "own", "own.invalid/acme/own", "1.0.0", &hashes);
    lock(&scene, "demo", "[ORIGIN]/acme/demo", "1.0.0", &hashes);
    scene
        .mirror("--from-lock own")
        .says(1, "error own.invalid/acme/own own.invalid");
    let run = scene.mirror("--from-lock own --from-lock demo --exclude own.invalid/*/*");
    run.tells(
        "Copied [ORIGIN]/acme/demo 1.0.0 2 813 signed [ACME ID] lock Mirrored 1 2 813 [TIME]",
    );
}

#[test]
fn packages_that_are_not_locked_are_refused() {
    let scene = OriginScene::of([versions()]);
    let hashes = [zh(&scene.origin, "1.0.0", LINUX)];
    lock(&scene, NAME, "[ORIGIN]/acme/demo", "1.0.0", &hashes);
    scene.mirror("--from-lock . --jobs 1").says(3, "error [ORIGIN]/acme/demo 1.0.0 [ORIGIN] darwin_arm64 expected zh:4fa7e60d506416362ae4a4933f2da2a5c755191e68c2d41fb7c13d5c8e023bec received zh:f63237d1fd1003ffd38efd8a93e846cf69bd47b10e91d503971b8696b973580a /.terraform.lock.hcl");
    assert_eq!(scene.origin.count(asks("package")), 0);
    assert!(scene.installs().is_empty());
    scene.mirror("--from-lock . --platform linux_amd64").tells(
        "Copied [ORIGIN]/acme/demo 1.0.0 1 406 signed [ACME ID] lock Mirrored 1 1 406 [TIME]",
    );
    assert_eq!(scene.installs(), ARRIVED);
}

#[test]
fn the_json_document_lists_packages_that_the_lock_refuses() {
    let scene = OriginScene::of([versions()]);
    let hashes = [zh(&scene.origin, "1.0.0", LINUX)];
    lock(&scene, NAME, "[ORIGIN]/acme/demo", "1.0.0", &hashes);
    let locked = "mirror --ca-file ca.pem --from-lock . --to oci-layout:store --format json";
    let run = scene.tfoci(locked.split(' ')).exits(3);
    let document = run.json();
    let [refused] = document["providers"].as_array().unwrap().as_slice() else {
        panic!("{document:#}");
    };
    let address = scene.origin.address("acme/demo");
    assert_eq!(refused["provider"], address);
    assert_eq!(refused["version"], "1.0.0");
    assert_eq!(refused["status"], "failed");
    assert_eq!(refused["error"]["category"], "untrusted");
    let message = refused["error"]["message"].as_str().unwrap();
    for fact in [&address, "1.0.0", "darwin_arm64", "./.terraform.lock.hcl"] {
        assert!(message.contains(fact), "{message}");
    }
    assert_eq!(document.get("error"), None);
}

#[test]
fn stored_packages_must_match_the_lock_too() {
    let scene = OriginScene::of([demo()]);
    scene.demo("-q").says(0, "");
    let hashes = [format!("zh:{}", "0".repeat(64))];
    lock(&scene, NAME, "[ORIGIN]/acme/demo", "1.0.0", &hashes);
    scene.mirror("--from-lock .").says(3, "error [ORIGIN]/acme/demo 1.0.0 oci-layout:store/[ORIGIN]/acme/demo linux_amd64 expected zh:0000000000000000000000000000000000000000000000000000000000000000 received zh:4fa7e60d506416362ae4a4933f2da2a5c755191e68c2d41fb7c13d5c8e023bec /.terraform.lock.hcl");
}

/// Puts a zip of the origin into the filesystem mirror in `mirror`, as 1.0.0.
pub fn pack(scene: &OriginScene, version: &str, platform: &str) {
    let zip = scene.origin.zip("acme/demo", version, platform);
    let name = format!("terraform-provider-demo_1.0.0_{platform}.zip");
    scene.write(format!("mirror/example.com/acme/demo/{name}"), zip);
}

/// The error about a stored package for Linux that is not one of the locked ones.
pub fn not_locked(hashes: &[String], received: &str) -> String {
    let mut locked = hashes.to_vec();
    locked.sort();
    let locked = locked.join(" ");
    format!(
        "error example.com/acme/demo 1.0.0 oci-layout:store/example.com/acme/demo linux_amd64 expected {locked} received {received} /.terraform.lock.hcl"
    )
}

#[test]
fn stored_packages_must_match_the_lock_when_a_platform_is_added() {
    let scene = OriginScene::of([versions()]);
    let from = "--from filesystem-mirror:mirror";
    pack(&scene, "1.1.0", LINUX);
    scene
        .mirror(&format!(
            "example.com/acme/demo {from} --allow-unsigned example.com/acme/* -q"
        ))
        .says(0, "");
    let before = scene.tree();
    for platform in [DARWIN, LINUX] {
        pack(&scene, "1.0.0", platform);
    }
    let hashes = [DARWIN, LINUX].map(|platform| zh(&scene.origin, "1.0.0", platform));
    lock(&scene, NAME, "example.com/acme/demo", "1.0.0", &hashes);
    let says = not_locked(&hashes, &zh(&scene.origin, "1.1.0", LINUX));
    for _ in 0..2 {
        scene
            .mirror(&format!("--from-lock . {from}"))
            .says(3, &says);
        assert_eq!(scene.tree(), before);
    }
    // Packages that are not selected are not compared.
    scene
        .mirror(&format!("--from-lock . --platform darwin_arm64 {from} -q"))
        .says(0, "");
}

#[test]
fn packages_of_another_tool_must_match_the_lock_too() {
    let scene = OriginScene::of([versions()]);
    let layout = scene.path("store/example.com/acme/demo");
    pack(&scene, "1.0.0", LINUX);
    let hashes = [zh(&scene.origin, "1.0.0", LINUX)];
    lock(&scene, NAME, "example.com/acme/demo", "1.0.0", &hashes);
    let wrong = not_locked(&hashes, &zh(&scene.origin, "1.1.0", LINUX));
    for (version, code, says) in [("1.0.0", 0, "Mirrored 1 [TIME]"), ("1.1.0", 3, &wrong)] {
        let zip = scene.origin.zip("acme/demo", version, LINUX);
        Parts::of(&zip).write(&layout);
        scene
            .mirror("--from-lock . --from filesystem-mirror:mirror")
            .says(code, says);
    }
}

#[test]
fn a_lock_file_without_zh_hashes_is_refused() {
    let scene = OriginScene::of([demo()]);
    let hashes = ["h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=".to_owned()];
    lock(&scene, NAME, "[ORIGIN]/acme/demo", "1.0.0", &hashes);
    scene.mirror("--from-lock .").says(
        3,
        "error [ORIGIN]/acme/demo 1.0.0 [ORIGIN] /.terraform.lock.hcl",
    );
    assert!(scene.installs().is_empty());
}

#[test]
fn a_locked_version_that_is_gone_is_reported() {
    let scene = OriginScene::of([demo()]);
    let hashes = [format!("zh:{}", "0".repeat(64))];
    lock(&scene, NAME, "[ORIGIN]/acme/demo", "3.0.0", &hashes);
    scene.mirror("--from-lock .").says(
        1,
        "error [ORIGIN]/acme/demo 3.0.0 [ORIGIN] 1.0.0 /.terraform.lock.hcl",
    );
    scene
        .mirror("--from-lock none")
        .says(1, "error No 2 --from-lock");
    scene.write("bad.hcl", "provider {");
    scene
        .mirror("--from-lock bad.hcl")
        .says(2, "error bad.hcl 1");
}

#[test]
fn a_lock_file_verifies_the_packages_of_a_network_mirror() {
    let scene = OriginScene::of([demo()]);
    let hashes = [zh(&scene.origin, "1.0.0", LINUX)];
    lock(&scene, NAME, "example.com/acme/demo", "1.0.0", &hashes);
    let url = scene.origin.mirror_url();
    scene
        .mirror(&format!("--from-lock . --from network-mirror:{url}"))
        .tells("Copied example.com/acme/demo 1.0.0 1 406 unverified lock Mirrored 1 1 406 [TIME]");
    assert_eq!(scene.installs(), ARRIVED);
}

/// Mirrors have no signatures. A lock file replaces them, unless a key is named: a pinned provider must be signed.
#[test]
fn a_lock_file_does_not_replace_a_pinned_key() {
    let scene = OriginScene::of([demo()]);
    let hashes = [zh(&scene.origin, "1.0.0", LINUX)];
    lock(&scene, NAME, "example.com/acme/demo", "1.0.0", &hashes);
    let url = scene.origin.mirror_url();
    scene.write("acme.asc", Signer::acme().public_armored());
    scene
        .mirror(&format!(
            "--from-lock . --from network-mirror:{url} --key acme.asc"
        ))
        .says(
            3,
            "error example.com/acme/demo 1.0.0 network-mirror:https://[ORIGIN]/mirror/ expected --key received",
        );
    assert_eq!(scene.installs(), [""; 0]);
}

#[test]
fn a_configuration_combines_the_requirements_of_its_modules() {
    let scene = OriginScene::of([versions()]);
    let required = |constraint: &str| {
        scene.named(&format!(
            "terraform {{\n  required_providers {{\n    demo = {{\n      source = \"[ORIGIN]/acme/demo\"\n      version = \"{constraint}\"\n    }}\n  }}\n}}\n"
        ))
    };
    scene.write(
        "root/main.tf",
        required(">= 1.0") + "module \"part\" {\n  source = \"./part\"\n}\n",
    );
    scene.write("root/part/main.tf", required("< 2.0"));
    scene
        .mirror("--from-config root --platform linux_amd64")
        .tells(
            "Copied [ORIGIN]/acme/demo 1.1.0 1 406 signed [ACME ID] origin Mirrored 1 1 406 [TIME]",
        );
    assert_eq!(scene.installs(), ["acme/demo 1.1.0 linux_amd64"]);
    scene.write("root/part/main.tf", required("< 1.0"));
    scene.mirror("--from-config root").says(
        1,
        "error [ORIGIN]/acme/demo [ORIGIN] >= 1.0 < 1.0 2.0.0 1.1.0 1.0.0",
    );
    scene
        .mirror("--from-config none")
        .says(1, "error No 2 --from-config");
    scene.write("root/part/main.tf", "terraform {");
    scene
        .mirror("--from-config root")
        .says(1, "error root/part main.tf:1");
    scene.write(
        "root/main.tf",
        "module \"far\" {\n  source = \"git::https://example.com/x\"\n}\n".to_owned()
            + &required("~> 1.0"),
    );
    scene.mirror("--from-config root --jobs 1").tells("Updated [ORIGIN]/acme/demo 1.1.0 1 407 signed [ACME ID] origin Warning git::https://example.com/x Mirrored 1 1 407 1 [TIME]",
    );
}
