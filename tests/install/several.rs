//! Several providers, of which some fail: the others are installed all the same.

use std::fs;
use std::sync::Arc;

use tokio::sync::Barrier;

use super::{Facts, install, names, push, released};
use crate::support::registry::{Fault, Registry, matching};
use crate::support::release::ReleaseFolder;
use crate::support::scene::Scene;

/// A scene whose store has `a`, `b` and `c`, each for one platform.
fn with_three() -> Scene {
    let scene = Scene::new();
    for name in ["a", "b", "c"] {
        let release = ReleaseFolder::new(name, "1.0.0").platform("linux_amd64");
        push(&scene, &address(name), "1.0.0", &release);
    }
    scene
}

fn address(name: &str) -> String {
    format!("example.com/acme/{name}")
}

fn facts(scene: &Scene, name: &str) -> Facts {
    let zip = format!("terraform-provider-{name}_1.0.0_linux_amd64.zip");
    Facts::of(&released(scene, &address(name), "1.0.0").join(zip))
}

fn packed(name: &str) -> String {
    format!("example.com/acme/{name}/terraform-provider-{name}_1.0.0_linux_amd64.zip")
}

/// Changes the zip of a provider in the store, keeping its size.
fn alter(scene: &Scene, name: &str) {
    let hex = facts(scene, name).zh.split_off("zh:".len());
    let blob = scene.path(format!("store/example.com/acme/{name}/blobs/sha256/{hex}"));
    let mut bytes = fs::read(&blob).unwrap();
    bytes[40] ^= 1;
    fs::write(blob, bytes).unwrap();
}

#[test]
fn one_failure_does_not_stop_the_others() {
    let scene = with_three();
    alter(&scene, "b");
    let run = install(&scene, "--platform linux_amd64").exits(3);
    let there = ["a", "c"].map(packed);
    let lines = there.each_ref().map(|path| format!("mirror/{path}\n"));
    assert_eq!(run.stdout, lines.concat());
    assert_eq!(names(&scene.path("mirror")), there);
    let [a, b, c] = ["a", "b", "c"].map(|name| facts(&scene, name));
    let error = run.stderr.find("error: ").unwrap();
    let digest = b.zh.replace("zh:", "sha256:");
    let about = "error: example.com/acme/b 1.0.0 linux_amd64 (oci-layout:store): ";
    assert!(run.stderr[error..].starts_with(about), "{}", run.stderr);
    let size = a.size + c.size;
    run.tells(format!("    expected {digest}\n    received "));
    run.tells(format!(" ({size} B copied) in "));
    run.tells("; 1 of 3 failed\n");
    // Clients must not install those that failed from anywhere else.
    let all = r#"["example.com/acme/a", "example.com/acme/b", "example.com/acme/c"]"#;
    for list in ["include", "exclude"] {
        run.tells(format!("    {list} = {all}\n"));
    }
}

#[test]
fn the_gravest_failure_sets_the_exit_code() {
    let scene = with_three();
    alter(&scene, "b");
    for line in [
        "1 a none",
        "1 none a",
        "3 none b a@9.9.9",
        "3 b none",
        "0 a c",
    ] {
        let (status, asked) = line.split_once(' ').unwrap();
        let (status, addresses) = (status.parse().unwrap(), asked.split(' ').map(address));
        let addresses = addresses.collect::<Vec<_>>().join(" ");
        let run = install(&scene, format!("{addresses} --platform linux_amd64"));
        assert_eq!(run.status, Some(status), "{asked}\n{}", run.stderr);
    }
    assert_eq!(names(&scene.path("mirror")), [packed("a"), packed("c")]);
}

#[test]
fn the_document_has_an_entry_for_each() {
    let scene = with_three();
    alter(&scene, "b");
    let [a, b, none] = ["a", "b", "none"].map(address);
    let options = "--platform linux_amd64 --format json";
    let run = install(&scene, format!("{a} {b} {none} {options}")).exits(3);
    let document = run.json();
    assert_eq!(document["schema"], 1);
    let summary = document["providers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| {
            let count = |name: &str| entry[name].as_array().unwrap().len();
            let texts = [
                &entry["provider"],
                &entry["version"],
                &entry["error"]["category"],
            ];
            let [provider, version, error] = texts.map(|text| text.as_str().unwrap_or("none"));
            let (packages, hashes) = (count("packages"), count("hashes"));
            format!("{provider} {version}: {packages} packages, {hashes} hashes, {error}")
        });
    let expected = [
        format!("{a} 1.0.0: 1 packages, 2 hashes, none"),
        format!("{b} 1.0.0: 0 packages, 0 hashes, untrusted"),
        format!("{none} none: 0 packages, 0 hashes, not_found"),
    ];
    assert_eq!(summary.collect::<Vec<_>>(), expected);
}

#[test]
fn a_name_that_no_store_can_hold_fails_alone() {
    let scene = with_three();
    let asked = "example.com/ümlaut/x example.com/acme/a --platform linux_amd64";
    let run = install(&scene, asked).exits(1);
    assert!(run.stderr.starts_with("error: "), "{}", run.stderr);
    run.tells("; 1 of 2 failed\n");
    assert_eq!(names(&scene.path("mirror")), [packed("a")]);
}

/// The first provider gets no answer before the second is asked for.
#[test]
fn two_providers_are_read_at_once() {
    let scene = with_three();
    let registry = Registry::plain();
    let host = registry.host();
    let store = format!("{host}/{{namespace}}/{{type}}");
    scene.write(".docker/config.json", registry.authfile());
    let copy = format!("copy --from oci-layout:store --to {store}");
    let plain = format!("--plain-http {host}");
    scene.line(format!("{copy} {plain}")).succeeds();
    let both = Arc::new(Barrier::new(2));
    for name in ["a", "b"] {
        let path = format!("acme/{name}/tags/list");
        let wait = Fault::Together(Arc::clone(&both));
        registry.fault(1, matching("GET", &path), wait);
    }
    let reversed = ["c", "b", "a"].map(address).join(" ");
    let install = format!("install --from {store} --into mirror");
    let options = format!("{plain} --platform linux_amd64 {reversed}");
    let run = scene.line(format!("{install} {options}")).succeeds();
    let all = ["a", "b", "c"].map(packed);
    assert_eq!(names(&scene.path("mirror")), all);
    // The report is sorted, whichever provider is done first.
    let lines: Vec<String> = all.iter().map(|path| format!("mirror/{path}\n")).collect();
    assert_eq!(run.stdout, lines.concat());
}
