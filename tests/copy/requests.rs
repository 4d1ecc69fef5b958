use super::{NAME, PLAIN, PROVIDER, at, between, blobs, copy_demo, exported, filled};
use crate::support::author::Author;
use crate::support::dice::Dice;
use crate::support::judge;
use crate::support::layout_of_registry::{export, import};
use crate::support::registry::{Fault, Registry, matching};
use crate::support::release::ReleaseFolder;
use crate::support::scene::Run;

/// An author whose release is in `store`, with one package that is larger than one read from the network.
fn pushed() -> Author {
    let noise = Dice::new(1).noise(300 << 10);
    let folder = ReleaseFolder::new("demo", "1.0.0").platform("darwin_arm64");
    let files = [("terraform-provider-demo_v1.0.0", &noise[..])];
    let author = Author::of(folder.package("linux_amd64", &files));
    author.push("").succeeds();
    author
}

fn digest_of(author: &Author, platform: &str) -> String {
    format!("sha256:{}", author.zip_hex(platform))
}

/// The list of tags, and the index of each version; of the first one, whether the registry lists what is attached.
#[test]
fn a_copy_with_nothing_to_do_sends_few_requests() {
    let author = pushed();
    let (from, to) = (filled(&author), filled(&author));
    let run = copy_demo(&author, &at(&from), &at(&to), "").succeeds();
    run.says("Copied 2 [TIME]");
    let sent = |registry: &Registry| {
        let place = |path: &str| path.trim_start_matches("/v2/acme/demo/").to_owned();
        let seen = registry.seen().into_iter();
        let lines = seen.map(|seen| format!("{} {}", seen.method, place(&seen.path)));
        lines.collect::<Vec<_>>()
    };
    let [list, index, referrers] = &sent(&from)[..] else {
        panic!("{:?}", sent(&from));
    };
    assert_eq!([list, index], ["GET tags/list", "GET manifests/1.0.0"]);
    assert!(referrers.starts_with("GET referrers/sha256:"));
    assert_eq!(sent(&to), ["GET tags/list", "HEAD manifests/1.0.0"]);
}

#[test]
fn each_object_is_read_once_and_sent_once() {
    let author = pushed();
    let (from, to) = (filled(&author), Registry::plain());
    copy_demo(&author, &at(&from), &at(&to), "").succeeds();
    // The lists of tags and referrers; index, evidence and two manifests; two zips and three documents.
    assert_eq!(from.count(matching("GET", "/manifests/")), 4);
    assert_eq!(from.count(matching("GET", "/blobs/")), 5);
    assert_eq!(from.seen().len(), 11);
    // As for a push into an empty repository.
    assert_eq!(to.seen().len(), 3 * 2 + 14);
    assert_eq!(to.count(matching("PUT", "/uploads/")), 6);
    assert_eq!(to.count(matching("HEAD", "/blobs/")), 0);
}

#[test]
fn a_cut_download_is_resumed() {
    let author = pushed();
    let (from, to) = (filled(&author), Registry::plain());
    let zip = digest_of(&author, "linux_amd64");
    from.fault(1, matching("GET", &zip), Fault::cut_body(100 << 10));
    copy_demo(&author, &at(&from), &at(&to), "").succeeds();
    let again = |seen: &crate::support::registry::Seen| {
        seen.path.contains(&zip) && seen.header("range").is_some()
    };
    assert_eq!(from.count(again), 1);
    assert_eq!(to.count(matching("PUT", "/uploads/")), 6);
    assert_eq!(exported(&author, &to, NAME), blobs(&author.repository("")));
}

/// An upload of wrong bytes is never completed, and the error names the source.
#[test]
fn wrong_bytes_are_not_copied() {
    let author = pushed();
    let (from, to) = (filled(&author), Registry::plain());
    let zip = digest_of(&author, "linux_amd64");
    from.always(matching("GET", &zip), Fault::wrong_bytes());
    let run = copy_demo(&author, &at(&from), &at(&to), "").exits(3);
    let run = between(run, from.host(), to.host()).without_result();
    run.says(&format!("error {PROVIDER} 1.0.0 linux_amd64 [FROM]/{NAME} {zip} expected {zip} received sha256:5400a6c7402d5989448bfff94f251a1283c3427fba5cec411abfa0e582e797ba"
    ));
    assert_eq!(to.tags(NAME), []);
    assert_eq!(from.count(matching("GET", &zip)), 1);
    let held = to.repository(NAME, |held| held.blobs.contains_key(&zip));
    assert!(!held);
}

#[test]
fn a_missing_package_is_reported_as_the_sources_failure() {
    let author = pushed();
    let (from, to) = (filled(&author), Registry::plain());
    let zip = digest_of(&author, "linux_amd64");
    from.repository(NAME, |held| held.blobs.remove(&zip));
    let run = copy_demo(&author, &at(&from), &at(&to), "").exits(1);
    let run = between(run, from.host(), to.host()).without_result();
    let says = format!("error {PROVIDER} 1.0.0 linux_amd64 [FROM]/{NAME} {zip}");
    run.says(&says);
    assert_eq!(to.tags(NAME), []);
}

/// A missing document of the index is detected before the first write.
#[test]
fn a_missing_manifest_stops_the_copy_before_the_first_write() {
    let author = pushed();
    let (from, to) = (filled(&author), Registry::plain());
    let index: serde_json::Value = author.document("1.0.0");
    let entry = index["manifests"][1]["digest"].as_str().unwrap().to_owned();
    from.repository(NAME, |held| held.manifests.remove(&entry));
    let run = copy_demo(&author, &at(&from), &at(&to), "").exits(1);
    between(run, from.host(), to.host())
        .says(&format!("error {PROVIDER} 1.0.0 [FROM]/{NAME} {entry}"));
    assert_eq!(to.count(|seen| seen.method != "GET"), 0);
}

/// If a copy fails at any request, the version is absent or whole, and the next run finishes it without sending a blob again.
#[test]
fn the_next_run_finishes_an_interrupted_copy() {
    let author = pushed();
    let from = filled(&author);
    let whole = blobs(&author.repository(""));
    for nth in 1.. {
        let to = Registry::plain();
        to.fault(nth, |_| true, Fault::denied());
        let first = copy_demo(&author, &at(&from), &at(&to), "");
        let is_done = to.count(|seen| seen.status == Some(403)) == 0;
        if is_done {
            assert!(nth > 15, "{nth}");
            return;
        }
        if to.tags(NAME).iter().any(|(tag, _)| tag == "1.0.0") {
            assert_eq!(exported(&author, &to, NAME), whole, "{nth}");
        } else {
            assert_eq!(first.status, Some(1), "{nth}: {}", first.stderr);
        }
        let arrived = to.repository(NAME, |held| held.blobs.len());
        let last = to.seen().iter().map(|seen| seen.connection).max();
        copy_demo(&author, &at(&from), &at(&to), "").succeeds();
        assert_eq!(exported(&author, &to, NAME), whole, "{nth}");
        assert_eq!(from.tags(NAME), to.tags(NAME), "{nth}");
        // An upload that was unfinished when the first run ended may have completed since.
        let is_upload = matching("PUT", "/uploads/");
        let sent = to.count(|seen| Some(seen.connection) > last && is_upload(seen));
        assert!(sent <= 6 - arrived, "{nth}: {sent} sent, {arrived} there");
    }
}

/// Another writer pushes the version after the tags were listed.
#[test]
fn a_version_pushed_during_the_copy_is_merged_into() {
    let author = pushed();
    let (from, to) = (filled(&author), Registry::plain());
    let folder = ReleaseFolder::new("demo", "1.0.0");
    let rival = Author::of(folder.each(&["darwin_arm64", "windows_amd64"]));
    rival.push("--platform darwin_arm64").succeeds();
    let listed = matching("GET", "/tags/list");
    to.fault(1, listed, Fault::body(r#"{"name":"acme/demo","tags":[]}"#));
    import(&rival.repository(""), &to, NAME);
    copy_demo(&author, &at(&from), &at(&to), "").succeeds();
    let directory = author.path("merged");
    export(&to, NAME, &directory);
    assert_eq!(judge::installs(&directory).len(), 2);
    let from = directory.display();
    let named = "acme/demo --exact-repository --platform all --into mirror --from oci-layout:";
    author.line(format!("install {named}{from}")).succeeds();
}

/// A registry keeps the bytes of a digest, so only what is missing can be uploaded again.
#[test]
fn a_replacement_restores_what_a_registry_lost_and_reports_what_it_damaged() {
    let author = pushed();
    let sums = author.path("dist/terraform-provider-demo_1.0.0_SHA256SUMS");
    let sums = format!("sha256:{}", judge::sha256(&sums));
    restores_and_reports(&author, &digest_of(&author, "linux_amd64"), "package");
    let to = restores_and_reports(&author, &sums, "evidence");
    let from = at(&to);
    let inspect = format!("inspect {PROVIDER} {PLAIN} --from {from}");
    let run = author.line(inspect).exits(3);
    run.says(&format!("error {PROVIDER} 1.0.0 {sums}"));
}

/// docker-registry accepts a manifest that it has, and keeps its bytes.
#[test]
fn a_replacement_reports_a_damaged_manifest_of_a_registry() {
    let author = pushed();
    let evidence = author.tagged("evidence-1.0.0").unwrap();
    let index = author.tagged("1.0.0").unwrap();
    let manifest = author.document("1.0.0")["manifests"][0]["digest"].clone();
    let manifest = manifest.as_str().unwrap().replace("sha256:", "");
    for (digest, tag) in [
        (evidence, "evidence-1.0.0"),
        (index, "1.0.0"),
        (manifest, "no tag"),
    ] {
        let (from, to) = (filled(&author), filled(&author));
        for path in [&digest, &format!("manifests/{tag}")] {
            to.always(matching("GET", path), Fault::wrong_bytes());
        }
        let run = copy_demo(&author, &at(&from), &at(&to), "--existing replace");
        run.exits(3).without_result();
        let more = format!("{PLAIN} --existing replace");
        let run = author.push_to(&at(&to), more).exits(3).without_result();
        run.tells(format!("sha256:{digest} "));
    }
}

#[track_caller]
fn restores_and_reports(author: &Author, blob: &str, what: &str) -> Registry {
    let (source, to) = (filled(author), filled(author));
    let replace = "--existing replace";
    let copies = |more: &str| copy_demo(author, &at(&source), &at(&to), more);
    let pushes = || author.push_to(&at(&to), format!("{PLAIN} {replace}"));
    let both: [&dyn Fn() -> Run; 2] = [&|| copies(replace), &pushes];
    for restores in both {
        to.repository(NAME, |held| held.blobs.remove(blob));
        restores().succeeds();
        assert!(to.repository(NAME, |held| held.blobs.contains_key(blob)));
    }
    to.always(matching("GET", blob), Fault::wrong_bytes());
    copies("").succeeds();
    // Neither is what it uploads taken for granted.
    to.repository(NAME, |held| held.blobs.remove(blob));
    copies(replace).exits(3);
    for reports in both {
        let run = between(reports(), source.host(), to.host()).exits(3);
        let facts = format!("{what} {blob} expected {blob} received");
        let says = format!("error {PROVIDER} 1.0.0 [TO]/{NAME} {facts}");
        run.without_result().says(&says);
    }
    to
}
