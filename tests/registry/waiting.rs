//! Servers that stop answering. tfoci waits no longer than its timeout.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt as _;
use tfoci::event::{Event, Reporter};
use tfoci::http::{Http, Payload, Request, Timeouts};
use tfoci::oci::Repository;
use tfoci::release::Expected;

use super::reading::large;
use super::{User, rule, start};
use tfoci::store::{Lookup, RepoMut};

use crate::support::registry::answer::{Answer, End};
use crate::support::registry::{Fault, Personality, Registry, Seen, matching};

/// A limit that is never reached, even on a slow machine.
const NEVER: Duration = Duration::from_secs(300);

/// A user with short timeouts.
fn hasty(mut user: User) -> User {
    user.settings.timeouts = hasty_limits();
    user
}

fn hasty_limits() -> Timeouts {
    Timeouts {
        answer: Duration::from_millis(300),
        stall: Duration::from_millis(300),
        document: Duration::from_millis(1500),
        ..Timeouts::default()
    }
}

/// Limits of which only the stall timeout can end a request.
fn silence(stall: Duration) -> Timeouts {
    Timeouts {
        answer: NEVER,
        stall,
        document: NEVER,
        ..Timeouts::default()
    }
}

/// Limits of which only the document timeout can end a request.
fn documents() -> Timeouts {
    Timeouts {
        document: Duration::from_millis(1500),
        ..silence(NEVER)
    }
}

#[tokio::test]
async fn an_unanswered_request_is_retried() {
    for (method, path) in [
        ("GET", "/tags/list"),
        ("POST", "/uploads/"),
        ("PUT", "/manifests/"),
    ] {
        let registry = start(Personality::Plain);
        registry.fault(1, matching(method, path), Fault::Stall);
        let user = hasty(User::of(&registry, "acme/demo"));
        user.push().await.unwrap();
        user.assert_pushed(&registry);
    }
}

#[tokio::test]
async fn a_stalled_download_is_resumed_at_its_offset() {
    let registry = start(Personality::Plain);
    let user = hasty(User::of(&registry, "acme/demo"));
    user.push().await.unwrap();
    let large = |seen: &Seen| seen.method == "GET" && seen.path.contains("/blobs/");
    let whole = move |seen: &Seen| large(seen) && seen.header("range").is_none();
    registry.always(whole, Fault::stall_body(40_000));
    user.install().await.unwrap();
    user.assert_installed();
    let resumed = registry.count(|seen| large(seen) && seen.header("range").is_some());
    assert_ne!(resumed, 0);
}

#[tokio::test]
async fn an_unanswered_request_is_reported_with_its_host_and_timeout() {
    let registry = start(Personality::Plain);
    registry.always(|_| true, Fault::Stall);
    let said = read(&registry, "v2/?token=hunter2", hasty_limits()).await;
    let facts = " 0.3 seconds\n  at http://HOST/v2/?…";
    assert!(said.ends_with(facts), "{said}");
}

/// A request to a registry.
fn get(registry: &Registry, path: &str, timeouts: Timeouts) -> (Http, Request) {
    let mut settings = User::of(registry, "acme/demo").settings;
    settings.timeouts = timeouts;
    let http = Http::new(settings);
    let base = http.base(registry.host()).unwrap();
    let request = Request::new(reqwest::Method::GET, base.join(path).unwrap(), &base);
    (http, request)
}

/// Reads a document of the registry without retries. Returns the error.
async fn read(registry: &Registry, path: &str, timeouts: Timeouts) -> String {
    let (http, request) = get(registry, path, timeouts);
    match http.send(request.whole(64 << 20)).await {
        Ok(answer) => format!("{} bytes", answer.body().len()),
        Err(error) => error.to_string().replace(registry.host(), "HOST"),
    }
}

/// A registry whose answers have a body of so many bytes, which is sent in pieces.
fn dripping(length: usize, piece: usize, every: Duration) -> Registry {
    let registry = start(Personality::Plain);
    let fault = Fault::alter(move |answer| {
        answer.body = vec![b' '; length].into();
        answer.end = End::Drip(piece, every);
    });
    registry.always(|_| true, fault);
    registry
}

#[tokio::test]
async fn a_body_slower_than_64_kib_in_the_stall_timeout_fails() {
    // Each piece arrives well within the stall timeout. A slow machine sends even less.
    let registry = dripping(1 << 20, 1 << 10, Duration::from_millis(30));
    let said = read(&registry, "v2/", silence(Duration::from_millis(300))).await;
    let facts = "0.3 seconds\n  at http://HOST/v2/";
    assert!(said.contains("64 KiB") && said.ends_with(facts), "{said}");
}

/// The whole body takes longer than the stall timeout, and each 64 KiB of it a fifth of that time. A slow machine can be later than that,
/// so the test repeats with longer times. If the limit applied to the whole body, every repetition would fail.
#[tokio::test]
async fn a_body_with_64_kib_or_its_end_in_the_stall_timeout_is_read() {
    for (length, piece) in [(512 << 10, 64 << 10), (8 << 10, 1 << 10)] {
        let mut said = String::new();
        let expected = format!("{length} bytes");
        for milliseconds in [60, 240, 960] {
            let every = Duration::from_millis(milliseconds);
            let stall = match length {
                // All of it together is less than 64 KiB.
                0..=65_535 => every * 40,
                _ => every * 5,
            };
            let registry = dripping(length, piece, every);
            said = read(&registry, "v2/", silence(stall)).await;
            if said == expected {
                break;
            }
        }
        assert_eq!(said, expected);
    }
}

#[tokio::test]
async fn a_document_that_does_not_end_in_time_fails() {
    let registry = dripping(64 << 20, 64 << 10, Duration::from_millis(30));
    let said = read(&registry, "v2/", documents()).await;
    let facts = "1.5 seconds\n  at http://HOST/v2/";
    assert!(said.ends_with(facts), "{said}");
}

#[tokio::test]
async fn redirects_and_slow_headers_count_towards_the_document_timeout() {
    let registry = start(Personality::Plain);
    registry.always(|_| true, Fault::RedirectLoop);
    registry.latency(|_| true, Duration::from_millis(250));
    let said = read(&registry, "v2/", documents()).await;
    let facts = "1.5 seconds\n  at http://HOST/v2/";
    assert!(said.ends_with(facts), "{said}");
    assert!(registry.seen().len() < 10);
    // So do those that lead to a package.
    let (http, request) = get(&registry, "v2/acme/demo/blobs/x", documents());
    let error = http.send(request.streaming()).await.unwrap_err();
    assert!(!error.is_transient(), "{error}");
}

#[tokio::test]
async fn a_long_retry_after_ends_the_requests_of_the_run() {
    for retry_after in [
        "121",
        "18446744073709551615",
        "Tue, 31 Dec 2199 23:59:59 GMT",
    ] {
        let registry = start(Personality::Plain);
        registry.always(|_| true, Fault::too_many_requests(retry_after));
        let user = User::of(&registry, "acme/demo");
        let destination = user.destination();
        let text = destination.tags().await.unwrap_err().to_string();
        assert!(text.contains("answered 429"), "{text}");
        assert_eq!(registry.seen().len(), 1, "{retry_after}");
    }
}

#[tokio::test]
async fn an_endless_error_body_is_not_read_to_its_end() {
    let registry = start(Personality::Plain);
    let mut refusal = Answer::error(400, "NO", "no");
    refusal.body = [&refusal.body[..], &[b' '; 60_000]].concat().into();
    refusal.end = End::Drip(600, Duration::from_millis(20));
    registry.always(|_| true, Fault::Answer(refusal));
    let user = hasty(User::of(&registry, "acme/demo"));
    let destination = user.destination();
    let text = destination.tags().await.unwrap_err().to_string();
    assert!(text.contains("answered 400"), "{text}");
}

#[tokio::test]
async fn a_package_that_arrives_too_slowly_fails() {
    let registry = start(Personality::Plain);
    let user = User::of(&registry, "acme/demo");
    user.push().await.unwrap();
    registry.forget();
    let is_part = |seen: &Seen| seen.method == "GET" && seen.path.contains("/blobs/");
    registry.always(is_part, Fault::drip_body(100, Duration::from_millis(30)));
    let mut user = hasty(user);
    user.settings.timeouts.stall = Duration::from_millis(100);
    let (_, blob) = large(&registry, &user);
    let destination = user.destination();
    let source = destination.blob(Expected::of(&blob));
    let read = tfoci::blob::proven(&source).await.unwrap();
    let text = read.collect(1 << 30).await.unwrap_err().to_string();
    assert!(text.contains("64 KiB"), "{text}");
    assert_eq!(registry.count(is_part), 6);
}

/// A server that takes connections and reads nothing.
fn deaf() -> (std::net::TcpListener, String) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    (listener, host)
}

/// Records the events that are reported.
#[derive(Default)]
struct Listener(Mutex<Vec<Event>>);

impl Reporter for Listener {
    fn report(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }
}

#[tokio::test]
async fn an_upload_that_the_server_does_not_read_times_out() {
    let (_listener, host) = deaf();
    let user = hasty(User::at(&host, "acme/demo"));
    let listener = Arc::new(Listener::default());
    let http = Http::reporting(user.settings, listener.clone());
    let base = http.base(&host).unwrap();
    // More than the system buffers for a connection.
    let (chunk, count) = (bytes::Bytes::from(vec![0; 1 << 20]), 64);
    let chunks = (0..count).map(move |_| Ok::<_, std::io::Error>(chunk.clone()));
    let payload = Payload::Stream {
        body: futures_util::stream::iter(chunks).boxed(),
        size: count << 20,
    };
    let request = Request::new(reqwest::Method::PUT, base.clone(), &base).payload(payload);
    let error = http.send(request).await.unwrap_err();
    assert!(error.is_transient());
    let facts = format!(" 0.3 seconds\n  at {base}");
    assert!(error.to_string().ends_with(&facts), "{error}");
    let told = listener.0.lock().unwrap();
    let [Event::Requested(exchange)] = &told[..] else {
        panic!("{told:?}");
    };
    assert!(exchange.status.is_none() && exchange.sent < count << 20);
}

#[tokio::test]
async fn a_slow_source_does_not_time_out_the_upload() {
    let registry = start(Personality::Plain);
    registry.always(matching("GET", "/silent"), Fault::Stall);
    let user = hasty(User::of(&registry, "acme/demo"));
    let http = Http::new(user.settings);
    let base = http.base(registry.host()).unwrap();
    // The source gives its bytes after another request has waited for the whole stall timeout.
    let silent = Request::new(reqwest::Method::GET, base.join("v2/silent").unwrap(), &base);
    let waited = http.clone();
    let slow = futures_util::stream::once(async move {
        let error = waited.send(silent.whole(1)).await.err();
        assert!(error.is_some_and(|error| error.is_transient()));
        Ok::<_, std::io::Error>(bytes::Bytes::from_static(b"late"))
    });
    let payload = Payload::Stream {
        body: slow.boxed(),
        size: 4,
    };
    let url = base.join("v2/acme/demo/blobs/uploads/").unwrap();
    let request = Request::new(reqwest::Method::POST, url, &base).payload(payload);
    assert!(http.send(request).await.is_ok());
}

#[tokio::test]
async fn requests_are_counted_and_share_few_connections() {
    let registry = start(Personality::Quay);
    let user = User::of(&registry, "acme/demo");
    let http = Http::new(user.settings.clone());
    let destination = user.destination_through(http.clone());
    user.push_as(rule(), &destination).await.unwrap();
    let tokens = registry.count(|seen| seen.path == "/token");
    assert_ne!(tokens, 0);
    let all = registry.seen().len() - tokens;
    assert_eq!(http.requests(), all as u64);

    registry.forget();
    let http = Http::new(user.settings.clone());
    let base = http.base(registry.host()).unwrap();
    let many = (0..100).map(|_| {
        let request = Request::new(reqwest::Method::GET, base.join("v2/").unwrap(), &base);
        http.send(request.whole(1 << 10))
    });
    futures_util::future::join_all(many).await;
    let mut connections: Vec<u64> = registry.seen().iter().map(|seen| seen.connection).collect();
    connections.sort_unstable();
    connections.dedup();
    assert_eq!(registry.seen().len(), 100);
    assert!(connections.len() <= 16, "{}", connections.len());
}

#[tokio::test]
async fn a_copy_within_a_host_does_not_deadlock_on_its_permits() {
    let registry = start(Personality::Plain);
    let mut user = User::of(&registry, "acme/demo");
    user.push().await.unwrap();
    user.settings.transfers = 1;
    let http = Http::new(user.settings.clone());
    // Two separate handles of one host, so nothing is mounted, and one permit in each direction.
    let from = user.destination_through(http.clone());
    let to = user.store_through(http);
    let (digest, largest) = large(&registry, &user);
    let expected = Expected::of(&largest);
    for nth in [1, 3] {
        registry.fault(nth, matching("GET", &digest), Fault::cut_body(40_000));
    }
    let copies = (0..8).map(|n| {
        let name = format!("{}/copies/n{n}", registry.host());
        let repository = Repository::in_registry(&name).unwrap();
        let (from, to) = (&from, RepoMut::new(to.clone(), repository));
        async move {
            let blob = from.blob(expected);
            to.put_blob(&blob, Lookup::First).await.unwrap()
        }
    });
    let all = futures_util::future::join_all(copies);
    let done = tokio::time::timeout(Duration::from_secs(60), all).await;
    assert_eq!(done.unwrap().len(), 8);
    for n in 0..8 {
        let name = format!("copies/n{n}");
        let there = registry.repository(&name, |copy| copy.blobs.contains_key(&digest));
        assert!(there, "{n}");
    }
}
