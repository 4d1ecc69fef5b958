//! Servers that replace others while clients send requests.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::http::Connection;
use super::package_faults::large;
use super::server::Server;
use super::stores::{DEMO, INDEX, PLATFORMS, Store, VERSION, ZIP};
use crate::support::release::sha256;
use crate::support::wait::wait;

const CLIENTS: usize = 6;
const RESTARTS: usize = 3;
/// How long a client retries before it gives up.
const PATIENCE: Duration = Duration::from_secs(20);
/// The time between two attempts, which leaves the machine to the server.
const PAUSE: Duration = Duration::from_millis(20);

/// One attempt; `None` if the server is unreachable, or ends.
fn attempt(address: SocketAddr, path: &str) -> Option<Vec<u8>> {
    let mut connection = Connection::try_plain(address)?;
    connection.request("GET", path, &[("Connection", "close")]);
    let reply = connection.reply("GET")?;
    // A restart never leads to 404.
    assert!(matches!(reply.status, 200 | 503), "{path}: {reply:?}");
    (reply.status == 200 && reply.is_whole).then_some(reply.body)
}

/// Repeats a request until it is answered.
fn persistent(address: SocketAddr, path: &str) -> Vec<u8> {
    let begun = Instant::now();
    loop {
        if let Some(body) = attempt(address, path) {
            return body;
        }
        assert!(begun.elapsed() < PATIENCE, "{path}");
        std::thread::park_timeout(PAUSE);
    }
}

#[test]
fn a_restart_fails_no_client_that_retries() {
    let store = Store::empty();
    store.push_release(DEMO, "1.0.0", &large(&PLATFORMS[..1], 2 << 20));
    let zip = sha256(&store.zip(PLATFORMS[0]));
    let mut server = Some(store.serve("--grace 20"));
    let address = server.as_ref().unwrap().address;
    let index = persistent(address, INDEX);
    let is_over = AtomicBool::new(false);
    let rounds = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                while !is_over.load(Ordering::SeqCst) {
                    assert_eq!(persistent(address, INDEX), index);
                    let version = persistent(address, VERSION);
                    assert!(String::from_utf8(version).unwrap().contains(&zip));
                    assert_eq!(sha256(&persistent(address, ZIP)), zip);
                    rounds.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        // Some clients are served before the next restart, and after the last one.
        let are_served = || {
            let before = rounds.load(Ordering::SeqCst);
            let more = || rounds.load(Ordering::SeqCst) >= before + CLIENTS;
            wait(more, || "clients are not served".to_owned());
        };
        for _ in 0..RESTARTS {
            are_served();
            let log = server.take().map(Server::stop).unwrap();
            assert!(!log.contains("closed before its end"), "{log}");
            server = Some(store.serve_at(address, "--grace 20"));
        }
        are_served();
        is_over.store(true, Ordering::SeqCst);
    });
}
