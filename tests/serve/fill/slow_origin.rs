use std::time::Duration;

use rustix::process::Signal;

use super::{BOTH, PLATFORMS, base, of, origin, start};
use crate::serve::stores::pinned;
use crate::support::origin::{Fault, Provider, asks};
use crate::support::server::gate::Gate;
use crate::support::signer::Signer;
use crate::support::wait::wait;

/// Each is of another provider, since the layout of a provider has one writer.
const SLOW: usize = 10;
/// The versions that are mirrored at once.
const PLACES: usize = 8;

#[test]
fn versions_wait_for_a_place() {
    let (slow, scene) = of(Provider::many(SLOW, 1, &PLATFORMS));
    let gate = Gate::default();
    slow.always(asks("package"), gate.holds("packages"));
    let server = start(&scene, &slow, "");
    let base = |number| format!("/mirror/{}/acme/p{number}", slow.host());
    let path = |number: usize| format!("{}/1.0.0.json", base(number));
    let ask = |number| {
        let mut client = server.connect();
        client.request("GET", &path(number), &[]);
        client
    };
    let asking: Vec<_> = (0..SLOW).map(ask).collect();
    let is_begun = |number: &usize| slow.count(asks(&format!("package acme/p{number}"))) > 0;
    let begun = || (0..SLOW).filter(is_begun).count();
    wait(|| begun() == PLACES, || server.log());
    // What the store has, and what it is asked for, does not wait.
    server.get(&format!("{}/index.json", base(9))).is(200);
    assert_eq!(begun(), PLACES);
    // Those in the queue follow, although their clients are gone.
    drop(asking);
    gate.open("packages");
    wait(|| begun() == SLOW, || server.log());
    for number in 0..SLOW {
        server.until(&path(number), |reply| reply.status == 200);
    }
}

/// A fill changes nothing at the origin, so its list is not asked for again.
pub fn a_filled_version_is_served_although_its_origin_lists_slowly() {
    let (origin, scene) = origin();
    origin.latency(asks("versions"), Duration::from_millis(3_500));
    let server = start(&scene, &origin, "");
    let index = format!("{}/index.json", base(&origin));
    assert_eq!(server.get(&index).is(200).text(), BOTH);
    for version in ["1.0.0", "1.1.0"] {
        let path = format!("{}/{version}.json", base(&origin));
        server.get(&path).is(200);
        let again = server.get(&index).is(200);
        assert_eq!(again.header("warning"), None);
        assert_eq!(again.text(), BOTH);
    }
    // One for the list, and one for each version that is mirrored.
    assert_eq!(origin.count(asks("versions")), 3);
}

/// What the trust file says when the origin answers counts, and not what it said when a client asked.
#[test]
fn a_refusal_does_not_outlast_the_trust_file_that_it_is_by() {
    let (origin, scene) = origin();
    let gate = Gate::default();
    origin.always(asks("document"), gate.holds("document"));
    let trust = |signer: &Signer| {
        let entry = pinned("*/*/*", &signer.fingerprint());
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
