//! Untrusted lists are counted before they are collected: memory stays below 32 MiB, and requests stay few.
//!
//! The system enforces this limit on each run. All private writable memory counts, stacks included, so a run that needs more
//! fails.

use std::fs;

use crate::support::author::steady;
use crate::support::layout::Parts;
use crate::support::registry::{Fault, Registry, answer::Answer, matching};
use crate::support::scene::{Run, Scene};

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
/// As large as an index can be.
const LARGE: usize = 4_400_000;

/// Runs tfoci with 32 MiB.
pub fn bounded<'a>(scene: &Scene, arguments: impl IntoIterator<Item = &'a str>) -> Run {
    let program = env!("CARGO_BIN_EXE_tfoci");
    let limited = ["-c", "ulimit -d 32768; exec \"$0\" \"$@\"", program];
    let mut command = scene.command("sh");
    // With many processors, the stacks alone would exceed the limit: each thread reserves 2 MiB and uses little of it.
    command.env("TOKIO_WORKER_THREADS", "2");
    command.env("RUST_MIN_STACK", "524288");
    command.args(limited.into_iter().chain(arguments));
    let output = command.output().unwrap();
    steady(Run {
        status: output.status.code(),
        stdout: scene.filter(output.stdout),
        stderr: scene.filter(output.stderr),
    })
}

fn repeated(item: &str, size: usize) -> String {
    vec![item; size / (item.len() + 1)].join(",")
}

fn numbered(count: usize, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(",")
}

/// A layout whose index lists this, and has these members behind the list.
fn layout(scene: &Scene, entries: &str, more: &str) {
    let provider = "application/vnd.opentofu.provider";
    let index = format!(
        r#"{{"schemaVersion":2,"mediaType":"{INDEX}","artifactType":"{provider}","manifests":[{entries}]{more}}}"#
    );
    let _none = fs::remove_dir_all(scene.path("layout"));
    Parts {
        index,
        ..Parts::good()
    }
    .write(&scene.path("layout"));
}

const FROM: &str = "--exact-repository --from oci-layout:layout";

fn inspect(scene: &Scene) -> Run {
    bounded(scene, format!("inspect acme/demo@1.0.0 {FROM}").split(' '))
}

#[test]
fn oversized_indexes_are_refused() {
    let scene = Scene::new();
    let entry = |os: usize| {
        format!(
            r#"{{"mediaType":"{MANIFEST}","artifactType":"application/vnd.opentofu.provider-target","digest":"DIGEST","size":SIZE,"platform":{{"os":"os{os}","architecture":"x"}}}}"#
        )
    };
    let typed = repeated(&format!(r#"{{"mediaType":"{MANIFEST}"}}"#), LARGE);
    let members = repeated(r#""a":0"#, LARGE);
    let notes = numbered(LARGE / 10, |n| format!(r#""{n:x}":"""#));
    let notes = format!(r#""annotations":{{{notes}}}"#);
    for (entries, more, limit, place) in [
        (repeated("{}", LARGE), "", "1000 items", "manifests"),
        (typed, "", "1000 items", "manifests"),
        (String::new(), &*members, "1000 members", ""),
        (String::new(), &notes, "1000 members", "annotations"),
        (numbered(201, entry), "", "200 platforms", ""),
    ] {
        let more = format!("{}{more}", if more.is_empty() { "" } else { "," });
        layout(&scene, &entries, &more);
        inspect(&scene).exits(1).without_result().says(&format!(
            "error registry.opentofu.org/acme/demo 1.0.0 index {place} {limit}"
        ));
    }
    // Entries that clients ignore do not count as platforms: twice as many as the limit are accepted.
    let ignored = format!("{},{}", entry_here(), repeated("{}", 1200));
    layout(&scene, &ignored, "");
    inspect(&scene).succeeds();
    layout(&scene, &numbered(200, entry), "");
    inspect(&scene).succeeds();
}

fn entry_here() -> String {
    let parts = Parts::good();
    let (_, list) = parts.index.split_once("\"manifests\":[").unwrap();
    list.strip_suffix("]}").unwrap().to_owned()
}

/// Entries within the limits are kept as text of the document. Only those that are needed are parsed.
#[test]
fn entries_of_any_content_take_little_memory() {
    let scene = Scene::new();
    let thousand = |members: String| repeated(&format!("{{{members}}}"), LARGE);
    for entries in [
        format!(r#"{{"data":"{}"}}"#, "AAAA".repeat(LARGE / 4)),
        format!(r#"{{"data":[{}]}}"#, repeated("1", LARGE)),
        format!(r#"{{"urls":[{}]}}"#, repeated("null", LARGE)),
        format!(r#"{{"digest":"{}"}}"#, "x".repeat(LARGE)),
        format!(r#"{{"{}":0}}"#, "x".repeat(LARGE)),
        thousand(format!(
            r#""annotations":{{{}}}"#,
            numbered(700, |n| format!(r#""{n:x}":"""#))
        )),
        thousand(numbered(700, |n| format!(r#""a{n}":0"#))),
    ] {
        layout(&scene, &format!("{},{entries}", entry_here()), "");
        inspect(&scene).succeeds();
    }
}

#[test]
fn layouts_with_too_many_tags_are_refused() {
    let scene = Scene::new();
    let versions = || bounded(&scene, format!("versions acme/demo {FROM}").split(' '));
    let write = |entries: String| {
        scene.write("layout/oci-layout", &Parts::good().marker);
        let index = format!(r#"{{"schemaVersion":2,"manifests":[{entries}]}}"#);
        scene.write("layout/index.json", index);
    };
    let entry = |patch: usize| {
        format!(
            r#"{{"mediaType":"{INDEX}","digest":"sha256:{patch:064}","size":1,"annotations":{{"org.opencontainers.image.ref.name":"1.0.{patch}"}}}}"#
        )
    };
    write(numbered(20_000, entry));
    assert_eq!(versions().succeeds().stdout.lines().count(), 20_000);
    let too_many = "error registry.opentofu.org/acme/demo layout/index.json manifests 20000";
    write(numbered(20_001, entry));
    versions().exits(1).without_result().says(too_many);
    write(repeated("{}", 8_000_000));
    versions().exits(1).without_result().says(too_many);
    // These names are longer than any tag may be.
    let long = "x".repeat(340);
    let long = format!(r#"{{"annotations":{{"org.opencontainers.image.ref.name":"{long}"}}}}"#);
    write(repeated(&long, 7_500_000));
    versions().succeeds();
}

/// A registry that answers every request for tags with something else.
fn tags(page: impl Fn(usize) -> String + Send + Sync + 'static, more: bool) -> (Registry, String) {
    let registry = Registry::plain();
    let count = std::sync::atomic::AtomicUsize::new(0);
    let fault = Fault::alter(move |answer: &mut Answer| {
        let number = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        *answer = Answer::new(200).header("content-type", "application/json");
        answer.body = page(number).into();
        if more {
            let next = format!("</v2/acme/demo/tags/list?last={number}>; rel=\"next\"");
            answer.set("link", &next);
        }
    });
    registry.always(matching("GET", "/tags/list"), fault);
    let from = format!("{}/{{namespace}}/{{type}}", registry.host());
    (registry, from)
}

fn versions(from: &str) -> Run {
    let line = format!("versions acme/demo --plain-http 127.0.0.1 --from {from}");
    bounded(&Scene::new(), line.split(' '))
}

#[test]
fn registries_with_too_many_tags_are_refused() {
    let page = |tags: String| format!(r#"{{"name":"acme/demo","tags":[{tags}]}}"#);
    let long = format!(r#""{}""#, "x".repeat(100_000));
    // Too many in one page, too many in all, and too long in all.
    for (list, more, most_requests) in [
        (repeated(r#""""#, 4_000_000), false, 1),
        (repeated(r#""x""#, 4_000), true, 30),
        (repeated(&long, 4_000_000), true, 4),
    ] {
        let (registry, from) = tags(move |_| page(list.clone()), more);
        let run = versions(&from).exits(1).without_result();
        run.says("error registry.opentofu.org/acme/demo expected 20000 received more");
        assert!(registry.count(matching("GET", "/tags/list")) <= most_requests);
    }
    // An endless list of pages is refused like a circle.
    let (registry, from) = tags(move |number| page(format!(r#""1.0.{number}""#)), true);
    let run = versions(&from).exits(1).without_result();
    run.says("error registry.opentofu.org/acme/demo");
    assert_eq!(registry.count(matching("GET", "/tags/list")), 1_000);
}
