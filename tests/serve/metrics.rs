//! `/metrics`: which counters there are, and what they count.

use super::stores::{DEMO, Store};

/// The dashboards of operators name them.
const METRICS: [&str; 16] = [
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
    "store_requests counter",
];

#[test]
fn every_metric_has_a_text() {
    let store = Store::demo();
    let server = store.serve("");
    // Counters with labels begin with the first answer.
    server.get("/healthz").is(200);
    let reply = server.until("/metrics", |reply| {
        reply.text().contains("tfoci_requests_total{")
    });
    let text = reply.is(200).text();
    let types = text
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE tfoci_"));
    assert_eq!(types.collect::<Vec<_>>(), METRICS);
    assert_eq!(text.matches("# HELP tfoci_").count(), METRICS.len());
}

#[test]
fn metrics_count_answers() {
    let store = Store::demo();
    let server = store.serve("");
    let path = format!("/mirror/{DEMO}/index.json");
    for _ in 0..3 {
        server.get(&path).is(200);
    }
    server
        .get("/mirror/registry.acme.test/acme/none/index.json")
        .is(404);
    let reply = server.get("/metrics").is(200);
    let kind = reply.header("content-type").unwrap();
    assert!(kind.starts_with("application/openmetrics-text"), "{kind}");
    let text = reply.text();
    assert!(text.ends_with("# EOF\n"), "{text}");
    let counted = |route: &str, status: &str| {
        let mut lines = text.lines();
        let line = lines.find(|line| {
            line.contains("requests_total{") && line.contains(route) && line.contains(status)
        });
        line.and_then(|line| line.rsplit_once(' '))
            .map(|(_, count)| count.to_owned())
    };
    assert_eq!(
        counted("\"mirror-index\"", "\"200\"").as_deref(),
        Some("3"),
        "{text}"
    );
    assert_eq!(
        counted("\"mirror-index\"", "\"404\"").as_deref(),
        Some("1"),
        "{text}"
    );
    // Made-up names of clients do not fill the memory.
    assert!(!text.contains("acme"), "{text}");
}
