use serde_json::{Value, json};

use super::locks::{NAME, lock, zh};
use super::origin_scene::{COPIED, OriginScene, arrives, refused, told};
use super::{LINUX, demo};
use crate::support::origin::{Door, Fault, asks, at, lie};

#[test]
fn discovery_follows_redirects_and_relative_urls() {
    let scene = OriginScene::of([demo()]);
    let front = at(Door::Front, asks("discovery"));
    scene.origin.fault(1, front, Fault::RedirectElsewhere);
    arrives(&scene);
    let relative = lie::says("providers.v1", "../v1/providers/");
    let json = Fault::with("content-type", "Application/JSON; charset=utf-8");
    for good in [relative, json] {
        arrives(&told("discovery", good));
    }
}

#[test]
fn bad_discovery_documents_are_refused() {
    const AT: &str = "https://[ORIGIN]/.well-known/terraform.json";
    let service = |url: &str| lie::says("providers.v1", url);
    let renamed = lie::renames("providers.v1", "providers.v2");
    let html = Fault::with("content-type", "text/html");
    #[rustfmt::skip] // A table.
    let cases = [
        (html, 1, &*format!("{AT} text/html application/json")),
        (Fault::without("content-type"), 1, &format!("{AT} none application/json")),
        (lie::padded(2 << 20), 1, &format!("expected 1048576 received more {AT}")),
        (lie::lacks("providers.v1"), 1, "[ORIGIN]"),
        (renamed, 1, "[ORIGIN]"),
        (service("https://a:b@localhost/"), 3, &format!("providers.v1 expected received https://…@localhost/ {AT}")),
        (service("/v1/providers"), 1, "https://[ORIGIN]/v1/acme/demo/versions"),
        (Fault::body("{"), 1, &format!("{AT} 1 1")),
        (Fault::RedirectLoop, 1, &format!("10 {AT}")),
    ];
    for (fault, code, facts) in cases {
        let facts = format!("error [ORIGIN]/acme/demo [ORIGIN] {facts}");
        refused("discovery", fault, code, &facts);
    }
}

/// Lists these entries before the good ones.
fn spoil(scene: &OriginScene, entries: Value) {
    let spoiled = lie::json(move |list| {
        let versions = list["versions"].as_array_mut().unwrap();
        versions.splice(..0, entries.as_array().unwrap().clone());
    });
    scene.origin.always(asks("versions"), spoiled);
}

#[test]
fn bad_entries_of_a_list_of_versions_are_skipped() {
    let leading = json!({ "version": "v2.5.3-alpha1" });
    let dot = json!({ "version": ".374.0", "platforms": null });
    let mode = json!({ "version": "2.0.0", "protocols": ["1; mode=block"] });
    let texts = json!({ "version": "2.0.0", "protocols": "6.0" });
    for (entries, first) in [
        (json!([leading]), "v2.5.3-alpha1"),
        (json!([leading, dot, mode]), "v2.5.3-alpha1"),
        (json!([dot]), ".374.0"),
        (json!([mode]), "2.0.0 1; mode=block 6.0"),
        (json!([texts]), "2.0.0 protocols"),
        (json!([{ "version": 2 }]), r#"{"version":2} version"#),
        (json!([{}, null, "2.0.0"]), "{} version"),
    ] {
        let scene = OriginScene::of([demo()]);
        let count = entries.as_array().unwrap().len();
        spoil(&scene, entries);
        let skipped = format!("Warning [ORIGIN]/acme/demo {count} {first}");
        let said = COPIED.replace("Mirrored", &format!("{skipped} Mirrored"));
        scene.demo("").tells(&said);
        let listed = scene.command_of("versions", "[ORIGIN]/acme/demo --from origin");
        assert_eq!(listed.tells(&skipped).prints(), "1.0.0\n");
    }
}

#[test]
fn a_bad_version_that_is_named_fails() {
    let scene = OriginScene::of([demo().version("2.0.0", &[LINUX])]);
    scene.mirror("[ORIGIN]/acme/demo@2.0.0 -q").says(0, "");
    let hashes = [zh(&scene.origin, "2.0.0", LINUX)];
    lock(&scene, NAME, "[ORIGIN]/acme/demo", "2.0.0", &hashes);
    let bad = lie::says("versions/1/protocols", json!(["1; mode=block"]));
    scene.origin.always(asks("versions"), bad);
    let says = "Warning 2.0.0 error [ORIGIN]/acme/demo [ORIGIN] 2.0.0 1.0.0";
    scene.mirror("[ORIGIN]/acme/demo@2.0.0").says(1, says);
    // The store has what the lock file names.
    let says = "Warning 2.0.0 Warning [ORIGIN]/acme/demo 2.0.0 [ORIGIN] Mirrored 1 [TIME]";
    scene.mirror("--from-lock .").tells(says);
}

#[test]
fn a_bad_entry_does_not_stop_commands_that_stand_in_for_clients() {
    let version = json!({ "version": "v2.0.0" });
    let protocol = json!({ "version": "0.1.0", "protocols": ["1; mode=block"] });
    for entry in [version, json!({}), protocol] {
        let scene = OriginScene::of([demo()]);
        spoil(&scene, json!([entry]));
        for command in ["lock", "install"] {
            let from = "[ORIGIN]/acme/demo --from origin --platform linux_amd64";
            scene.command_of(command, from).ends(0);
        }
    }
}

#[test]
fn a_list_without_a_good_version_is_refused() {
    const AT: &str = "https://[ORIGIN]/v1/providers/acme/demo/versions";
    let says = |path: &str, value| lie::says(&format!("versions{path}"), value);
    #[rustfmt::skip] // A table.
    let cases = [
        (says("/0/version", json!("v1.0.0")), &*format!("{AT} versions v1.0.0")),
        (says("/0/protocols", json!(["x"])), &format!("{AT} versions 1.0.0 x 6.0")),
        (says("", json!({})), &format!("{AT} versions expected")),
        (says("", json!([])), "no version"),
        (Fault::body("<html>"), &format!("{AT} 1 1")),
        (lie::padded(9 << 20), &format!("expected 8388608 received more {AT}")),
    ];
    for (fault, facts) in cases {
        let facts = format!("error [ORIGIN]/acme/demo [ORIGIN] {facts}");
        refused("versions", fault, 1, &facts);
    }
}

#[test]
fn a_version_that_is_listed_twice_is_mirrored_once() {
    arrives(&OriginScene::of([demo().version("1.0.0", &[LINUX])]));
}
