//! Clients that read nothing of documents and pages, and clients that send bodies that nobody reads.

use std::net::{IpAddr, Ipv4Addr};
use std::time::{Duration, Instant};

use super::http::{Connection, Reply};
use super::http2::{Client, DATA, END_STREAM, HEADERS, RST_STREAM, WINDOW_UPDATE};
use super::package_faults::large;
use super::server::{Server, wait};
use super::stores::{DEMO, Store, package};
use crate::support::registry::Registry;
use crate::support::tamper;

/// The concurrent requests of a connection.
const STREAMS: usize = 8;
/// The most memory of the documents of one client.
const MOST: usize = 16 << 20;
/// What a client may send at the beginning of a connection.
const WINDOW: usize = 65_535;

/// An address of this machine.
fn source(last: u8) -> IpAddr {
    Ipv4Addr::new(127, 0, 0, last).into()
}

/// A store whose provider has a page of hundreds of kilobytes.
fn store() -> Store {
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
    store
}

fn page() -> String {
    format!("/providers/{DEMO}")
}

/// The page for a client at this address that reads. While the server reads so many versions for the first time, it answers 503.
fn read(server: &Server, last: u8, host: &str) -> Reply {
    let once = || {
        let mut connection = Connection::try_tls_from(source(last), server.address).unwrap();
        connection.request("GET", &page(), &[("Host", host)]);
        connection.reply("GET").unwrap()
    };
    let mut replies = (0..5).map(|_| once());
    replies
        .find(|reply| reply.status != 503)
        .unwrap_or_else(once)
}

/// Asks for the page in a connection whose answers are not read, and returns how many are 200.
fn ask(client: &mut Client, host: impl Fn(usize) -> String) -> usize {
    for number in 0..STREAMS {
        client.ask(&page(), &host(number), END_STREAM);
    }
    let answers = (0..STREAMS).map(|_| client.is_ok().unwrap());
    answers.filter(|is_ok| *is_ok).count()
}

/// What the server has allocated, in bytes.
#[cfg(target_os = "linux")]
fn memory(server: &Server) -> usize {
    let status = std::fs::read_to_string(server.proc("status")).unwrap();
    let mut lines = status.lines();
    let kib = lines.find_map(|line| line.strip_prefix("RssAnon:")?.strip_suffix(" kB"));
    kib.unwrap().trim().parse::<usize>().unwrap() << 10
}

#[cfg(target_os = "linux")]
#[test]
fn equal_pages_that_nobody_reads_are_kept_once() {
    let store = store();
    let server = store.serve_tls(&["--max-rate", "0"]);
    let size = read(&server, 1, "server.test").is(200).body.len();
    let connections = 2 * MOST / size / STREAMS + 1;
    assert!(connections < 100, "{size}");
    let before = memory(&server);
    let held: Vec<_> = (0..connections)
        .map(|_| {
            let mut client = Client::from(source(1), server.address, 0);
            let answered = ask(&mut client, |_| "server.test".to_owned());
            assert_eq!(answered, STREAMS);
            client
        })
        .collect();
    let more = memory(&server).saturating_sub(before);
    assert!(
        more < MOST,
        "{more} bytes for {}",
        connections * STREAMS * size
    );
    // Another client gets the same one.
    read(&server, 2, "server.test").is(200);
    drop(held);
    server.stop();
}

/// A page without `--url` names the host that its reader requested.
pub fn pages_that_nobody_reads_have_limits_of_memory_and_time() {
    let store = store();
    let server = store.serve_tls(&["--max-rate", "0"]);
    let size = read(&server, 1, "server.test").is(200).body.len();
    let fill = |last: u8, held: &mut Vec<Client>| {
        let (before, mut answered) = (held.len(), 0);
        while answered == (held.len() - before) * STREAMS && answered * size <= MOST {
            let mut client = Client::from(source(last), server.address, 0);
            let host = |number| format!("h{last}-{}-{number}.test", held.len());
            answered += ask(&mut client, host);
            held.push(client);
        }
        answered * size
    };
    let trial = || {
        let (begun, mut held) = (Instant::now(), Vec::new());
        let first = fill(1, &mut held);
        let refused = read(&server, 1, "more.test");
        let other = read(&server, 2, "more.test");
        let second = fill(2, &mut held);
        let last = read(&server, 3, "more.test");
        (begun, held, [first, second], [refused, other, last])
    };
    // The server waits ten seconds for a client: a busy machine may take longer to fill it.
    let mut trials = (0..5).map(|_| trial());
    let (begun, mut held, filled, replies) = trials
        .find(|trial| trial.0.elapsed() < Duration::from_secs(9))
        .expect("the server is filled in time");
    for bytes in filled {
        assert!((MOST - size..=MOST).contains(&bytes), "{bytes}");
    }
    let [refused, other, last] = replies;
    other.is(200);
    let to_address = "too many documents are being sent to this address\n";
    let to_all = "too many documents are being sent to clients that do not read\n";
    for (reply, status, text) in [(refused, 429, to_address), (last, 503, to_all)] {
        let reply = reply.is(status);
        assert_eq!(reply.header("retry-after"), Some("5"));
        assert_eq!(reply.text(), text);
    }
    // The server closes the connections, and others are served again.
    assert!(held.iter_mut().all(Client::ends));
    let took = begun.elapsed();
    assert!(took > Duration::from_secs(9), "{took:?}");
    assert!(took < Duration::from_secs(60), "{took:?}");
    read(&server, 1, "more.test").is(200);
    server.stop();
}

/// Behind a proxy, the answers of one connection are those of many clients.
pub fn an_answer_that_nobody_reads_ends_alone() {
    let store = Store::empty();
    store.push_release(DEMO, "1.0.0", &large(&["linux_amd64"], 1 << 20));
    let server = store.serve_tls(&[]);
    let mut client = Client::from(source(1), server.address, 0);
    client.ask(&page(), "server.test", END_STREAM);
    let package = format!("/mirror/{DEMO}/{}", package(DEMO, "1.0.0", "linux_amd64"));
    let package = client.ask(&package, "server.test", END_STREAM);
    let mut next = || {
        client.send(WINDOW_UPDATE, 0, package, &1_u32.to_be_bytes());
        loop {
            let (kind, ..) = client.frame().expect("the connection goes on");
            if [DATA, RST_STREAM].contains(&kind) {
                return kind;
            }
        }
    };
    wait(|| next() == RST_STREAM, || server.log());
    assert_eq!([next(), next()], [DATA; 2]);
    assert!(!client.is_going_away);
    server.logs(&format!("GET {}: ", page()));
    drop(client);
    server.stop();
}

/// While a request waits, for example for the store, its client may go on and send a body.
#[test]
fn bodies_of_waiting_requests_are_dropped() {
    let registry = Registry::plain();
    let store = Store::at(registry.host());
    store.push(DEMO, "1.0.0", None);
    registry.latency(|_| true, Duration::from_secs(3));
    let server = store.serve_tls(&[]);
    let mut client = Client::connect(server.address);
    let path = format!("/mirror/{DEMO}/index.json");
    let streams = [(); STREAMS].map(|()| client.ask(&path, "server.test", 0));
    let (mut free, mut sent) = (WINDOW, 0);
    let piece = [7; 16_000];
    // Three of them in each request, so that only the window of the connection matters.
    for number in [streams; 3].as_flattened() {
        while free < piece.len() {
            let (kind, _, payload) = client.frame().unwrap();
            assert_ne!(kind, HEADERS, "answered after {sent} bytes");
            if kind == WINDOW_UPDATE {
                free += usize::try_from(u32::from_be_bytes(payload.try_into().unwrap())).unwrap();
            }
            assert!(free <= WINDOW, "{free}");
        }
        client.send(DATA, 0, *number, &piece);
        free -= piece.len();
        sent += piece.len();
    }
    assert!(sent > 5 * WINDOW);
}
