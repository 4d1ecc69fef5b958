//! Unreachable origins: each cause has its message and its hint, as for registries.

use crate::support::origin::Origin;
use crate::support::port;
use crate::support::registry::{Personality, Registry, Setup};
use crate::support::scene::Scene;
use crate::support::tls::{Authority, Identity};

use super::demo;

/// Mirrors `acme/demo` from a host that cannot be reached for this reason.
#[track_caller]
fn is_unreachable(scene: &Scene, host: &str, more: &str, reason: &str, hint: &str) {
    let arguments = format!("mirror {host}/acme/demo --to oci-layout:store {more}");
    let run = scene.tfoci(arguments.split_whitespace()).exits(1);
    let expected = format!(
        "error: [HOST]/acme/demo ([HOST]): cannot reach https://[HOST]/.well-known/terraform.json\n  {reason}\n\nhint: {hint}\n"
    );
    let errors = run.stderr.find("error: ").map(|at| &run.stderr[at..]);
    assert_eq!(errors.unwrap().replace(host, "[HOST]"), expected);
    assert_eq!(run.stdout, "");
    assert!(!scene.path("store").exists());
}

fn with_tls(identity: &Identity) -> (Registry, String) {
    let server = Setup::of(Personality::Plain).tls(identity.serve(None));
    local(server.start())
}

/// A server with a host name for which a certificate can be issued.
fn local(server: Registry) -> (Registry, String) {
    let host = server.host().replace("127.0.0.1", "localhost");
    (server, host)
}

#[test]
fn hosts_without_address_or_server_are_reported() {
    let scene = Scene::new();
    is_unreachable(
        &scene,
        "origin.invalid",
        "",
        "the host name has no address (DNS)",
        "check the name, and that this machine has a network; behind a proxy, set HTTPS_PROXY. If [HOST]/acme/demo has no origin, `tfoci copy` copies it from a store",
    );
    is_unreachable(
        &scene,
        &format!("localhost:{}", port::unused()),
        "",
        "the connection was refused",
        "check the host and its port; behind a proxy, set HTTPS_PROXY",
    );
    let proxy = format!("127.0.0.1:{}", port::unused());
    is_unreachable(
        &Scene::new().env("HTTPS_PROXY", &format!("http://{proxy}")),
        "origin.example.com",
        "",
        &format!("through the proxy http://{proxy}/: the connection was refused"),
        "HTTPS_PROXY names this proxy; NO_PROXY names hosts that are reached without it",
    );
}

#[test]
fn failed_tls_handshakes_are_reported() {
    let origin = Origin::of([demo()]);
    is_unreachable(
        &Scene::new(),
        origin.host(),
        "",
        "no trusted certificate authority issued the server's certificate",
        "if the authority is your own, name its certificate, not the server's, with `--ca-file FILE`",
    );
    let (_server, host) = local(Registry::plain());
    is_unreachable(
        &Scene::new(),
        &host,
        "",
        "the server does not use TLS at this port",
        "if it is meant to be plain HTTP, `--plain-http [HOST]`",
    );
    let authority = Authority::new("tests");
    let scene = Scene::new();
    authority.write(&scene, "ca.pem");
    for (identity, reason, hint) in [
        (
            authority.server_of(&["origin.example.com"]),
            "the server's certificate is for another name: origin.example.com",
            "use a name that is in the certificate",
        ),
        (
            authority.server_in(2020),
            "the server's certificate has expired",
            "the server's operator has to renew it; if it should be valid, check this machine's clock",
        ),
        (
            authority.server_in(4000),
            "the server's certificate is not valid yet",
            "check this machine's clock",
        ),
    ] {
        let (_server, host) = with_tls(&identity);
        is_unreachable(&scene, &host, "--ca-file ca.pem", reason, hint);
    }
}
