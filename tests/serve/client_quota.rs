//! Clients that hold connections and packages, and read nothing.

use std::net::{IpAddr, Ipv4Addr};
use std::time::{Duration, Instant};

use super::http::Connection;
use super::package_faults::large;
use super::server::Server;
use super::stores::{DEMO, PAGE, PLATFORMS, Store, ZIP};
use crate::support::wait::wait;

/// Half of the packages that are sent concurrently.
const PACKAGES: usize = 128;
/// Another client on this machine.
const OTHER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));

fn other(server: &Server) -> Connection {
    Connection::try_tls_from(OTHER, server.address).unwrap()
}

fn own(server: &Server) -> Option<Connection> {
    Connection::try_tls_from(server.address.ip(), server.address)
}

#[track_caller]
fn is_answered(mut connection: Connection) -> Connection {
    connection.get("/healthz").is(200);
    connection
}

#[test]
fn one_client_cannot_have_all_connections() {
    const EACH: usize = 4;
    let limit = format!("--max-connections {}", 2 * EACH);
    let store = Store::demo();
    let server = store.serve_tls(&limit);
    let held = || is_answered(own(&server).unwrap());
    let mut held: Vec<_> = (0..EACH).map(|_| held()).collect();
    for _ in 0..20 {
        assert!(own(&server).is_none(), "{}", server.log());
    }
    let others: Vec<_> = (0..EACH).map(|_| is_answered(other(&server))).collect();
    let mut first = held.remove(0);
    let counted = "tfoci_limited_connections_total 20\n";
    first.get("/metrics").tells(counted);
    // Another connection is served as soon as one of them has ended.
    drop((first, others));
    wait(|| own(&server).is_some(), || server.log());
    // A proxy may have all connections.
    let server = store.serve(&limit);
    let all = (0..2 * EACH).map(|_| is_answered(server.connect()));
    assert_eq!(all.collect::<Vec<_>>().len(), 2 * EACH);
}

/// Thousands of pipelined requests for the head of a page cost nothing.
#[test]
fn a_page_is_rendered_once() {
    const REQUESTS: usize = 2_000;
    let store = Store::demo();
    store.multiply("1.0.0", 600);
    let server = store.serve_tls("--max-rate 0");
    let length = server.until(PAGE, |reply| reply.status == 200).body.len();
    let mut many = own(&server).unwrap();
    let head = format!("HEAD {PAGE} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let begun = Instant::now();
    many.send(head.repeat(REQUESTS).as_bytes());
    is_answered(other(&server));
    let meanwhile = begun.elapsed();
    for _ in 0..REQUESTS {
        let head = many.head().unwrap().is(200);
        let announced = head.header("content-length").unwrap();
        assert!(announced.parse::<usize>().unwrap() > length / 2);
    }
    assert!(meanwhile < Duration::from_secs(3), "{meanwhile:?}");
}

pub fn one_client_cannot_have_all_packages() {
    let store = Store::empty();
    store.push_release(DEMO, "1.0.0", &large(&PLATFORMS[..1], 16 << 20));
    let ask = |mut connection: Connection, status: u16| {
        connection.request("GET", ZIP, &[]);
        connection.head().unwrap().is(status);
        connection
    };
    let server = store.serve_tls("--max-rate 0");
    let mut held = Vec::new();
    for _ in 0..PACKAGES {
        held.push(ask(own(&server).unwrap(), 200));
    }
    let mut waits = own(&server).unwrap();
    waits.request("GET", ZIP, &[]);
    // Other clients, and requests for documents, are answered meanwhile.
    ask(other(&server), 200);
    is_answered(own(&server).unwrap());
    let refused = waits.reply("GET").unwrap().is(503);
    assert_eq!(refused.header("retry-after"), Some("5"));
    server.logs(" 503 GET /mirror/");
    // The end of one frees a permit for the next one.
    waits.request("GET", ZIP, &[]);
    drop(held.pop());
    waits.head().unwrap().is(200);
    drop(held);
    // A proxy may have all packages.
    let server = store.serve("");
    let all = (0..PACKAGES + 10).map(|_| ask(server.connect(), 200));
    assert_eq!(all.collect::<Vec<_>>().len(), PACKAGES + 10);
}
