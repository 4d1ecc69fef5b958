use super::{demo, mirror, said, scene};
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
    format!(
        "credentials \"{}\" {{ token = \"{token}\" }}\n",
        origin.host()
    )
}

/// Every request with its `Authorization`: `versions acme/demo: Bearer sesame`.
fn introductions(origin: &Origin) -> Vec<String> {
    let seen = origin.seen();
    let lines = origin.transcript();
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
    for kind in [
        "discovery",
        "versions",
        "download",
        "document",
        "signature",
        "package",
    ] {
        let origin = Origin::of([demo()]);
        let scene = with_token(&origin, "sesame");
        origin.always(at(Door::Front, asks(kind)), Fault::RedirectPlain);
        let run = mirror(&scene, &origin, &[]).exits(1);
        let text = said(&run, &origin);
        assert!(
            text.contains("the server redirects from https to http"),
            "{text}"
        );
        assert!(!text.contains("--plain-http"), "{text}");
        assert_eq!(origin.count(|seen| seen.door == Door::Plain), 0);
    }
}

#[test]
fn a_host_block_replaces_discovery() {
    let origin = Setup::new([demo()]).token("sesame").start();
    let scene = scene(&origin).env("TF_TOKEN_example_com", "sesame");
    scene.write(".tofurc", origin.host_block("example.com"));
    let arguments = [
        "mirror",
        "example.com/acme/demo",
        "--to",
        "oci-layout:store",
        "--ca-file",
        "ca.pem",
    ];
    let run = scene.tfoci(arguments).succeeds();
    assert!(
        run.stdout
            .starts_with("oci-layout:store/example.com/acme/demo:1.0.0@")
    );
    assert_eq!(
        origin.counters(),
        "1 versions, 1 download, 1 document, 1 signature, 1 package"
    );
    origin.assert_no_leaks();
    scene.write(
        ".tofurc",
        "host \"example.com\" {\n  services = { \"providers.v2\" = \"/\" }\n}\n",
    );
    let run = scene.tfoci(arguments).exits(1);
    run.says("error example.com/acme/demo expected providers.v1 received providers.v2");
}
