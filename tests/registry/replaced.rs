//! Readers of a version that is just being replaced: its two tags move one after the other.

use super::pusher::{NAME, Pusher};
use crate::support::registry::content::{Manifest, parts};
use crate::support::registry::{Fault, Registry, Seen};
use crate::support::release::ReleaseFolder;
use crate::support::server::answer::Answer;

const PLATFORM: &str = "linux_amd64";

fn reads_the_index(seen: &Seen) -> bool {
    seen.method == "GET" && seen.path.ends_with("/manifests/1.0.0")
}

/// A registry with a version that was replaced, and the index of before.
fn replaced(pusher: &Pusher) -> (Registry, Manifest) {
    let registry = Registry::plain();
    pusher.push(&registry, "").succeeds();
    let old = registry.repository(NAME, |repository| {
        let digest = repository.resolve("1.0.0").unwrap();
        repository.manifests[&digest].clone()
    });
    let replaced = pusher.push_from("other", &registry, "--existing replace");
    replaced.succeeds();
    registry.forget();
    (registry, old)
}

fn pusher() -> Pusher {
    let pusher = Pusher::new(&[PLATFORM]);
    let other = ReleaseFolder::new("demo", "1.0.0");
    let other = other.package(PLATFORM, &[("terraform-provider-demo_v1.0.0", b"other")]);
    other.write(&pusher.scene.path("other"));
    pusher
}

fn answer(index: &Manifest) -> Fault {
    let answer = Answer::new(200).header("content-type", &index.media_type);
    Fault::Answer(answer.body(index.bytes.clone()))
}

/// What reads a version.
const READERS: [&str; 6] = [
    "inspect acme/demo@1.0.0 --from STORE",
    "verify acme/demo --from STORE",
    "install acme/demo@1.0.0 --platform linux_amd64 --into mirror --from STORE",
    "copy acme/demo@1.0.0 --to oci-layout:copied --from STORE",
    "copy acme/demo@1.0.0 --to oci-layout:some --rebuild-index --from STORE",
    "site public acme/demo --from STORE",
];

#[test]
fn readers_look_again_at_a_version_that_is_being_replaced() {
    let pusher = pusher();
    let (registry, old) = replaced(&pusher);
    for line in READERS {
        registry.fault(1, reads_the_index, answer(&old));
        pusher.run(&registry, line).succeeds();
    }
    // Some registries delete what the old index refers to.
    registry.repository(NAME, |repository| {
        let index = repository.resolve("1.0.0").unwrap();
        let evidence = repository.resolve("evidence-1.0.0").unwrap();
        let index: serde_json::Value =
            serde_json::from_slice(&repository.manifests[&index].bytes).unwrap();
        let part = index["manifests"][0]["digest"].as_str().unwrap().to_owned();
        let tagged: Vec<String> = repository.tags.iter().map(|tag| tag.1.clone()).collect();
        let stays =
            |digest: &String| tagged.contains(digest) || [&part, &evidence].contains(&digest);
        repository.manifests.retain(|digest, _| stays(digest));
    });
    for directory in ["mirror", "copied", "some", "public"] {
        std::fs::remove_dir_all(pusher.scene.path(directory)).unwrap();
    }
    for line in READERS {
        registry.fault(1, reads_the_index, answer(&old));
        pusher.run(&registry, line).succeeds();
    }
}

#[test]
fn a_version_that_stays_half_replaced_is_refused() {
    let pusher = pusher();
    let (registry, old) = replaced(&pusher);
    registry.always(reads_the_index, answer(&old));
    let run = pusher.run(&registry, READERS[0]).exits(3);
    run.says("error registry.opentofu.org/acme/demo 1.0.0");
    assert_eq!(registry.count(reads_the_index), 5);
}

/// Nobody replaces many versions at once: a registry that lacks parts of many has lost them.
#[test]
fn only_the_first_damaged_versions_are_waited_for() {
    const DAMAGED: usize = 40;
    let pusher = pusher();
    let registry = Registry::plain();
    pusher.push(&registry, "").succeeds();
    for patch in 1..=DAMAGED {
        let version = format!("1.0.{patch}");
        let folder = format!("dist-{patch}");
        pusher.release(&folder, &version, &[PLATFORM]);
        pusher.push_from(&folder, &registry, "").succeeds();
    }
    let good = registry.repository(NAME, |repository| repository.resolve("1.0.0").unwrap());
    registry.repository(NAME, |repository| {
        let index = serde_json::from_slice(&repository.manifests[&good].bytes).unwrap();
        let (_, parts) = parts(&index);
        let tagged: Vec<String> = repository.tags.iter().map(|tag| tag.1.clone()).collect();
        let stays = |digest: &String| tagged.contains(digest) || parts.contains(digest);
        repository.manifests.retain(|digest, _| stays(digest));
    });
    registry.forget();
    let verify = "verify acme/demo --key acme.asc --from STORE";
    pusher.run(&registry, verify).exits(1);
    let looks = registry.count(|seen| {
        seen.method == "GET" && seen.path.contains("/manifests/sha256:") && seen.status == Some(404)
    });
    assert!((DAMAGED..4 * DAMAGED).contains(&looks), "{looks}");
}
