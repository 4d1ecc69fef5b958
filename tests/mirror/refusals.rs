use std::fs;

use serde_json::Value;

use super::origin_scene::{OriginScene, folder};
use super::{DARWIN, LINUX, demo, mirror, scene};
use crate::schema::follows;
use crate::support::origin::{Fault, Origin, Provider, Release, asks, lie};
use crate::support::release::ReleaseFolder;
use crate::support::signer::Signer;

/// Asserts how often a request is sent that always fails, and that nothing is mirrored.
#[track_caller]
fn is_asked(kind: &str, fault: Fault, times: usize) {
    let scene = OriginScene::of([demo()]);
    let origin = &scene.origin;
    origin.always(asks(kind), fault);
    let run = mirror(&scene.scene, origin, &[]).exits(1);
    assert_eq!(origin.count(asks(kind)), times, "{kind}\n{}", run.stderr);
    assert_eq!(run.stdout, "");
    assert!(scene.installs().is_empty());
}

/// Only what may pass is asked again.
fn meets_every_status(kind: &str) {
    for (status, times) in [
        (401, 1),
        (403, 1),
        (404, 1),
        (500, 2),
        (501, 1),
        (503, 2),
        (520, 2),
    ] {
        is_asked(kind, Fault::status(status), times);
    }
    // A longer pause than tfoci waits.
    is_asked(kind, Fault::too_many_requests("3600"), 1);
}

#[test]
fn refused_discovery_documents() {
    meets_every_status("discovery");
}

#[test]
fn refused_lists_of_versions() {
    meets_every_status("versions");
}

#[test]
fn refused_package_metadata() {
    meets_every_status("download");
}

#[test]
fn refused_checksum_documents() {
    meets_every_status("document");
}

#[test]
fn refused_signatures() {
    meets_every_status("signature");
}

#[test]
fn refused_packages() {
    meets_every_status("package");
}

/// A release that was built again, or proves less, leaves the store as it is.
#[test]
fn other_releases_of_a_version_change_nothing() {
    let scene = OriginScene::of([demo()]);
    scene.demo("-q").says(0, "");
    let before = scene.tree();
    let again = ReleaseFolder::new("demo", "1.0.0")
        .package(LINUX, &[("terraform-provider-demo_v1.0.0", b"another")])
        .platform(DARWIN);
    // Its checksum document lists another platform, so it would replace the signed one.
    let less = ReleaseFolder::new("demo", "1.0.0")
        .platform(DARWIN)
        .platform(LINUX);
    for (release, more) in [
        (Release::from(again), "--platform darwin_arm64"),
        (
            Release::from(less).keys(&[]),
            "--allow-unsigned [ORIGIN]/acme/demo",
        ),
    ] {
        let provider = Provider::new("acme/demo").release(release);
        scene.origin.publish(provider);
        scene.demo(more).ends(3);
        assert_eq!(scene.tree(), before);
    }
}

/// A registry that drops its key does what an attacker would do. No allowance voids the pin.
#[test]
fn a_pin_holds_although_the_origin_serves_less() {
    let scene = OriginScene::release(Release::from(folder()).keys(&[]));
    let pin = format!(
        "[[provider]]\nmatch = \"{}/acme/*\"\nkeys = [\"{}\"]\n",
        scene.origin.host(),
        Signer::acme().fingerprint()
    );
    scene.write("trust.toml", pin);
    for more in ["", "--allow-unsigned [ORIGIN]/*/*"] {
        let run = scene.demo(&format!("--trust trust.toml {more}"));
        run.gives(&[]).ends(3);
        assert!(scene.installs().is_empty());
    }
    // The file of the key stands in for the origin's.
    scene.write("acme.asc", Signer::acme().public_armored());
    scene
        .demo("--trust trust.toml --key acme.asc -q")
        .says(0, "");
}

#[test]
fn requests_of_ranges_are_traced() {
    let scene = OriginScene::of([demo()]);
    scene.origin.fault(1, asks("package"), Fault::cut_body(100));
    let said = scene.demo("-vv").ends(0);
    assert!(said.contains(".zip (Range: bytes=100-): 206, "), "{said}");
    assert!(said.contains(".zip: 200, "), "{said}");
}

#[test]
fn a_host_that_fails_for_several_providers_fails_for_each() {
    let providers = ["acme/a", "acme/b", "acme/c"].map(Provider::new);
    let origin = Origin::of(providers.map(|one| one.version("1.0.0", &[LINUX])));
    let addresses = ["acme/a", "acme/b", "acme/c"].map(|one| origin.address(one));
    let command = ["mirror", "--to", "oci-layout:store", "--format", "json"];
    let addresses = addresses.iter().map(String::as_str);
    let run = scene(&origin).tfoci(command.into_iter().chain(addresses));
    let document = run.exits(1).json();
    let providers = document["providers"].as_array().unwrap();
    let errors = providers.iter().filter(|one| one["error"].is_object());
    assert_eq!(errors.count(), 3, "{document}");
}

#[test]
fn transient_failures_are_retried() {
    let scene = OriginScene::of([demo()]);
    let origin = &scene.origin;
    for kind in ["discovery", "versions", "download", "document", "signature"] {
        origin.fault(1, asks(kind), Fault::status(503));
    }
    origin.fault(1, asks("package"), Fault::too_many_requests("1"));
    mirror(&scene.scene, origin, &[]).succeeds();
    assert_eq!(scene.installs(), ["acme/demo 1.0.0 linux_amd64"]);
    assert_eq!(
        origin.counters(),
        "2 discovery, 2 versions, 2 download, 2 document, 2 signature, 2 package"
    );
}

#[test]
fn documents_time_out_after_the_configured_time() {
    let origin = Origin::of([demo()]);
    let scene = scene(&origin).env("TF_REGISTRY_CLIENT_TIMEOUT", "1");
    origin.always(asks("versions"), Fault::stall_body(10));
    mirror(&scene, &origin, &[]).exits(1).without_result();
    assert_eq!(origin.counters(), "1 discovery, 2 versions");
}

#[test]
fn malformed_numbers_in_variables_count_as_unset() {
    let origin = Origin::of([demo()]);
    let scene = scene(&origin)
        .env("TF_REGISTRY_CLIENT_TIMEOUT", "0")
        .env("TF_REGISTRY_DISCOVERY_RETRY", "-1")
        .env("TF_PROVIDER_DOWNLOAD_RETRY", "twice");
    origin.storm(2, asks("versions"), Fault::status(502));
    mirror(&scene, &origin, &[]).succeeds();
    assert_eq!(origin.count(asks("versions")), 3);
}

/// A release that does not verify, and what a program learns of it.
#[test]
fn what_did_not_verify_has_a_kind_and_facts() {
    let (ours, theirs) = (
        Signer::acme().fingerprint(),
        Signer::stranger().fingerprint(),
    );
    let pin = |key: &str| format!("[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"{key}\"]\n");
    let deny = "[[deny]]\nmatch = \"*/*/*\"\nreason = \"CVE-2026-1\"\n".to_owned();
    let unsigned = || lie::lacks("shasums_signature_url");
    let cases = [
        ("key-changed", pin(&theirs), None, 1, 1),
        (
            "not-signed",
            pin(&ours),
            Some(("download", unsigned())),
            1,
            0,
        ),
        ("denied", deny, None, 0, 1),
        (
            "wrong-hash",
            pin(&ours),
            Some(("package", Fault::wrong_bytes())),
            1,
            1,
        ),
        (
            "bad-signature",
            pin(&ours),
            Some(("document", Fault::wrong_bytes())),
            0,
            0,
        ),
    ];
    for (kind, trust, fault, expected, received) in cases {
        let scene = OriginScene::of([demo()]);
        scene.write("trust.toml", trust);
        if let Some((asked, fault)) = fault {
            scene.origin.always(asks(asked), fault);
        }
        let arguments = "mirror [ORIGIN]/acme/demo@1.0.0 --to oci-layout:store --ca-file ca.pem --trust trust.toml --format json --report news.md";
        let run = scene.tfoci(scene.named(arguments).split(' ')).exits(3);
        let document = run.json();
        follows("mirror", &document);
        let error = &document["providers"][0]["error"];
        let count = |name: &str| error[name].as_array().map_or(0, Vec::len);
        let facts = (
            error["kind"].as_str().unwrap(),
            count("expected"),
            count("received"),
        );
        assert_eq!(facts, (kind, expected, received), "{error:#}");
        if kind == "key-changed" {
            let keys = [&error["expected"][0], &error["received"][0]];
            assert_eq!(keys.map(Value::as_str), [Some(&*theirs), Some(&*ours)]);
        }
        let news = fs::read_to_string(scene.path("news.md")).unwrap();
        assert!(news.contains(kind), "{news}");
    }
}
