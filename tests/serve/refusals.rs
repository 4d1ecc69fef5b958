//! What the answers say to requests that are refused: whole texts, since people read them in the output of their clients.

use std::fs;

use super::server::Server;
use super::stores::{BARE, DEMO, HOST, PLATFORMS, Store, document, package};
use crate::support::registry::{Fault, Registry, Seen};
use crate::support::release::{Mistake, ReleaseFolder, sha256};
use crate::support::signer::Signer;

const MIRROR: &str = "/mirror/registry.acme.test/acme/demo";

/// A request, the status of its answer, and the text.
struct Case<'a> {
    method: &'a str,
    path: &'a str,
    header: (&'a str, &'a str),
    status: u16,
    says: &'a str,
}

/// `GET` of a path.
fn get<'a>(path: &'a str, status: u16, says: &'a str) -> Case<'a> {
    Case {
        method: "GET",
        path,
        header: ("Accept", "*/*"),
        status,
        says,
    }
}

impl Case<'_> {
    #[track_caller]
    fn check(&self, server: &Server) {
        let mut headers = vec![self.header];
        if self.header.0 != "Host" {
            headers.push(("Host", HOST));
        }
        let reply = server.ask(self.method, self.path, &headers);
        let text = reply.is(self.status).text();
        assert_eq!(
            text,
            format!("{}\n", self.says),
            "{} {}",
            self.method,
            self.path
        );
    }
}

#[test]
fn a_request_for_what_is_not_there_is_told_why() {
    let store = Store::demo();
    store.push(BARE, "1.0.0", Some(Mistake::SignatureMissing));
    let zip = format!("{MIRROR}/{}", package(DEMO, "1.0.0", PLATFORMS[0]));
    let unsigned = format!("/v1/providers/acme/bare/1.0.0/{}", document(BARE, "1.0.0"));
    let server = store.serve(&[]);
    for case in [
        Case {
            method: "POST",
            ..get(&zip, 405, "only GET and HEAD are allowed")
        },
        Case {
            header: ("Range", "bytes=99999999-"),
            ..get(&zip, 416, "the package has no such bytes")
        },
        get(
            &format!("{MIRROR}/other_1.0.0_linux_amd64.zip"),
            404,
            "no package has this name",
        ),
        get(
            &format!("{MIRROR}/terraform-provider-demo_1.0.0_plan9_mips.zip"),
            404,
            "the version has no such package",
        ),
        get(
            "/v1/providers/acme/demo/1.0.0/other.zip",
            404,
            "the version has no such file",
        ),
        get(&unsigned, 404, "the version has no signature"),
        get(
            "/v1/providers/acme/bare/1.0.0/download/linux/amd64",
            404,
            "registry.acme.test/acme/bare 1.0.0 has no signature, which this protocol requires",
        ),
        // Without `--registry-host`, the requested host is that of the provider registry.
        Case {
            header: ("Host", "registry..test"),
            ..get(
                "/v1/providers/acme/demo/versions",
                404,
                "no provider registry is at this host",
            )
        },
    ] {
        case.check(&server);
    }
    server.get("/v1/providers/-acme/demo/versions").is(404);
    for hosts in ["", "Host: one.test\r\nHost: other.test\r\n"] {
        let mut connection = server.connect();
        connection.send(format!("GET / HTTP/1.1\r\n{hosts}\r\n").as_bytes());
        let reply = connection.reply("GET").unwrap().is(400);
        assert_eq!(reply.text(), "the request names no host, or several\n");
    }
    server.stop();
}

#[test]
fn a_provider_with_one_hidden_version_is_told_apart_from_an_unknown_one() {
    let store = Store::demo();
    let stranger = Signer::stranger().public_armored();
    store.scene.write("stranger.asc", stranger);
    let server = store.serve(&["--key", "stranger.asc"]);
    let index = format!("{MIRROR}/index.json");
    let says = "one version of registry.acme.test/acme/demo is hidden, since it did not verify";
    get(&index, 404, says).check(&server);
    let none = "/mirror/registry.acme.test/acme/none/index.json";
    let says = "the store does not have registry.acme.test/acme/none";
    get(none, 404, says).check(&server);
    server.stop();
}

/// A replacement removes the packages that it replaces.
#[test]
fn a_version_that_was_replaced_is_read_again_once_a_package_is_missing() {
    let store = Store::demo();
    let zip = package(DEMO, "1.0.0", PLATFORMS[0]);
    let server = store.serve(&[]);
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
fn what_the_store_does_to_a_request_is_told() {
    let zip = package(DEMO, "1.0.0", PLATFORMS[0]);
    let path = format!("{MIRROR}/{zip}");
    let version = format!("{MIRROR}/1.0.0.json");
    // A blob that somebody removed after the version was read.
    let store = Store::demo();
    let digest = sha256(&store.file(DEMO, "1.0.0", &zip));
    let server = store.serve(&[]);
    server.get(&version).is(200);
    let blob = store.repository(DEMO).join("blobs/sha256").join(digest);
    fs::remove_file(blob).unwrap();
    let says = "the store does not have the package that it lists";
    get(&path, 502, says).check(&server);
    server.stop();
    // A registry that denies first the package, and then everything.
    let registry = Registry::plain();
    let store = Store::at(registry.host());
    store.push(DEMO, "1.0.0", None);
    let server = store.serve(&["--max-age", "0"]);
    server.get(&version).is(200);
    let digest = sha256(&store.file(DEMO, "1.0.0", &zip));
    registry.always(
        move |seen: &Seen| seen.path.contains(&digest),
        Fault::denied(),
    );
    let says = "the package cannot be read from the store";
    get(&path, 503, says).check(&server);
    registry.always(|_| true, Fault::denied());
    let other = "/mirror/registry.acme.test/acme/other/index.json";
    let says = "cannot read from the store";
    get(other, 503, says).check(&server);
    server.stop();
}
