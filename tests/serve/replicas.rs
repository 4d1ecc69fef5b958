//! Servers that replace others while clients send requests.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::http::Connection;
use super::package_faults::large;
use super::server::Server;
use super::stores::{DEMO, Store, package};
use crate::support::release::sha256;
use crate::support::wait::wait;

const ZIP: &str = "linux_amd64";
const CLIENTS: usize = 6;
const RESTARTS: usize = 3;
/// How long a client retries before it gives up.
const PATIENCE: Duration = Duration::from_secs(20);
/// The time between two attempts, which leaves the machine to the server.
const PAUSE: Duration = Duration::from_millis(20);

/// The result of one attempt.
enum Attempt {
    Done(Vec<u8>),
    /// The server is unreachable, or ends.
    Again,
}

fn attempt(address: SocketAddr, path: &str) -> Attempt {
    let Some(mut connection) = Connection::try_plain(address) else {
        return Attempt::Again;
    };
    connection.request("GET", path, &[("Connection", "close")]);
    match connection.reply("GET") {
        Some(reply) if reply.status == 200 && reply.is_whole => Attempt::Done(reply.body),
        // A restart never leads to 404.
        Some(reply) if reply.status != 200 => {
            assert_eq!(reply.status, 503, "{path}: {}", reply.text());
            Attempt::Again
        }
        _ => Attempt::Again,
    }
}

/// Repeats a request until it is answered.
fn persistent(address: SocketAddr, path: &str) -> Vec<u8> {
    let begun = Instant::now();
    loop {
        if let Attempt::Done(body) = attempt(address, path) {
            return body;
        }
        assert!(begun.elapsed() < PATIENCE, "{path}");
        std::thread::park_timeout(PAUSE);
    }
}

#[test]
fn a_restart_fails_no_client_that_retries() {
    let store = Store::empty();
    store.push_release(DEMO, "1.0.0", &large(&[ZIP], 2 << 20));
    let name = package(DEMO, "1.0.0", ZIP);
    let zip = sha256(&store.file(DEMO, "1.0.0", &name));
    let mut server = Some(store.serve("--grace 20"));
    let address = server.as_ref().unwrap().address;
    let base = format!("/mirror/{DEMO}");
    let index = persistent(address, &format!("{base}/index.json"));
    let is_over = AtomicBool::new(false);
    let rounds = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                while !is_over.load(Ordering::SeqCst) {
                    assert_eq!(persistent(address, &format!("{base}/index.json")), index);
                    let version = persistent(address, &format!("{base}/1.0.0.json"));
                    assert!(String::from_utf8(version).unwrap().contains(&zip));
                    assert_eq!(sha256(&persistent(address, &format!("{base}/{name}"))), zip);
                    rounds.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        for _ in 0..RESTARTS {
            let before = rounds.load(Ordering::SeqCst);
            // Some clients are served before the next restart.
            let more = || rounds.load(Ordering::SeqCst) >= before + CLIENTS;
            wait(more, || "clients are not served".to_owned());
            let log = server.take().map(Server::stop).unwrap();
            assert!(!log.contains("closed before its end"), "{log}");
            server = Some(store.serve_at(address, "--grace 20"));
        }
        let before = rounds.load(Ordering::SeqCst);
        wait(
            || rounds.load(Ordering::SeqCst) >= before + CLIENTS,
            || "clients are not served".to_owned(),
        );
        is_over.store(true, Ordering::SeqCst);
    });
}
