//! `/metrics`: which counters there are, and what they count.

use super::stores::{INDEX, Store};

/// The dashboards of operators name them.
const METRICS: [&str; 15] = [
    "requests counter",
    "request_duration_seconds histogram",
    "connections gauge",
    "sent_bytes counter",
    "stale_answers counter",
    "incomplete_answers counter",
    "limited_requests counter",
    "limited_connections counter",
    "list_hits counter",
    "list_misses counter",
    "versions_refused counter",
    "versions_unsigned counter",
    "package_failures counter",
    "store_failures counter",
    "fills_without_room counter",
];

#[test]
fn metrics_have_texts_and_count_answers() {
    let store = Store::demo();
    let server = store.serve("");
    for _ in 0..3 {
        server.get(INDEX).is(200);
    }
    let none = INDEX.replace("demo", "none");
    server.get(&none).is(404);
    let reply = server.get("/metrics").is(200);
    let kind = reply.header("content-type").unwrap();
    assert!(kind.starts_with("application/openmetrics-text"), "{kind}");
    let text = reply.text();
    assert!(text.ends_with("# EOF\n"), "{text}");
    let types = text.lines();
    let types = types.filter_map(|line| line.strip_prefix("# TYPE tfoci_"));
    assert_eq!(types.collect::<Vec<_>>(), METRICS);
    assert_eq!(text.matches("# HELP tfoci_").count(), METRICS.len());
    for counted in ["status=\"200\"} 3\n", "status=\"404\"} 1\n"] {
        let line = format!("tfoci_requests_total{{route=\"mirror-index\",{counted}");
        assert!(text.contains(&line), "{line}{text}");
    }
    // Made-up names of clients do not fill the memory.
    assert!(!text.contains("acme"), "{text}");
}
