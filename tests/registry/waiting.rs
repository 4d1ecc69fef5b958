//! Servers that fall silent. Nobody waits for them longer than was said.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tfoci::event::{Event, Reporter};
use tfoci::http::{Http, Payload, Request, Settings, Timeouts};
use tfoci::oci::Repository;
use tfoci::release::Expected;
use tfoci::store::{ReadStore as _, WriteStore as _};

use super::{User, start};
use crate::support::registry::{Fault, Personality, matching};

/// A user with little patience.
fn hasty(user: User) -> User {
    let mut user = user;
    user.settings.timeouts = Timeouts {
        answer: Duration::from_millis(300),
        stall: Duration::from_millis(300),
        ..Timeouts::default()
    };
    user
}

#[tokio::test]
async fn a_request_that_is_never_answered_is_sent_again() {
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
async fn a_download_that_stands_still_goes_on_where_it_was() {
    let registry = start(Personality::Plain);
    let user = hasty(User::of(&registry, "acme/demo"));
    user.push().await.unwrap();
    let large = |seen: &crate::support::registry::Seen| {
        seen.method == "GET" && seen.path.contains("/blobs/")
    };
    registry.always(
        move |seen| large(seen) && seen.header("range").is_none(),
        Fault::stall_body(40_000),
    );
    user.install().await.unwrap();
    user.assert_installed();
    assert_ne!(
        registry.count(|seen| large(seen) && seen.header("range").is_some()),
        0
    );
}

#[tokio::test]
async fn a_server_that_never_answers_is_named_with_what_was_waited_for() {
    let registry = start(Personality::Plain);
    registry.always(|_| true, Fault::Stall);
    let settings = hasty(User::of(&registry, "acme/demo")).settings;
    let http = Http::new(settings);
    let base = http.base(registry.host()).unwrap();
    let url = base.join("v2/?token=hunter2").unwrap();
    let request = Request::new(reqwest::Method::GET, url, &base).whole(1);
    let error = http.send(request).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("no answer within 0.3 seconds\n  at {base}v2/?…")
    );
}

/// A server that takes connections and reads nothing.
fn deaf() -> (std::net::TcpListener, String) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    (listener, host)
}

/// Remembers what was told.
#[derive(Default)]
struct Listener(Mutex<Vec<Event>>);

impl Reporter for Listener {
    fn report(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }
}

#[tokio::test]
async fn an_upload_that_nobody_takes_comes_to_an_end() {
    let (_listener, host) = deaf();
    let user = hasty(User::at(&host, "acme/demo"));
    let listener = Arc::new(Listener::default());
    let http = Http::reporting(user.settings, listener.clone());
    let base = http.base(&host).unwrap();
    // More than the system takes for a connection.
    let (chunk, count) = (bytes::Bytes::from(vec![0; 1 << 20]), 64);
    let chunks = (0..count).map(move |_| Ok::<_, std::io::Error>(chunk.clone()));
    let payload = Payload::Stream {
        body: reqwest::Body::wrap_stream(futures_util::stream::iter(chunks)),
        size: count << 20,
    };
    let request = Request::new(reqwest::Method::PUT, base.clone(), &base).payload(payload);
    let error = http.send(request).await.unwrap_err();
    assert!(error.is_passing());
    assert_eq!(
        error.to_string(),
        format!("nothing more of the upload was taken within 0.3 seconds\n  at {base}")
    );
    let told = listener.0.lock().unwrap();
    let [Event::Requested(exchange)] = &told[..] else {
        panic!("{told:?}");
    };
    assert!(exchange.status.is_none() && exchange.sent < count << 20);
}

#[tokio::test]
async fn a_slow_source_is_not_the_servers_fault() {
    let registry = start(Personality::Plain);
    let user = hasty(User::of(&registry, "acme/demo"));
    let http = Http::new(user.settings);
    let base = http.base(registry.host()).unwrap();
    let slow = futures_util::stream::once(async {
        tokio::time::sleep(Duration::from_millis(900)).await;
        Ok::<_, std::io::Error>(bytes::Bytes::from_static(b"late"))
    });
    let payload = Payload::Stream {
        body: reqwest::Body::wrap_stream(slow),
        size: 4,
    };
    let url = base.join("v2/acme/demo/blobs/uploads/").unwrap();
    let request = Request::new(reqwest::Method::POST, url, &base).payload(payload);
    assert!(http.send(request).await.is_ok());
}

#[tokio::test]
async fn requests_are_counted_and_hosts_are_spared() {
    let registry = start(Personality::Quay);
    let user = User::of(&registry, "acme/demo");
    let http = Http::new(user.settings.clone());
    let destination = user.destination_through(http.clone());
    user.push_to(&destination).await.unwrap();
    let tokens = registry.count(|seen| seen.path == "/token");
    assert_ne!(tokens, 0);
    let all = registry.seen().len() - tokens;
    assert_eq!(http.requests(), all as u64);

    registry.forget();
    let http = Http::new(Settings {
        plain: user.settings.plain.clone(),
        ..Settings::default()
    });
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
async fn whoever_copies_within_a_host_waits_for_nobody_who_waits() {
    let registry = start(Personality::Plain);
    let mut user = User::of(&registry, "acme/demo");
    user.push().await.unwrap();
    user.settings.transfers = 1;
    let http = Http::new(user.settings.clone());
    // Two stores that do not know of each other, so that nothing is mounted at once; one host, one place in each direction.
    let (from, to) = (
        user.destination_through(http.clone()),
        user.destination_through(http),
    );
    let largest = registry.repository(&user.name, |repository| {
        let blobs = repository.blobs.values();
        blobs.max_by_key(|bytes| bytes.len()).unwrap().clone()
    });
    let expected = Expected::of(&largest);
    let path = expected.digest.to_string();
    for nth in [1, 3] {
        registry.fault(nth, matching("GET", &path), Fault::cut_body(40_000));
    }
    let copies = (0..8).map(|n| {
        let name = format!("{}/copies/n{n}", registry.host());
        let (from, to) = (&from, &to);
        async move {
            let blob = from.store.blob(&from.repository, expected);
            let repository = Repository::in_registry(&name).unwrap();
            to.store.put_blob(&repository, &blob).await.unwrap()
        }
    });
    let all = futures_util::future::join_all(copies);
    let done = tokio::time::timeout(Duration::from_secs(60), all).await;
    assert_eq!(done.unwrap().len(), 8);
    for n in 0..8 {
        let there = registry.repository(&format!("copies/n{n}"), |copy| {
            copy.blobs.values().any(|bytes| *bytes == largest)
        });
        assert!(there, "{n}");
    }
}
