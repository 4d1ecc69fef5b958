use super::origin_scene::{ARRIVED, COPIED, OriginScene};
use super::{DARWIN, LINUX, demo};
use crate::support::layout::Parts;
use crate::support::origin::{Origin, Provider, asks};
use crate::support::release::{ReleaseFolder, sha256};
use crate::support::signer::Signer;

pub fn versions() -> Provider {
    let all = ["1.0.0", "1.1.0", "2.0.0"].into_iter();
    all.fold(Provider::new("acme/demo"), |provider, version| {
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

/// An origin of three versions, and a lock file for each of the first two, in `a` and `b`.
pub fn two_locked() -> OriginScene {
    let scene = OriginScene::of([versions()]);
    for (directory, version) in [("a", "1.0.0"), ("b", "1.1.0")] {
        // Clients lock every line of the checksum document, those of other files too.
        let manifest = ReleaseFolder::new("demo", version).build().manifest;
        let manifest = format!("zh:{}", sha256(&manifest.unwrap().bytes));
        let [darwin, linux] = [DARWIN, LINUX].map(|platform| zh(&scene.origin, version, platform));
        let path = format!("{directory}/{NAME}");
        let hashes = [darwin, linux, manifest];
        lock(&scene, &path, "[ORIGIN]/acme/demo", version, &hashes);
    }
    scene
}

pub const BOTH_LOCKS: &str = "--from-lock a --from-lock b";

#[test]
fn exactly_the_locked_packages_are_mirrored() {
    let scene = two_locked();
    let said = scene.mirror(&format!("{BOTH_LOCKS}/{NAME} --jobs 1"));
    said.tells("Copied [ORIGIN]/acme/demo 1.0.0 2 813 signed [ACME ID] lock Copied [ORIGIN]/acme/demo 1.1.0 2 813 signed [ACME ID] lock Mirrored 2 4 1.59 [TIME]");
    let both = ["1.0.0 darwin_arm64", "1.0.0 linux_amd64"];
    let all = both
        .into_iter()
        .chain(["1.1.0 darwin_arm64", "1.1.0 linux_amd64"]);
    let all: Vec<String> = all.map(|one| format!("acme/demo {one}")).collect();
    assert_eq!(scene.installs(), all);
    scene.origin.forget();
    scene.mirror(BOTH_LOCKS).tells("Mirrored 4 [TIME]");
    assert_eq!(scene.origin.counters(), "1 discovery, 1 versions");
}

/// The lock file of a project names providers that only a store has, too.
#[test]
fn providers_without_an_origin_are_excluded() {
    let scene = OriginScene::of([versions()]);
    let hashes = [DARWIN, LINUX].map(|platform| zh(&scene.origin, "1.0.0", platform));
    lock(&scene, "own", "own.invalid/acme/own", "1.0.0", &hashes);
    lock(&scene, "demo", "[ORIGIN]/acme/demo", "1.0.0", &hashes);
    let says = "error own.invalid/acme/own own.invalid";
    scene.mirror("--from-lock own").says(1, says);
    let both = "--from-lock own --from-lock demo --exclude own.invalid/*/*";
    let copied = "Copied [ORIGIN]/acme/demo 1.0.0 2 813 signed [ACME ID] lock";
    let run = scene.mirror(both);
    run.tells(&format!("{copied} Mirrored 1 2 813 [TIME]"));
}

#[test]
fn packages_that_are_not_locked_are_refused() {
    let scene = OriginScene::of([versions()]);
    let hashes = [zh(&scene.origin, "1.0.0", LINUX)];
    lock(&scene, NAME, "[ORIGIN]/acme/demo", "1.0.0", &hashes);
    let told = scene.mirror("--from-lock . --jobs 1");
    told.says(3, "error [ORIGIN]/acme/demo 1.0.0 [ORIGIN] darwin_arm64 expected zh:4fa7e60d506416362ae4a4933f2da2a5c755191e68c2d41fb7c13d5c8e023bec received zh:f63237d1fd1003ffd38efd8a93e846cf69bd47b10e91d503971b8696b973580a");
    assert_eq!(scene.origin.count(asks("package")), 0);
    assert!(scene.installs().is_empty());
    let document = scene.json("--from-lock .").exits(3).json();
    let refused = &document["providers"][0];
    let address = scene.origin.address("acme/demo");
    assert_eq!(refused["provider"], address);
    assert_eq!(refused["version"], "1.0.0");
    assert_eq!(refused["status"], "failed");
    assert_eq!(refused["error"]["category"], "untrusted");
    let message = refused["error"]["message"].as_str().unwrap();
    for fact in [&address, "1.0.0", "darwin_arm64"] {
        assert!(message.contains(fact), "{message}");
    }
    assert_eq!(document["providers"].as_array().unwrap().len(), 1);
    assert_eq!(document.get("error"), None);
    let linux = scene.mirror("--from-lock . --platform linux_amd64");
    linux.tells(LOCKED);
    assert_eq!(scene.installs(), ARRIVED);
}

/// What is said when `acme/demo` was mirrored by a lock file.
pub const LOCKED: &str =
    "Copied [ORIGIN]/acme/demo 1.0.0 1 406 signed [ACME ID] lock Mirrored 1 1 406 [TIME]";

#[test]
fn stored_packages_must_match_the_lock_too() {
    let scene = OriginScene::of([demo()]);
    scene.demo("-q").says(0, "");
    let hashes = [format!("zh:{}", "0".repeat(64))];
    lock(&scene, NAME, "[ORIGIN]/acme/demo", "1.0.0", &hashes);
    scene.mirror("--from-lock .").says(3, "error [ORIGIN]/acme/demo 1.0.0 oci-layout:store/[ORIGIN]/acme/demo linux_amd64 expected zh:0000000000000000000000000000000000000000000000000000000000000000 received zh:4fa7e60d506416362ae4a4933f2da2a5c755191e68c2d41fb7c13d5c8e023bec");
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
        "error example.com/acme/demo 1.0.0 oci-layout:store/example.com/acme/demo linux_amd64 expected {locked} received {received}"
    )
}

#[test]
fn stored_packages_must_match_the_lock_when_a_platform_is_added() {
    let scene = OriginScene::of([versions()]);
    let from = "--from filesystem-mirror:mirror";
    pack(&scene, "1.1.0", LINUX);
    let unsigned = format!("{from} --allow-unsigned example.com/acme/* -q");
    let told = scene.mirror(&format!("example.com/acme/demo {unsigned}"));
    told.says(0, "");
    let before = scene.tree();
    for platform in [DARWIN, LINUX] {
        pack(&scene, "1.0.0", platform);
    }
    let hashes = [DARWIN, LINUX].map(|platform| zh(&scene.origin, "1.0.0", platform));
    lock(&scene, NAME, "example.com/acme/demo", "1.0.0", &hashes);
    let says = not_locked(&hashes, &zh(&scene.origin, "1.1.0", LINUX));
    for _ in 0..2 {
        let told = scene.mirror(&format!("--from-lock . {from}"));
        told.says(3, &says);
        assert_eq!(scene.tree(), before);
    }
    // Packages that are not selected are not compared.
    let told = scene.mirror(&format!("--from-lock . --platform darwin_arm64 {from} -q"));
    told.says(0, "");
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
        let told = scene.mirror("--from-lock . --from filesystem-mirror:mirror");
        told.says(code, says);
    }
}

#[test]
fn a_lock_file_without_zh_hashes_is_refused() {
    let scene = OriginScene::of([demo()]);
    let hashes = ["h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=".to_owned()];
    lock(&scene, NAME, "[ORIGIN]/acme/demo", "1.0.0", &hashes);
    let says = "error [ORIGIN]/acme/demo 1.0.0 [ORIGIN]";
    scene.mirror("--from-lock .").says(3, says);
    assert!(scene.installs().is_empty());
}

#[test]
fn a_locked_version_that_is_gone_is_reported() {
    let scene = OriginScene::of([demo()]);
    let hashes = [format!("zh:{}", "0".repeat(64))];
    lock(&scene, NAME, "[ORIGIN]/acme/demo", "3.0.0", &hashes);
    let says = "error [ORIGIN]/acme/demo 3.0.0 [ORIGIN] 1.0.0";
    scene.mirror("--from-lock .").says(1, says);
    let none = scene.mirror("--from-lock none");
    none.says(1, "error No 2 --from-lock");
    scene.write("bad.hcl", "provider {");
    let bad = scene.mirror("--from-lock bad.hcl");
    bad.says(2, "error bad.hcl 1");
}

/// Mirrors have no signatures. A lock file replaces them, unless a key is named.
#[test]
fn a_lock_file_verifies_the_packages_of_a_network_mirror() {
    let scene = OriginScene::of([demo()]);
    let hashes = [zh(&scene.origin, "1.0.0", LINUX)];
    lock(&scene, NAME, "example.com/acme/demo", "1.0.0", &hashes);
    let url = scene.origin.mirror_url();
    let from = format!("--from-lock . --from network-mirror:{url}");
    // A pinned provider must be signed.
    scene.write("acme.asc", Signer::acme().public_armored());
    let pinned = scene.mirror(&format!("{from} --key acme.asc"));
    pinned.says(3, "error example.com/acme/demo 1.0.0 network-mirror:https://[ORIGIN]/mirror/ expected acme.asc --key");
    assert!(scene.installs().is_empty());
    let told = scene.mirror(&from);
    told.tells("Copied example.com/acme/demo 1.0.0 1 406 unverified lock Mirrored 1 1 406 [TIME]");
    assert_eq!(scene.installs(), ARRIVED);
}

#[test]
fn a_configuration_combines_the_requirements_of_its_modules() {
    let scene = OriginScene::of([versions()]);
    let required = |constraint: &str| {
        scene.named(&format!(
            "terraform {{\n  required_providers {{\n    demo = {{\n      source = \"[ORIGIN]/acme/demo\"\n      version = \"{constraint}\"\n    }}\n  }}\n}}\n"
        ))
    };
    let module = |source: &str| format!("module \"part\" {{\n  source = \"{source}\"\n}}\n");
    scene.write("root/main.tf", required(">= 1.0") + &module("./part"));
    scene.write("root/part/main.tf", required("< 2.0"));
    let told = scene.mirror("--from-config root --platform linux_amd64");
    told.tells(&COPIED.replace("1.0.0", "1.1.0"));
    assert_eq!(scene.installs(), ["acme/demo 1.1.0 linux_amd64"]);
    scene.write("root/part/main.tf", required("< 1.0"));
    let unmet = "error [ORIGIN]/acme/demo [ORIGIN] >= 1.0.0 < 1.0.0 2.0.0 1.1.0 1.0.0";
    scene.mirror("--from-config root").says(1, unmet);
    let absent = scene.mirror("--from-config none");
    absent.says(1, "error none No 2");
    scene.write("root/part/main.tf", "terraform {");
    let broken = scene.mirror("--from-config root");
    broken.says(1, "error root/part main.tf:1");
    let far = module("git::https://example.com/x");
    scene.write("root/main.tf", far + &required("~> 1.0"));
    let told = scene.mirror("--from-config root --jobs 1");
    told.tells("Updated [ORIGIN]/acme/demo 1.1.0 2 407 signed [ACME ID] origin Warning git::https://example.com/x Mirrored 1 1 407 1 [TIME]");
}
