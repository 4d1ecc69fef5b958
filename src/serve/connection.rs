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

use std::net::{IpAddr, SocketAddr};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::header::{CONTENT_LENGTH, DATE, HOST, HeaderName, USER_AGENT};
use hyper::server::conn::http1;
use hyper::{HeaderMap, Method, Request, StatusCode, Version};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;

use super::answer::{self, Content, Reason, Response};
use super::clients::{Client, Permits};
use super::links;
use super::notice::RequestRecord;
use super::service::Service;
use super::watched::{Phase, Watched};
use crate::blob::ReadError;
use crate::error::printable;
use crate::store;

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

/// The largest piece of a document that is handed to the connection, which may hold it for longer than the answer holds its places.
const PIECE: usize = 16 << 10;
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Serves a connection until it ends. `draining` becomes true when the server ends.
pub(super) async fn serve<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    address: IpAddr,
    service: Arc<Service>,
    mut draining: watch::Receiver<bool>,
) {
    let phase = Phase::default();
    let client = service.clients.at(address).await;
    let watched = TokioIo::new(Watched::new(stream, phase.clone()));
    let of_request = phase.clone();
    let requests = hyper::service::service_fn(move |request| {
        of_request.set(Phase::ANSWER);
        let sent = Sent::new(
            service.clone(),
            client.clone(),
            address,
            &request,
            of_request.clone(),
        );
        async move {
            // hyper keeps the memory of one request for an idle connection, so that of this future is allocated separately.
            Ok::<_, std::convert::Infallible>(Box::pin(answer(request, sent)).await)
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
async fn answer(request: Request<Incoming>, mut sent: Sent) -> hyper::Response<Sending> {
    // No answer depends on the body. What its client sends would stay in memory while the request waits, for example for a permit.
    let (head, body) = request.into_parts();
    drop(body);
    let service = sent.service.clone();
    let target = service.target(&head);
    let record = &mut sent.record;
    record.path = printable(&links::without_signatures(target.path));
    let hosts = head.headers.get_all(HOST).iter().count();
    let mut answer = match (head.version, hosts) {
        (Version::HTTP_11, 0) | (_, 2..) => {
            let text = "the request names no host, or several";
            answer::text(StatusCode::BAD_REQUEST, text)
        }
        _ if service.clients.is_too_fast(&sent.client) => {
            service.metrics.limited.inc();
            record.route = "limited";
            answer::too_many("too many requests", 1)
        }
        _ => {
            let answered = service.answer(&sent.client, &head, &target, record);
            let (answer, permits) = answered.await;
            sent.permits = permits;
            answer
        }
    };
    answer::set(&mut answer, REQUEST_ID, &sent.record.id);
    answer::set(&mut answer, DATE, &answer::date());
    sent.expected = match head.method == Method::HEAD {
        true => {
            remove_body(&mut answer);
            0
        }
        false => answer.body().left(),
    };
    let record = &mut sent.record;
    let reason = answer.extensions_mut().remove();
    record.reason = reason.map(|Reason(text)| text);
    record.status = answer.status().as_u16();
    answer.map(|content| Sending { content, sent })
}

/// The last address of `X-Forwarded-For`, which the nearest proxy has added. The client can write the others, and all of them if the proxy adds
/// none. So the address is for the log only, and any other text is ignored.
fn forwarded_for(headers: &HeaderMap) -> Option<IpAddr> {
    let header = headers.get_all(FORWARDED_FOR).iter().next_back()?;
    let last = header.to_str().ok()?.rsplit(',').next()?.trim();
    let bare = last
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let address = bare.unwrap_or(last).parse();
    // Some proxies add the port.
    address
        .or_else(|_| last.parse().map(|address: SocketAddr| address.ip()))
        .ok()
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
    let length = answer.body().left();
    if answer.status() != StatusCode::NOT_MODIFIED && !answer.headers().contains_key(CONTENT_LENGTH)
    {
        answer::set(answer, CONTENT_LENGTH, &length.to_string());
    }
    *answer.body_mut() = Content::NONE;
}

/// A request, and its answer in transfer. It is reported when it is dropped: at the end of the body, or when the client disconnects, which may
/// be before there is an answer.
struct Sent {
    service: Arc<Service>,
    client: Arc<Client>,
    record: RequestRecord,
    began: Instant,
    expected: u64,
    /// What is held until the answer was sent.
    permits: Permits,
    phase: Phase,
}

impl Sent {
    fn new(
        service: Arc<Service>,
        client: Arc<Client>,
        address: IpAddr,
        request: &Request<Incoming>,
        phase: Phase,
    ) -> Self {
        let headers = request.headers();
        let record = RequestRecord {
            id: next_id(),
            client: address,
            forwarded_for: forwarded_for(headers).filter(|_| service.has_proxy),
            token: None,
            denied: None,
            reason: None,
            method: short(request.method()).to_owned(),
            path: String::new(),
            route: "none",
            status: CLIENT_LEFT,
            bytes: 0,
            seconds: 0.0,
            is_stale: false,
            is_complete: false,
            agent: agent(headers),
        };
        Self {
            service,
            client,
            record,
            began: Instant::now(),
            expected: u64::MAX,
            permits: Permits::new(),
            phase,
        }
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        self.phase.set(Phase::IDLE);
        self.permits.clear();
        let record = &mut self.record;
        record.seconds = self.began.elapsed().as_secs_f64();
        record.is_complete = record.bytes == self.expected;
        self.service.metrics.answered(record);
        if record.status != StatusCode::TOO_MANY_REQUESTS.as_u16() || self.client.may_log() {
            self.service.observer.request(record);
        }
    }
}

/// The body of an answer, which counts its bytes for the log.
struct Sending {
    content: Content,
    sent: Sent,
}

impl Body for Sending {
    type Data = Bytes;
    type Error = ReadError<store::Error>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = &mut *self;
        let piece = match &mut this.content {
            Content::Whole(bytes) if bytes.is_empty() => None,
            Content::Whole(bytes) => Some(Ok(bytes.split_to(bytes.len().min(PIECE)))),
            Content::Package(bytes, left) => {
                let piece = ready!(bytes.as_mut().poll_next(context));
                if let Some(Ok(piece)) = &piece {
                    *left = left.saturating_sub(piece.len() as u64);
                }
                piece
            }
        };
        if let Some(Ok(piece)) = &piece {
            this.sent.record.bytes += piece.len() as u64;
        }
        Poll::Ready(piece.map(|piece| piece.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.content, Content::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.content.left())
    }
}
