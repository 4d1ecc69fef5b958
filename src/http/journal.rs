//! The journal: reports and counts every request.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use reqwest::header::RANGE;
use reqwest::{StatusCode, Url};

use super::Request;
use super::flow::Flow;
use crate::event::{Event, Exchange, Reporter};

/// Reports every request, and counts them.
#[derive(Clone)]
pub(super) struct Journal {
    reporter: Arc<dyn Reporter>,
    requests: Arc<AtomicU64>,
}

impl Journal {
    pub(super) fn new(reporter: Arc<dyn Reporter>) -> Self {
        Self {
            reporter,
            requests: Arc::default(),
        }
    }

    pub(super) fn report(&self, event: Event) {
        self.reporter.report(event);
    }

    pub(super) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Starts the entry of a request.
    pub(super) fn begin(&self, request: &Request) -> JournalEntry {
        if !request.is_for_token {
            self.requests.fetch_add(1, Ordering::Relaxed);
        }
        let host = host_of(&request.url);
        self.report(Event::Requesting { host: host.clone() });
        let range = request.headers.get(RANGE);
        JournalEntry {
            journal: self.clone(),
            started: Instant::now(),
            received: Flow::default(),
            exchange: Some(Exchange {
                host,
                method: request.method.to_string(),
                url: request.url.clone().into(),
                range: range.map(|range| String::from_utf8_lossy(range.as_bytes()).into_owned()),
                status: None,
                sent: 0,
                received: 0,
                elapsed: Duration::ZERO,
            }),
        }
    }
}

/// The host, with its port if the URL has one.
fn host_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Journal({} requests)", self.requests())
    }
}

/// One request. It is reported when the entry is dropped, after the response was read or abandoned.
#[derive(Debug)]
pub(super) struct JournalEntry {
    journal: Journal,
    started: Instant,
    /// The bytes of the response's body.
    pub(super) received: Flow,
    exchange: Option<Exchange>,
}

impl JournalEntry {
    pub(super) fn answered(&mut self, status: StatusCode) {
        if let Some(exchange) = &mut self.exchange {
            exchange.status = Some(status.as_u16());
        }
    }

    pub(super) fn sent(&mut self, bytes: u64) {
        if let Some(exchange) = &mut self.exchange {
            exchange.sent = bytes;
        }
    }
}

impl Drop for JournalEntry {
    fn drop(&mut self) {
        if let Some(mut exchange) = self.exchange.take() {
            exchange.received = self.received.bytes();
            exchange.elapsed = self.started.elapsed();
            self.journal.report(Event::Requested(exchange));
        }
    }
}
