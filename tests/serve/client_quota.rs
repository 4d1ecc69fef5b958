//! Clients that hold connections and packages, and read nothing.

use std::net::{IpAddr, Ipv4Addr};
use std::time::{Duration, Instant};

use super::http::Connection;
use super::package_faults::large;
use super::server::Server;
use super::stores::{DEMO, Store, package};
use crate::support::tamper;

const ZIP: &str = "linux_amd64";
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
    connection.request("GET", "/healthz", &[]);
    connection.reply("GET").unwrap().is(200);
    connection
}

#[test]
fn one_client_cannot_have_all_connections() {
    const EACH: usize = 4;
    let limit = format!("--max-connections {}", 2 * EACH);
    let store = Store::demo();
    let server = store.serve_tls(&limit);
    let mut held: Vec<_> = (0..EACH)
        .map(|_| is_answered(own(&server).unwrap()))
        .collect();
    for _ in 0..20 {
        assert!(own(&server).is_none(), "{}", server.log());
    }
    let log = server.log();
    assert_eq!(server.count_words("Closed 127.0.0.1"), 1, "{log}");
    assert_eq!(log.matches("Closed").count(), 1, "{log}");
    let others: Vec<_> = (0..EACH).map(|_| is_answered(other(&server))).collect();
    let mut first = held.remove(0);
    first.request("GET", "/metrics", &[]);
    let metrics = first.reply("GET").unwrap().text();
    assert!(
        metrics.contains("tfoci_limited_connections_total 20\n"),
        "{metrics}"
    );
    // Another connection is served as soon as one of them has ended.
    drop((first, others));
    crate::support::wait::wait(|| own(&server).is_some(), || server.log());
    server.stop();
    // A proxy may have all connections.
    let server = store.serve(&limit);
    let all: Vec<_> = (0..2 * EACH)
        .map(|_| is_answered(server.connect()))
        .collect();
    assert_eq!(all.len(), 2 * EACH);
}

/// Thousands of pipelined requests for the head of a page cost nothing.
#[test]
fn a_page_is_rendered_once() {
    const REQUESTS: usize = 2_000;
    let store = Store::demo();
    tamper::tags(&store.repository(DEMO), |tags| {
        let one = tags[0].clone();
        tags.extend((0..600).map(|number| {
            let mut other = one.clone();
            let name = format!("1.1.{number}");
            other["annotations"]["org.opencontainers.image.ref.name"] = name.into();
            other
        }));
    });
    let server = store.serve_tls("--max-rate 0");
    let page = format!("/providers/{DEMO}");
    let length = server.until(&page, |reply| reply.status == 200).body.len();
    let mut many = own(&server).unwrap();
    let head = format!("HEAD {page} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let begun = Instant::now();
    many.send(head.repeat(REQUESTS).as_bytes());
    is_answered(other(&server));
    let meanwhile = begun.elapsed();
    for _ in 0..REQUESTS {
        let head = many.head().unwrap().is(200);
        assert!(
            head.header("content-length")
                .unwrap()
                .parse::<usize>()
                .unwrap()
                > length / 2
        );
    }
    assert!(meanwhile < Duration::from_secs(3), "{meanwhile:?}");
}

pub fn one_client_cannot_have_all_packages() {
    let store = Store::empty();
    store.push_release(DEMO, "1.0.0", &large(&[ZIP], 16 << 20));
    let path = format!("/mirror/{DEMO}/{}", package(DEMO, "1.0.0", ZIP));
    let ask = |mut connection: Connection| {
        connection.request("GET", &path, &[]);
        let status = connection.head().unwrap().status;
        (connection, status)
    };
    let server = store.serve_tls("--max-rate 0");
    let mut held = Vec::new();
    for _ in 0..PACKAGES {
        let (connection, status) = ask(own(&server).unwrap());
        assert_eq!(status, 200);
        held.push(connection);
    }
    let mut waits = own(&server).unwrap();
    waits.request("GET", &path, &[]);
    // Other clients, and requests for documents, are answered meanwhile.
    assert_eq!(ask(other(&server)).1, 200);
    is_answered(own(&server).unwrap());
    let refused = waits.reply("GET").unwrap().is(429);
    assert_eq!(refused.header("retry-after"), Some("5"));
    server.logs(" 429 GET /mirror/");
    // The end of one frees a permit for the next one.
    waits.request("GET", &path, &[]);
    drop(held.pop());
    assert_eq!(waits.head().unwrap().status, 200);
    drop(held);
    // A proxy may have all packages.
    let server = store.serve("");
    let mut all = Vec::new();
    for _ in 0..PACKAGES + 10 {
        let (connection, status) = ask(server.connect());
        assert_eq!(status, 200);
        all.push(connection);
    }
}
