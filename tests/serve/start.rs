//! The messages at the start of a server: its address, and problems that clients would have.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use rustix::process::Signal;

use super::server::{Server, lines_with};
use super::store_faults::unauthorized;
use super::stores::{DEMO, HOST, INDEX, Store};
use crate::support::author::Author;
use crate::support::registry::{Personality, Registry, Setup};
use crate::support::scene::Scene;
use crate::support::tls::Authority;

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

/// A port is part of a provider's address, and the host of the URL is easily not that of the providers.
#[test]
fn a_registry_without_providers_is_reported() {
    let store = Store::demo();
    let [of_host, of_port] = ["", ":8443"].map(|port| format!("https://{HOST}{port}"));
    let named = |arguments: &str| {
        let server = store.serve(format!("{arguments} --format json"));
        server.logs("\"event\":\"serving\"");
        let log = server.stop();
        log.contains("\"event\":\"no-registry\"")
    };
    assert!(named(&format!("--url {of_port}")));
    assert!(named("--url https://other.test"));
    let other = format!("--url https://other.test:8443 --registry-host {HOST}");
    for arguments in ["", &format!("--url {of_host}"), &other] {
        assert!(!named(arguments), "{arguments:?}");
    }
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
fn a_certificate_that_has_expired_or_expires_soon_is_reported() {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    let store = Store::demo();
    let now = SystemTime::now();
    let in_2020 = UNIX_EPOCH + Duration::from_secs(1_577_836_800);
    let path = store.scene.path("server.crt").display().to_string();
    let expired = format!("{path} expired on Wed, 01 Jan 2020 00:00:00 GMT");
    let start = |end: SystemTime, more: &str| {
        let identity = Authority::shared().server_until(end);
        let from = "--from oci-layout:store";
        Server::with_identity(&store.scene, &identity, format!("{from} {more}"))
    };
    for (more, line) in [("", "Warning"), ("--format json", "certificate-expires")] {
        let log = start(in_2020, more).stop();
        assert_eq!(lines_with(&log, &format!("{line} {expired}")), 1, "{log}");
    }
    let end = now + 13 * DAY;
    let log = start(end, "").stop();
    // `Thu, 31 Dec 2026`
    let day = &httpdate::fmt_http_date(end)[.."Thu, 31 Dec 2026".len()];
    assert!(log.contains(&format!("expires on {day}")), "{log}");
    // Also a certificate that replaces the first.
    let server = start(now + 15 * DAY, "");
    let log = server.log();
    assert!(!log.contains("the certificate in"), "{log}");
    let old = Authority::shared().server_until(in_2020);
    old.write(&store.scene, "server");
    server.signal(Signal::HUP);
    server.logs(&expired);
}

#[test]
fn links_of_one_process_are_reported() {
    let store = Store::demo();
    store.tokens(&[("ci", "sesame", "")]);
    store.scene.write("signing.key", STANDARD.encode([1; 32]));
    let warning = "Warning tokens.txt --signing-key";
    for (more, is_noticed) in [
        ("", false),
        ("--tokens tokens.txt", true),
        ("--tokens tokens.txt --signing-key signing.key", false),
    ] {
        let log = store.serve(more).stop();
        let warnings = lines_with(&log, warning);
        assert_eq!(warnings > 0, is_noticed, "{more:?}\n{log}");
    }
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
    // A provider that is pushed while the server runs.
    let server = store.serve("--trust trust.toml --max-age 0 --format json");
    server.logs("\"event\":\"unmatched\",\"message\":\"no entry of trust.toml matches");
    let late = format!("{HOST}/other/late");
    store.push(&late, "1.0.0", None);
    for _ in 0..2 {
        server.get(&format!("/mirror/{late}/index.json")).is(200);
        server.get(INDEX).is(200);
    }
    let log = server.stop();
    assert_eq!(log.matches(&format!("{late}: ")).count(), 1, "{log}");
    assert_eq!(log.matches("no entry of").count(), 2, "{log}");
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
