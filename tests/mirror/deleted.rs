use std::fs;

use super::locks::{BOTH_LOCKS, two_locked};
use super::origin_scene::{OriginScene, into_registry};
use super::team::Team;
use super::{DARWIN, LINUX, demo};
use crate::support::judge;
use crate::support::origin::{Provider, asks};
use crate::support::registry::content::{Repository, parts};
use crate::support::registry::{Fault, Registry, matching};

const PLATFORMS: [&str; 2] = [DARWIN, LINUX];

/// Deletes the platform manifests of a version, and blobs that only they refer to, as the collector of docker-registry does.
fn lose(held: &mut Repository, version: &str) {
    let read = |held: &Repository, digest: &str| {
        parts(&serde_json::from_slice(&held.manifests[digest].bytes).unwrap())
    };
    let index = held.resolve(version).unwrap();
    for child in read(held, &index).1 {
        let (blobs, _) = read(held, &child);
        held.manifests.remove(&child);
        let others = held.manifests.keys();
        let used: Vec<_> = others.flat_map(|one| read(held, one).0).collect();
        let is_used = |blob: &String| used.contains(blob) || !blobs.contains(blob);
        held.blobs.retain(|blob, _| is_used(blob));
    }
}

/// Whether the operator is told that manifests below an index were deleted.
fn told(said: &str) -> bool {
    said.contains("`tfoci help maintenance`")
}

#[test]
fn versions_without_their_manifests_are_written_again() {
    for lost in [&["1.0.0"][..], &["1.2.0"], &["1.0.0", "1.1.0", "1.2.0"]] {
        let team = Team::of(Provider::many(2, 3, &PLATFORMS));
        team.mirror("").succeeds();
        let (before, tags) = (team.registry.content(), team.tags());
        for version in lost {
            let p0 = "mirror/acme/p0";
            team.registry.repository(p0, |held| lose(held, version));
        }
        let damaged = team.registry.content();
        team.forget();

        let plan = team.mirror("--dry-run").succeeds().stderr;
        assert!(told(&plan), "{plan}");
        assert_eq!(plan.matches("Would update ").count(), lost.len(), "{plan}");
        assert_eq!(team.registry.content(), damaged);
        team.forget();

        let said = team.mirror("").succeeds().stderr;
        assert!(told(&said), "{said}");
        assert_eq!(said.matches("   Updated ").count(), lost.len(), "{said}");
        assert_eq!(team.tags(), tags);
        team.assert_whole();
        assert_eq!(team.registry.content().repositories, before.repositories);
        // The origin is asked about the lost versions only.
        assert_eq!(team.origin.count(asks("document")), lost.len());
        team.forget();

        let said = team.mirror("").succeeds().stderr;
        assert!(!told(&said) && said.contains("Mirrored nothing"), "{said}");
    }
}

/// Some registries and proxies know no `HEAD`, or refuse it.
#[test]
fn an_answer_other_than_404_is_no_loss() {
    for status in [403, 405] {
        let team = Team::of(Provider::many(1, 2, &PLATFORMS));
        team.mirror("").succeeds();
        let looks = matching("HEAD", "/manifests/sha256:");
        team.registry.always(looks, Fault::status(status));
        let said = team.mirror("").succeeds().stderr;
        assert!(!told(&said) && said.contains("Mirrored nothing"), "{said}");
    }
}

#[test]
fn locked_versions_are_written_again() {
    let scene = two_locked();
    let registry = Registry::plain();
    let to = into_registry(&registry).replace("[ORIGIN]/acme/demo", BOTH_LOCKS);
    scene.run(&to).ends(0);
    let before = registry.content();
    for version in ["1.0.0", "1.1.0"] {
        registry.repository("acme/demo", |held| lose(held, version));
    }
    let said = scene.run(&to).ends(0);
    assert!(told(&said), "{said}");
    assert_eq!(registry.content().repositories, before.repositories);
}

#[test]
fn each_destination_is_repaired_for_itself() {
    let scene = OriginScene::of([Provider::demo(&PLATFORMS)]);
    let (whole, damaged) = (Registry::plain(), Registry::plain());
    let hosts = [whole.host(), damaged.host()];
    let to = hosts.map(|host| format!("--to {host}/{{namespace}}/{{type}} --plain-http {host}"));
    let mirror = format!("[ORIGIN]/acme/demo {}", to.join(" "));
    let run = || scene.run(&mirror).ends(0);
    run();
    damaged.repository("acme/demo", |held| lose(held, "1.0.0"));
    whole.forget();
    let said = run();
    let about = said.lines().filter(|line| told(line));
    let about: Vec<bool> = about.map(|line| line.contains(damaged.host())).collect();
    assert_eq!(about, [true], "{said}");
    assert_eq!(whole.content(), damaged.content());
    assert_eq!(whole.count(|seen| seen.method == "PUT"), 0);
}

#[test]
fn a_layout_is_repaired_too() {
    let scene = OriginScene::of([demo()]);
    scene.demo("").ends(0);
    let good = scene.tree();
    let store = scene.path("store");
    let mut files = judge::tree(&store).into_keys().map(|name| store.join(name));
    let is_manifest = |text: String| text.contains("layers") && text.contains("provider-target");
    let manifest = files.find(|path| fs::read_to_string(path).is_ok_and(is_manifest));
    fs::remove_file(manifest.unwrap()).unwrap();
    let said = scene.demo("").ends(0);
    assert!(told(&said), "{said}");
    assert_eq!(scene.tree(), good);
}
