use std::time::{Duration, Instant};

use super::store_faults::{PATIENCE, SLACK, STALE, paths_of_nothing, unavailable};
use super::stores::{DEMO, HOST, INDEX, Store};
use crate::support::registry::content::parts;
use crate::support::registry::{Fault, Registry, matching};
use crate::support::server::seen::Seen;

/// The list of one version.
const ONE: &str = r#"{"versions":{"1.0.0":{}}}"#;

/// No request takes longer than clients wait, and the refresh goes on without them.
pub fn a_slow_store_is_answered_in_the_end() {
    let (registry, store) = Store::demo_in_registry();
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
    assert_eq!(index.text(), ONE);
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
    // The refresh was not started again.
    let lists = registry.count(matching("GET", "/tags/list"));
    assert_eq!(lists, 0, "{:#?}", registry.seen());
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
        assert_eq!(server.get(INDEX).text(), ONE);
        assert_eq!(registry.count(|seen| seen.path.ends_with(&part)), looks);
    }
}

/// A registry may list a tag a moment before it has the manifest.
pub fn a_version_whose_tag_is_listed_too_early_is_waited_for() {
    let (registry, store) = Store::demo_in_registry();
    let is_manifest = |seen: &Seen| seen.path.ends_with("/manifests/1.0.0");
    registry.storm(1, is_manifest, Fault::status(404));
    assert_eq!(store.serve("").get(INDEX).text(), ONE);
}

/// A store that takes longer than a refresh of a known list may take is not unreachable.
pub fn what_a_slow_store_lacks_is_404() {
    let (registry, store) = Store::demo_in_registry();
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
        assert_eq!(stale.header("warning"), Some(STALE));
    });
}
