//! The messages at the start of a server: its address, and problems that clients would have.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::server::Server;
use super::stores::{DEMO, HOST, Store};
use crate::support::registry::answer::Answer;
use crate::support::registry::{Fault, Registry};
use crate::support::release::sha256;
use crate::support::scene::Scene;
use crate::support::tls::Authority;

const UNREACHABLE: &str = "ready, but the last request to the store failed\n";
const URL: &str = "https://providers.example.com";

#[test]
fn it_names_the_url_and_the_address() {
    let store = Store::demo();
    let server = store.serve(&["--url", URL]);
    let line = format!("Listening on {URL} (bound to {})\n", server.address);
    assert!(server.log().contains(&line), "{}", server.log());
    let server = store.serve(&[]);
    let line = format!("Listening on http://{}\n", server.address);
    assert!(server.log().contains(&line), "{}", server.log());
    let server = store.serve(&["--url", URL, "--format", "json"]);
    let log = server.log();
    let first: serde_json::Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    assert_eq!(first["url"], URL);
    assert_eq!(first["address"], server.address.to_string());
}

/// A directory without providers, or one level too deep, is reported and served in any case.
#[test]
fn the_number_of_providers_is_reported() {
    let store = Store::demo();
    store.serve(&[]).logs("Serving 1 provider\n");
    store
        .serve(&["--format", "json"])
        .logs("\"event\":\"serving\",\"message\":\"1 provider\"");
    let scene = Scene::new();
    scene.write("disk/localhost_8443/acme/demo/index.json", "{}");
    scene.write("disk/localhost_8443/acme/demo/oci-layout", "{}");
    scene.write("empty/.keep", "");
    for (from, hint) in [
        (
            "disk/localhost_8443",
            "no provider is in oci-layout:disk/localhost_8443, expected DIR/HOSTNAME/NAMESPACE/TYPE; hint: did you mean oci-layout:disk?",
        ),
        (
            "empty",
            "no provider is in oci-layout:empty, expected DIR/HOSTNAME/NAMESPACE/TYPE; hint: check the path",
        ),
    ] {
        let from = format!("oci-layout:{from}");
        let server = Server::plain(&scene, &["--from", &from]);
        server.logs(hint);
        server.get("/healthz").is(200);
    }
    let server = Server::plain(&scene, &["--from", "oci-layout:empty", "--fill"]);
    server.logs("Serving 0 providers\n");
    assert!(!server.stop().contains("no provider is in"));
}

#[test]
fn a_certificate_for_other_names_is_reported() {
    let store = Store::demo();
    let warning =
        "does not name providers.example.com, the host of --url: clients will refuse to connect\n";
    for (url, is_noticed) in [
        (None, false),
        (Some("https://localhost"), false),
        (Some("https://LOCALHOST:8443/below"), false),
        (Some("https://127.0.0.1:8443"), false),
        (Some(URL), true),
    ] {
        let url: Vec<&str> = url.iter().flat_map(|url| ["--url", url]).collect();
        let server = store.serve_tls(&url);
        let log = server.log();
        assert_eq!(log.contains(warning), is_noticed, "{url:?}\n{log}");
    }
    // Also in a certificate that replaces the first.
    let server = store.serve_tls(&["--url", "https://localhost"]);
    let names = ["providers.example.com"];
    Authority::shared()
        .server_of(&names)
        .write(&store.scene, "server");
    server.signal(rustix::process::Signal::HUP);
    server.logs("does not name localhost, the host of --url");
}

#[test]
fn links_of_one_process_are_reported() {
    let store = Store::demo();
    store
        .scene
        .write("tokens.txt", format!("ci sha256:{}\n", sha256(b"sesame")));
    store.scene.write("signing.key", STANDARD.encode([1; 32]));
    let warning = "clients need the tokens of tokens.txt, and without --signing-key the links to packages are valid for this process only: not for replicas, and not after a restart\n";
    for (more, is_noticed) in [
        (&[][..], false),
        (&["--tokens", "tokens.txt"], true),
        (
            &["--tokens", "tokens.txt", "--signing-key", "signing.key"],
            false,
        ),
    ] {
        let log = store.serve(more).stop();
        assert_eq!(log.contains(warning), is_noticed, "{more:?}\n{log}");
    }
}

/// A server whose store is unreachable reports it, starts in any case, and reports when the store answers again.
#[test]
fn an_unreachable_store_is_reported_at_the_start() {
    let registry = Registry::plain();
    let store = Store::at(registry.host());
    store.push(DEMO, "1.0.0", None);
    let is_unreachable = Arc::new(AtomicBool::new(true));
    let unreachable = is_unreachable.clone();
    let challenge = "Basic realm=\"registry\"";
    let refusal = Answer::error(401, "UNAUTHORIZED", "no").header("www-authenticate", challenge);
    registry.always(
        move |_| unreachable.load(Ordering::SeqCst),
        Fault::Answer(refusal),
    );
    let server = store.serve(&["--registry-host", HOST]);
    server.logs("no credentials, since none were found");
    assert!(server.log().contains("hint: "), "{}", server.log());
    // A load balancer must not keep clients from cached lists.
    let ready = server.until("/readyz", |reply| reply.text() == UNREACHABLE);
    ready.is(200);
    let note = "The store is unreachable at the moment.";
    assert!(server.get("/").text().contains(note));
    is_unreachable.store(false, Ordering::SeqCst);
    let index = format!("/mirror/{DEMO}/index.json");
    server.until(&index, |reply| reply.status == 200);
    assert_eq!(server.get("/readyz").is(200).text(), "ready\n");
    assert!(!server.get("/").text().contains(note));
    let log = server.stop();
    let lines = log.lines().filter(|line| line.contains("hint: "));
    assert!(lines.count() >= 1, "{log}");
}

#[test]
fn every_kind_of_unreachable_store_is_reported_at_the_start() {
    let registry = Registry::plain();
    let demo = Store::at(registry.host());
    demo.push(DEMO, "1.0.0", None);
    let gone = Store::at("127.0.0.1:1");
    let server = gone.serve(&["--registry-host", HOST]);
    server.until("/readyz", |reply| reply.text() == UNREACHABLE);
    let log = server.stop();
    let line = log.lines().find(|line| line.contains("Failed"));
    assert!(line.unwrap().contains("127.0.0.1:1"), "{log}");
    // A registry that answers is not mentioned.
    let server = demo.serve(&["--registry-host", HOST]);
    server.get(&format!("/mirror/{DEMO}/index.json")).is(200);
    let log = Server::stop(server);
    assert!(!log.contains("Failed"), "{log}");
}
