use std::time::{Duration, Instant};

use super::store_faults::{INDEX, PATIENCE, SLACK, paths_of_nothing, unavailable};
use super::stores::{DEMO, HOST, Store};
use crate::support::registry::content::parts;
use crate::support::registry::{Fault, Registry, matching};
use crate::support::server::seen::Seen;

/// No request takes longer than clients wait, and the refresh goes on without them.
pub fn a_slow_store_is_answered_in_the_end() {
    let registry = Registry::plain();
    let store = Store::at(registry.host());
    store.push(DEMO, "1.0.0", None);
    registry.latency(|_| true, Duration::from_secs(3));
    let server = store.serve("");
    let begun = Instant::now();
    let slow = server.get(INDEX);
    unavailable(&slow, INDEX);
    let took = begun.elapsed();
    assert!(took < PATIENCE + SLACK, "{took:?}");
    let begun = Instant::now();
    registry.forget();
    let index = server.until(INDEX, |reply| reply.status == 200);
    assert_eq!(index.json()["versions"]["1.0.0"], serde_json::json!({}));
    assert!(
        begun.elapsed() < Duration::from_secs(20),
        "{:?}",
        begun.elapsed()
    );
    // The refresh was not started again.
    assert_eq!(
        registry.count(matching("GET", "/tags/list")),
        0,
        "{:#?}",
        registry.seen()
    );
}

/// A version that may be just being replaced is waited for once, and not at each refresh.
pub fn a_damaged_version_is_waited_for_once() {
    let registry = Registry::plain();
    let store = Store::at(registry.host());
    for version in ["1.0.0", "1.1.0"] {
        store.push(DEMO, version, None);
    }
    let name = format!("mirror/{DEMO}");
    let part = registry.repository(&name, |repository| {
        let index = repository.resolve("1.1.0").unwrap();
        let index = serde_json::from_slice(&repository.manifests[&index].bytes).unwrap();
        let part = parts(&index).1.swap_remove(0);
        repository.manifests.remove(&part);
        part
    });
    let server = store.serve("--max-age 0");
    for looks in [5, 1, 1] {
        registry.forget();
        let index = server.get(INDEX).is(200).json();
        assert_eq!(index["versions"], serde_json::json!({"1.0.0": {}}));
        assert_eq!(registry.count(|seen| seen.path.ends_with(&part)), looks);
    }
}

/// A registry may list a tag a moment before it has the manifest.
pub fn a_version_whose_tag_is_listed_too_early_is_waited_for() {
    let registry = Registry::plain();
    let store = Store::at(registry.host());
    store.push(DEMO, "1.0.0", None);
    let is_manifest = |seen: &Seen| seen.path.ends_with("/manifests/1.0.0");
    registry.storm(1, is_manifest, Fault::status(404));
    let server = store.serve("");
    let index = server.get(INDEX).is(200).json();
    assert_eq!(index["versions"], serde_json::json!({"1.0.0": {}}));
}

/// A store that takes longer than a refresh of a known list may take is not unreachable.
pub fn what_a_slow_store_lacks_is_404() {
    let registry = Registry::plain();
    let store = Store::at(registry.host());
    store.push(DEMO, "1.0.0", None);
    let server = store.serve(format!("--max-age 0 --registry-host {HOST}"));
    server.get(INDEX).is(200);
    let mut nothing = paths_of_nothing();
    // The old list is enough for the platforms of a version.
    nothing.retain(|path| !path.contains("plan9"));
    for path in &nothing {
        server.get(path).is(404);
    }
    registry.latency(matching("GET", "/tags/list"), Duration::from_secs(4));
    std::thread::scope(|scope| {
        for path in &nothing {
            scope.spawn(|| server.get(path).is(404));
        }
        // The known list is not waited for.
        let stale = server.get(INDEX).is(200);
        let warning = stale.header("warning");
        assert_eq!(
            warning,
            Some("110 tfoci \"the list is older than --max-age\"")
        );
    });
    server.stop();
}
