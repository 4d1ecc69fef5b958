//! Untrusted lists are counted before they are collected: memory stays below 32 MiB, and requests stay few.
//!
//! The system enforces this limit on each run. All private writable memory counts, stacks included, so a run that needs more
//! fails.

use std::fs;

use serde_json::json;

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
    let output = scene
        .command("sh")
        // With many processors, the stacks alone would exceed the limit: each thread reserves 2 MiB and uses little of it.
        .env("TOKIO_WORKER_THREADS", "2")
        .env("RUST_MIN_STACK", "524288")
        .args(limited.into_iter().chain(arguments))
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    steady(Run {
        status: output.status.code(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
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

const FROM: [&str; 3] = ["--exact-repository", "--from", "oci-layout:layout"];

fn inspect(scene: &Scene) -> Run {
    bounded(
        scene,
        ["inspect", "acme/demo@1.0.0"].into_iter().chain(FROM),
    )
}

#[test]
fn oversized_indexes_are_refused() {
    let scene = Scene::new();
    let entry = |os: usize| {
        format!(
            r#"{{"mediaType":"{MANIFEST}","artifactType":"application/vnd.opentofu.provider-target","digest":"DIGEST","size":SIZE,"platform":{{"os":"os{os}","architecture":"x"}}}}"#
        )
    };
    for (entries, more, limit, place) in [
        (
            repeated("{}", LARGE),
            String::new(),
            "1000 items",
            "manifests of the index",
        ),
        (
            repeated(&format!(r#"{{"mediaType":"{MANIFEST}"}}"#), LARGE),
            String::new(),
            "1000 items",
            "manifests of the index",
        ),
        (
            String::new(),
            format!(",{}", repeated(r#""a":0"#, LARGE)),
            "1000 members",
            "the index",
        ),
        (
            String::new(),
            format!(
                r#","annotations":{{{}}}"#,
                numbered(LARGE / 10, |n| format!(r#""{n:x}":"""#))
            ),
            "1000 members",
            "annotations of the index",
        ),
        (
            numbered(201, entry),
            String::new(),
            "200 platforms",
            "the index",
        ),
    ] {
        layout(&scene, &entries, &more);
        let (counted, what) = (limit, limit.split(' ').nth(1).unwrap());
        inspect(&scene).exits(1).without_result().says(&format!(
            "error registry.opentofu.org/acme/demo 1.0.0 {what} expected {counted} {place} received"
        ));
    }
    // Entries that clients ignore do not count as platforms: twice as many as the limit are accepted.
    layout(
        &scene,
        &format!("{},{}", entry_here(), repeated("{}", 1200)),
        "",
    );
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
    let versions = || bounded(&scene, ["versions", "acme/demo"].into_iter().chain(FROM));
    let write = |entries: String| {
        scene.write("layout/oci-layout", &Parts::good().marker);
        scene.write(
            "layout/index.json",
            format!(r#"{{"schemaVersion":2,"manifests":[{entries}]}}"#),
        );
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
    write(repeated(
        &format!(r#"{{"annotations":{{"org.opencontainers.image.ref.name":"{long}"}}}}"#),
        7_500_000,
    ));
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
            answer.set(
                "link",
                &format!("</v2/acme/demo/tags/list?last={number}>; rel=\"next\""),
            );
        }
    });
    registry.always(matching("GET", "/tags/list"), fault);
    let from = format!("{}/{{namespace}}/{{type}}", registry.host());
    (registry, from)
}

fn versions(from: &str) -> Run {
    let arguments = [
        "versions",
        "acme/demo",
        "--plain-http",
        "127.0.0.1",
        "--from",
        from,
    ];
    bounded(&Scene::new(), arguments)
}

#[test]
fn registries_with_too_many_tags_are_refused() {
    let page = |tags: String| {
        json!({"name": "acme/demo"})
            .to_string()
            .replace('}', &format!(r#","tags":[{tags}]}}"#))
    };
    // Too many in one page, too many in all, and too long in all.
    for (list, more, most_requests) in [
        (repeated(r#""""#, 4_000_000), false, 1),
        (repeated(r#""x""#, 4_000), true, 30),
        (
            repeated(&format!(r#""{}""#, "x".repeat(100_000)), 4_000_000),
            true,
            4,
        ),
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
