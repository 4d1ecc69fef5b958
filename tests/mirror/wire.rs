//! How many requests a mirror takes.

use super::origin_scene::EACH_ONCE;
use super::team::{PLATFORMS, Team};
use crate::support::author::two_platforms;
use crate::support::judge;
use crate::support::layout_of_registry::export;
use crate::support::origin::{Fault, Provider, Release, Seen, asks};
use crate::support::registry::quirks::GITLAB;
use crate::support::registry::{Access, Personality, Setup};

#[test]
fn requests_with_nothing_to_do() {
    let team = Team::of(Provider::many(2, 3, &PLATFORMS));
    team.mirror("").succeeds();
    team.forget();
    team.mirror("").succeeds();
    assert_eq!(team.origin.counters(), "1 discovery, 2 versions");
    assert_eq!(team.stored(), "6 GET manifests, 2 GET tags");
}

#[test]
fn requests_for_one_more_platform() {
    let team = Team::of(vec![Provider::demo(&PLATFORMS)]);
    let some = PLATFORMS[1..].iter();
    let some = some.map(|platform| format!("--platform {platform} "));
    team.mirror(some.collect::<String>()).succeeds();
    team.forget();
    team.mirror("").succeeds();
    assert_eq!(team.origin.counters(), EACH_ONCE);
    // The index, the evidence, and the manifests of the stored platforms: only the manifests state which zips the evidence must cover.
    assert_eq!(
        team.stored(),
        "3 GET blobs, 5 GET manifests, 1 GET tags, 2 HEAD blobs, 2 HEAD manifests, 1 POST uploads, 2 PUT manifests, 1 PUT uploads"
    );
    team.assert_whole();
}

#[test]
fn requests_into_an_empty_repository() {
    let team = Team::of(Provider::many(1, 1, &PLATFORMS));
    team.mirror("").succeeds();
    assert_eq!(
        team.origin.counters(),
        "1 discovery, 1 versions, 4 download, 1 document, 1 signature, 4 package"
    );
    // Four packages, the config, and three documents of evidence.
    assert_eq!(team.stored(), FIRST);
    let directory = tempfile::TempDir::new().unwrap();
    export(&team.registry, "mirror/acme/p0", directory.path());
    assert_eq!(judge::installs(directory.path()).len(), 4);
}

const FIRST: &str =
    "1 GET tags, 3 HEAD manifests, 8 POST uploads (mount), 6 PUT manifests, 8 PUT uploads";

/// A registry that requires a password or a token receives many concurrent requests before this is known.
#[test]
fn requests_into_repositories_behind_a_password() {
    for personality in [Personality::Ecr, Personality::Harbor, Personality::Quay] {
        let registry = Setup::of(Personality::Plain).access(Access::of(personality));
        let team = Team::into(registry.start(), Provider::many(6, 1, &PLATFORMS));
        team.mirror("").succeeds();
        team.assert_whole();
        team.registry.assert_no_leaks();
    }
}

/// Blobs that several versions and providers share are uploaded once and then mounted.
#[test]
fn requests_into_many_empty_repositories() {
    let team = Team::of(Provider::many(3, 2, &PLATFORMS));
    team.mirror("").succeeds();
    assert_eq!(
        team.origin.counters(),
        "1 discovery, 3 versions, 24 download, 6 document, 6 signature, 24 package"
    );
    // Of six versions 24 packages, 6 documents and 6 signatures; the config and the keys.
    assert_eq!(
        team.stored(),
        "3 GET tags, 18 HEAD manifests, 42 POST uploads (mount), 36 PUT manifests, 38 PUT uploads"
    );
    team.assert_whole();
}

/// GitLab refuses evidence. Before this is known, only the versions in progress look for theirs. The rest send no more requests than with
/// evidence.
#[test]
fn requests_with_nothing_to_do_where_evidence_is_refused() {
    const VERSIONS: usize = 12;
    let gitlab = Setup::of(Personality::Plain).quirks(|quirks| quirks.types = Some(GITLAB));
    let team = Team::into(gitlab.start(), Provider::many(1, VERSIONS, &PLATFORMS));
    let first = team.mirror("").succeeds();
    let warnings = first.stderr.matches(" Warning ").count();
    assert_eq!(warnings, 1, "{}", first.stderr);
    let tags = team.tags();
    assert_eq!(tags.len(), VERSIONS);
    team.forget();
    let again = team.mirror("").succeeds();
    assert!(again.stderr.contains("already present"), "{}", again.stderr);
    assert_eq!(team.tags(), tags);
    let asked = team.origin.count(|seen| seen.path.contains("/download/"));
    assert!(asked <= 3 * PLATFORMS.len(), "{asked}");
    assert_eq!(team.origin.count(|seen| seen.path.ends_with(".zip")), 0);
}

#[test]
fn the_proof_is_fetched_once_although_the_platforms_are_not_listed() {
    let release = Release::from(two_platforms()).without_platforms();
    let quiet = release.without_packages();
    let team = Team::of(vec![Provider::new("acme/demo").release(quiet)]);
    team.mirror("").succeeds();
    assert_eq!(
        team.origin.counters(),
        "1 discovery, 1 versions, 2 download, 1 document, 1 signature, 4 package"
    );
}

/// Providers as most registries describe them: without the sizes of their packages.
fn without_sizes(providers: usize, versions: usize) -> Vec<Provider> {
    let mut all = Provider::many(providers, versions, &PLATFORMS);
    for provider in &mut all {
        let releases = provider.releases.drain(..);
        provider.releases = releases.map(Release::without_packages).collect();
    }
    all
}

/// Requests for the first byte, whose answers tell the size of the whole.
fn asks_size(seen: &Seen) -> bool {
    seen.header("range") == Some("bytes=0-0")
}

#[test]
fn a_package_of_unknown_size_is_asked_for_its_first_byte() {
    let team = Team::of(without_sizes(25, 1));
    team.mirror("").succeeds();
    team.assert_whole();
    assert_eq!(
        team.origin.counters(),
        "1 discovery, 25 versions, 100 download, 25 document, 25 signature, 200 package"
    );
    assert_eq!(team.origin.count(asks_size), 100);
    for jobs in ["1", "3"] {
        let team = Team::of(without_sizes(1, 1));
        let run = team.mirror(format!("--jobs {jobs} -v")).succeeds();
        team.assert_whole();
        // As where the sizes are known, see `requests_into_an_empty_repository`.
        assert_eq!(team.stored(), FIRST);
        assert!(run.stderr.contains("4 packages ("), "{}", run.stderr);
        team.forget();
        team.mirror("--recheck --dry-run").succeeds();
        assert_eq!(team.origin.count(asks("package")), PLATFORMS.len());
        assert!(!team.stored().contains("PUT"), "{}", team.stored());
    }
}

#[test]
fn a_server_that_ignores_ranges_tells_the_size_by_the_length() {
    let mut demo = Provider::demo(&PLATFORMS[..1]);
    demo.releases = vec![demo.releases.remove(0).without_packages()];
    let team = Team::of(vec![demo]);
    let zip = team.origin.zip("acme/demo", "1.0.0", PLATFORMS[0]);
    let ignored = Fault::range_ignored(&zip);
    team.origin.fault(1, asks("package"), ignored);
    team.mirror("").succeeds();
    team.assert_whole();
    assert_eq!(team.origin.count(asks("package")), 2);
}

#[test]
fn an_unneeded_answer_is_not_read() {
    let team = Team::of(without_sizes(1, 1));
    team.mirror("").succeeds();
    team.forget();
    // A read of these bodies would never end.
    team.origin.always(asks("package"), Fault::stall_body(0));
    team.mirror("--recheck --timeout 1").succeeds();
    assert_eq!(team.origin.count(asks("package")), 4);
    let before = team.stored();
    assert!(!before.contains("PUT"), "{before}");
}
