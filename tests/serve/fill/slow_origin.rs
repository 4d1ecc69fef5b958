use std::time::Duration;

use rustix::process::Signal;

use super::{PLATFORMS, base, origin, start};
use crate::support::origin::{Fault, Origin, Provider, asks};
use crate::support::scene::Scene;
use crate::support::server::gate::Gate;
use crate::support::signer::Signer;
use crate::support::wait::wait;

/// Each is of another provider, since the layout of a provider has one writer.
const SLOW: [&str; 10] = [
    "acme/p0", "acme/p1", "acme/p2", "acme/p3", "acme/p4", "acme/p5", "acme/p6", "acme/p7",
    "acme/p8", "acme/p9",
];
/// The versions that are mirrored at once.
const PLACES: usize = 8;

#[test]
fn versions_wait_for_a_place() {
    let slow = Origin::of(Provider::many(SLOW.len(), 1, &PLATFORMS));
    let scene = Scene::new();
    let ca = slow.write_ca(&scene);
    let scene = scene.env("SSL_CERT_FILE", ca.to_str().unwrap());
    let gate = Gate::default();
    slow.always(asks("package"), gate.holds("packages"));
    let server = start(&scene, &slow, "");
    let path = |provider| format!("/mirror/{}/1.0.0.json", slow.address(provider));
    let asking = SLOW.map(|provider| {
        let mut client = server.connect();
        client.request("GET", &path(provider), &[]);
        client
    });
    let is_begun = |provider: &&str| slow.count(asks(&format!("package {provider}"))) > 0;
    let begun = || SLOW.into_iter().filter(is_begun).count();
    wait(|| begun() == PLACES, || server.log());
    // What the store has, and what it is asked for, does not wait.
    let index = format!("/mirror/{}/index.json", slow.address(SLOW[9]));
    server.get(&index).is(200);
    assert_eq!(begun(), PLACES);
    // Those in the queue follow, although their clients are gone.
    drop(asking);
    gate.open("packages");
    wait(|| begun() == SLOW.len(), || server.log());
    for provider in SLOW {
        server.until(&path(provider), |reply| reply.status == 200);
    }
    server.stop();
}

/// A fill changes nothing at the origin, so its list is not asked for again.
pub fn a_filled_version_is_served_although_its_origin_lists_slowly() {
    let (origin, scene) = origin();
    origin.latency(asks("versions"), Duration::from_millis(3_500));
    let server = start(&scene, &origin, "");
    let index = format!("{}/index.json", base(&origin));
    let both = r#"{"versions":{"1.0.0":{},"1.1.0":{}}}"#;
    assert_eq!(server.get(&index).is(200).text(), both);
    for version in ["1.0.0", "1.1.0"] {
        let path = format!("{}/{version}.json", base(&origin));
        server.get(&path).is(200);
        let again = server.get(&index).is(200);
        assert_eq!(
            (again.text().as_str(), again.header("warning")),
            (both, None)
        );
    }
    // One for the list, and one for each version that is mirrored.
    assert_eq!(origin.count(asks("versions")), 3);
    server.stop();
}

/// What the trust file says when the origin answers counts, and not what it said when a client asked.
#[test]
fn a_refusal_does_not_outlast_the_trust_file_that_it_is_by() {
    let (origin, scene) = origin();
    let gate = Gate::default();
    origin.always(asks("document"), gate.holds("document"));
    let trust = |signer: &Signer| {
        let key = signer.fingerprint();
        let entry = format!("[[provider]]\nmatch = \"*/*/*\"\nkeys = [\"{key}\"]\n");
        scene.write("trust.toml", entry);
    };
    trust(Signer::stranger());
    let server = start(&scene, &origin, "--trust trust.toml");
    let path = format!("{}/1.1.0.json", base(&origin));
    let mut asking = server.connect();
    asking.request("GET", &path, &[]);
    wait(|| origin.count(asks("document")) > 0, || server.log());
    trust(Signer::acme());
    server.signal(Signal::HUP);
    server.logs("Reloaded trust.toml");
    gate.open("document");
    server.logs("not pinned");
    server.until(&path, |reply| reply.status == 200);
    server.stop();
}

pub fn a_version_that_is_still_being_mirrored_is_answered_later() {
    let (origin, scene) = origin();
    let gate = Gate::default();
    origin.always(asks("package"), gate.holds("packages"));
    let server = start(&scene, &origin, "");
    let path = format!("{}/1.1.0.json", base(&origin));
    server.get(&path).is(503);
    gate.open("packages");
    server.until(&path, |reply| reply.status == 200);
    server.stop();
}

#[test]
fn a_fill_that_nobody_waits_for_ends_with_the_server() {
    let (origin, scene) = origin();
    // The pause before the next attempt needs the runtime.
    origin.always(asks("package"), Fault::too_many_requests("60"));
    let server = start(&scene, &origin, "");
    let mut client = server.connect();
    client.request("GET", &format!("{}/1.1.0.json", base(&origin)), &[]);
    server.logs("it answered 429");
    drop(client);
    let log = server.stop();
    assert!(!log.contains("panicked"), "{log}");
}
