//! Metrics in the OpenMetrics format, which Prometheus reads.

use std::sync::atomic::AtomicI64;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Metric, Registry};

/// The upper bounds of the durations in seconds: from an answer from memory to a large package.
const DURATIONS: [f64; 10] = [0.001, 0.005, 0.02, 0.1, 0.5, 2.0, 8.0, 30.0, 120.0, 600.0];

type RequestLabels = [(&'static str, String); 2];
type RouteLabels = [(&'static str, &'static str); 1];

/// The metrics of a server, with a counter for each line of the table: its field, its name, and its meaning.
macro_rules! metrics {
    ($($field:ident: $name:literal $help:literal,)*) => {
        pub(super) struct Metrics {
            registry: Registry,
            requests: Family<RequestLabels, Counter>,
            durations: Family<RouteLabels, Histogram, fn() -> Histogram>,
            /// Open connections.
            pub(super) connections: Gauge<i64, AtomicI64>,
            $(#[doc = $help] pub(super) $field: Counter,)*
        }

        impl Metrics {
            /// Counters from zero.
            pub(super) fn new() -> Self {
                let mut all = Registry::with_prefix("tfoci");
                let help = "Requests that were answered, or whose client left before";
                let requests = with(&mut all, "requests", help, Family::default());
                let histogram: fn() -> Histogram = || Histogram::new(DURATIONS);
                let durations = Family::new_with_constructor(histogram);
                let help = "Time until the last byte of an answer was sent";
                let durations = with(&mut all, "request_duration_seconds", help, durations);
                let connections = with(&mut all, "connections", "Open connections", Gauge::default());
                $(let $field = with(&mut all, $name, $help, Counter::default());)*
                Self { registry: all, requests, durations, connections, $($field,)* }
            }
        }
    };
}

metrics! {
    bytes: "sent_bytes" "Bytes of bodies that were sent",
    stale: "stale_answers" "Answers that may be out of date, because the store or the origin did not answer",
    incomplete: "incomplete_answers" "Answers that ended before their last byte, by a failure or because their client left",
    limited: "limited_requests" "Requests that were refused because their client sent too many, downloads too many packages, or does not read documents",
    limited_connections: "limited_connections" "Connections that were closed because their client had too many",
    hits: "list_hits" "Lists that were answered from memory",
    misses: "list_misses" "Lists that were read from the store",
    hidden: "versions_refused" "Versions that did not verify, or that the policy refused",
    unsigned: "versions_unsigned" "Versions without a signature, which only the network mirror serves",
    package_failures: "package_failures" "Packages that could not be read, or whose bytes were not those of their digest",
    store_failures: "store_failures" "Failed reads of the store",
    without_room: "fills_without_room" "Versions that were not mirrored, because the disk of the store is almost full",
}

impl Metrics {
    /// Counts an answer.
    pub(super) fn answered(&self, record: &super::notice::RequestRecord) {
        let (route, status) = (record.route.to_owned(), record.status.to_string());
        let labels = [("route", route), ("status", status)];
        self.requests.get_or_create(&labels).inc();
        let duration = self.durations.get_or_create(&[("route", record.route)]);
        duration.observe(record.seconds);
        self.bytes.inc_by(record.bytes);
        if record.is_stale {
            self.stale.inc();
        }
        if !record.is_complete {
            self.incomplete.inc();
        }
    }

    /// The metrics in the text format of OpenMetrics.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        // Writing into a String cannot fail.
        let _written = encode(&mut text, &self.registry);
        text
    }
}

fn with<M: Metric + Clone>(all: &mut Registry, name: &str, help: &str, metric: M) -> M {
    all.register(name, help, metric.clone());
    metric
}
