//! One connection over HTTP/1.1: its requests, its limits, and its end.
//!
//! | | limit |
//! | --- | --- |
//! | handshake | [`HANDSHAKE`] in total |
//! | header of a request | 20 seconds in total, [`LARGEST_HEADER`] bytes; then `431` |
//! | between requests | 75 seconds |
//! | an answer | 60 seconds without a byte that the client reads; a slow reader has no limit |
//!
//! [`Watched`] has the limits of time.

use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use axum::body::{Body, HttpBody};
use axum::http::header::{CONTENT_LENGTH, DATE, HOST, USER_AGENT};
use axum::http::{HeaderMap, HeaderName, Method, Request, StatusCode, Version};
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, watch};

use super::answer::{self, Reason, Response};
use super::exchange::Exchange;
use super::forwarded::forwarded_for;
use super::notice::{Denied, RequestRecord};
use super::service::Service;
use super::watched::{Phase, Watched};
use crate::error::printable;

/// How long a TLS handshake may take. It needs one or two round trips, and the connection counts towards `--max-connections`
/// meanwhile.
pub(super) const HANDSHAKE: Duration = Duration::from_secs(10);
/// How long a header that has begun may take to arrive when the server ends.
const CLOSING: Duration = Duration::from_secs(2);
/// The largest header in bytes. The headers of clients have about 1 KiB, and hyper would accept 400 KB for each connection.
const LARGEST_HEADER: usize = 32 << 10;
/// The status in the log of a request whose client left before there was an answer, as in the logs of nginx.
const CLIENT_LEFT: u16 = 499;
/// The longest `User-Agent` in the log, in characters. Those of `tofu` and `terraform` have at most 60, and a line has to stay readable.
const LONGEST_AGENT: usize = 120;
/// The longest method in the log, in characters. The longest registered one has 17.
const LONGEST_METHOD: usize = 20;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Serves a connection until it ends. `draining` becomes true when the server ends.
pub(super) async fn serve<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    client: IpAddr,
    service: Arc<Service>,
    mut draining: watch::Receiver<bool>,
) {
    let phase = Phase::default();
    let watched = TokioIo::new(Watched::new(stream, phase.clone()));
    let of_request = phase.clone();
    let requests = hyper::service::service_fn(move |request| {
        of_request.set(Phase::ANSWER);
        let (service, phase) = (service.clone(), of_request.clone());
        async move {
            // hyper keeps the memory of one request for an idle connection, so that of this future is allocated separately.
            let answer = Box::pin(answer(service, client, request, phase));
            Ok::<_, std::convert::Infallible>(answer.await)
        }
    });
    let mut builder = http1::Builder::new();
    // `Watched` limits headers. The timeout of hyper would also count the time between requests.
    builder
        .header_read_timeout(None)
        .max_buf_size(LARGEST_HEADER);
    let mut connection = pin!(builder.serve_connection(watched, requests));
    tokio::select! {
        // The client has caused an error of its connection, so it is not reported.
        _ended = connection.as_mut() => return,
        _ = draining.wait_for(|is_draining| *is_draining) => {}
    }
    connection.as_mut().graceful_shutdown();
    let ended = tokio::time::timeout(CLOSING, connection.as_mut()).await;
    // Answers have the grace of the server, which then aborts this task.
    if ended.is_err() && phase.get() != Phase::HEADER {
        let _ended = connection.await;
    }
}

/// Answers one request, and reports it after its body was sent.
async fn answer(
    service: Arc<Service>,
    client: IpAddr,
    request: Request<Incoming>,
    phase: Phase,
) -> Response {
    let began = Instant::now();
    let hosts = request.headers().get_all(HOST).iter().count();
    let mut sent = Sent {
        service: service.clone(),
        id: next_id(),
        client,
        forwarded_for: forwarded_for(request.headers()).filter(|_| service.has_proxy),
        token: None,
        denied: None,
        reason: None,
        method: request.method().clone(),
        path: service.logged_path(request.uri().path()),
        route: "none",
        status: CLIENT_LEFT,
        is_stale: false,
        agent: agent(request.headers()),
        began,
        bytes: 0,
        expected: None,
        is_ended: false,
        phase,
        permits: Vec::new(),
    };
    // No answer depends on the body. What its client sends would stay in memory while the request waits, for example for a permit.
    let (head, body) = request.into_parts();
    drop(body);
    let exchange = match (head.version, hosts) {
        (Version::HTTP_11, 0) | (_, 2..) => Exchange::ambiguous(),
        _ if service.is_too_fast(client) => Exchange::too_many(),
        _ => service.answer(client, &Request::from_parts(head, ())).await,
    };
    let answer = sent.sends(exchange);
    answer.map(|body| Body::new(Counted { body, sent }))
}

/// The number of a request in this process, and the process.
fn next_id() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("{:x}-{number}", std::process::id())
}

/// A method for the log. A client may send one of thousands of letters.
fn short(method: &Method) -> &str {
    let text = method.as_str();
    text.get(..LONGEST_METHOD).unwrap_or(text)
}

/// The `User-Agent`, safe to print.
fn agent(headers: &HeaderMap) -> String {
    let agent = headers.get(USER_AGENT).map(|agent| agent.as_bytes());
    let agent = String::from_utf8_lossy(agent.unwrap_or_default());
    let agent: String = agent.chars().take(LONGEST_AGENT).collect();
    printable(&agent)
}

/// Makes an answer to `HEAD`, which has the length of the body, and no body.
fn remove_body(answer: &mut Response) {
    if let Some(length) = length(answer)
        && answer.status() != StatusCode::NOT_MODIFIED
    {
        answer::set(answer, CONTENT_LENGTH, &length.to_string());
    }
    *answer.body_mut() = Body::empty();
}

fn length(answer: &Response) -> Option<u64> {
    let header = answer.headers().get(CONTENT_LENGTH);
    let header = header.and_then(|header| header.to_str().ok()?.parse().ok());
    header.or_else(|| answer.body().size_hint().exact())
}

/// A request, and its answer in transfer. It is reported when it is dropped: at the end of the body, or when the client disconnects, which may
/// be before there is an answer.
struct Sent {
    service: Arc<Service>,
    id: String,
    client: IpAddr,
    forwarded_for: Option<IpAddr>,
    token: Option<String>,
    denied: Option<Denied>,
    reason: Option<String>,
    method: Method,
    path: String,
    route: &'static str,
    status: u16,
    is_stale: bool,
    agent: String,
    began: Instant,
    bytes: u64,
    expected: Option<u64>,
    is_ended: bool,
    phase: Phase,
    /// The permits of a package, held until it was sent; none for another answer.
    permits: Vec<OwnedSemaphorePermit>,
}

impl Sent {
    /// Completes the headers of an answer, and notes what of it is reported. Returns the answer.
    fn sends(&mut self, exchange: Exchange) -> Response {
        let Exchange {
            mut answer,
            route,
            token,
            denied,
            is_stale,
            permits,
        } = exchange;
        answer::set(&mut answer, REQUEST_ID, &self.id);
        answer::set(&mut answer, DATE, &answer::date());
        self.expected = match self.method == Method::HEAD {
            true => {
                remove_body(&mut answer);
                Some(0)
            }
            false => length(&answer),
        };
        self.token = token;
        self.denied = denied;
        self.reason = answer.extensions_mut().remove().map(|Reason(text)| text);
        self.route = route;
        self.status = answer.status().as_u16();
        self.is_stale = is_stale;
        self.permits = permits;
        answer
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        self.phase.set(Phase::IDLE);
        let record = RequestRecord {
            id: &self.id,
            client: self.client,
            forwarded_for: self.forwarded_for,
            token: self.token.as_deref(),
            denied: self.denied,
            reason: self.reason.as_deref().filter(|_| self.denied.is_none()),
            method: short(&self.method),
            path: &self.path,
            route: self.route,
            status: self.status,
            bytes: self.bytes,
            duration: self.began.elapsed(),
            is_stale: self.is_stale,
            is_complete: self.is_ended || self.expected == Some(self.bytes),
            agent: &self.agent,
        };
        self.service.metrics.answered(&record);
        let is_refused = self.status == StatusCode::TOO_MANY_REQUESTS.as_u16();
        if !is_refused || self.service.refusal_log.admits(self.client) {
            self.service.observer.request(&record);
        }
    }
}

/// A body that counts its bytes for the log.
struct Counted {
    body: Body,
    sent: Sent,
}

impl HttpBody for Counted {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        match &frame {
            Some(Ok(frame)) => {
                let length = frame.data_ref().map_or(0, Bytes::len);
                self.sent.bytes += length as u64;
            }
            Some(Err(_)) => {}
            None => self.sent.is_ended = true,
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
