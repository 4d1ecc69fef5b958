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
const MIRRORED: &str = "example.com/acme/demo";

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
    let same = repeated(r#"{"version":"1.0.0"}"#, LARGE);
    let many = numbered(1_500, |n| release(n, 180));
    for (versions, facts) in [
        (same, "versions 20000"),
        (repeated("{}", 9), "versions version"),
        (release(0, 300_000), "versions 1 platforms 200"),
        (many, "versions 556 100000"),
    ] {
        refused(format!(r#"{{"versions":[{versions}]}}"#), facts);
    }
    let members = format!("{{{}}}", repeated(r#""a":0"#, LARGE));
    refused(members, "1000 members");
    let warnings = repeated(r#""x""#, LARGE);
    let warnings = format!(r#"{{"versions":[],"warnings":[{warnings}]}}"#);
    refused(warnings, "warnings 100");
}

#[test]
fn oversized_package_metadata_is_refused() {
    let metadata = r#""os":"linux","arch":"amd64","filename":"x","download_url":"x","shasum":"x""#;
    let keys = repeated("{}", 450_000);
    let packages = numbered(201, |n| format!(r#""o{n}_a":{{}}"#));
    let long = "x".repeat(LARGE);
    let keys = format!(r#""signing_keys":{{"gpg_public_keys":[{keys}]}}"#);
    let packages = format!(r#""packages":{{{packages}}}"#);
    for (more, facts) in [
        (keys, "signing_keys gpg_public_keys 256"),
        (packages, "packages 200"),
        (format!(r#""x":"{long}""#), "expected 524288"),
    ] {
        refused("download", format!("{{{metadata},{more}}}"), ADDRESS, facts);
    }
}

/// The stated size of a package is untrusted, and must not fill the disk.
#[test]
fn a_package_of_impossible_size_is_not_downloaded() {
    const HUGE: u64 = 9 << 30;
    let is_said = lie::says("packages/linux_amd64/package_size", HUGE);
    for (metadata, asked) in [(is_said, 0), (lie::lacks("packages"), 1)] {
        let scene = OriginScene::of([demo()]);
        scene.origin.always(asks("download"), metadata);
        let announced = Fault::alter(|answer| {
            answer.set("content-range", &format!("bytes 0-0/{HUGE}"));
            answer.set("content-length", &HUGE.to_string());
            answer.end = End::Stall(100);
        });
        scene.origin.always(asks("package"), announced);
        let run = mirror(&scene, ADDRESS).exits(1);
        run.says("error expected 8589934591 received more");
        assert!(scene.installs().is_empty());
        assert_eq!(scene.origin.count(asks("package")), asked);
    }
}

#[test]
fn oversized_documents_of_network_mirrors_are_refused() {
    let from = format!("{MIRRORED} --from network-mirror:[MIRROR] --allow-unsigned {MIRRORED}");
    let versions = numbered(500_000, |n| format!(r#""1.0.{n}":{{}}"#));
    let versions = format!(r#"{{"versions":{{{versions}}}}}"#);
    refused("mirror-index", versions, &from, "versions 20000");
    let hashes = repeated(r#""zh:0""#, LARGE - 100);
    let many = numbered(200_000, |n| format!(r#""o{n}_a":{{"url":"x"}}"#));
    let hashes = format!(r#""linux_amd64":{{"url":"x","hashes":[{hashes}]}}"#);
    for (members, facts) in [
        (many, "archives 200"),
        (hashes, "archives linux_amd64 hashes 100"),
    ] {
        let archives = format!(r#"{{"archives":{{{members}}}}}"#);
        refused("mirror-version", archives, &from, facts);
    }
}

/// The origin does not list its platforms, so tfoci would request every platform in the checksum document.
#[test]
fn oversized_checksum_documents_are_refused() {
    let hex = "0".repeat(64);
    let zip = |n: usize| format!("{hex}  terraform-provider-demo_1.0.0_o{n}_a.zip\n");
    let zips: String = (0..201).map(zip).collect();
    let short: String = (0..450_000).map(|n| format!("a {n:x}\n")).collect();
    for (document, most) in [(zips, "200"), ("a b\n".repeat(2) + &short, "")] {
        let scene = OriginScene::of([demo()]);
        let unlisted = lie::lacks("versions/0/platforms");
        scene.origin.always(asks("versions"), unlisted);
        let unsaid = lie::lacks("packages");
        scene.origin.always(asks("download"), unsaid);
        scene.origin.always(asks("document"), Fault::body(document));
        let run = mirror(&scene, ADDRESS);
        assert!(matches!(run.status, Some(1 | 3)) && scene.origin.count(|_| true) < 12);
        run.says(&format!("error {most}"));
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
    mirror(&scene, ADDRESS).succeeds();
    assert_eq!(scene.installs().len(), 41);
}
