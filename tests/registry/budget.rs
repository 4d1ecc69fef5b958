use super::pusher::{NAME, Pusher};
use super::setup;
use crate::support::registry::{Personality, Registry, Seen, matching};

const PLATFORMS: [&str; 6] = [
    "darwin_arm64",
    "linux_386",
    "linux_amd64",
    "linux_arm",
    "linux_arm64",
    "windows_amd64",
];

/// Every request except those for tokens and those that were answered with 401.
pub fn counted(registry: &Registry) -> Vec<Seen> {
    let mut seen = registry.seen();
    seen.retain(|seen| seen.path != "/token" && seen.status != Some(401));
    seen
}

#[track_caller]
fn assert_at_most(most: usize, registry: &Registry) {
    let seen = counted(registry);
    let list: Vec<String> = seen.iter().map(Seen::to_string).collect();
    assert!(seen.len() <= most, "expected at most {most}: {list:#?}");
    registry.forget();
}

#[track_caller]
fn assert_nothing_is_written(registry: &Registry) {
    let seen = counted(registry);
    let reads = |seen: &Seen| ["GET", "HEAD"].contains(&seen.method.as_str());
    assert!(seen.iter().all(reads), "{seen:#?}");
}

#[test]
fn requests_into_an_empty_repository() {
    for count in [1, 2, PLATFORMS.len()] {
        let registry = Registry::with_tokens();
        let pusher = Pusher::new(&PLATFORMS[..count]);
        pusher.push(&registry, "").succeeds();
        assert_at_most(3 * count + 14, &registry);
    }
}

#[test]
fn requests_for_another_version() {
    for count in [1, 2, PLATFORMS.len()] {
        let registry = Registry::with_tokens();
        let pusher = Pusher::new(&PLATFORMS[..count]);
        pusher.push(&registry, "").succeeds();
        registry.forget();
        pusher.release("next", "1.1.0", &PLATFORMS[..count]);
        pusher.push_from("next", &registry, "").succeeds();
        // The config and the key are present. The template has no host, so the previous version is read.
        assert_at_most(4 * count + 13, &registry);
    }
}

#[test]
fn requests_into_a_repository_with_foreign_tags() {
    let registry = Registry::with_tokens();
    Pusher::new(&PLATFORMS).push(&registry, "").succeeds();
    registry.repository(NAME, |repository| {
        repository.tags = vec![("latest".to_owned(), repository.tags[0].1.clone())];
        repository.blobs.clear();
    });
    registry.forget();
    Pusher::new(&PLATFORMS).push(&registry, "").succeeds();
    assert_at_most(4 * PLATFORMS.len() + 14, &registry);
}

#[test]
fn requests_for_more_platforms() {
    let registry = Registry::with_tokens();
    let pusher = Pusher::new(&PLATFORMS);
    let some = PLATFORMS[..4].join(" --platform ");
    let some = format!("--platform {some}");
    pusher.push(&registry, &some).succeeds();
    registry.forget();
    pusher.push(&registry, "").succeeds();
    assert_at_most(4 * 2 + 14, &registry);
}

#[test]
fn requests_with_nothing_to_do() {
    let registry = Registry::with_tokens();
    let pusher = Pusher::new(&PLATFORMS);
    pusher.push(&registry, "").succeeds();
    pusher.release("next", "1.1.0", &PLATFORMS);
    pusher.push_from("next", &registry, "").succeeds();
    registry.forget();
    for folder in ["dist", "next"] {
        pusher.push_from(folder, &registry, "").succeeds();
        assert_nothing_is_written(&registry);
        // The tags, the index, the digest of the evidence, and the manifest of each platform, which another writer may have made the registry delete.
        assert_at_most(3 + PLATFORMS.len(), &registry);
    }
}

#[test]
fn every_kind_of_registry_is_written_to_once() {
    for personality in Personality::ALL {
        // Google's registry needs a project and a repository, so it cannot have this name.
        if personality == Personality::Gar {
            continue;
        }
        let registry = setup(personality)
            .quirks(|quirks| quirks.largest_put = None)
            .start();
        let pusher = Pusher::new(&PLATFORMS[..2]);
        pusher.push(&registry, "").succeeds();
        assert_at_most(3 * 2 + 14, &registry);
        pusher.push(&registry, "").succeeds();
        let uploads = registry.count(|seen| seen.method == "POST" || seen.method == "PATCH");
        assert_eq!(uploads, 0, "{personality:?}");
        // The evidence is offered to GitLab again.
        let refused = usize::from(personality == Personality::Gitlab);
        let puts = registry.count(|seen| seen.method == "PUT");
        assert_eq!(puts, refused, "{personality:?}");
        assert_at_most(3 + 2 + 5 * refused, &registry);
    }
}

#[test]
fn each_request_of_a_push_is_necessary() {
    let registry = Registry::with_tokens();
    Pusher::new(&PLATFORMS[..2]).push(&registry, "").succeeds();
    let count = |method: &str, path: &str| {
        let seen = counted(&registry).into_iter();
        seen.filter(matching(method, path)).count()
    };
    // Two packages, the empty config, and three documents of evidence.
    assert_eq!(count("POST", "/uploads/"), 6);
    assert_eq!(count("PUT", "/uploads/"), 6);
    // Two platforms by digest; the evidence and the index by tag.
    assert_eq!(count("PUT", "/manifests/"), 4);
    // Each tag is read before it is moved, and the version's tag once more.
    assert_eq!(count("HEAD", "/manifests/"), 3);
    assert_eq!(count("GET", "/tags/list"), 1);
    assert_eq!(counted(&registry).len(), 3 * 2 + 14);
}
