use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::http::Reply;
use super::server::Server;
use super::stores::{
    DEMO, DOWNLOAD, HOST, IDN, INDEX, PAGE, PLATFORMS, Store, VERSION, VERSIONS, ZIP,
};
use crate::support::author::another_build;
use crate::support::registry::answer::Answer;
use crate::support::registry::{Fault, Registry};
use crate::support::release::sha256;

/// The line of the log about the end of an outage.
const AGAIN: &str = "Reading the store again";
/// Clients wait for ten seconds.
pub const PATIENCE: Duration = Duration::from_secs(9);
/// The additional time of a busy machine.
pub const SLACK: Duration = Duration::from_millis(900);

/// Asserts the answer of a server whose store is unreachable.
#[track_caller]
pub fn unavailable(reply: &Reply, what: &str) {
    assert_eq!(reply.status, 503, "{what}: {}", reply.text());
    let after: u64 = reply.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=30).contains(&after), "{what}: {after}");
    assert_eq!(reply.header("cache-control"), Some("no-store"), "{what}");
}

/// A registry that requires credentials.
pub fn unauthorized() -> Fault {
    let challenge = "Basic realm=\"registry\"";
    let refusal = Answer::error(401, "UNAUTHORIZED", "no");
    Fault::Answer(refusal.header("www-authenticate", challenge))
}

/// Asserts that a path is never answered with 404, since clients would use another installation method.
pub fn never_404(reply: &Reply) {
    assert!(matches!(reply.status, 200 | 503), "{reply:?}");
}

/// Whether a list is as old as it may be, and not older.
pub fn is_fresh(reply: &Reply) -> bool {
    never_404(reply);
    reply.status == 200 && reply.header("warning").is_none()
}

/// Every path of a provider.
fn paths(name: &str) -> [String; 6] {
    [INDEX, VERSION, ZIP, VERSIONS, DOWNLOAD, PAGE].map(|path| path.replace("demo", name))
}

/// Paths of a provider, versions and a platform that the store does not have.
pub fn paths_of_nothing() -> Vec<String> {
    let mut all = paths("none").to_vec();
    all.extend([VERSION, ZIP, DOWNLOAD].map(|path| path.replace("1.0.0", "9.0.0")));
    all.push(DOWNLOAD.replace("linux", "plan9"));
    all
}

/// Requests all paths at once, and asserts that each is answered in time.
fn all_unavailable(server: &Server, name: &str) {
    std::thread::scope(|scope| {
        for path in paths(name) {
            scope.spawn(move || {
                let begun = Instant::now();
                unavailable(&server.get(&path), &path);
                let took = begun.elapsed();
                assert!(took < PATIENCE + SLACK, "{path} took {took:?}");
            });
        }
    });
}

pub fn every_refusal_of_the_registry_is_503_and_never_404() {
    let registry = Registry::plain();
    let store = Store::at(registry.host());
    let nonsense = Answer::new(200).body("<html>it works</html>");
    let faults = [
        ("unauthorized", unauthorized()),
        ("forbidden", Fault::denied()),
        ("limited", Fault::too_many_requests("600")),
        ("secondary", Fault::secondary_limit()),
        ("broken", Fault::status(500)),
        ("gateway", Fault::status(502)),
        ("away", Fault::status(503)),
        ("reset", Fault::Reset),
        ("silent", Fault::Stall),
        ("nonsense", Fault::Answer(nonsense)),
    ];
    for (name, fault) in &faults {
        let path = format!("/acme/{name}/");
        registry.always(move |seen| seen.path.contains(&path), fault.clone());
    }
    let server = store.serve(format!("--registry-host {HOST}"));
    std::thread::scope(|scope| {
        for (name, _) in &faults {
            let server = &server;
            scope.spawn(move || all_unavailable(server, name));
        }
    });
    for (name, _) in &faults {
        server.logs(&format!("{HOST}/acme/{name}"));
    }
}

pub fn a_store_that_never_answered_is_503() {
    // One that accepts connections and sends nothing, and one that refuses them.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let hosts = [
        silent.local_addr().unwrap().to_string(),
        "127.0.0.1:1".to_owned(),
    ];
    std::thread::scope(|scope| {
        for host in hosts {
            scope.spawn(move || {
                let store = Store::at(&host);
                let server = store.serve(format!("--registry-host {HOST}"));
                all_unavailable(&server, "demo");
                server.get("/readyz").is(503);
                server.get("/healthz").is(200);
            });
        }
    });
}

/// The answers while a store is unreachable and after it is back.
fn becomes_unreachable_and_comes_back(server: &Server, go: impl Fn(bool)) {
    let fresh = server.get(INDEX);
    assert_eq!(fresh.header("warning"), None);
    let body = fresh.is(200).body;
    go(true);
    // First the last list, marked as stale.
    let stale = server.until(INDEX, |reply| {
        never_404(reply);
        reply.header("warning").is_some() || reply.status == 503
    });
    let stale = stale.is(200);
    assert_eq!(stale.body, body);
    assert_eq!(stale.header("warning"), Some(STALE));
    assert_eq!(stale.header("cache-control"), Some("public, max-age=0"));
    // A provider that was never requested is not 404.
    let other = INDEX.replace("demo", "other");
    unavailable(&server.get(&other), "other");
    // Then 503.
    let gone = server.until(INDEX, |reply| {
        never_404(reply);
        reply.status == 503
    });
    unavailable(&gone, INDEX);
    for path in paths("demo") {
        unavailable(&server.get(&path), &path);
    }
    go(false);
    let begun = Instant::now();
    let back = server.until(INDEX, is_fresh);
    assert_eq!(back.body, body);
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(8), "{took:?}");
    server.logs("older than --max-age");
    server.get("/metrics").tells("store_failures_total");
}

const AGES: &str = "--max-age 1 --max-stale 4";
/// The header of a list that was read before an outage.
pub const STALE: &str = "110 tfoci \"the list is older than --max-age\"";

/// A registry that resets every connection while the flag is set, and a store in it.
fn that_can_go() -> (Registry, Arc<AtomicBool>, Store) {
    let (registry, store) = Store::demo_in_registry();
    let is_gone = Arc::new(AtomicBool::new(false));
    let gone = is_gone.clone();
    registry.always(move |_| gone.load(Ordering::SeqCst), Fault::Reset);
    (registry, is_gone, store)
}

pub fn a_registry_becomes_unreachable_and_comes_back() {
    let (_registry, is_gone, store) = that_can_go();
    let server = store.serve(format!("{AGES} --registry-host {HOST}"));
    becomes_unreachable_and_comes_back(&server, |is_going| {
        is_gone.store(is_going, Ordering::SeqCst)
    });
    server.logs(AGAIN);
}

/// Clients would use another installation method after 404, and the store may have by now what it did not have.
pub fn what_a_store_lacked_is_503_while_it_is_unreachable() {
    let (_registry, is_gone, store) = that_can_go();
    let server = store.serve(format!("--max-age 0 --registry-host {HOST}"));
    for path in paths_of_nothing() {
        assert_eq!(server.get(&path).status, 404, "{path}");
    }
    is_gone.store(true, Ordering::SeqCst);
    for path in paths_of_nothing() {
        let reply = server.get(&path);
        unavailable(&reply, &path);
    }
    server.get(INDEX).is(200);
    // Only the first request of an outage waits for the store.
    let begun = Instant::now();
    for _ in 0..5 {
        let stale = server.get(INDEX).is(200);
        assert!(stale.header("warning").is_some());
    }
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(2), "{took:?}");
    is_gone.store(false, Ordering::SeqCst);
    for path in paths_of_nothing() {
        server.until(&path, |reply| reply.status == 404);
    }
}

pub fn a_layout_becomes_unreachable_and_comes_back() {
    moved_away(|_| {}, AGAIN);
}

/// What is left of the layout of a provider does not show that the store has the provider no more.
pub fn the_layout_of_a_provider_is_damaged_and_whole_again() {
    let store = Store::demo();
    let server = store.serve(format!("{AGES} --registry-host {HOST}"));
    let index = store.scene.path("store").join(DEMO).join("index.json");
    let away = store.scene.path("away");
    server.get(INDEX).is(200);
    fs::rename(&index, &away).unwrap();
    // First the last list, then none.
    for status in [200, 503] {
        let is_stale = |reply: &Reply| reply.header("warning").is_some() || reply.status == 503;
        server.until(INDEX, |reply| {
            never_404(reply);
            is_stale(reply) && reply.status == status
        });
    }
    fs::rename(&away, &index).unwrap();
    server.until(INDEX, is_fresh);
    server.logs("is incomplete, expected its index.json");
}

/// The disk may be mounted after the server has started.
pub fn an_empty_layout_is_not_ready() {
    let store = Store::empty();
    fs::create_dir(store.scene.path("store")).unwrap();
    let server = store.serve(format!("--registry-host {HOST}"));
    unavailable(&server.get(INDEX), INDEX);
    unavailable(&server.get("/readyz"), "/readyz");
    store.push(DEMO, "1.0.0", None);
    server.until("/readyz", |reply| reply.status == 200);
}

/// Where the disk of a store is no longer mounted, there is an empty directory.
pub fn the_disk_of_a_store_is_unmounted_and_mounted_again() {
    moved_away(
        |place| fs::create_dir(place).unwrap(),
        "has no OCI image layout",
    );
}

/// Moves a store away and back. An empty directory in its place is replaced.
fn moved_away(leave: fn(&Path), said: &str) {
    let store = Store::demo();
    let server = store.serve(format!("{AGES} --registry-host {HOST}"));
    let [here, away] = ["store", "away"].map(|name| store.scene.path(name));
    becomes_unreachable_and_comes_back(&server, |is_going| {
        let [from, to] = if is_going {
            [&here, &away]
        } else {
            [&away, &here]
        };
        fs::rename(from, to).unwrap();
        if is_going {
            leave(&here);
        }
    });
    server.logs(said);
}

pub fn changes_of_the_store_are_served_soon() {
    const SOON: Duration = Duration::from_secs(1 + 3);
    let registry = Registry::plain();
    for store in [Store::empty(), Store::at(registry.host())] {
        // A store that is not empty.
        store.push(IDN, "1.0.0", None);
        let server = store.serve("--max-age 1");
        server.get(INDEX).is(404);
        let shows = |version: &str, hash: &str| {
            let begun = Instant::now();
            let path = VERSION.replace("1.0.0", version);
            let has = |reply: &Reply| reply.status == 200 && reply.text().contains(hash);
            let reply = server.until(&path, has);
            let took = begun.elapsed();
            assert!(took < SOON + SLACK, "{took:?}");
            reply
        };
        let hash = || format!("zh:{}", sha256(&store.zip(PLATFORMS[0])));
        // A new provider, a new version, and a replaced one.
        store.push(DEMO, "1.0.0", None);
        let old = hash();
        shows("1.0.0", &old);
        store.push(DEMO, "2.0.0", None);
        shows("2.0.0", "");
        assert_eq!(server.get(ZIP).is(200).body, store.zip(PLATFORMS[0]));
        store.push_release(DEMO, "1.0.0", &another_build());
        assert_ne!(old, hash());
        shows("1.0.0", &hash()).omits(&old);
        assert_eq!(server.get(ZIP).is(200).body, store.zip(PLATFORMS[0]));
    }
}

#[test]
fn many_readers_cost_few_requests_below() {
    let (registry, store) = Store::demo_in_registry();
    let server = store.serve(format!("--registry-host {HOST}"));
    registry.forget();
    let paths = [INDEX, VERSION, VERSIONS, DOWNLOAD];
    let at_once = |count: usize| {
        std::thread::scope(|scope| {
            for number in 0..count {
                let (server, path) = (&server, paths[number % paths.len()]);
                scope.spawn(move || server.get(path).is(200));
            }
        });
        let requests = registry.seen();
        registry.forget();
        requests
    };
    let cold = at_once(50);
    assert!((1..=20).contains(&cold.len()), "{cold:#?}");
    let warm = at_once(100);
    assert!(warm.len() <= 10, "{warm:#?}");
    // A missing provider is requested from the store only once, too.
    let none = INDEX.replace("demo", "none");
    for _ in 0..30 {
        server.get(&none).is(404);
    }
    assert!(registry.seen().len() <= 3, "{:#?}", registry.seen());
}

/// A registry without the provider, unlike an empty layout, is no sign of an outage.
#[test]
fn the_log_says_once_that_a_registry_has_lost_a_provider() {
    let (registry, store) = Store::demo_in_registry();
    let server = store.serve("--max-age 0");
    server.get(INDEX).is(200);
    registry.repository(&format!("mirror/{DEMO}"), |repository| {
        repository.tags.clear();
    });
    for _ in 0..2 {
        server.get(INDEX).is(404);
    }
    let warnings = server.count_words(&format!("Warning {DEMO} any more"));
    assert_eq!(warnings, 1, "{}", server.stop());
}
