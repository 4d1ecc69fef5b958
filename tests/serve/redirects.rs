//! `serve --redirect`: packages come from the storage behind the registry, if the registry gives clients a URL of it.

use super::server::Server;
use crate::support::registry::{Personality, Registry, Setup};
use crate::support::release::{ReleaseFolder, sha256};
use crate::support::scene::Scene;
use crate::support::signer::Signer;
use crate::support::tls::Authority;

const PACKAGE: &str =
    "/mirror/registry.acme.test/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip";

/// A registry over TLS with one provider, its template, and the user's scene.
fn registry(has_storage: bool) -> (Registry, String, Scene) {
    let registry = Setup::of(Personality::Plain)
        .tls(Authority::shared().server().serve(None))
        .quirks(|quirks| quirks.blobs_elsewhere = has_storage)
        .start();
    let scene = Scene::new();
    Authority::shared().write(&scene, "ca.pem");
    scene.write("acme.asc", Signer::acme().public_armored());
    let release = ReleaseFolder::new("demo", "1.0.0").platform("linux_amd64");
    release.write(&scene.path("dist"));
    let to = format!(
        "{}/mirror/${{hostname}}/${{namespace}}/${{type}}",
        registry.host()
    );
    let push = "push dist --provider registry.acme.test/acme/demo";
    let more = format!("--key acme.asc --ca-file ca.pem --to {to} -q");
    scene.line(format!("{push} {more}")).succeeds();
    (registry, to, scene)
}

#[test]
fn clients_are_sent_to_the_storage_if_there_is_one() {
    let (registry, from, scene) = registry(true);
    let server = Server::plain(&scene, format!("--from {from} --ca-file ca.pem --redirect"));
    let sent = server.get(PACKAGE);
    assert_eq!(sent.status, 307, "{}", server.log());
    let location = sent.header("location").unwrap();
    assert!(
        location.contains("/storage/") && location.contains("signature="),
        "{location}"
    );
    assert!(!location.contains(registry.host()), "{location}");
    assert_eq!(sent.header("cache-control"), Some("no-store"));
    // A signed URL is for one method.
    let head = server.ask("HEAD", PACKAGE, &[]);
    assert_eq!(head.status, 200);
    // The link is a secret for as long as it is valid.
    assert!(!server.log().contains("signature="), "{}", server.log());
    server.stop();

    // Without the option the server follows the link itself, and verifies what it passes on.
    let server = Server::plain(&scene, format!("--from {from} --ca-file ca.pem"));
    let zip = std::fs::read(scene.path("dist/terraform-provider-demo_1.0.0_linux_amd64.zip"));
    assert_eq!(server.get(PACKAGE).body, zip.unwrap());
    server.stop();
}

#[test]
fn packages_pass_through_the_server_if_there_is_no_storage() {
    let (registry, from, scene) = registry(false);
    let server = Server::plain(&scene, format!("--from {from} --ca-file ca.pem --redirect"));
    let zip = std::fs::read(scene.path("dist/terraform-provider-demo_1.0.0_linux_amd64.zip"));
    let zip = zip.unwrap();
    assert_eq!(server.get(PACKAGE).body, zip);
    // To find out whether there is a storage costs one byte of the package.
    let digest = sha256(&zip);
    let seen = registry.seen();
    let reads = seen
        .iter()
        .filter(|seen| seen.method == "GET" && seen.path.contains(&digest));
    let ranges: Vec<_> = reads.map(|seen| seen.header("range")).collect();
    assert_eq!(ranges, [Some("bytes=0-0"), None]);
    server.stop();
}
