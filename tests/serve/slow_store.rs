use std::time::{Duration, Instant};

use super::store_faults::{PATIENCE, SLACK, paths_of_nothing, unavailable};
use super::stores::{HOST, INDEX, Store};
use crate::support::registry::matching;

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

/// A store that takes longer than a refresh of a known list may take is not unreachable.
pub fn what_a_slow_store_lacks_is_404() {
    let (registry, store) = Store::demo_in_registry();
    let server = store.serve(format!("--max-age 0 --registry-host {HOST}"));
    server.get(INDEX).is(200);
    let nothing = paths_of_nothing();
    for path in &nothing {
        server.get(path).is(404);
    }
    registry.latency(matching("GET", "/tags/list"), Duration::from_secs(4));
    std::thread::scope(|scope| {
        for path in &nothing {
            scope.spawn(|| server.get(path).is(404));
        }
    });
}
