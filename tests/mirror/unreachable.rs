//! Unreachable origins: each cause is named, as for registries.

use crate::support::origin::Origin;
use crate::support::port;
use crate::support::registry::{Personality, Registry, Setup};
use crate::support::scene::Scene;
use crate::support::tls::Authority;

use super::demo;

/// Mirrors `acme/demo` from a host that cannot be reached for this reason.
#[track_caller]
fn is_unreachable(scene: &Scene, host: &str, reason: &str) {
    let to = "--to oci-layout:store --ca-file ca.pem";
    let run = scene.line(format!("mirror {host}/acme/demo {to}")).exits(1);
    let url = format!("https://{host}/.well-known/terraform.json");
    run.without_result()
        .says(&format!("error {host}/acme/demo {host} {url} {reason}"));
    assert!(!scene.path("store").exists());
}

/// A server with a host name for which a certificate can be issued.
fn local(server: Registry) -> (Registry, String) {
    let host = server.host().replace("127.0.0.1", "localhost");
    (server, host)
}

#[test]
fn hosts_without_address_or_server_are_reported() {
    let scene = Scene::new();
    Authority::new("tests").write(&scene, "ca.pem");
    is_unreachable(&scene, "origin.invalid", "DNS");
    let unused = || format!("localhost:{}", port::unused());
    is_unreachable(&scene, &unused(), "refused");
    let proxy = format!("http://{}/", unused());
    let scene = scene.env("HTTPS_PROXY", &proxy);
    let reason = format!("{proxy} refused");
    is_unreachable(&scene, "origin.example.com", &reason);
}

#[test]
fn failed_tls_handshakes_are_reported() {
    let scene = Scene::new();
    let authority = Authority::new("others");
    authority.write(&scene, "ca.pem");
    let origin = Origin::of([demo()]);
    is_unreachable(&scene, origin.host(), "authority");
    let (_server, host) = local(Registry::plain());
    is_unreachable(&scene, &host, "TLS");
    let other = authority.server_of(&["origin.example.com"]);
    for (identity, reason) in [
        (other, "another name"),
        (authority.server_in(2020), "expired"),
        (authority.server_in(4000), "yet"),
    ] {
        let server = Setup::of(Personality::Plain).tls(identity.serve(None));
        let (_server, host) = local(server.start());
        is_unreachable(&scene, &host, reason);
    }
}
