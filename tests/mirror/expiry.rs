use serde_json::Value;

use super::origin_scene::{ARRIVED, OriginScene, spoiled};
use super::{LINUX, demo};
use crate::support::origin::{Fault, Origin, Setup, asks, lie};
use crate::support::release::sha256;

/// An origin that cuts the package after 100 bytes, and then refuses its URL for a number of requests.
fn origin(refusals: usize, status: u16) -> Origin {
    let origin = Setup::new([demo()]).signed_urls().start();
    origin.fault(1, asks("package"), Fault::cut_body(100));
    for n in 0..refusals {
        origin.fault(2 + n, asks("package"), Fault::status(status));
    }
    origin
}

/// From the second time on, the origin names another URL each time.
fn names_others(origin: &Origin) {
    for n in 2..6 {
        let another = lie::json(move |document| {
            let url = document["download_url"].as_str().unwrap();
            document["download_url"] = Value::from(format!("{url}&at={n}"));
        });
        origin.fault(n, asks("download"), another);
    }
}

#[test]
fn a_download_is_resumed_at_a_fresh_url() {
    for status in [400, 401, 403, 410] {
        let scene = OriginScene::new(origin(1, status));
        let origin = &scene.origin;
        names_others(origin);
        scene.demo("").ends(0);
        assert_eq!(scene.installs(), ARRIVED);
        assert_eq!(
            origin.counters(),
            "1 discovery, 1 versions, 2 download, 1 document, 1 signature, 3 package"
        );
        let seen = origin.seen();
        let last = seen.last().unwrap();
        assert_eq!(last.header("range"), Some("bytes=100-"));
        assert_eq!(last.parameter("at"), Some("2"));
    }
}

#[test]
fn a_fresh_url_is_requested_once() {
    for (refusals, code, requests) in [(1, 0, 2), (2, 1, 2)] {
        let scene = OriginScene::new(origin(refusals, 403));
        names_others(&scene.origin);
        scene.demo("").ends(code);
        assert_eq!(scene.origin.count(asks("download")), requests);
    }
}

#[test]
fn an_expired_url_fails_if_the_origin_has_no_other() {
    let scene = OriginScene::new(origin(9, 403));
    let zip = "files/acme/demo/1.0.0/linux_amd64/terraform-provider-demo_1.0.0_linux_amd64.zip";
    let says = format!("error https://[ORIGIN]/{zip}?… 403");
    scene.demo("").says(1, &says);
    assert_eq!(scene.origin.count(asks("download")), 2);
    assert_eq!(scene.origin.count(asks("package")), 2);
}

#[test]
fn a_fresh_url_of_another_package_is_refused() {
    let scene = OriginScene::new(origin(1, 403));
    let origin = &scene.origin;
    let other = lie::json(|document| {
        document["shasum"] = "0".repeat(64).into();
        document["packages"] = Value::Null;
    });
    origin.fault(2, asks("download"), other);
    let digest = sha256(&origin.zip("acme/demo", "1.0.0", LINUX));
    scene.demo("").says(3, &spoiled(&digest, &"0".repeat(64)));
    assert!(scene.installs().is_empty());
}
