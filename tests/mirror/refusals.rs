use std::fs;

use serde_json::Value;

use super::origin_scene::{ARRIVED, OriginScene, folder};
use super::{DARWIN, LINUX, demo};
use crate::schema::follows;
use crate::support::author::{another_build, two_platforms};
use crate::support::origin::{Fault, Provider, Release, asks, lie};
use crate::support::signer::Signer;

/// Asserts how often a request is sent that always fails, and that nothing is mirrored.
#[track_caller]
fn is_asked(kind: &str, fault: Fault, times: usize) {
    let scene = OriginScene::of([demo()]);
    scene.origin.always(asks(kind), fault);
    let said = scene.demo("").gives("").ends(1);
    assert_eq!(scene.origin.count(asks(kind)), times, "{kind}\n{said}");
    assert!(scene.installs().is_empty());
}

/// Only what may pass is asked again.
fn meets_every_status(kind: &str) {
    for status in [401, 403, 404, 500, 501, 503, 520] {
        let times = if [500, 503, 520].contains(&status) {
            2
        } else {
            1
        };
        is_asked(kind, Fault::status(status), times);
    }
    // A longer pause than tfoci waits.
    is_asked(kind, Fault::too_many_requests("3600"), 1);
}

#[test]
fn only_what_may_pass_is_asked_again() {
    let kinds = "discovery versions download document signature package";
    std::thread::scope(|scope| {
        for kind in kinds.split(' ') {
            scope.spawn(move || meets_every_status(kind));
        }
    });
}

/// A release that was built again, or proves less, leaves the store as it is.
#[test]
fn other_releases_of_a_version_change_nothing() {
    let scene = OriginScene::of([demo()]);
    scene.demo("-q").says(0, "");
    let before = scene.tree();
    let again = another_build().platform(DARWIN);
    // Its checksum document lists another platform, so it would replace the signed one.
    let less = Release::from(two_platforms()).keys(&[]);
    for (release, more) in [
        (Release::from(again), "--platform darwin_arm64"),
        (less, "--allow-unsigned [ORIGIN]/acme/demo"),
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
    let key = Signer::acme().fingerprint();
    let pin = format!("[[provider]]\nmatch = \"[ORIGIN]/acme/*\"\nkeys = [\"{key}\"]\n");
    scene.write("trust.toml", scene.named(&pin));
    for more in ["", "--allow-unsigned [ORIGIN]/*/*"] {
        let run = scene.demo(&format!("--trust trust.toml {more}"));
        run.gives("").ends(3);
        assert!(scene.installs().is_empty());
    }
    // The file of the key stands in for the origin's.
    scene.write("acme.asc", Signer::acme().public_armored());
    let told = scene.demo("--trust trust.toml --key acme.asc -q");
    told.says(0, "");
}

#[test]
fn requests_of_ranges_are_traced() {
    let scene = OriginScene::of([demo()]);
    scene.origin.fault(1, asks("package"), Fault::cut_body(100));
    let said = scene.demo("-vv").ends(0);
    assert!(said.contains(".zip: 206, "), "{said}");
    assert!(said.contains(".zip: 200, "), "{said}");
}

#[test]
fn a_host_that_fails_for_several_providers_fails_for_each() {
    let scene = OriginScene::of(Provider::many(3, 1, &[LINUX]));
    let all = scene.named("[ORIGIN]/acme/p0 [ORIGIN]/acme/p1 [ORIGIN]/acme/p2");
    let run = scene.line(format!("mirror {all} --to oci-layout:store --format json"));
    let document = run.exits(1).json();
    let providers = document["providers"].as_array().unwrap();
    let errors = providers.iter().filter(|one| one["error"].is_object());
    assert_eq!(errors.count(), 3, "{document}");
}

#[test]
fn transient_failures_are_retried() {
    let scene = OriginScene::of([demo()]);
    let origin = &scene.origin;
    for kind in ["discovery", "download", "document", "signature"] {
        origin.fault(1, asks(kind), Fault::status(503));
    }
    origin.fault(1, asks("versions"), Fault::Reset);
    origin.fault(1, asks("package"), Fault::too_many_requests("1"));
    scene.demo("").ends(0);
    assert_eq!(scene.installs(), ARRIVED);
    let twice = "2 discovery, 2 versions, 2 download, 2 document, 2 signature, 2 package";
    assert_eq!(origin.counters(), twice);
}

#[test]
fn documents_time_out_after_the_configured_time() {
    for (sort, version, path) in [
        ("versions", "", "v1/providers/acme/demo/versions"),
        ("document", "1.0.0", "files/acme/demo/1.0.0/SHA256SUMS"),
    ] {
        let scene = OriginScene::of([demo()]);
        scene.origin.always(asks(sort), Fault::stall_body(10));
        let says = format!("error [ORIGIN]/acme/demo {version} [ORIGIN] 1 https://[ORIGIN]/{path}");
        scene.demo("--timeout 1").says(1, &says).gives("");
        assert_eq!(scene.origin.count(asks(sort)), 2);
    }
}

#[test]
fn malformed_numbers_in_variables_count_as_unset() {
    let mut scene = OriginScene::of([demo()]);
    for (name, value) in [
        ("TF_REGISTRY_DISCOVERY_RETRY", "-1"),
        ("TF_PROVIDER_DOWNLOAD_RETRY", "twice"),
    ] {
        scene.scene = scene.scene.env(name, value);
    }
    let bad = Fault::status(502);
    scene.origin.storm(2, asks("versions"), bad);
    scene.demo("").ends(0);
    assert_eq!(scene.origin.count(asks("versions")), 3);
}

/// A release that does not verify, and what a program learns of it.
#[test]
fn what_did_not_verify_has_a_kind_and_facts() {
    let [ours, theirs] = [Signer::acme(), Signer::stranger()].map(Signer::fingerprint);
    let pin = |key: &str| format!("[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"{key}\"]\n");
    let deny = "[[deny]]\nmatch = \"*/*/*\"\nreason = \"CVE-2026-1\"\n".to_owned();
    let unsigned = Some(("download", lie::lacks("shasums_signature_url")));
    let wrong = |sort| Some((sort, Fault::wrong_bytes()));
    let cases = [
        ("key-changed", pin(&theirs), None, 1, 1),
        ("not-signed", pin(&ours), unsigned, 1, 0),
        ("denied", deny, None, 0, 1),
        ("wrong-hash", pin(&ours), wrong("package"), 1, 1),
        ("bad-signature", pin(&ours), wrong("document"), 0, 0),
    ];
    for (kind, trust, fault, expected, received) in cases {
        let scene = OriginScene::of([demo()]);
        scene.write("trust.toml", trust);
        if let Some((asked, fault)) = fault {
            scene.origin.always(asks(asked), fault);
        }
        let run = scene.json("[ORIGIN]/acme/demo@1.0.0 --trust trust.toml --report news.md");
        let document = run.exits(3).json();
        follows("mirror", &document);
        let error = &document["providers"][0]["error"];
        let count = |name: &str| error[name].as_array().map_or(0, Vec::len);
        let counts = ["expected", "received"].map(count);
        assert_eq!(error["kind"], kind, "{error:#}");
        assert_eq!(counts, [expected, received], "{error:#}");
        if kind == "key-changed" {
            let keys = [&error["expected"][0], &error["received"][0]];
            assert_eq!(keys.map(Value::as_str), [Some(&*theirs), Some(&*ours)]);
        }
        let news = fs::read_to_string(scene.path("news.md")).unwrap();
        assert!(news.contains(kind), "{news}");
    }
}
