use std::collections::BTreeSet;
use std::fs;

use tfoci::platform::Platform;

use super::origin_scene::OriginScene;
use crate::clients::run;
use crate::support::judge;
use crate::support::origin::Provider;
use crate::support::programs::has;
use crate::support::release::{ReleaseFolder, Signing};
use crate::support::scene::Run;
use crate::support::signer::Signer;

/// An origin of `acme/demo` for this machine and another, and a project that needs it.
fn with_project() -> OriginScene {
    let here = Platform::current().to_string();
    let platforms = [here.as_str(), "plan9_mips"];
    project_of(Provider::demo(&platforms).version("1.1.0", &platforms))
}

/// An origin of this provider, and a project that needs it.
fn project_of(provider: Provider) -> OriginScene {
    let mut scene = OriginScene::of([provider]);
    let required = "terraform {\n  required_providers {\n    demo = { source = \"[ORIGIN]/acme/demo\" }\n  }\n}\n";
    scene.write("project/main.tf", scene.named(required));
    let ca = scene.path("ca.pem").display().to_string();
    scene.scene = scene.scene.env("SSL_CERT_FILE", &ca);
    scene
}

/// The hashes of a scheme in a text.
fn hashes(text: &str, scheme: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| c.is_whitespace() || "\",=@".contains(c) && c != '=');
    let words = words.filter(|word| word.starts_with(scheme));
    words.map(str::to_owned).collect()
}

fn init(scene: &OriginScene, client: &str) -> Run {
    let arguments = ["init", "-input=false", "-no-color"];
    run(&scene.scene, &scene.path("project"), client, arguments)
}

fn mirrored(scene: &OriginScene) -> BTreeSet<String> {
    let installed = judge::installs(&scene.path("store"));
    let hashes = installed.iter().filter_map(|line| line.rsplit(' ').next());
    hashes.map(str::to_owned).collect()
}

#[test]
fn init_locks_the_hashes_of_the_mirrored_packages() {
    for client in ["terraform", "tofu"].into_iter().filter(|name| has(name)) {
        let scene = with_project();
        scene.demo("-q").says(0, "");
        init(&scene, client).succeeds();
        let lock = fs::read_to_string(scene.path("project/.terraform.lock.hcl")).unwrap();
        assert!(lock.contains("version = \"1.1.0\""), "{lock}");
        // The document names the manifest too, and clients lock its hash with those of the zips.
        let locked = hashes(&lock, "zh:");
        assert!(locked.is_superset(&mirrored(&scene)), "{lock}");
        scene.mirror("--from-lock project -q").says(0, "");
    }
}

#[test]
fn providers_mirror_writes_the_packages_that_tfoci_mirrors() {
    for client in ["terraform", "tofu"].into_iter().filter(|name| has(name)) {
        let scene = with_project();
        scene.demo("-q").says(0, "");
        let here = format!("-platform={}", Platform::current());
        let mirror = format!("providers mirror {here} -platform=plan9_mips ../mirror");
        let project = scene.path("project");
        run(&scene.scene, &project, client, mirror.split(' ')).succeeds();
        let folder = scene.path(scene.named("mirror/[ORIGIN]/acme/demo"));
        let files = fs::read_dir(folder).unwrap();
        let files = files.map(|entry| entry.unwrap().path());
        let zips = files.filter(|path| path.extension().is_some_and(|end| end == "zip"));
        let zhs = zips.map(|path| format!("zh:{}", judge::sha256(&path)));
        let theirs: BTreeSet<String> = zhs.collect();
        assert_eq!(theirs, mirrored(&scene), "{client}");
        assert_eq!(theirs.len(), 2);
    }
}

/// A good signature whose byte at this place is another one.
fn with_byte(document: &[u8], place: usize, byte: u8) -> Vec<u8> {
    let mut signature = Signer::acme().sign_detached(document);
    signature[place] = byte;
    signature
}

#[test]
fn a_signature_behind_another_is_noted_if_clients_refuse_it() {
    let firsts: [(Signing, bool); 5] = [
        (|_| Signer::acme().sign_detached(b"another document"), true),
        (|document| Signer::stranger().sign_detached(document), false),
        // An unknown version, type, and hash algorithm.
        (|document| with_byte(document, 2, 9), false),
        (|document| with_byte(document, 3, 0x10), true),
        (|document| with_byte(document, 5, 99), false),
    ];
    for (place, (first, is_noted)) in firsts.into_iter().enumerate() {
        let here = Platform::current().to_string();
        let folder = ReleaseFolder::new("demo", "1.1.0").platform(&here);
        let folder = folder.first_signature(first);
        let scene = project_of(Provider::new("acme/demo").release(folder));
        let said = scene.demo("").ends(0);
        let note = " second-signature\n";
        assert_eq!(said.contains(note), is_noted, "{place}: {said}");
        for client in ["terraform", "tofu"].into_iter().filter(|name| has(name)) {
            init(&scene, client).exits(i32::from(is_noted));
        }
    }
}
