use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::Barrier;

use super::pusher::{NAME, Pusher};
use crate::support::registry::{Fault, Registry, Seen, content};
use crate::support::release::ReleaseFolder;
use crate::support::scene::Run;
use crate::support::server::answer::Answer;
use crate::support::server::gate::Gate;
use crate::support::wait::wait;

const PLATFORMS: [&str; 3] = ["darwin_arm64", "linux_amd64", "windows_amd64"];
/// The options for each of them.
const ONLY: [&str; 3] = [
    "--platform darwin_arm64",
    "--platform linux_amd64",
    "--platform windows_amd64",
];
const ROUNDS: usize = 6;

fn moves_the_tag(seen: &Seen) -> bool {
    seen.method == "PUT" && seen.path.ends_with("/manifests/1.0.0")
}

/// Two writers each add a platform to a version. Neither moves the tag before both have read it.
fn round() {
    let registry = Registry::plain();
    let pusher = Pusher::new(&PLATFORMS);
    pusher.push(&registry, ONLY[0]).succeeds();
    registry.forget();
    let both = Arc::new(Barrier::new(2));
    for nth in [1, 2] {
        registry.fault(nth, moves_the_tag, Fault::Together(Arc::clone(&both)));
    }
    let writers = ONLY[1..].iter().map(|only| {
        let mut command = pusher.command("dist", &registry, only);
        command.spawn().unwrap()
    });
    for mut writer in writers.collect::<Vec<_>>() {
        assert!(writer.wait().unwrap().success());
    }
    assert_eq!(registry.platforms(NAME, "1.0.0"), PLATFORMS);
    let moves = registry.count(moves_the_tag);
    assert!(moves >= 3, "no writer came too late");
}

/// Several rounds at the same time, since each mostly waits.
#[test]
fn a_late_writer_finds_the_conflict_afterwards() {
    thread::scope(|scope| {
        for _ in 0..ROUNDS {
            scope.spawn(round);
        }
    });
}

/// A registry that other jobs keep busy may hold up their requests for a second.
#[test]
fn a_writer_of_a_part_of_a_version_looks_again_after_two_seconds() {
    let registry = Registry::plain();
    let pusher = Pusher::new(&PLATFORMS);
    let begun = Instant::now();
    pusher.push(&registry, ONLY[0]).succeeds();
    assert!(begun.elapsed() >= Duration::from_secs(2));
}

/// zot deletes the manifests of an index whose tag moves.
#[test]
fn a_part_that_was_deleted_with_a_moved_index_is_looked_up_again() {
    let reads_a_manifest =
        |seen: &Seen| seen.method == "GET" && seen.path.contains("/manifests/sha256:");
    let registry = Registry::plain();
    let pusher = Pusher::new(&PLATFORMS);
    pusher.push(&registry, ONLY[0]).succeeds();
    let absent = || Answer::error(404, "MANIFEST_UNKNOWN", "manifest unknown");
    registry.forget();
    registry.fault(1, reads_a_manifest, Fault::Answer(absent()));
    pusher.push(&registry, ONLY[1]).succeeds();
    assert_eq!(registry.platforms(NAME, "1.0.0"), PLATFORMS[..2]);
    // What is missing again is lost.
    registry.always(reads_a_manifest, Fault::Answer(absent()));
    let run = pusher.push(&registry, ONLY[2]);
    run.exits(1).tells(" is missing\n");
    assert_eq!(registry.platforms(NAME, "1.0.0"), PLATFORMS[..2]);
}

/// zot deletes the manifest of a platform when another writer moves the tag to an index without it, and accepts a later index that lists it again.
#[test]
fn a_platform_that_the_registry_deleted_is_written_again() {
    let registry = Registry::plain();
    let pusher = Pusher::new(&PLATFORMS);
    pusher.push(&registry, "").succeeds();
    let parts = platform_manifests(&registry);
    assert_eq!(parts.len(), PLATFORMS.len());
    let deletes = || registry.repository(NAME, |all| all.manifests.remove(&parts[0]));
    let is_whole = || registry.repository(NAME, |all| all.manifests.contains_key(&parts[0]));

    deletes();
    pusher.push(&registry, "").succeeds().tells("   Updated ");
    assert!(is_whole());

    // Each job of a matrix writes its own platform.
    deletes();
    pusher.push(&registry, ONLY[1]).succeeds();
    assert!(!is_whole());
    pusher.push(&registry, ONLY[0]).succeeds();
    assert!(is_whole());
}

/// A writer whose last request is held up, while another one writes the whole version.
fn held_beside_another(registry: &Registry, held: &mut Command, another: impl FnOnce() -> Run) {
    let gate = Gate::default();
    registry.forget();
    registry.fault(1, moves_the_tag, gate.holds("first"));
    let mut held = held.spawn().unwrap();
    let is_held = || registry.count(moves_the_tag) == 1;
    wait(is_held, || "the tag does not move".to_owned());
    thread::scope(|scope| {
        scope.spawn(|| {
            let has_moved = || registry.count(moves_the_tag) == 2;
            wait(has_moved, || "the other does not move it".to_owned());
            gate.open("first");
        });
        another().succeeds();
    });
    assert!(held.wait().unwrap().success());
}

/// Both tags of a version have to be those of one release.
#[test]
fn two_replacements_at_once_leave_one_of_them() {
    let registry = Registry::plain();
    let pusher = Pusher::new(&PLATFORMS);
    pusher.push(&registry, "").succeeds();
    for (folder, content) in [("other", b"other"), ("third", b"third")] {
        let files: &[(&str, &[u8])] = &[("terraform-provider-demo_v1.0.0", content)];
        let release = ReleaseFolder::new("demo", "1.0.0").package(PLATFORMS[1], files);
        release.write(&pusher.scene.path(folder));
    }
    let replace = "--existing replace";
    let mut held = pusher.command("other", &registry, replace);
    held_beside_another(&registry, &mut held, || {
        pusher.push_from("third", &registry, replace)
    });
    let inspect = "inspect acme/demo@1.0.0 --key acme.asc --from STORE";
    pusher.run(&registry, inspect).succeeds();
}

/// The job of one platform has stored the evidence, and moves the version's tag after another job has pushed all.
#[test]
fn a_push_of_everything_beside_that_of_a_part_loses_nothing() {
    let registry = Registry::plain();
    let pusher = Pusher::new(&PLATFORMS);
    let mut held = pusher.command("dist", &registry, ONLY[1]);
    held_beside_another(&registry, &mut held, || pusher.push(&registry, ""));
    assert_eq!(registry.platforms(NAME, "1.0.0"), PLATFORMS);
}

/// The digests of the manifests that the index refers to.
fn platform_manifests(registry: &Registry) -> Vec<String> {
    registry.repository(NAME, |repository| {
        let index = repository.resolve("1.0.0").unwrap();
        let index = serde_json::from_slice(&repository.manifests[&index].bytes).unwrap();
        content::parts(&index).1
    })
}

/// docker-registry writes the link to a blob anew if another writer stores it, and does not know the blob meanwhile.
#[test]
fn a_blob_that_is_unknown_for_a_moment_does_not_stop_a_writer() {
    let registry = Registry::plain();
    let pusher = Pusher::new(&PLATFORMS);
    let writes_a_manifest =
        |seen: &Seen| seen.method == "PUT" && seen.path.contains("/manifests/sha256:");
    let unknown = || Answer::error(400, "MANIFEST_BLOB_UNKNOWN", "blob unknown to registry");
    for nth in [1, 2] {
        registry.fault(nth, writes_a_manifest, Fault::Answer(unknown()));
    }
    pusher.push(&registry, "").succeeds();
    assert_eq!(registry.platforms(NAME, "1.0.0"), PLATFORMS);
    // What stays unknown is an error.
    let registry = Registry::plain();
    registry.always(writes_a_manifest, Fault::Answer(unknown()));
    let run = pusher.push(&registry, "").exits(1);
    run.tells("blob unknown to registry");
    assert_eq!(registry.tags(NAME), []);
}
