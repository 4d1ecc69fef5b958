use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::http;
use super::server::Server;
use super::stores::{INDEX, Store, VERSION};
use crate::support::registry::{Fault, Registry};

/// Longer than any part of a request may take.
const LONGEST: Duration = Duration::from_secs(32);
/// How often a slow sender sends a byte.
const PACE: Duration = Duration::from_millis(900);

/// A client that sends its request byte by byte.
struct Slow {
    name: &'static str,
    stream: TcpStream,
    rest: &'static [u8],
    is_cut: bool,
}

impl Slow {
    fn new(name: &'static str, address: std::net::SocketAddr, text: &'static [u8]) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PACE)).unwrap();
        Self {
            name,
            stream,
            rest: text,
            is_cut: false,
        }
    }

    /// Waits for the pace or for the end of the connection, and sends the next byte.
    fn step(&mut self) {
        match self.stream.read(&mut [0; 512]) {
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            // Text of the server, before it closes.
            Ok(read) if read > 0 => {}
            _ => self.is_cut = true,
        }
        if let Some((first, rest)) = self.rest.split_first() {
            self.is_cut |= self.stream.write_all(&[*first]).is_err();
            self.rest = rest;
        }
    }
}

pub fn slow_senders_are_closed_while_others_are_served() {
    let store = Store::demo();
    let (plain, tls) = (store.serve(""), store.serve_tls("-v"));
    let header: &[u8] =
        b"GET /healthz HTTP/1.1\r\nHost: server.test\r\nX-Very-Slow: indeed, it takes minutes\r\n";
    let hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03and so on, slowly";
    let senders = [
        Slow::new("says nothing to TLS", tls.address, b""),
        Slow::new("begins a handshake", tls.address, hello),
        Slow::new("says half a header", plain.address, header),
        Slow::new("sends one byte", plain.address, b"G"),
    ];
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for mut sender in senders {
            scope.spawn(move || {
                while !sender.is_cut {
                    assert!(begun.elapsed() < LONGEST, "{}", sender.name);
                    sender.step();
                }
            });
        }
        // The first request of this connection is served at once, and so is the last one.
        let mut kept = plain.connect();
        for _ in 0..20 {
            for server in [&plain, &tls] {
                let begun = Instant::now();
                server.get("/healthz").is(200);
                assert!(begun.elapsed() < Duration::from_secs(5));
            }
            kept.get("/healthz").is(200);
        }
    });
    plain.get("/healthz").is(200);
    tls.logs("Handshake 127.0.0.1: it took too long\n");
}

#[test]
fn headers_have_a_limit() {
    let store = Store::demo();
    for server in [store.serve(""), store.serve_tls("")] {
        for (size, status) in [(8, 200), (24, 200), (64, 431), (1024, 431)] {
            let size = size << 10;
            let mut connection = server.connect();
            let filler = "x".repeat(size);
            connection.request("GET", "/healthz", &[("X-Filler", &filler)]);
            // The server may close the connection before the whole header was sent.
            match connection.reply("GET") {
                Some(reply) => assert_eq!(reply.status, status, "{size}"),
                None => assert!(size > 64 << 10, "{size}"),
            }
        }
        let names: Vec<String> = (0..5_000).map(|n| format!("X-{n}")).collect();
        let many: Vec<_> = names.iter().map(|name| (name.as_str(), "1")).collect();
        let mut connection = server.connect();
        connection.request("GET", "/healthz", &many);
        let reply = connection.reply("GET");
        assert!(reply.is_none_or(|reply| reply.status == 431));
        server.get("/healthz").is(200);
    }
}

#[test]
fn invalid_requests_are_refused() {
    let store = Store::demo();
    let server = store.serve("");
    for text in [
        "\r\n\r\n\r\nnonsense\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /healthz HTTP/1.1\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "\u{16}\u{3}\u{1}\u{2}\u{0}",
    ] {
        let mut connection = server.connect();
        connection.send(text.as_bytes());
        if text.starts_with("GET /healthz HTTP/1.1\r\n\r\n") || text.contains("Host: b") {
            connection.reply("GET").unwrap().is(400);
        }
        server.get("/healthz").is(200);
    }
    // A body that the server does not read.
    let body = "x".repeat(100_000);
    let mut connection = server.connect();
    let head =
        "GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\nConnection: close\r\n\r\n";
    connection.send(format!("{head}{body}").as_bytes());
    connection.reply("GET").unwrap().is(200);
}

#[test]
fn http_1_1_is_offered_over_tls() {
    let store = Store::demo();
    let server = store.serve_tls("");
    let offered = [b"h2".as_slice(), b"http/1.1"];
    let negotiated = http::negotiated(server.address, &offered);
    assert_eq!(negotiated.as_deref(), Some(&b"http/1.1"[..]));
    server.get(INDEX).json();
}

#[test]
fn a_client_above_its_rate_is_refused_with_retry_after() {
    let store = Store::demo();
    let server = store.serve("--max-rate 1");
    let mut connection = server.connect();
    let mut statuses = Vec::new();
    for _ in 0..12 {
        let reply = connection.get("/healthz");
        if reply.status == 429 {
            assert_eq!(reply.header("retry-after"), Some("1"));
        }
        statuses.push(reply.status);
    }
    assert_eq!(statuses[..4], [200; 4]);
    assert!(statuses.contains(&429), "{statuses:?}");
    server.until("/healthz", |reply| reply.status == 200);
    // Such a client does not fill the log.
    assert!(statuses.iter().filter(|status| **status == 429).count() > 1);
    let log = server.stop();
    let lines = log.lines().filter(|line| line.contains(" 429 GET"));
    assert_eq!(lines.count(), 1, "{log}");
    // No limit behind a proxy, whose address is that of all clients.
    let server = store.serve("");
    let mut connection = server.connect();
    for _ in 0..3_000 {
        connection.get("/healthz").is(200);
    }
}

#[test]
fn the_log_has_a_line_for_each_request_and_no_control_characters() {
    let store = Store::demo();
    for more in ["", "--format json"] {
        let server = store.serve(more);
        let agent = ("User-Agent", "Terraform/1.11.4 \u{202e}");
        let refused = server.ask("GET", "/%1b[31m%0d%0aX", &[agent]).is(404);
        let id = refused.header("x-request-id").unwrap().to_owned();
        server.ask(&"LONG".repeat(1_000), "/", &[]).is(405);
        let length = server.get(INDEX).body.len();
        let log = server.stop();
        assert!(log.contains(&"LONG".repeat(5)), "{log}");
        assert!(!log.contains(&"LONG".repeat(6)), "{log}");
        let is_harmless = |one: char| one == '\n' || !one.is_control() && one != '\u{202e}';
        assert!(log.chars().all(is_harmless), "{log:?}");
        if more.is_empty() {
            let line = format!(" 200 GET {INDEX}: {length} B in ");
            assert!(log.contains(&line), "{log}");
            continue;
        }
        let lines = log.lines().map(|line| serde_json::from_str(line).unwrap());
        let lines: Vec<Value> = lines.collect();
        let of = |path: &str| {
            let has = |line: &&Value| line["path"].as_str().is_some_and(|it| it.contains(path));
            lines.iter().find(has).unwrap()
        };
        let mut line = of("index.json").clone();
        let expected = json!({
            "event": "request", "method": "GET", "status": 200, "route": "mirror-index", "bytes": length,
            "client": "127.0.0.1", "complete": true, "stale": false,
        });
        let is_expected = |name: &str| expected.get(name).is_some();
        line.as_object_mut()
            .unwrap()
            .retain(|name, _| is_expected(name));
        assert_eq!(line, expected);
        let time = of("index.json")["time"].as_str().unwrap();
        let has_form = time.starts_with("20") && time.ends_with('Z') && time.len() == 24;
        assert!(has_form, "{time}");
        assert_eq!(of("31m")["id"], id.as_str());
        assert_eq!(lines[0]["event"], "listening");
    }
}

#[test]
fn successful_probes_are_not_logged() {
    let store = Store::demo();
    for (more, lines) in [("", 0), ("-v", 3)] {
        let server = store.serve(more);
        for path in ["/healthz", "/readyz", "/metrics"] {
            server.until(path, |reply| reply.status == 200);
        }
        let log = server.stop();
        assert_eq!(log.matches(" 200 GET /").count(), lines, "{log}");
    }
}

#[test]
fn the_log_says_why_an_answer_is_an_error() {
    let store = Store::demo();
    let path = VERSION.replace("1.0.0", "9.0.0");
    for more in ["", "--format json"] {
        let server = store.serve(more);
        let reason = server.get(&path).is(404).text();
        let reason = reason.trim_end();
        assert!(reason.contains("registry.acme.test/acme/demo 9.0.0"));
        let shown = match more {
            "" => format!(" to 127.0.0.1: {reason}\n"),
            _ => format!("\"reason\":\"{reason}\""),
        };
        server.get("/healthz").is(200);
        let log = server.stop();
        assert_eq!(log.matches(&shown).count(), 1, "{log}");
        assert_eq!(log.matches(reason).count(), 1, "{log}");
    }
}

/// Programs read the log of a container, whose two streams become one.
#[test]
fn every_line_of_a_log_in_json_is_json() {
    let registry = Registry::plain();
    let store = Store::at(registry.host());
    let server = store.serve("--format json -vv");
    registry.always(|_| true, Fault::status(503));
    server.get(INDEX).is(503);
    let log = server.stop();
    let lines = log.lines().map(|line| serde_json::from_str(line).unwrap());
    let lines: Vec<Value> = lines.collect();
    for event in ["listening", "retrying", "request"] {
        assert!(lines.iter().any(|line| line["event"] == event), "{log}");
    }
}

#[test]
fn the_log_names_the_client_behind_a_proxy() {
    const NAMED: &str = "198.51.100.1, 203.0.113.9";
    let store = Store::demo();
    let asks = |server: &Server, forwarded: &[(&str, &str)]| {
        server.ask("GET", "/healthz", forwarded).is(200);
    };
    for more in ["-v", "-v --format json"] {
        for (server, has_proxy) in [(store.serve(more), true), (store.serve_tls(more), false)] {
            asks(&server, &[("X-Forwarded-For", NAMED)]);
            let log = server.stop();
            let line = log.lines().find(|line| line.contains("/healthz")).unwrap();
            let (client, named) = match more {
                "-v" => (" to 127.0.0.1", " to 127.0.0.1 (for 203.0.113.9)"),
                _ => (
                    "\"client\":\"127.0.0.1\"",
                    "\"forwarded_for\":\"203.0.113.9\"",
                ),
            };
            assert!(line.contains(client), "{line}");
            assert_eq!(line.contains(named), has_proxy, "{line}");
            assert_eq!(line.contains("203.0.113.9"), has_proxy, "{line}");
            assert!(!line.contains("198.51.100.1"), "{line}");
        }
    }
    let server = store.serve("-v");
    asks(&server, &[]);
    let somebody = "198.51.100.1, somebody (admin)";
    asks(&server, &[("X-Forwarded-For", somebody)]);
    let log = server.stop();
    assert_eq!(log.matches(" to 127.0.0.1\n").count(), 2, "{log}");
    // Limits hold for the address of the connection.
    let server = store.serve("--max-rate 1");
    let mut connection = server.connect();
    let statuses: Vec<u16> = (0..20)
        .map(|number| {
            let address = format!("203.0.113.{number}");
            connection.request("GET", "/readyz", &[("X-Forwarded-For", &address)]);
            connection.reply("GET").unwrap().status
        })
        .collect();
    assert!(statuses.contains(&429), "{statuses:?}");
}
