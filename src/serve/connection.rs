//! One connection: its requests, its limits, and its end.
//!
//! | | limit |
//! | --- | --- |
//! | handshake | [`HANDSHAKE`] in total |
//! | header of a request | [`HEADER`](super::activity::HEADER) in total, [`LARGEST_HEADER`] bytes; then `431` |
//! | between requests | [`IDLE`](super::activity::IDLE), even while the client sends HTTP/2 frames such as `PING` |
//! | package | [`STALLED`](super::activity::STALLED) without a byte that the client reads; a slow reader has no limit |
//! | any other answer | [`UNREAD`](super::activity::UNREAD) without a byte that the client reads |
//! | concurrent requests | [`MOST_STREAMS`] over HTTP/2 |
//!
//! Over HTTP/2, an answer that its client does not read ends alone, as long as the connection has another one.

use std::net::IpAddr;
use std::pin::Pin;
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
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, watch};

use super::activity::{Activity, LAST_BYTES, OpenRequest, STALLED, TrackedConnection, UNREAD};
use super::answer::{self, Reason, Response};
use super::connection_tasks::{ConnectionTasks, NewRequests};
use super::exchange::Exchange;
use super::forwarded::forwarded_for;
use super::notice::{Denied, RequestRecord};
use super::service::Service;
use crate::error::printable;

/// How long a TLS handshake may take. It needs one or two round trips, and the connection counts towards `--max-connections`
/// meanwhile.
pub(super) const HANDSHAKE: Duration = Duration::from_secs(10);
/// How often a connection's deadline is checked. Bytes that arrive do not wake the task that closes the connection.
const CHECK: Duration = Duration::from_secs(4);
/// How long an idle connection may take to close. A client only has to receive the last frame or the TLS closure.
const CLOSING: Duration = Duration::from_secs(2);
/// The largest header in bytes. The headers of clients have about 1 KiB, and hyper would accept 400 KB for each connection.
const LARGEST_HEADER: u32 = 32 << 10;
/// The most concurrent requests of an HTTP/2 connection. A client has a few at once, and each may hold a send buffer and an open
/// file.
const MOST_STREAMS: u32 = 8;
/// The bytes of an answer that an HTTP/2 stream buffers: one frame of a package. hyper's default of 400 KB for each stream would exceed the
/// memory of the process with many connections.
const SEND_BUFFER: usize = 16 << 10;
/// The bytes that an HTTP/2 client may send before the server has looked at them, in one request and in all requests of a connection. No answer
/// depends on the body of a request, and hyper would accept 1 MiB for each connection. This is the least that every client may send in any case.
const WINDOW: u32 = (64 << 10) - 1;
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
    draining: watch::Receiver<bool>,
) {
    let activity = Activity::default();
    let watched = TokioIo::new(TrackedConnection::new(stream, activity.clone()));
    let requests = {
        let activity = activity.clone();
        hyper::service::service_fn(move |request| {
            let open = activity.begin();
            let service = service.clone();
            async move {
                // hyper keeps the memory of one request for an idle connection, so the 12 KiB of this future are allocated separately.
                let answer = Box::pin(answer(service, client, request, open));
                Ok::<_, std::convert::Infallible>(answer.await)
            }
        })
    };
    let new_requests = NewRequests::of(activity.clone());
    let builder = builder(new_requests.clone());
    let connection = builder.serve_connection(watched, requests);
    let tasks = ConnectionTasks::new(connection, new_requests);
    let shut_down = |connection: Pin<&mut auto::Connection<'_, _, _, _>>| {
        connection.graceful_shutdown();
    };
    until_end(tasks, shut_down, &activity, draining).await;
}

/// hyper with the limits of this server.
fn builder(executor: NewRequests) -> auto::Builder<NewRequests> {
    let mut builder = auto::Builder::new(executor);
    builder
        .http1()
        // `Activity` limits headers. The timeout of hyper would also count the time between requests.
        .header_read_timeout(None)
        .max_buf_size(LARGEST_HEADER as usize);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(LARGEST_HEADER)
        .max_concurrent_streams(MOST_STREAMS)
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .max_send_buf_size(SEND_BUFFER);
    builder
}

/// Runs a connection until it ends, exceeds its deadline, or the server ends.
async fn until_end<C: Future>(
    mut tasks: ConnectionTasks<C>,
    shut_down: impl Fn(Pin<&mut C>),
    activity: &Activity,
    mut draining: watch::Receiver<bool>,
) {
    let mut last = None;
    loop {
        let wake = last.unwrap_or_else(|| Instant::now() + CHECK);
        tokio::select! {
            // The client has caused an error of its connection, so it is not reported.
            _ended = &mut tasks => return,
            () = tokio::time::sleep_until(wake.into()) => {
                if last.is_some_and(|last| Instant::now() >= last) {
                    return;
                }
                tasks.poll_if_idle();
                if activity.deadline().is_some_and(|deadline| Instant::now() >= deadline) {
                    shut_down(tasks.connection());
                    last = Some(Instant::now() + CLOSING);
                } else {
                    activity.end_stalled();
                }
            }
            changed = draining.changed(), if last.is_none() => {
                if changed.is_err() || *draining.borrow() {
                    shut_down(tasks.connection());
                    // Answers have the grace of the server, which then aborts this task.
                    if !activity.is_idle() {
                        let _ended = tasks.await;
                        return;
                    }
                    // A partial header has `CLOSING` to arrive.
                    let longest = match activity.may_be_unread() {
                        true => LAST_BYTES,
                        false => CLOSING,
                    };
                    last = Some(Instant::now() + longest);
                }
            }
        }
    }
}

/// Answers one request, and reports it after its body was sent.
async fn answer(
    service: Arc<Service>,
    client: IpAddr,
    request: Request<Incoming>,
    open: OpenRequest,
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
        open,
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

/// Makes an answer to `HEAD`. Over HTTP/2, hyper would send the body, which clients reject.
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
    open: OpenRequest,
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
        self.waits_for_client();
        answer
    }

    /// Records that the client has to read the sent bytes.
    fn waits_for_client(&self) {
        self.open.waits_for_client(match self.permits.is_empty() {
            true => UNREAD,
            false => STALLED,
        });
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
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
        self.sent.open.was_read();
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        match &frame {
            Some(Ok(frame)) => {
                self.sent.waits_for_client();
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
