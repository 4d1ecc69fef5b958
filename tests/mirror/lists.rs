use serde_json::{Value, json};

use super::locks::{NAME, lock, zh};
use super::origin_scene::{OriginScene, arrives, refused, told};
use super::{LINUX, demo};
use crate::support::origin::{Door, Fault, asks, at, lie};

#[test]
fn discovery_follows_redirects_and_relative_urls() {
    let scene = OriginScene::of([demo()]);
    scene.origin.fault(
        1,
        at(Door::Front, asks("discovery")),
        Fault::RedirectElsewhere,
    );
    arrives(&scene);
    arrives(&told(
        "discovery",
        lie::says("providers.v1", "../v1/providers/"),
    ));
    arrives(&told(
        "discovery",
        Fault::with("content-type", "Application/JSON; charset=utf-8"),
    ));
    refused(
        "discovery",
        Fault::with("content-type", "text/html"),
        1,
        "
error: [ORIGIN]/acme/demo ([ORIGIN]): the service discovery document is not JSON
  expected the content type application/json
  received text/html
  from https://[ORIGIN]/.well-known/terraform.json

hint: a page in place of JSON often means that something between here and the server wants a login
",
    );
    refused(
        "discovery",
        Fault::without("content-type"),
        1,
        "
error: [ORIGIN]/acme/demo ([ORIGIN]): the service discovery document is not JSON
  expected the content type application/json
  received none
  from https://[ORIGIN]/.well-known/terraform.json

hint: a page in place of JSON often means that something between here and the server wants a login
",
    );
    refused(
        "discovery",
        lie::padded(2 << 20),
        1,
        "
error: [ORIGIN]/acme/demo ([ORIGIN]): the answer is too large
  expected at most 1048576 bytes
  received more
  from https://[ORIGIN]/.well-known/terraform.json
",
    );
    refused(
        "discovery",
        lie::lacks("providers.v1"),
        1,
        "
error: [ORIGIN]/acme/demo ([ORIGIN]): [ORIGIN] does not offer a provider registry

hint: if the provider registry is on another host, a `host` block in the CLI configuration names it. If [ORIGIN]/acme/demo has no origin, `tfoci copy` copies it from a store
",
    );
    refused(
        "discovery",
        lie::renames("providers.v1", "providers.v2"),
        1,
        "
error: [ORIGIN]/acme/demo ([ORIGIN]): [ORIGIN] does not offer a provider registry
  expected providers.v1
  received providers.v2

hint: if the provider registry is on another host, a `host` block in the CLI configuration names it
",
    );
    refused(
        "discovery",
        lie::says("providers.v1", "https://a:b@localhost/"),
        3,
        r#"
error: [ORIGIN]/acme/demo ([ORIGIN]): the service discovery document has another providers.v1 than expected
  expected a URL without a user's name
  received https://…@localhost/
  from https://[ORIGIN]/.well-known/terraform.json
"#,
    );
    refused("discovery", lie::says("providers.v1", "/v1/providers"), 1, "
error: [ORIGIN]/acme/demo ([ORIGIN]): the origin has no such provider
  from https://[ORIGIN]/v1/acme/demo/versions
  answered 404

hint: the full address counts: the same name on another host is another provider. A private one may need a token
");
    refused(
        "discovery",
        Fault::body("{"),
        1,
        "
error: [ORIGIN]/acme/demo ([ORIGIN]): the service discovery document cannot be understood
  from https://[ORIGIN]/.well-known/terraform.json
  line 1, column 1: the document ends too early
",
    );
    refused(
        "discovery",
        Fault::RedirectLoop,
        1,
        "
error: [ORIGIN]/acme/demo ([ORIGIN]): the server redirects more than 10 times
  last to https://[ORIGIN]/.well-known/terraform.json
",
    );
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
    let begins = "`v2.5.3-alpha1`: it begins with `v`";
    let protocol = "`2.0.0`: `1; mode=block` is not a plugin protocol version, such as `6.0`";
    let texts = json!([{ "version": "2.0.0", "protocols": "6.0" }]);
    let list = "`2.0.0`: `protocols`: expected a list, received a text";
    let number = "`{\"version\":2}`: `version`: expected a text, received the number 2";
    let missing = "`{}`: `version` is missing";
    for (entries, count, first) in [
        (json!([leading]), "1 bad version", begins),
        (json!([leading, dot, mode]), "3 bad versions", begins),
        (
            json!([dot]),
            "1 bad version",
            "`.374.0`: its form is unknown",
        ),
        (json!([mode]), "1 bad version", protocol),
        (texts, "1 bad version", list),
        (json!([{ "version": 2 }]), "1 bad version", number),
        (json!([{}, null, "2.0.0"]), "3 bad versions", missing),
    ] {
        let scene = OriginScene::of([demo()]);
        spoil(&scene, entries);
        let skipped = format!(
            "Warning [ORIGIN]/acme/demo: tfoci skips {count} in the origin's list; the first is {first}\n"
        );
        scene.demo("").says(
            0,
            &format!(
                "Copied [ORIGIN]/acme/demo 1.0.0 1 406 signed [ACME ID] origin {skipped} 1 1 406 [TIME]"
            ),
        );
        let listed = scene.command_of("versions", "[ORIGIN]/acme/demo --from origin");
        assert_eq!(listed.says(0, &format!("   {skipped}")).prints(), "1.0.0\n");
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
    for named in ["[ORIGIN]/acme/demo@2.0.0", "--from-lock ."] {
        let said = scene.mirror(named).ends(1);
        let fails =
            "error: [ORIGIN]/acme/demo ([ORIGIN]): no version matches `2.0.0`\n  has 1.0.0\n";
        assert!(said.contains("; the first is `2.0.0`: "), "{said}");
        assert!(said.contains(fails), "{said}");
    }
}

/// Clients read no plugin protocols in the list.
#[test]
fn a_bad_entry_stops_commands_that_stand_in_for_clients() {
    let version = json!({ "version": "v2.0.0" });
    let protocol = json!({ "version": "0.1.0", "protocols": ["1; mode=block"] });
    for (entry, code, says) in [
        (version, 1, "the list of versions has an invalid version\n"),
        (json!({}), 1, "the list of versions cannot be understood\n"),
        (protocol, 0, ""),
    ] {
        let scene = OriginScene::of([demo()]);
        spoil(&scene, json!([entry]));
        for command in ["lock", "install"] {
            let from = "[ORIGIN]/acme/demo --from origin --platform linux_amd64";
            let said = scene.command_of(command, from).ends(code);
            assert!(said.contains(says), "{command} {entry}: {said}");
        }
    }
}

#[test]
fn a_list_without_a_good_version_is_refused() {
    let version = "`v1.0.0`: it begins with `v`";
    let protocol = "`1.0.0`: `x` is not a plugin protocol version, such as `6.0`";
    let list = "expected a list, received an object";
    for (path, value, says) in [
        ("versions/0/version", json!("v1.0.0"), version),
        ("versions/0/protocols", json!(["x"]), protocol),
        ("versions", json!({}), list),
    ] {
        refused(
            "versions",
            lie::says(path, value),
            1,
            &format!(
                "
error: [ORIGIN]/acme/demo ([ORIGIN]): the list of versions cannot be understood
  from https://[ORIGIN]/v1/providers/acme/demo/versions
  `versions`: {says}
"
            ),
        );
    }
}

#[test]
fn a_list_of_versions_that_is_no_list_is_refused() {
    refused(
        "versions",
        lie::says("versions", json!([])),
        1,
        "
error: [ORIGIN]/acme/demo ([ORIGIN]): no version is listed

hint: the source knows the provider, and lists no version of it
",
    );
    refused(
        "versions",
        Fault::body("<html>"),
        1,
        "
error: [ORIGIN]/acme/demo ([ORIGIN]): the list of versions cannot be understood
  from https://[ORIGIN]/v1/providers/acme/demo/versions
  line 1, column 1: this is not JSON
",
    );
    refused(
        "versions",
        lie::padded(9 << 20),
        1,
        "
error: [ORIGIN]/acme/demo ([ORIGIN]): the answer is too large
  expected at most 8388608 bytes
  received more
  from https://[ORIGIN]/v1/providers/acme/demo/versions
",
    );
}

#[test]
fn a_version_that_is_listed_twice_is_mirrored_once() {
    arrives(&OriginScene::of([demo().version("1.0.0", &[LINUX])]));
}
