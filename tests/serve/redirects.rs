//! `serve --redirect`: packages come from the storage behind the registry, if the registry gives clients a URL of it.

use super::server::Server;
use super::stores::{DEMO, ZIP};
use crate::support::registry::{Personality, Registry, Setup, matching};
use crate::support::release::{ReleaseFolder, sha256};
use crate::support::scene::Scene;
use crate::support::signer::Signer;
use crate::support::tls::Authority;

/// A registry over TLS with one provider of this address in a repository by a template. The third value are the options for `serve`.
pub fn over_tls(has_storage: bool, template: &str, address: &str) -> (Registry, Scene, String) {
    let registry = Setup::of(Personality::Plain)
        .tls(Authority::shared().server().serve(None))
        .quirks(|quirks| quirks.blobs_elsewhere = has_storage)
        .start();
    let scene = Scene::new();
    Authority::shared().write(&scene, "ca.pem");
    scene.write("acme.asc", Signer::acme().public_armored());
    let release = ReleaseFolder::new("demo", "1.0.0").platform("linux_amd64");
    release.write(&scene.path("dist"));
    let (host, options) = (registry.host(), "--ca-file ca.pem");
    let store = format!("{host}/mirror/{template}");
    let address = address.replace("[HOST]", host);
    let push = format!("push dist --provider {address} --key acme.asc -q --to {store} {options}");
    scene.line(push).succeeds();
    (registry, scene, format!("--from {store} {options}"))
}

fn registry(has_storage: bool) -> (Registry, Scene, String) {
    over_tls(has_storage, "${hostname}/${namespace}/${type}", DEMO)
}

fn zip(scene: &Scene) -> Vec<u8> {
    let path = scene.path("dist/terraform-provider-demo_1.0.0_linux_amd64.zip");
    std::fs::read(path).unwrap()
}

#[test]
fn clients_are_sent_to_the_storage_if_there_is_one() {
    let (registry, scene, from) = registry(true);
    let server = Server::plain(&scene, format!("{from} --redirect"));
    let sent = server.get(ZIP).is(307);
    let location = sent.header("location").unwrap();
    let is_signed = location.contains("/storage/") && location.contains("signature=");
    assert!(is_signed, "{location}");
    assert!(!location.contains(registry.host()), "{location}");
    assert_eq!(sent.header("cache-control"), Some("no-store"));
    // A signed URL is for one method.
    server.ask("HEAD", ZIP, &[]).is(200);
    // The link is a secret for as long as it is valid.
    assert!(!server.log().contains("signature="), "{}", server.log());

    // Without the option the server follows the link itself, and verifies what it passes on.
    let server = Server::plain(&scene, from);
    assert_eq!(server.get(ZIP).body, zip(&scene));
}

#[test]
fn packages_pass_through_the_server_if_there_is_no_storage() {
    let (registry, scene, from) = registry(false);
    let server = Server::plain(&scene, format!("{from} --redirect"));
    let zip = zip(&scene);
    assert_eq!(server.get(ZIP).body, zip);
    // To find out whether there is a storage costs one byte of the package.
    let is_read = matching("GET", &sha256(&zip));
    let seen = registry.seen();
    let reads = seen.iter().filter(|seen| is_read(seen));
    let ranges: Vec<_> = reads.map(|seen| seen.header("range")).collect();
    assert_eq!(ranges, [Some("bytes=0-0"), None]);
}
