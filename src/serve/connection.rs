//! One connection: its handshake, its requests, and when it ends.
//!
//! | | limit |
//! | --- | --- |
//! | handshake | [`HANDSHAKE`] as a whole |
//! | header of a request | [`HEADER`](super::activity::HEADER) as a whole, [`LARGEST_HEADER`] bytes; then `431` |
//! | between requests | [`IDLE`](super::activity::IDLE), also if frames of HTTP/2 arrive that belong to no request |
//! | body of an answer | [`STALLED`](super::activity::STALLED) without a byte that the client takes; a slow reader is not cut |
//! | requests at once | [`MOST_STREAMS`] over HTTP/2 |

use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use axum::body::{Body, HttpBody};
use axum::http::header::{CONTENT_LENGTH, DATE, HOST, USER_AGENT};
use axum::http::{HeaderName, Method, Request, StatusCode, Version};
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, watch};

use super::activity::{Activity, OpenRequest, Watched};
use super::answer::{self, Response};
use super::connection_tasks::{ConnectionTasks, NewRequests};
use super::notice::{Denied, RequestRecord};
use super::outcome::Outcome;
use super::service::Service;
use crate::error::printable;

/// How long a TLS handshake may take.
pub(super) const HANDSHAKE: Duration = Duration::from_secs(10);
/// How often a connection's time is looked at. Bytes that arrive do not wake the task that would cut the connection.
const LOOK: Duration = Duration::from_secs(4);
/// How long a connection that was asked to end may take for it.
const FAREWELL: Duration = Duration::from_secs(2);
/// The largest header in bytes.
const LARGEST_HEADER: u32 = 32 << 10;
/// The most requests of an HTTP/2 connection at once.
const MOST_STREAMS: u32 = 8;
/// The bytes of an answer that an HTTP/2 stream holds before they are sent.
const SEND_BUFFER: usize = 16 << 10;
/// The longest `User-Agent` in the log, in characters.
const LONGEST_AGENT: usize = 120;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Serves a connection until it ends. `draining` becomes true when the server ends.
pub(super) async fn serve<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    client: IpAddr,
    service: Arc<Service>,
    mut draining: watch::Receiver<bool>,
) {
    let activity = Activity::new();
    let watched = TokioIo::new(Watched::new(stream, activity.clone()));
    let requests = {
        let activity = activity.clone();
        hyper::service::service_fn(move |request| {
            let open = activity.begin();
            let service = service.clone();
            async move {
                // An idle connection keeps the room of one request, and this is 12 KiB.
                let answered = Box::pin(answered(service, client, request, open));
                Ok::<_, std::convert::Infallible>(answered.await)
            }
        })
    };
    let new_requests = NewRequests::default();
    let mut builder = auto::Builder::new(new_requests.clone());
    builder
        .http1()
        // Headers have a limit of their own, which does not count the time between requests.
        .header_read_timeout(None)
        .max_buf_size(LARGEST_HEADER as usize);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(LARGEST_HEADER)
        .max_concurrent_streams(MOST_STREAMS)
        .max_send_buf_size(SEND_BUFFER);
    let connection = builder.serve_connection(watched, requests);
    let mut tasks = ConnectionTasks::new(connection, new_requests);
    let mut last = None;
    loop {
        let wake = last.unwrap_or_else(|| Instant::now() + LOOK);
        tokio::select! {
            // Errors of a connection are its client's.
            _ended = &mut tasks => return,
            () = tokio::time::sleep_until(wake.into()) => {
                if last.is_some_and(|last| Instant::now() >= last) {
                    return;
                }
                tasks.poll_if_idle();
                if activity.deadline().is_some_and(|deadline| Instant::now() >= deadline) {
                    tasks.connection().graceful_shutdown();
                    last = Some(Instant::now() + FAREWELL);
                }
            }
            changed = draining.changed(), if last.is_none() => {
                if changed.is_err() || *draining.borrow() {
                    tasks.connection().graceful_shutdown();
                    // A header that is on its way gets a moment, and answers get the server's grace.
                    if activity.is_idle() {
                        last = Some(Instant::now() + FAREWELL);
                    } else {
                        // The server ends the task after its grace.
                        let _ended = tasks.await;
                        return;
                    }
                }
            }
        }
    }
}

/// Answers one request, and reports it when its body was sent.
async fn answered(
    service: Arc<Service>,
    client: IpAddr,
    request: Request<Incoming>,
    open: OpenRequest,
) -> Response {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let began = Instant::now();
    let id = format!(
        "{:x}-{}",
        std::process::id(),
        NUMBER.fetch_add(1, Ordering::Relaxed)
    );
    let method = request.method().clone();
    let agent = request.headers().get(USER_AGENT);
    let agent: String = agent
        .map(|agent| {
            String::from_utf8_lossy(agent.as_bytes())
                .chars()
                .take(LONGEST_AGENT)
                .collect()
        })
        .unwrap_or_default();
    let hosts = request.headers().get_all(HOST).iter().count();
    let outcome = match (request.version(), hosts) {
        (Version::HTTP_11, 0) | (_, 2..) => Outcome::ambiguous(request.uri().path()),
        _ if service.is_too_fast(client) => Outcome::too_many(request.uri().path()),
        _ => service.answer(client, request.map(Body::new)).await,
    };
    let Outcome {
        mut answer,
        route,
        token,
        denied,
        is_stale,
        path,
        permits,
    } = outcome;
    answer::set(&mut answer, REQUEST_ID, &id);
    answer::set(&mut answer, DATE, &answer::date());
    let mut expected = length(&answer);
    if method == Method::HEAD {
        // Over HTTP/2 the library would send the body, which clients take for a broken answer.
        if let Some(length) = expected
            && answer.status() != StatusCode::NOT_MODIFIED
        {
            answer::set(&mut answer, CONTENT_LENGTH, &length.to_string());
        }
        *answer.body_mut() = Body::empty();
        expected = Some(0);
    }
    let sent = Sent {
        service,
        id,
        client,
        token,
        denied,
        method: method.clone(),
        path: printable(&path),
        route,
        status: answer.status().as_u16(),
        is_stale,
        agent: printable(&agent),
        began,
        bytes: 0,
        expected,
        is_ended: false,
        open,
        _permits: permits,
    };
    sent.open.waits_for_client();
    answer.map(|body| Body::new(Counted { body, sent }))
}

fn length(answer: &Response) -> Option<u64> {
    let header = answer.headers().get(CONTENT_LENGTH);
    let header = header.and_then(|header| header.to_str().ok()?.parse().ok());
    header.or_else(|| answer.body().size_hint().exact())
}

/// An answer that is being sent. It is reported when it is dropped: at the end of its body, or when the client went away.
struct Sent {
    service: Arc<Service>,
    id: String,
    client: IpAddr,
    token: Option<String>,
    denied: Option<Denied>,
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
    _permits: Vec<OwnedSemaphorePermit>,
}

impl Drop for Sent {
    fn drop(&mut self) {
        let record = RequestRecord {
            id: &self.id,
            client: self.client,
            token: self.token.as_deref(),
            denied: self.denied,
            method: self.method.as_str(),
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
        if !is_refused || self.service.refusals_logged.admits(self.client) {
            self.service.observer.request(&record);
        }
    }
}

/// A body that counts its bytes.
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
        self.sent.open.was_taken();
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        match &frame {
            Some(Ok(frame)) => {
                self.sent.open.waits_for_client();
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
