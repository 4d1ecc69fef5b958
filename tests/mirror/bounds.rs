//! Origins and mirrors with lists without end. Limits keep memory and requests small.

use super::origin_scene::OriginScene;
use super::{LINUX, demo};
use crate::bounds::bounded;
use crate::support::origin::{Fault, Provider, asks, lie};
use crate::support::scene::Run;
use crate::support::server::answer::End;

/// A little below the size limit of a JSON document.
const LARGE: usize = 8_000_000;
const ADDRESS: &str = "[ORIGIN]/acme/demo";

fn mirror(scene: &OriginScene, more: &str) -> Run {
    let line = format!("mirror --ca-file ca.pem --to oci-layout:store {more}");
    bounded(&scene.scene, scene.named(&line).split_whitespace())
}

/// Mirrors from an origin that gives this answer to every request of a kind.
#[track_caller]
fn refused(sort: &'static str, body: String, more: &str, facts: &str) {
    let scene = OriginScene::of([demo()]);
    scene.origin.always(asks(sort), Fault::body(body));
    let url = scene.origin.mirror_url();
    let run = mirror(&scene, &more.replace("[MIRROR]", &url)).exits(1);
    run.says(&format!("error {facts}"));
    assert!(scene.installs().is_empty());
    assert!(scene.origin.count(|_| true) < 12);
}

fn repeated(item: &str, size: usize) -> String {
    vec![item; size / (item.len() + 1)].join(",")
}

fn numbered(count: usize, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(",")
}

#[test]
fn oversized_lists_of_versions_are_refused() {
    let refused = |body: String, facts: &str| refused("versions", body, ADDRESS, facts);
    let platforms = |count: usize| numbered(count, |n| format!(r#"{{"os":"o{n}","arch":"a"}}"#));
    let release = |n: usize, count: usize| {
        let platforms = platforms(count);
        format!(r#"{{"version":"1.0.{n}","platforms":[{platforms}]}}"#)
    };
    for (versions, facts) in [
        (
            repeated(r#"{"version":"1.0.0"}"#, LARGE),
            "expected 20000 versions",
        ),
        (repeated("{}", 9), "versions version"),
        (release(0, 300_000), "expected 200 platforms 1 versions"),
        (
            numbered(1_500, |n| release(n, 180)),
            "expected 100000 556 versions",
        ),
    ] {
        refused(format!(r#"{{"versions":[{versions}]}}"#), facts);
    }
    let members = format!("{{{}}}", repeated(r#""a":0"#, LARGE));
    refused(members, "expected 1000 members");
    let warnings = repeated(r#""x""#, LARGE);
    let warnings = format!(r#"{{"versions":[],"warnings":[{warnings}]}}"#);
    refused(warnings, "expected 100 warnings");
}

#[test]
fn oversized_package_metadata_is_refused() {
    let metadata = r#""os":"linux","arch":"amd64","filename":"x","download_url":"x","shasum":"x""#;
    let keys = repeated("{}", 450_000);
    let packages = numbered(201, |n| format!(r#""o{n}_a":{{}}"#));
    let long = "x".repeat(LARGE);
    for (more, facts) in [
        (
            format!(r#""signing_keys":{{"gpg_public_keys":[{keys}]}}"#),
            "expected 256 gpg_public_keys signing_keys",
        ),
        (
            format!(r#""packages":{{{packages}}}"#),
            "expected 200 packages",
        ),
        (format!(r#""x":"{long}""#), "expected 524288"),
    ] {
        refused("download", format!("{{{metadata},{more}}}"), ADDRESS, facts);
    }
}

/// The stated size of a package is untrusted, and must not fill the disk.
#[test]
fn a_package_of_impossible_size_is_not_downloaded() {
    const HUGE: u64 = 9 << 30;
    for is_in_metadata in [false, true] {
        let scene = OriginScene::of([demo()]);
        let metadata = match is_in_metadata {
            true => lie::says("packages/linux_amd64/package_size", HUGE),
            false => lie::says("packages", serde_json::Value::Null),
        };
        scene.origin.always(asks("download"), metadata);
        let announced = Fault::alter(|answer| {
            answer.set("content-range", &format!("bytes 0-0/{HUGE}"));
            answer.set("content-length", &HUGE.to_string());
            answer.end = End::Stall(100);
        });
        scene.origin.always(asks("package"), announced);
        let run = mirror(&scene, "[ORIGIN]/acme/demo").exits(1);
        run.says("error expected 8589934592 received more");
        assert!(scene.installs().is_empty());
        let requests = scene.origin.count(asks("package"));
        assert_eq!(requests, usize::from(!is_in_metadata));
    }
}

#[test]
fn oversized_documents_of_network_mirrors_are_refused() {
    let from =
        "example.com/acme/demo --from network-mirror:[MIRROR] --allow-unsigned example.com/acme/*";
    let versions = numbered(500_000, |n| format!(r#""1.0.{n}":{{}}"#));
    let versions = format!(r#"{{"versions":{{{versions}}}}}"#);
    refused("mirror-index", versions, from, "expected 20000 versions");
    let hashes = repeated(r#""zh:0""#, LARGE - 100);
    for (members, facts) in [
        (
            numbered(200_000, |n| format!(r#""o{n}_a":{{"url":"x"}}"#)),
            "expected 200 archives",
        ),
        (
            format!(r#""linux_amd64":{{"url":"x","hashes":[{hashes}]}}"#),
            "expected 100 hashes linux_amd64 archives",
        ),
    ] {
        let archives = format!(r#"{{"archives":{{{members}}}}}"#);
        refused("mirror-version", archives, from, facts);
    }
}

/// The origin does not list its platforms, so tfoci would request every platform in the checksum document.
#[test]
fn oversized_checksum_documents_are_refused() {
    let hex = "0".repeat(64);
    let lines =
        |count: usize, line: &dyn Fn(usize) -> String| -> String { (0..count).map(line).collect() };
    let zip = |n: usize| format!("{hex}  terraform-provider-demo_1.0.0_o{n}_a.zip\n");
    let short = |n: usize| format!("a {n:x}\n");
    for (document, most) in [
        (lines(201, &zip), "200"),
        ("a b\n".repeat(2) + &lines(450_000, &short), "10000"),
    ] {
        let scene = OriginScene::of([demo()]);
        scene
            .origin
            .always(asks("versions"), lie::lacks("versions/0/platforms"));
        scene
            .origin
            .always(asks("download"), lie::lacks("packages"));
        scene.origin.always(asks("document"), Fault::body(document));
        let run = mirror(&scene, "[ORIGIN]/acme/demo");
        assert!(matches!(run.status, Some(1 | 3)) && scene.origin.count(|_| true) < 12);
        run.says(&format!("error expected {most}"));
    }
}

/// Every answer of a version repeats its keys.
#[test]
fn repeated_keys_are_kept_in_memory_once() {
    let others = (0..40).map(|n| format!("os{n}_amd64"));
    let platforms: Vec<String> = others.chain([LINUX.to_owned()]).collect();
    let platforms: Vec<&str> = platforms.iter().map(String::as_str).collect();
    let scene = OriginScene::of([Provider::new("acme/demo").version("1.0.0", &platforms)]);
    let padding = "x".repeat(450_000);
    let padded = lie::json(move |document| {
        let keys = document["signing_keys"]["gpg_public_keys"].as_array_mut();
        let key = serde_json::json!({"key_id": "", "ascii_armor": padding});
        keys.unwrap().push(key);
    });
    scene.origin.always(asks("download"), padded);
    mirror(&scene, "[ORIGIN]/acme/demo").succeeds();
    assert_eq!(scene.installs().len(), 41);
}
