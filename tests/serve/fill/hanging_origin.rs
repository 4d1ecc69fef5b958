use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::{BOTH, ONE, PLATFORMS, base, of, origin, start};
use crate::serve::store_faults::{PATIENCE, SLACK};
use crate::support::origin::{Fault, Origin, Provider, asks};
use crate::support::scene::Scene;

/// More than may wait for one origin.
const MANY: usize = 140;

/// An origin with these providers, and a user who trusts its certificate. The store `other` has all their versions.
fn mirrored(providers: usize) -> (Origin, Scene) {
    let (origin, scene) = of(Provider::many(providers, 2, &PLATFORMS[..1]));
    let all = (0..providers).map(|number| format!("{}@>=1.0.0 ", address(&origin, number)));
    let mirror = "mirror --to oci-layout:other -q";
    let all: String = all.collect();
    scene.line(format!("{mirror} {all}")).succeeds();
    (origin, scene)
}

fn address(origin: &Origin, number: usize) -> String {
    origin.address(&format!("acme/p{number}"))
}

fn copy(scene: &Scene, version: &str) {
    let stores = "--from oci-layout:other --to oci-layout:cache";
    scene.line(format!("copy {version} -q {stores}")).succeeds();
}

pub fn an_origin_that_gives_no_list_leaves_what_the_store_has() {
    let faults = [Fault::Stall, Fault::Reset, Fault::too_many_requests("60")];
    let (origin, scene) = mirrored(faults.len());
    let count = faults.len();
    for (number, fault) in faults.into_iter().enumerate() {
        origin.always(asks(&format!("versions acme/p{number}")), fault);
        copy(&scene, &format!("{}@1.0.0", address(&origin, number)));
    }
    let server = start(&scene, &origin, "--max-age 1");
    let index = |number| format!("/mirror/{}/index.json", address(&origin, number));
    std::thread::scope(|scope| {
        for path in (0..count).map(index) {
            let server = &server;
            scope.spawn(move || {
                let begun = Instant::now();
                let reply = server.get(&path).is(200);
                assert_eq!(reply.text(), ONE);
                let took = begun.elapsed();
                assert!(took < PATIENCE + SLACK, "{path} took {took:?}");
            });
        }
    });
    // What is new in the store is listed meanwhile.
    for number in 0..count {
        copy(&scene, &format!("{}@1.1.0", address(&origin, number)));
        server.until(&index(number), |reply| {
            assert_eq!(reply.status, 200, "{}", reply.text());
            reply.text() == BOTH
        });
    }
    server.logs("in time");
}

/// Any number of requests may wait for an origin.
pub fn an_origin_that_gives_no_list_stops_no_first_reads() {
    let (origin, scene) = mirrored(1);
    let stored = address(&origin, 0);
    copy(&scene, &format!("{stored}@1.0.0"));
    origin.always(asks("versions"), Fault::Stall);
    let server = start(&scene, &origin, "");
    let (answered, answers) = mpsc::channel();
    std::thread::scope(|scope| {
        for number in 0..MANY {
            let (server, answered) = (&server, answered.clone());
            let path = format!("/mirror/{}/made/up{number}/index.json", origin.host());
            scope.spawn(move || {
                let reply = server.get(&path);
                let _sent = answered.send(());
                assert_eq!(reply.status, 503, "{}", reply.text());
            });
        }
        // As soon as one of them is refused, all places are taken.
        answers.recv().unwrap();
        server.get(&format!("/mirror/{stored}/index.json")).is(200);
    });
    server.logs("in time");
}

/// Some origins always need longer than a list of the store waits.
pub fn a_list_that_comes_late_serves_the_next_request() {
    let (origin, scene) = origin();
    origin.latency(asks("versions"), Duration::from_secs(6));
    let server = start(&scene, &origin, "");
    let index = format!("{}/index.json", base(&origin));
    server.get(&index).is(503);
    server.logs("in time");
    let late = server.until(&index, |reply| reply.status == 200);
    assert_eq!(late.text(), BOTH);
    assert_eq!(origin.count(asks("versions")), 1);
}
