use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::package_faults::large;
use super::server::Server;
use super::stores::{DEMO, PLATFORMS, Store, ZIP};
use crate::support::registry::Registry;
use crate::support::release::ReleaseFolder;
use crate::support::wait::wait;

/// How long the end may take without requests in progress.
const SOON: Duration = Duration::from_secs(5);

fn release() -> ReleaseFolder {
    large(&PLATFORMS[..1], 24 << 20)
}

fn download(server: &Server) -> super::http::Connection {
    let mut connection = server.connect();
    connection.request("GET", ZIP, &[]);
    connection.head().unwrap().is(200);
    connection
}

/// Asserts that the server ends soon after a signal that was sent at this time, and with 0.
#[track_caller]
fn ends_soon(server: &mut Server, begun: Instant) {
    assert_eq!(server.wait().code(), Some(0), "{}", server.log());
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

#[test]
fn a_download_ends_whole_when_the_server_ends() {
    let registry = Registry::plain();
    for (store, signal) in [
        (Store::empty(), Signal::TERM),
        (Store::at(registry.host()), Signal::INT),
    ] {
        store.push_release(DEMO, "1.0.0", &release());
        let zip = store.zip(PLATFORMS[0]);
        for mut server in [store.serve(""), store.serve_tls("")] {
            let idle: Vec<_> = (0..20)
                .map(|number| {
                    let mut connection = server.connect();
                    // Some have sent a request, and others never did.
                    if number % 2 == 0 {
                        connection.get("/readyz").is(200);
                    }
                    connection
                })
                .collect();
            let mut reading = download(&server);
            let mut body = reading.some(1 << 20);
            server.signal(signal);
            server.logs("Refusing");
            let begun = Instant::now();
            for mut connection in idle {
                assert!(connection.ends());
            }
            assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
            let is_refused = || std::net::TcpStream::connect(server.address).is_err();
            wait(is_refused, || server.log());
            while body.len() < zip.len() {
                let more = reading.some(1);
                assert!(!more.is_empty(), "{} of {}", body.len(), zip.len());
                body.extend(more);
            }
            assert!(body == zip);
            assert!(reading.ends());
            assert_eq!(server.wait().code(), Some(0), "{}", server.log());
            let log = server.log();
            assert!(!log.contains("closed before its end"), "{log}");
        }
    }
}

#[test]
fn a_reader_that_never_reads_is_let_go_after_a_while_or_a_second_signal() {
    let store = Store::empty();
    store.push_release(DEMO, "1.0.0", &release());
    for (mut server, first, second) in [
        (store.serve("--grace 1"), Signal::TERM, None),
        (store.serve_tls("--grace 1"), Signal::TERM, None),
        (store.serve(""), Signal::TERM, Some(Signal::TERM)),
        (store.serve_tls(""), Signal::INT, Some(Signal::TERM)),
    ] {
        let _never_read = download(&server);
        let begun = Instant::now();
        server.signal(first);
        if let Some(second) = second {
            server.logs("Refusing");
            server.signal(second);
        }
        ends_soon(&mut server, begun);
        server.logs(" to 127.0.0.1, closed before its end\n");
    }
}

/// A load balancer that asks in the last moment must not send clients here.
#[test]
fn a_server_that_ends_is_not_ready() {
    let store = Store::demo();
    let mut server = store.serve("");
    let mut asking = server.connect();
    asking.send(b"GET /readyz HTTP/1.1\r\n");
    // A connection whose first line was not read would be closed at once. It was read before a later connection is answered twice.
    let has_both = |reply: &super::http::Reply| reply.text().contains("\ntfoci_connections 2\n");
    for _ in 0..2 {
        server.until("/metrics", has_both);
    }
    server.signal(Signal::TERM);
    server.logs("Refusing");
    asking.send(b"Host: server.test\r\n\r\n");
    asking.reply("GET").unwrap().is(503);
    assert_eq!(server.wait().code(), Some(0), "{}", server.log());
}

#[test]
fn a_server_without_work_ends_at_once() {
    let store = Store::demo();
    let end = |mut server: Server, signal: Signal| {
        let mut kept = server.connect();
        kept.get("/readyz").is(200);
        // Half of a request is none.
        let mut half = server.connect();
        half.send(b"GET /readyz HTT");
        let begun = Instant::now();
        server.signal(signal);
        ends_soon(&mut server, begun);
        assert!(kept.ends());
    };
    std::thread::scope(|scope| {
        for signal in [Signal::TERM, Signal::INT] {
            for server in [store.serve(""), store.serve_tls("")] {
                scope.spawn(move || end(server, signal));
            }
        }
    });
}
