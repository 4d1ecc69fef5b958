//! Many clients at once: readers of one package, idle connections, and more connections than there may be.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::package_faults::large;
use super::server::Server;
use super::stores::{DEMO, HOST, Store, package};
use crate::support::registry::Registry;
use crate::support::release::sha256;
use crate::support::tamper;

const ZIP: &str = "linux_amd64";
const READERS: usize = 200;
const IDLE: usize = 1_000;
const VERSIONS: usize = 1_000;

fn path() -> String {
    format!("/mirror/{DEMO}/{}", package(DEMO, "1.0.0", ZIP))
}

#[test]
fn two_hundred_readers_get_one_zip_whole() {
    let registry = Registry::plain();
    for store in [Store::empty(), Store::at(registry.host())] {
        store.push_release(DEMO, "1.0.0", &large(&[ZIP], 256 << 10));
        let digest = sha256(&store.file(DEMO, "1.0.0", &package(DEMO, "1.0.0", ZIP)));
        let server = store.serve("");
        let (path, all_ready) = (path(), Barrier::new(READERS));
        std::thread::scope(|scope| {
            for _ in 0..READERS {
                scope.spawn(|| {
                    let mut connection = server.connect();
                    all_ready.wait();
                    connection.request("GET", &path, &[]);
                    let reply = connection.reply("GET").unwrap().is(200);
                    assert!(reply.is_whole);
                    assert_eq!(sha256(&reply.body), digest);
                });
            }
        });
        let log = server.stop();
        let sent = log
            .lines()
            .filter(|line| line.contains(" 200 GET /mirror/"));
        assert_eq!(sent.count(), READERS, "{log}");
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
        connection.request("GET", "/healthz", &[]);
        connection.reply("GET").unwrap().is(200);
    }
    let index = format!("/mirror/{DEMO}/index.json");
    for _ in 0..20 {
        server.get(&index).json();
        server.get(&path()).is(200);
    }
    assert!(
        open_connections(&server) > IDLE,
        "{}",
        server.get("/metrics").text()
    );
    // Each of them is still served.
    for connection in &mut idle {
        connection.request("GET", "/healthz", &[]);
        connection.reply("GET").unwrap().is(200);
    }
}

fn open_connections(server: &Server) -> usize {
    let metrics = server.get("/metrics").text();
    let line = metrics
        .lines()
        .find_map(|line| line.strip_prefix("tfoci_connections "));
    line.unwrap().parse().unwrap()
}

/// A connection above the limit waits, and is served as soon as another one ends.
#[test]
fn connections_above_the_limit_wait() {
    let store = Store::demo();
    let server = store.serve("--max-connections 2");
    let mut first = server.connect();
    let mut second = server.connect();
    for connection in [&mut first, &mut second] {
        connection.request("GET", "/healthz", &[]);
        connection.reply("GET").unwrap().is(200);
    }
    let mut third = server.connect();
    third.request("GET", "/?q=third", &[]);
    for _ in 0..50 {
        first.request("GET", "/readyz", &[]);
        first.reply("GET").unwrap().is(200);
    }
    first.request("GET", "/metrics", &[]);
    let metrics = first.reply("GET").unwrap().text();
    assert!(metrics.contains("\ntfoci_connections 2\n"), "{metrics}");
    assert!(!metrics.contains("route=\"page\""), "{metrics}");
    drop(second);
    third.reply("GET").unwrap().is(200);
    first.request("GET", "/metrics", &[]);
    let metrics = first.reply("GET").unwrap().text();
    assert!(
        metrics.contains("tfoci_requests_total{route=\"page\",status=\"200\"} 1\n"),
        "{metrics}"
    );
}

/// Reads of a layout never yield, so reading a list has to yield explicitly.
#[test]
fn long_lists_do_not_block_other_requests() {
    let lists = 2 * std::thread::available_parallelism().unwrap().get();
    let store = Store::demo();
    let demo = store.repository(DEMO);
    let [index, evidence] = ["1.0.0", "evidence-1.0.0"].map(|tag| tamper::tagged(&demo, tag));
    tamper::tags(&demo, |tags| {
        for number in 0..VERSIONS {
            for (descriptor, prefix) in [(&index, ""), (&evidence, "evidence-")] {
                let mut descriptor = descriptor.clone();
                let name = format!("{prefix}9.{number}.0");
                descriptor["annotations"]["org.opencontainers.image.ref.name"] = name.into();
                tags.push(descriptor);
            }
        }
    });
    let other = |number: usize| format!("registry.acme.test/acme/demo{number}");
    for number in 0..lists {
        std::os::unix::fs::symlink(&demo, store.repository(&other(number))).unwrap();
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
            connection.request("GET", "/healthz", &[]);
            connection.reply("GET").unwrap().is(200);
        }
        answered.load(Ordering::SeqCst)
    });
    assert_eq!(before, 0);
    server.stop();
}

/// A request goes on below after its client has left, so made-up addresses could take all memory, and the queue of the store.
#[test]
fn made_up_providers_do_not_wait_without_limit() {
    // It accepts connections and sends nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let store = Store::at(&silent.local_addr().unwrap().to_string());
    let server = store.serve(format!("--registry-host {HOST}"));
    let index = |number: usize| format!("/mirror/{HOST}/acme/made-up-{number}/index.json");
    let limited = || {
        let metrics = server.get("/metrics").is(200).text();
        let line = metrics
            .lines()
            .find_map(|line| line.strip_prefix("tfoci_limited_requests_total "));
        line.unwrap().parse::<usize>().unwrap()
    };
    let mut abandoned = Vec::new();
    while limited() == 0 {
        let mut connection = server.connect();
        connection.request("GET", &index(abandoned.len()), &[]);
        abandoned.push(connection);
        assert!(abandoned.len() < 1_000, "{}", server.log());
    }
    server.get(&index(1_000)).is(503);
    // The log and the metrics have the requests without an answer.
    drop(abandoned);
    server.logs(" 499 GET /mirror/");
    let metrics = server.get("/metrics").is(200).text();
    assert!(metrics.contains("status=\"499\"}"), "{metrics}");
    server.get("/healthz").is(200);
    server.stop();
}
