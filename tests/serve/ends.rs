use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::package_faults::large;
use super::server::Server;
use super::stores::{DEMO, Store, package};
use crate::support::registry::Registry;
use crate::support::wait::wait;

const ZIP: &str = "linux_amd64";
const SIZE: usize = 24 << 20;
/// How long the end may take without requests in progress.
const SOON: Duration = Duration::from_secs(5);

fn download(server: &Server) -> super::http::Connection {
    let path = format!("/mirror/{DEMO}/{}", package(DEMO, "1.0.0", ZIP));
    let mut connection = server.connect();
    connection.request("GET", &path, &[]);
    connection.head().unwrap().is(200);
    connection
}

#[test]
fn a_download_ends_whole_when_the_server_ends() {
    let registry = Registry::plain();
    for (store, signal) in [
        (Store::empty(), Signal::TERM),
        (Store::at(registry.host()), Signal::INT),
    ] {
        store.push_release(DEMO, "1.0.0", &large(&[ZIP], SIZE));
        let zip = store.file(DEMO, "1.0.0", &package(DEMO, "1.0.0", ZIP));
        for mut server in [store.serve(""), store.serve_tls("")] {
            let idle: Vec<_> = (0..20)
                .map(|number| {
                    let mut connection = server.connect();
                    // Some have sent a request, and others never did.
                    if number % 2 == 0 {
                        connection.request("GET", "/readyz", &[]);
                        connection.reply("GET").unwrap().is(200);
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
            // No new connection is accepted.
            wait(
                || std::net::TcpStream::connect(server.address).is_err(),
                || server.log(),
            );
            while body.len() < zip.len() {
                let more = reading.some(1);
                assert!(!more.is_empty(), "{} of {}", body.len(), zip.len());
                body.extend(more);
            }
            assert!(body == zip);
            assert!(reading.ends());
            assert_eq!(server.wait().code(), Some(0), "{}", server.log());
            assert!(
                !server.log().contains("closed before its end"),
                "{}",
                server.log()
            );
        }
    }
}

#[test]
fn a_reader_that_never_reads_is_let_go() {
    let store = Store::empty();
    store.push_release(DEMO, "1.0.0", &large(&[ZIP], SIZE));
    for mut server in [store.serve("--grace 1"), store.serve_tls("--grace 1")] {
        let _never_read = download(&server);
        let begun = Instant::now();
        server.signal(Signal::TERM);
        assert_eq!(server.wait().code(), Some(0), "{}", server.log());
        assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
        let line = " to 127.0.0.1, closed before its end\n";
        assert!(server.log().contains(line), "{}", server.log());
    }
}

#[test]
fn a_second_signal_ends_downloads_too() {
    let store = Store::empty();
    store.push_release(DEMO, "1.0.0", &large(&[ZIP], SIZE));
    for (mut server, signals) in [
        (store.serve(""), [Signal::TERM, Signal::TERM]),
        (store.serve_tls(""), [Signal::INT, Signal::TERM]),
    ] {
        let _never_read = download(&server);
        let begun = Instant::now();
        let [first, second] = signals;
        server.signal(first);
        server.logs("Refusing");
        server.signal(second);
        assert_eq!(server.wait().code(), Some(0), "{}", server.log());
        assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
        let line = " to 127.0.0.1, closed before its end\n";
        assert!(server.log().contains(line), "{}", server.log());
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
        kept.request("GET", "/readyz", &[]);
        kept.reply("GET").unwrap().is(200);
        // Half of a request is none.
        let mut half = server.connect();
        half.send(b"GET /readyz HTT");
        let begun = Instant::now();
        server.signal(signal);
        assert_eq!(server.wait().code(), Some(0), "{}", server.log());
        assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
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
