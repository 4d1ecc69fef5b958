use super::{demo, mirror, scene};
use crate::support::origin::{Door, Fault, Origin, Setup, asks, at};
use crate::support::scene::Scene;

/// Requests of a user without a token.
pub mod helper;
/// Names and passwords, which are sent for packages.
mod passwords;
/// Tokens, which are sent to provider registries.
mod tokens;

/// The environment variable with the token for an origin.
fn variable(origin: &Origin) -> String {
    format!("TF_TOKEN_{}", origin.host())
}

fn with_token(origin: &Origin, token: &str) -> Scene {
    scene(origin).env(&variable(origin), token)
}

fn credentials(origin: &Origin, token: &str) -> String {
    let host = origin.host();
    format!("credentials \"{host}\" {{ token = \"{token}\" }}\n")
}

/// Every request with its `Authorization`: `versions acme/demo: Bearer sesame`.
fn introductions(origin: &Origin) -> Vec<String> {
    let (seen, lines) = (origin.seen(), origin.transcript());
    let lines = lines.iter().zip(&seen).map(|(line, seen)| {
        let door = match seen.door {
            Door::Front => "",
            Door::Elsewhere => " elsewhere",
            Door::Plain => " without TLS",
        };
        let words: Vec<&str> = line.split(' ').collect();
        let who = seen.authorization().unwrap_or("anonymous");
        format!("{}{door}: {who}", words[1..words.len() - 1].join(" "))
    });
    let mut lines: Vec<String> = lines.collect();
    lines.sort();
    lines
}

#[test]
fn redirects_from_https_to_http_are_refused() {
    for kind in "discovery versions download document signature package".split(' ') {
        let origin = Origin::of([demo()]);
        let scene = with_token(&origin, "sesame");
        origin.always(at(Door::Front, asks(kind)), Fault::RedirectPlain);
        let run = mirror(&scene, &origin, "").exits(1);
        run.says("error https http");
        assert_eq!(origin.count(|seen| seen.door == Door::Plain), 0);
    }
}

#[test]
fn a_host_block_replaces_discovery() {
    let origin = Setup::new([demo()]).token("sesame").start();
    let scene = scene(&origin).env("TF_TOKEN_example_com", "sesame");
    scene.write(".tofurc", origin.host_block("example.com"));
    let line = "mirror example.com/acme/demo --to oci-layout:store --ca-file ca.pem";
    let run = scene.line(line).succeeds();
    let stored = "oci-layout:store/example.com/acme/demo:1.0.0@";
    assert!(run.stdout.starts_with(stored), "{}", run.stdout);
    assert_eq!(
        origin.counters(),
        "1 versions, 1 download, 1 document, 1 signature, 1 package"
    );
    origin.assert_no_leaks();
    let other = "host \"example.com\" {\n  services = { \"providers.v2\" = \"/\" }\n}\n";
    scene.write(".tofurc", other);
    let run = scene.line(line).exits(1);
    run.says("error example.com/acme/demo");
}
