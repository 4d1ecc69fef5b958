//! Metrics in the OpenMetrics format, which Prometheus reads.

use std::sync::atomic::{AtomicI64, AtomicU64};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::http::Http;

/// The upper bounds of the durations in seconds: from an answer from memory to a large package.
const DURATIONS: [f64; 10] = [0.001, 0.005, 0.02, 0.1, 0.5, 2.0, 8.0, 30.0, 120.0, 600.0];

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    route: &'static str,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    route: &'static str,
}

/// The counters of a server.
pub(super) struct Metrics {
    registry: Mutex<Registry>,
    requests: Family<RequestLabels, Counter>,
    durations: Family<RouteLabels, Histogram>,
    bytes: Counter,
    stale: Counter,
    /// Lists that were answered from memory.
    pub(super) hits: Counter,
    /// Lists that were read from the store.
    pub(super) misses: Counter,
    /// Versions that did not verify.
    pub(super) hidden: Counter,
    /// Versions without a signature.
    pub(super) unsigned: Counter,
    /// Packages that could not be sent.
    pub(super) package_failures: Counter,
    incomplete: Counter,
    /// Failed reads of the store.
    pub(super) store_failures: Counter,
    /// Open connections.
    pub(super) connections: Gauge<i64, AtomicI64>,
    /// Requests above the rate of a client, and packages and documents above its quota.
    pub(super) limited: Counter,
    /// Connections above the quota of a client.
    pub(super) limited_connections: Counter,
    store_requests: Counter<u64, AtomicU64>,
    /// The clients of the store and of origins.
    http: Vec<Http>,
}

impl Metrics {
    /// Counters from zero. `http` are the clients of the store and of origins.
    pub(super) fn new(http: Vec<Http>) -> Self {
        let durations: Family<RouteLabels, Histogram> =
            Family::new_with_constructor(|| Histogram::new(DURATIONS));
        let metrics = Self {
            registry: Mutex::new(Registry::with_prefix("tfoci")),
            requests: Family::default(),
            durations,
            bytes: Counter::default(),
            stale: Counter::default(),
            hits: Counter::default(),
            misses: Counter::default(),
            hidden: Counter::default(),
            unsigned: Counter::default(),
            package_failures: Counter::default(),
            incomplete: Counter::default(),
            store_failures: Counter::default(),
            connections: Gauge::default(),
            limited: Counter::default(),
            limited_connections: Counter::default(),
            store_requests: Counter::default(),
            http,
        };
        metrics.register();
        metrics
    }

    fn register(&self) {
        let mut registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        self.register_requests(&mut registry);
        self.register_store(&mut registry);
    }

    /// Registers what clients cause.
    fn register_requests(&self, registry: &mut Registry) {
        registry.register(
            "requests",
            "Requests that were answered, or whose client left before",
            self.requests.clone(),
        );
        registry.register(
            "request_duration_seconds",
            "Time until the last byte of an answer was sent",
            self.durations.clone(),
        );
        registry.register(
            "sent_bytes",
            "Bytes of bodies that were sent",
            self.bytes.clone(),
        );
        registry.register(
            "stale_answers",
            "Answers that were older than --max-age, because the store was unreachable",
            self.stale.clone(),
        );
        registry.register(
            "incomplete_answers",
            "Answers that ended before their last byte, by a failure or because their client left",
            self.incomplete.clone(),
        );
        registry.register("connections", "Open connections", self.connections.clone());
        registry.register(
            "limited_requests",
            "Requests that were refused because their client sent too many, downloads too many packages, or does not read documents",
            self.limited.clone(),
        );
        registry.register(
            "limited_connections",
            "Connections that were closed because their client had too many",
            self.limited_connections.clone(),
        );
    }

    /// Registers what the store, origins and their versions cause.
    fn register_store(&self, registry: &mut Registry) {
        registry.register(
            "list_hits",
            "Lists that were answered from memory",
            self.hits.clone(),
        );
        registry.register(
            "list_misses",
            "Lists that were read from the store",
            self.misses.clone(),
        );
        registry.register(
            "versions_refused",
            "Versions that did not verify, or that the policy refused",
            self.hidden.clone(),
        );
        registry.register(
            "versions_unsigned",
            "Versions without a signature, which only the network mirror serves",
            self.unsigned.clone(),
        );
        registry.register(
            "package_failures",
            "Packages that could not be read, or whose bytes were not those of their digest",
            self.package_failures.clone(),
        );
        registry.register(
            "store_failures",
            "Failed reads of the store",
            self.store_failures.clone(),
        );
        registry.register(
            "store_requests",
            "HTTP requests to the store and to origins",
            self.store_requests.clone(),
        );
    }

    /// Counts an answer.
    pub(super) fn answered(&self, record: &super::notice::RequestRecord<'_>) {
        let route = record.route;
        let status = record.status;
        self.requests
            .get_or_create(&RequestLabels { route, status })
            .inc();
        let seconds = Duration::as_secs_f64(&record.duration);
        self.durations
            .get_or_create(&RouteLabels { route })
            .observe(seconds);
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
        let sent: u64 = self.http.iter().map(Http::requests).sum();
        let new = sent.saturating_sub(self.store_requests.get());
        self.store_requests.inc_by(new);
        let registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        // Writing into a String cannot fail.
        let _written = encode(&mut text, &registry);
        text
    }
}
