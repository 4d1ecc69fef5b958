//! Many clients at once: readers of one package, idle connections, and more connections than there may be.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::package_faults::large;
use super::stores::{DEMO, HOST, INDEX, PLATFORMS, Store, ZIP};
use crate::support::registry::Registry;
use crate::support::release::sha256;

const READERS: usize = 200;
const IDLE: usize = 1_000;
const VERSIONS: usize = 1_000;

#[test]
fn two_hundred_readers_get_one_zip_whole() {
    let registry = Registry::plain();
    for store in [Store::empty(), Store::at(registry.host())] {
        store.push_release(DEMO, "1.0.0", &large(&PLATFORMS[..1], 256 << 10));
        let digest = sha256(&store.zip(PLATFORMS[0]));
        let server = store.serve("");
        let all_ready = Barrier::new(READERS);
        std::thread::scope(|scope| {
            for _ in 0..READERS {
                scope.spawn(|| {
                    let mut connection = server.connect();
                    all_ready.wait();
                    let reply = connection.get(ZIP).is(200);
                    assert!(reply.is_whole);
                    assert_eq!(sha256(&reply.body), digest);
                });
            }
        });
        let log = server.stop();
        let sent = log.matches(" 200 GET /mirror/").count();
        assert_eq!(sent, READERS, "{log}");
        assert!(!log.contains("closed before its end"), "{log}");
    }
}

#[test]
fn a_thousand_idle_connections_leave_room_for_others() {
    let store = Store::demo();
    let server = store.serve("");
    let mut idle: Vec<_> = (0..IDLE).map(|_| server.connect()).collect();
    // Half of them have sent a request before.
    for connection in idle.iter_mut().step_by(2) {
        connection.get("/healthz").is(200);
    }
    for _ in 0..20 {
        server.get(INDEX).json();
        server.get(ZIP).is(200);
    }
    let open = server.metric("connections");
    assert!(open > IDLE, "{open}");
    // Each of them is still served.
    for connection in &mut idle {
        connection.get("/healthz").is(200);
    }
}

/// A connection above the limit waits, and is served as soon as another one ends.
#[test]
fn connections_above_the_limit_wait() {
    let store = Store::demo();
    let server = store.serve("--max-connections 2");
    let mut first = server.connect();
    let mut second = server.connect();
    for connection in [&mut first, &mut second] {
        connection.get("/healthz").is(200);
    }
    let mut third = server.connect();
    third.request("GET", "/?q=third", &[]);
    for _ in 0..50 {
        first.get("/readyz").is(200);
    }
    let metrics = first.get("/metrics").tells("\ntfoci_connections 2\n");
    metrics.omits("route=\"page\"");
    drop(second);
    third.reply("GET").unwrap().is(200);
    let counted = "tfoci_requests_total{route=\"page\",status=\"200\"} 1\n";
    first.get("/metrics").tells(counted);
}

/// Reads of a layout never yield, so reading a list has to yield explicitly.
#[test]
fn long_lists_do_not_block_other_requests() {
    let lists = 2 * std::thread::available_parallelism().unwrap().get();
    let store = Store::demo();
    store.multiply("1.0.0", VERSIONS);
    store.multiply("evidence-1.0.0", VERSIONS);
    let other = |number: usize| format!("registry.acme.test/acme/demo{number}");
    for number in 0..lists {
        let link = store.repository(&other(number));
        std::os::unix::fs::symlink(store.repository(DEMO), link).unwrap();
    }
    let server = store.serve("");
    let mut waiting: Vec<_> = (0..lists)
        .map(|number| {
            let mut connection = server.connect();
            let target = format!("/mirror/{}/index.json", other(number));
            connection.request("GET", &target, &[]);
            connection
        })
        .collect();
    let answered = AtomicUsize::new(0);
    let before = std::thread::scope(|scope| {
        for connection in &mut waiting {
            scope.spawn(|| {
                connection.reply("GET").unwrap();
                answered.fetch_add(1, Ordering::SeqCst);
            });
        }
        let mut connection = server.connect();
        for _ in 0..5 {
            connection.get("/healthz").is(200);
        }
        answered.load(Ordering::SeqCst)
    });
    assert_eq!(before, 0);
}

/// A request goes on below after its client has left, so made-up addresses could take all memory, and the queue of the store.
#[test]
fn made_up_providers_do_not_wait_without_limit() {
    // It accepts connections and sends nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let store = Store::at(&silent.local_addr().unwrap().to_string());
    let server = store.serve(format!("--registry-host {HOST}"));
    let index = |number: usize| format!("/mirror/{HOST}/acme/made-up-{number}/index.json");
    let mut abandoned = Vec::new();
    while server.metric("limited_requests_total") == 0 {
        let mut connection = server.connect();
        connection.request("GET", &index(abandoned.len()), &[]);
        abandoned.push(connection);
        assert!(abandoned.len() < 1_000, "{}", server.log());
    }
    server.get(&index(1_000)).is(503);
    // The log and the metrics have the requests without an answer.
    drop(abandoned);
    server.logs(" 499 GET /mirror/");
    server.get("/metrics").is(200).tells("status=\"499\"}");
    server.get("/healthz").is(200);
}
