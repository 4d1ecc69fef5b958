use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::Barrier;

use super::{FROM, NAME, at, between, copy, copy_demo, filled};
use crate::support::author::Author;
use crate::support::judge;
use crate::support::layout_of_registry::{export, import};
use crate::support::registry::{Access, Fault, Personality, Registry, Seen, Setup, matching};
use crate::support::release::ReleaseFolder;

/// Pushes both platforms of `dist` into a store.
const PLATFORMS: [&str; 2] = ["darwin_arm64", "linux_amd64"];
const ROUNDS: usize = 5;

/// `store` has both platforms, and each platform has a store of its own, all with the same evidence.
fn pushed() -> Author {
    let author = Author::pushed();
    for platform in PLATFORMS {
        let (to, one) = (
            format!("oci-layout:{platform}"),
            format!("--platform {platform}"),
        );
        author.push_to(&to, one).succeeds();
    }
    author
}

/// A registry whose list of media types lacks evidence.
fn without_evidence() -> Registry {
    Setup::of(Personality::Gitlab).access(Access::Open).start()
}

#[test]
fn a_registry_that_refuses_evidence_gets_the_version_without_it() {
    let author = pushed();
    let (from, to) = (filled(&author), without_evidence());
    let run = copy_demo(&author, &at(&from), &at(&to), "").succeeds();
    let run = between(run, from.host(), to.host());
    run.says("Warning registry.opentofu.org/acme/demo 1.0.0 [TO] 400 MANIFEST_INVALID application/vnd.tfoci.evidence.v1 unverified Copied 1 2 813");
    assert_eq!(to.tags(NAME).len(), 1);
    assert_eq!(to.platforms(NAME, "1.0.0"), PLATFORMS);
    // The evidence manifest is offered again, without its documents. The version is complete.
    to.forget();
    let json = "--format json";
    let again = copy_demo(&author, &at(&from), &at(&to), json)
        .succeeds()
        .json();
    assert_eq!(again["providers"][0]["status"], "present");
    assert_eq!(to.count(matching("POST", "/uploads/")), 0);
}

/// After one refusal, no other version of the run offers evidence, and the warning appears once.
#[test]
fn a_registry_refuses_evidence_once_in_a_run() {
    let author = pushed();
    let release = ReleaseFolder::new("demo", "2.0.0");
    author.releases(release.platform("linux_amd64"));
    author.push("").succeeds();
    let to = without_evidence();
    let run = copy_demo(&author, FROM, &at(&to), "").succeeds();
    run.says("Warning registry.opentofu.org/acme/demo evidence");
    let offered = |seen: &Seen| seen.method == "PUT" && seen.path.contains("/manifests/evidence");
    assert_eq!(to.count(offered), 1);
    assert_eq!(to.tags(NAME).len(), 2);
}

/// `to` has one platform, although its list of tags is empty for the first requests.
fn appearing(author: &Author, after: usize) -> Registry {
    let to = Registry::plain();
    for nth in 1..=after {
        let empty = Fault::body(r#"{"name":"acme/demo","tags":[]}"#);
        to.fault(nth, matching("GET", "/tags/list"), empty);
    }
    let layout = author.path("darwin_arm64/registry.opentofu.org/acme/demo");
    import(&layout, &to, NAME);
    to
}

/// The report counts blobs that an attempt uploaded before another writer moved the tag, although the next attempt finds them present.
#[test]
fn blobs_uploaded_before_a_conflict_are_counted() {
    let author = pushed();
    let (from, to) = (filled(&author), appearing(&author, 1));
    let json = "--format json";
    let run = copy_demo(&author, &at(&from), &at(&to), json)
        .succeeds()
        .json();
    let provider = &run["providers"][0];
    assert_eq!(provider["status"], "updated");
    assert_eq!(provider["packages"][1]["platform"], "linux_amd64");
    assert_eq!(provider["packages"][1]["status"], "copied");
    assert_eq!(run["bytes"], 406);
    assert_eq!(to.count(matching("GET", "/tags/list")), 2);
    assert_eq!(to.platforms(NAME, "1.0.0"), PLATFORMS);
}

/// The first conflict is retried immediately, each further one after a pause.
#[test]
fn repeated_conflicts_are_retried_with_pauses() {
    let author = pushed();
    let (from, to) = (filled(&author), appearing(&author, 2));
    copy_demo(&author, &at(&from), &at(&to), "").succeeds();
    let seen = to.seen().into_iter();
    let lists = seen.filter(matching("GET", "/tags/list"));
    let lists: Vec<_> = lists.map(|seen| seen.began).collect();
    assert_eq!(lists.len(), 3);
    let pause = lists[2] - lists[1];
    assert!(pause >= Duration::from_millis(250), "{pause:?}");
    assert_eq!(to.platforms(NAME, "1.0.0"), PLATFORMS);
}

/// Copies one platform from each of two stores at the same time.
fn at_once(author: &Author, to: &str) {
    thread::scope(|scope| {
        let copies = PLATFORMS.map(|platform| {
            let from = format!("oci-layout:{platform}");
            scope.spawn(move || match to.starts_with("oci-layout:") {
                true => copy(author, &from, to, ""),
                false => copy_demo(author, &from, to, ""),
            })
        });
        for copy in copies {
            copy.join().unwrap().succeeds();
        }
    });
}

#[test]
fn concurrent_copies_into_one_repository_of_a_registry() {
    let author = pushed();
    let moves_the_tag =
        |seen: &Seen| seen.method == "PUT" && seen.path.ends_with("/manifests/1.0.0");
    for round in 0..ROUNDS {
        let to = Registry::plain();
        // Neither run moves the tag before both have seen that it is free.
        let both = Arc::new(Barrier::new(2));
        for nth in [1, 2] {
            to.fault(nth, moves_the_tag, Fault::Together(Arc::clone(&both)));
        }
        at_once(&author, &at(&to));
        assert_eq!(to.platforms(NAME, "1.0.0"), PLATFORMS, "round {round}");
        assert!(to.count(moves_the_tag) >= 3, "round {round}");
        let directory = author.path(format!("exported-{round}"));
        export(&to, NAME, &directory);
        assert_eq!(judge::installs(&directory).len(), 2);
    }
}

#[test]
fn concurrent_copies_into_one_layout() {
    let author = pushed();
    for round in 0..ROUNDS {
        at_once(&author, &format!("oci-layout:other-{round}"));
        let other = author.path(format!("other-{round}"));
        assert_eq!(judge::installs(&other).len(), 2, "round {round}");
    }
}
