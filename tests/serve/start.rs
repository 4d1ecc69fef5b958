//! The messages at the start of a server: its address, and problems that clients would have.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::server::Server;
use super::store_faults::unauthorized;
use super::stores::{DEMO, HOST, INDEX, Store};
use crate::support::author::Author;
use crate::support::registry::{Personality, Registry, Setup};
use crate::support::scene::Scene;

const URL: &str = "https://providers.example.com";

#[test]
fn it_names_the_url_and_the_address() {
    let store = Store::demo();
    let server = store.serve(format!("--url {URL}"));
    server.logs(&format!(
        "Listening on {URL} (bound to {})\n",
        server.address
    ));
    let server = store.serve("");
    server.logs(&format!("Listening on http://{}\n", server.address));
    let server = store.serve(format!("--url {URL} --format json"));
    let log = server.log();
    let first: serde_json::Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    assert_eq!(first["url"], URL);
    assert_eq!(first["address"], server.address.to_string());
}

/// A directory without providers, or one level too deep, is reported and served in any case.
#[test]
fn the_number_of_providers_is_reported() {
    let store = Store::demo();
    store.serve("").logs("Serving 1 provider\n");
    let line = "\"event\":\"serving\",\"message\":\"Serving 1 provider\"";
    store.serve("--format json").logs(line);
    let scene = Scene::new();
    scene.write("disk/localhost_8443/acme/demo/index.json", "{}");
    scene.write("disk/localhost_8443/acme/demo/oci-layout", "{}");
    scene.write("empty/.keep", "");
    for from in ["oci-layout:disk/localhost_8443", "oci-layout:empty"] {
        let server = Server::plain(&scene, format!("--from {from}"));
        server.logs("Warning ");
        server.logs(from);
        server.get("/healthz").is(200);
    }
    let server = Server::plain(&scene, "--from oci-layout:empty --fill --include */*/*");
    server.logs("Serving 0 providers\n");
    assert!(!server.stop().contains("Warning "));
}

/// Not every registry lists its repositories.
#[test]
fn a_template_that_no_repository_of_the_registry_matches_is_reported() {
    let author = Author::with_release();
    let registry = Setup::of(Personality::Plain)
        .quirks(|quirks| quirks.catalog = Some(2))
        .start();
    let host = registry.host();
    let store = |name: &str| format!("{host}/{name}/{{hostname}}/{{namespace}}/{{type}}");
    let plain = format!("--plain-http {host}");
    author.push_to(&store("tofu"), &plain).succeeds();
    let serve = |name: &str| {
        let from = store(name);
        Server::plain(&author.scene, format!("--from {from} {plain}"))
    };
    serve("tofu").logs("Serving 1 provider\n");
    let server = serve("tof");
    server.logs("Warning ");
    server.logs(&format!("{host}/tofu/registry.opentofu.org/acme/demo"));
    let registry = Registry::plain();
    let host = registry.host();
    let from = format!("{host}/tofu/{{hostname}}/{{namespace}}/{{type}} --plain-http {host}");
    let server = Server::plain(&author.scene, format!("--from {from}"));
    server.get("/").is(200);
    let log = server.stop();
    assert!(!log.contains("Warning"), "{log}");
}

#[test]
fn providers_that_no_entry_of_the_trust_file_matches_are_reported_once() {
    let store = Store::empty();
    let names = ["a", "b", "c", "d", "e"].map(|name| format!("{HOST}/other/{name}"));
    for name in names.iter().map(String::as_str).chain([DEMO]) {
        store.push(name, "1.0.0", None);
    }
    let trust = format!("[[provider]]\nmatch = \"{DEMO}\"\n");
    store.scene.write("trust.toml", trust);
    let four = names[..4].join(", ");
    let line = format!("no entry of trust.toml matches {four} and 1 more: ");
    for more in ["", "--require-pinned"] {
        let trust = "--trust trust.toml --max-age 0";
        let server = store.serve(format!("{trust} {more}"));
        server.logs(&format!("Warning {line}"));
        for name in &names {
            server.get(&format!("/mirror/{name}/index.json"));
        }
        let log = server.stop();
        assert_eq!(log.matches("no entry of").count(), 1, "{log}");
    }
    // Without a trust file, no entry is missing.
    let server = store.serve("");
    server.get(INDEX).is(200);
    assert!(!server.stop().contains("no entry of"));
}

/// A server whose store is unreachable reports it, starts in any case, and reports when the store answers again.
#[test]
fn an_unreachable_store_is_reported_at_the_start() {
    let (registry, store) = Store::demo_in_registry();
    let is_unreachable = Arc::new(AtomicBool::new(true));
    let unreachable = is_unreachable.clone();
    registry.always(move |_| unreachable.load(Ordering::SeqCst), unauthorized());
    let server = store.serve(format!("--registry-host {HOST}"));
    server.logs("no credentials");
    server.logs("hint: ");
    // A load balancer must not keep clients from cached lists.
    server.get("/readyz").is(200);
    let note = "The store is unreachable";
    server.get("/").tells(note);
    is_unreachable.store(false, Ordering::SeqCst);
    server.until(INDEX, |reply| reply.status == 200);
    server.get("/").omits(note);
}

#[test]
fn every_kind_of_unreachable_store_is_reported_at_the_start() {
    let (_registry, demo) = Store::demo_in_registry();
    let gone = Store::at("127.0.0.1:1");
    let server = gone.serve(format!("--registry-host {HOST}"));
    server.logs("Failed");
    // Other replicas may have lists from before.
    server.get("/readyz").is(503);
    // One outage is one line, whatever is asked for meanwhile.
    for name in ["a", "b", "c"] {
        server.get(&INDEX.replace("demo", name)).is(503);
    }
    let log = server.stop();
    let mut lines = log.lines().filter(|line| line.contains("Failed"));
    assert!(lines.next().unwrap().contains("127.0.0.1:1"), "{log}");
    assert_eq!(lines.next(), None, "{log}");
    // A registry that answers is not mentioned.
    let server = demo.serve(format!("--registry-host {HOST}"));
    server.get(INDEX).is(200);
    let log = server.stop();
    assert!(!log.contains("Failed"), "{log}");
}
