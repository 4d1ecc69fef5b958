//! Requests that are refused, and their status.

use std::fs;

use super::stores::{BARE, DEMO, HOST, PLATFORMS, Store, document, package};
use crate::support::registry::{Fault, Registry, Seen};
use crate::support::release::{Mistake, ReleaseFolder, sha256};
use crate::support::signer::Signer;

const MIRROR: &str = "/mirror/registry.acme.test/acme/demo";

#[test]
fn a_request_for_what_is_not_there_is_refused() {
    let store = Store::demo();
    store.push(BARE, "1.0.0", Some(Mistake::SignatureMissing));
    let zip = format!("{MIRROR}/{}", package(DEMO, "1.0.0", PLATFORMS[0]));
    let unsigned = format!("/v1/providers/acme/bare/1.0.0/{}", document(BARE, "1.0.0"));
    let server = store.serve("");
    let host = ("Host", HOST);
    for (method, path, header, status) in [
        ("POST", &*zip, host, 405),
        ("GET", &zip, ("Range", "bytes=99999999-"), 416),
        (
            "GET",
            &format!("{MIRROR}/other_1.0.0_linux_amd64.zip"),
            host,
            404,
        ),
        (
            "GET",
            &format!("{MIRROR}/terraform-provider-demo_1.0.0_plan9_mips.zip"),
            host,
            404,
        ),
        ("GET", "/v1/providers/acme/demo/1.0.0/other.zip", host, 404),
        ("GET", &unsigned, host, 404),
        (
            "GET",
            "/v1/providers/acme/bare/1.0.0/download/linux/amd64",
            host,
            404,
        ),
        ("GET", "/v1/providers/-acme/demo/versions", host, 404),
        // Without `--registry-host`, the requested host is that of the provider registry.
        (
            "GET",
            "/v1/providers/acme/demo/versions",
            ("Host", "registry..test"),
            404,
        ),
    ] {
        server.ask(method, path, &[header]).is(status);
    }
    for hosts in ["", "Host: one.test\r\nHost: other.test\r\n"] {
        let mut connection = server.connect();
        connection.send(format!("GET / HTTP/1.1\r\n{hosts}\r\n").as_bytes());
        connection.reply("GET").unwrap().is(400);
    }
    server.stop();
    // A provider whose only version is hidden.
    let stranger = Signer::stranger().public_armored();
    store.scene.write("stranger.asc", stranger);
    let server = store.serve("--key stranger.asc");
    let hidden = server.get(&format!("{MIRROR}/index.json")).is(404).text();
    assert!(hidden.contains("hidden"), "{hidden}");
    let none = format!("/mirror/{HOST}/acme/none/index.json");
    assert!(!server.get(&none).is(404).text().contains("hidden"));
}

/// A replacement removes the packages that it replaces.
#[test]
fn a_version_that_was_replaced_is_read_again_once_a_package_is_missing() {
    let store = Store::demo();
    let zip = package(DEMO, "1.0.0", PLATFORMS[0]);
    let server = store.serve("");
    let version = format!("{MIRROR}/1.0.0.json");
    let hash = || server.get(&version).is(200).json()["archives"][PLATFORMS[0]]["hashes"].clone();
    let old = hash();
    let files: &[(&str, &[u8])] = &[("terraform-provider-demo_v1.0.0", b"another\n")];
    let release = ReleaseFolder::new("demo", "1.0.0").package(PLATFORMS[0], files);
    store.push_release(DEMO, "1.0.0", &release);
    let path = format!("{MIRROR}/{zip}");
    assert_eq!(hash(), old);
    server.get(&path).is(502);
    assert_ne!(hash(), old);
    let received = server.get(&path).is(200);
    assert_eq!(received.body, store.file(DEMO, "1.0.0", &zip));
}

#[test]
fn what_the_store_does_decides_about_the_status() {
    let zip = package(DEMO, "1.0.0", PLATFORMS[0]);
    let path = format!("{MIRROR}/{zip}");
    let version = format!("{MIRROR}/1.0.0.json");
    // A blob that somebody removed after the version was read.
    let store = Store::demo();
    let digest = sha256(&store.file(DEMO, "1.0.0", &zip));
    let server = store.serve("");
    server.get(&version).is(200);
    let blob = store.repository(DEMO).join("blobs/sha256").join(digest);
    fs::remove_file(blob).unwrap();
    server.get(&path).is(502);
    server.stop();
    // A registry that denies first the package, and then everything.
    let registry = Registry::plain();
    let store = Store::at(registry.host());
    store.push(DEMO, "1.0.0", None);
    let server = store.serve("--max-age 0");
    server.get(&version).is(200);
    let digest = sha256(&store.file(DEMO, "1.0.0", &zip));
    registry.always(
        move |seen: &Seen| seen.path.contains(&digest),
        Fault::denied(),
    );
    server.get(&path).is(503);
    registry.always(|_| true, Fault::denied());
    let other = "/mirror/registry.acme.test/acme/other/index.json";
    server.get(other).is(503);
    server.stop();
}
