use super::pusher::{NAME, Pusher};
use crate::mirror::origin_scene::OriginScene;
use crate::support::author::Author;
use crate::support::layout_of_registry::import;
use crate::support::origin::Provider;
use crate::support::registry::{Personality, Registry, Seen, Setup};

const PLATFORMS: [&str; 2] = ["darwin_arm64", "linux_amd64"];
const ONE: &str = "--platform linux_amd64";

fn is_write(seen: &Seen) -> bool {
    !["GET", "HEAD"].contains(&seen.method.as_str())
}

/// Runs a command with `--dry-run` and without it. The dry run sends no request that writes and leaves what the registry holds as it
/// was. The run without it writes, so the dry run had something to do.
#[track_caller]
fn writes_only_without_dry_run(registry: &Registry, run: impl Fn(&str)) {
    let before = registry.content();
    registry.forget();
    run("--dry-run");
    let seen = registry.seen();
    assert!(!seen.is_empty());
    let writes: Vec<&Seen> = seen.iter().filter(|seen| is_write(seen)).collect();
    assert!(writes.is_empty(), "{writes:#?}");
    assert!(registry.content() == before);
    run("");
    assert!(registry.count(is_write) > 0);
    assert!(registry.content() != before);
}

#[test]
fn a_dry_run_of_a_push_writes_nothing_to_the_registry() {
    let (registry, pusher) = (Registry::plain(), Pusher::new(&PLATFORMS));
    pusher.release("next", "1.1.0", &PLATFORMS);
    let push = |folder: &str, more: &str, dry: &str| {
        let all = format!("{more} {dry}");
        pusher.push_from(folder, &registry, &all).succeeds();
    };
    // A new version in an empty registry.
    writes_only_without_dry_run(&registry, |dry| push("dist", ONE, dry));
    // A platform that the version lacks.
    writes_only_without_dry_run(&registry, |dry| push("dist", "", dry));
    // A new version beside another one.
    writes_only_without_dry_run(&registry, |dry| push("next", "", dry));
    // A replacement.
    let replace = "--existing replace --annotation a=b";
    writes_only_without_dry_run(&registry, |dry| push("dist", replace, dry));
}

/// Without `--dry-run`, every push offers the evidence again to a registry that refused it.
#[test]
fn a_dry_run_does_not_offer_refused_evidence_again() {
    let registry = Setup::of(Personality::Gitlab).start();
    let pusher = Pusher::new(&PLATFORMS);
    pusher.push(&registry, "").succeeds();
    let before = registry.content();
    for (more, writes) in [("--dry-run", 0), ("", 1)] {
        registry.forget();
        pusher.push(&registry, more).succeeds();
        assert_eq!(registry.count(is_write), writes, "{more:?}");
        assert!(registry.content() == before);
    }
}

#[test]
fn a_dry_run_of_a_mirror_writes_nothing_to_the_registry() {
    let provider = |versions: &[&str]| {
        let provider = Provider::new("acme/demo");
        versions.iter().fold(provider, |provider, version| {
            provider.version(version, &PLATFORMS)
        })
    };
    let scene = OriginScene::of([provider(&["1.0.0", "1.1.0"])]);
    let registry = Registry::plain();
    let host = registry.host();
    let to = format!("--to {host}/{{namespace}}/{{type}} --plain-http {host} -q");
    let mirror = |version: &str, more: &str, dry: &str| {
        let run = scene.run(&format!("[ORIGIN]/acme/demo@{version} {more} {dry} {to}"));
        run.says(0, "");
    };
    // A new version in an empty registry.
    writes_only_without_dry_run(&registry, |dry| mirror("1.0.0", ONE, dry));
    // A platform that the version lacks.
    writes_only_without_dry_run(&registry, |dry| mirror("1.0.0", "", dry));
    // A new version beside another one.
    writes_only_without_dry_run(&registry, |dry| mirror("1.1.0", "", dry));
}

#[test]
fn a_dry_run_of_a_copy_writes_nothing_to_either_registry() {
    let author = Author::with_release();
    author.push(ONE).succeeds();
    let (from, to) = (Registry::plain(), Registry::plain());
    let copy = |dry: &str| {
        let [source, destination] =
            [&from, &to].map(|registry| format!("{}/{{namespace}}/{{type}}", registry.host()));
        let known = format!("copy {NAME} --plain-http 127.0.0.1 -q");
        let stores = format!("--from {source} --to {destination}");
        let before = from.content();
        from.forget();
        let line = format!("{known} {stores} {dry}");
        author.line(line).succeeds();
        assert_eq!(from.count(is_write), 0);
        assert!(from.content() == before);
    };
    // A new version in an empty registry.
    import(&author.repository(""), &from, NAME);
    writes_only_without_dry_run(&to, copy);
    // A platform that the version lacks.
    author.push("").succeeds();
    import(&author.repository(""), &from, NAME);
    writes_only_without_dry_run(&to, copy);
    // A replacement.
    let replace = "--existing replace --annotation a=b";
    author.push(replace).succeeds();
    import(&author.repository(""), &from, NAME);
    writes_only_without_dry_run(&to, |dry| {
        copy(&format!("--existing replace {dry}"));
    });
}
