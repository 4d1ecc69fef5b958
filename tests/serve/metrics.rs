//! `/metrics`: which counters there are, and what they count.

use super::stores::{DEMO, Store};

/// What operators read beside the counters. Their dashboards name them.
const COUNTERS: &str = "\
# HELP tfoci_requests Requests that were answered, or whose client left before.
# TYPE tfoci_requests counter
# HELP tfoci_request_duration_seconds Time until the last byte of an answer was sent.
# TYPE tfoci_request_duration_seconds histogram
# HELP tfoci_connections Open connections.
# TYPE tfoci_connections gauge
# HELP tfoci_sent_bytes Bytes of bodies that were sent.
# TYPE tfoci_sent_bytes counter
# HELP tfoci_stale_answers Answers that may be out of date, because the store or the origin did not answer.
# TYPE tfoci_stale_answers counter
# HELP tfoci_incomplete_answers Answers that ended before their last byte, by a failure or because their client left.
# TYPE tfoci_incomplete_answers counter
# HELP tfoci_limited_requests Requests that were refused because their client sent too many, downloads too many packages, or does not read documents.
# TYPE tfoci_limited_requests counter
# HELP tfoci_limited_connections Connections that were closed because their client had too many.
# TYPE tfoci_limited_connections counter
# HELP tfoci_list_hits Lists that were answered from memory.
# TYPE tfoci_list_hits counter
# HELP tfoci_list_misses Lists that were read from the store.
# TYPE tfoci_list_misses counter
# HELP tfoci_versions_refused Versions that did not verify, or that the policy refused.
# TYPE tfoci_versions_refused counter
# HELP tfoci_versions_unsigned Versions without a signature, which only the network mirror serves.
# TYPE tfoci_versions_unsigned counter
# HELP tfoci_package_failures Packages that could not be read, or whose bytes were not those of their digest.
# TYPE tfoci_package_failures counter
# HELP tfoci_store_failures Failed reads of the store.
# TYPE tfoci_store_failures counter
# HELP tfoci_fills_without_room Versions that were not mirrored, because the disk of the store is almost full.
# TYPE tfoci_fills_without_room counter
# HELP tfoci_store_requests HTTP requests to the store and to origins.
# TYPE tfoci_store_requests counter
";

#[test]
fn every_counter_says_what_it_counts() {
    let store = Store::demo();
    let server = store.serve(&[]);
    // Counters with labels begin with the first answer.
    server.get("/healthz").is(200);
    let reply = server.until("/metrics", |reply| {
        reply.text().contains("tfoci_requests_total{")
    });
    let text = reply.is(200).text();
    let comments = text.lines().filter(|line| line.starts_with("# "));
    let comments: String = comments.map(|line| format!("{line}\n")).collect();
    assert_eq!(comments, format!("{COUNTERS}# EOF\n"));
}

#[test]
fn metrics_count_answers() {
    let store = Store::demo();
    let server = store.serve(&[]);
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
