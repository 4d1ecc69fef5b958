//! One connection over HTTP/1.1: its requests, its limits, and its end.
//!
//! | | limit |
//! | --- | --- |
//! | handshake | [`HANDSHAKE`] in total |
//! | header of a request | 15 seconds in total, and a few until this is noticed; [`LARGEST_HEADER`] bytes, then `431` |
//! | between requests | 75 seconds, in which the client has to read the last [`LARGEST_HEADER`] bytes of an answer |
//! | an answer | 60 seconds without a byte that the client reads; a slow reader has no limit |

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::StreamExt as _;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::header::{HOST, HeaderName, RETRY_AFTER, USER_AGENT};
use hyper::server::conn::http1;
use hyper::{HeaderMap, Method, Request, StatusCode, Version};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, copy, sink};
use tokio::sync::watch;
use tokio::time::{Sleep, sleep, timeout};

use super::answer::{self, Content, Reason};
use super::clients::{Client, Permits};
use super::links;
use super::notice::RequestRecord;
use super::service::Service;
use crate::blob::ReadError;
use crate::error::printable;
use crate::store;

/// How long a TLS handshake may take. It needs one or two round trips, and the connection counts towards `--max-connections`
/// meanwhile.
pub(super) const HANDSHAKE: Duration = Duration::from_secs(10);
/// How long a header that has begun may take to arrive when the server ends.
const CLOSING: Duration = Duration::from_secs(2);
/// How long the header of a request may take. Clients send theirs in one packet. A longer limit would only help a client that
/// holds connections open on purpose.
const LONGEST_HEADER: Duration = Duration::from_secs(15);
/// How long a connection may be idle. It is longer than the 60 seconds of most load balancers, which would otherwise reuse connections that
/// this server has closed.
const LONGEST_IDLE: Duration = Duration::from_secs(75);
/// How often these two limits are looked at. A timer of its own for each phase would cost more than small answers do.
const LOOK: Duration = Duration::from_secs(3);
/// How long a client may read nothing of an answer, as in nginx. During this time the answer may hold an open file, or a transfer from the store.
const STALLED: Duration = Duration::from_secs(60);
/// How long the server reads and drops the bytes that a refused client still sends. The answer arrives within a second, and a client cannot
/// hold the connection for longer.
const LINGER: Duration = Duration::from_secs(1);

/// The largest header in bytes. The headers of clients have about 1 KiB, and hyper would accept 400 KB for each connection.
const LARGEST_HEADER: usize = 32 << 10;
/// The status in the log of a request whose client left before there was an answer, as in the logs of nginx.
const CLIENT_LEFT: u16 = 499;
/// The longest `User-Agent` in the log, in characters. Those of `tofu` and `terraform` have at most 60, and a line has to stay readable.
const LONGEST_AGENT: usize = 120;
/// The longest method in the log, in characters. The longest registered one has 17.
const LONGEST_METHOD: usize = 20;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Serves a connection until it ends.
pub(super) async fn serve<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    address: IpAddr,
    service: Arc<Service>,
) {
    let mut draining = service.draining.subscribe();
    let activity = Activity::new(watch::Sender::new((Phase::Idle, Instant::now())));
    let client = service.shared.clients.at(address).await;
    let watched = Watched::new(stream, activity.clone());
    let of_request = activity.clone();
    let requests = hyper::service::service_fn(move |request| {
        of_request.send_replace((Phase::Answer, Instant::now()));
        let sent = Exchange {
            record: record(&request, address, service.shared.settings.tls.is_none()),
            service: service.clone(),
            client: client.clone(),
            began: Instant::now(),
            content: Content::none(),
            expected: u64::MAX,
            permits: None,
            activity: of_request.clone(),
        };
        // hyper keeps the memory of one request for an idle connection, so that of this future is allocated separately.
        Box::pin(async move { Ok::<_, Infallible>(answer(request, sent).await) })
    });
    let mut builder = http1::Builder::new();
    // The timeout of hyper would also count the time between requests.
    builder
        .header_read_timeout(None)
        .max_buf_size(LARGEST_HEADER);
    let mut connection = builder.serve_connection(TokioIo::new(watched), requests);
    let has_ended = tokio::select! {
        // The client has caused an error of its connection, so it is not reported.
        _ended = &mut connection => true,
        () = overdue(&activity) => false,
        _ = draining.wait_for(|is_draining| *is_draining) => false,
    };
    if !has_ended {
        Pin::new(&mut connection).graceful_shutdown();
        let ended = timeout(CLOSING, &mut connection).await;
        // Answers have the grace of the server, which then aborts this task.
        if ended.is_err() && activity.borrow().0 != Phase::Header {
            tokio::select! {
                _ended = &mut connection => {}
                () = overdue(&activity) => {}
            }
        }
    }
    // The operating system would reset the connection while its client still sends, and the client might lose the reason of a refusal.
    let mut rest = connection.into_parts().io.into_inner();
    let _ended = timeout(LINGER, copy(&mut rest, &mut sink())).await;
}

/// Completes when a client has sent nothing for too long, or a header is not complete.
async fn overdue(activity: &Activity) {
    loop {
        let (phase, since) = *activity.borrow();
        let longest = match phase {
            Phase::Idle => LONGEST_IDLE,
            Phase::Header => LONGEST_HEADER,
            Phase::Answer => Duration::MAX,
        };
        if since.elapsed() > longest {
            return;
        }
        sleep(LOOK).await;
    }
}

/// Answers one request, and reports it after its body was sent.
async fn answer(request: Request<Incoming>, mut sent: Exchange) -> hyper::Response<Exchange> {
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
        _ if service.shared.clients.is_too_fast(&sent.client) => {
            service.shared.metrics.limited.inc();
            record.route = "limited";
            let (status, text) = (StatusCode::TOO_MANY_REQUESTS, "too many requests");
            answer::with(status, text, RETRY_AFTER, "1")
        }
        _ => service.answer(&sent.client, &head, &target, record).await,
    };
    answer::set(&mut answer, REQUEST_ID, &sent.record.id);
    let record = &mut sent.record;
    record.reason = answer.extensions_mut().remove().map(|Reason(text)| text);
    sent.permits = answer.extensions_mut().remove();
    record.status = answer.status().as_u16();
    let (parts, content) = answer.into_parts();
    // hyper answers `HEAD` with the length only.
    let is_sent = head.method != Method::HEAD;
    sent.expected = if is_sent { content.left } else { 0 };
    sent.content = content;
    hyper::Response::from_parts(parts, sent)
}

/// The last address of `X-Forwarded-For`, which the nearest proxy has added. The client can write the others, and all of them if the proxy adds
/// none. So the address is for the log only, and any other text is ignored.
fn forwarded_for(headers: &HeaderMap) -> Option<IpAddr> {
    let header = headers.get_all(FORWARDED_FOR).iter().next_back()?;
    let last = header.to_str().ok()?.rsplit(',').next()?.trim();
    // Some proxies add the port.
    let with_port = || last.parse().ok().map(|address: SocketAddr| address.ip());
    last.parse().ok().or_else(with_port)
}

/// The record of a request before it is answered.
fn record(request: &Request<Incoming>, client: IpAddr, has_proxy: bool) -> RequestRecord {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let (method, headers) = (request.method().as_str(), request.headers());
    let agent = headers.get(USER_AGENT).map(|agent| agent.as_bytes());
    let agent = String::from_utf8_lossy(agent.unwrap_or_default());
    let agent: String = agent.chars().take(LONGEST_AGENT).collect();
    RequestRecord {
        id: format!("{:x}-{number}", std::process::id()),
        client,
        forwarded_for: forwarded_for(headers).filter(|_| has_proxy),
        token: None,
        denied: None,
        reason: None,
        // A client may send one of thousands of letters.
        method: method.chars().take(LONGEST_METHOD).collect(),
        path: String::new(),
        route: "none",
        status: CLIENT_LEFT,
        bytes: 0,
        seconds: 0.0,
        is_stale: false,
        is_complete: false,
        agent: printable(&agent),
    }
}

/// A request, and its answer in transfer. It is reported when it is dropped: at the end of the body, or when the client disconnects, which may
/// be before there is an answer.
struct Exchange {
    service: Arc<Service>,
    client: Arc<Client>,
    record: RequestRecord,
    began: Instant,
    /// The bytes of the body that are not sent yet.
    content: Content,
    expected: u64,
    /// What is held until the answer was sent.
    permits: Option<Permits>,
    activity: Activity,
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.activity.send_replace((Phase::Idle, Instant::now()));
        self.permits = None;
        let record = &mut self.record;
        record.seconds = self.began.elapsed().as_secs_f64();
        record.is_complete = record.bytes == self.expected;
        self.service.shared.metrics.answered(record);
        if record.status != StatusCode::TOO_MANY_REQUESTS.as_u16() || self.client.may_log() {
            self.service.shared.observer.request(record);
        }
    }
}

/// The body of an answer, which counts its bytes for the log.
impl Body for Exchange {
    type Data = Bytes;
    type Error = ReadError<store::Error>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = &mut *self;
        let piece = ready!(this.content.pieces.poll_next_unpin(context));
        if let Some(Ok(piece)) = &piece {
            let size = piece.len() as u64;
            this.content.left = this.content.left.saturating_sub(size);
            this.record.bytes += size;
        }
        Poll::Ready(piece.map(|piece| piece.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.content.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.content.left)
    }
}

/// What a connection does, and since when; shared by the connection and its requests.
type Activity = Arc<watch::Sender<(Phase, Instant)>>;

/// What a connection does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// It waits for a request.
    Idle,
    /// A part of a header has arrived.
    Header,
    /// A request is answered.
    Answer,
}

/// A connection that notes when a header begins, and that fails when its client reads nothing for too long.
struct Watched<S> {
    stream: S,
    activity: Activity,
    /// When the client has read nothing for too long; `None` unless bytes wait for it.
    writing: Option<Pin<Box<Sleep>>>,
    stalled: Duration,
}

impl<S> Watched<S> {
    fn new(stream: S, activity: Activity) -> Self {
        Self {
            stream,
            activity,
            writing: None,
            stalled: STALLED,
        }
    }

    /// Fails if the client has read nothing for too long.
    fn written<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<std::io::Result<T>>,
    ) -> Poll<std::io::Result<T>> {
        if written.is_ready() {
            self.writing = None;
            return written;
        }
        let stalled = self.stalled;
        let end = self.writing.get_or_insert_with(|| Box::pin(sleep(stalled)));
        ready!(end.as_mut().poll(context));
        Poll::Ready(Err(std::io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before && self.activity.borrow().0 == Phase::Idle {
            self.activity.send_replace((Phase::Header, Instant::now()));
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.written(context, written)
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.written(context, flushed)
    }

    fn poll_shutdown(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(context);
        self.written(context, shut)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[tokio::test]
    async fn only_a_client_that_reads_nothing_is_let_go() {
        let (server, mut client) = tokio::io::duplex(1);
        let activity = Activity::new(watch::Sender::new((Phase::Idle, Instant::now())));
        let mut watched = Watched::new(server, activity);
        watched.stalled = Duration::from_millis(200);
        let begun = tokio::time::Instant::now();
        let writing = tokio::spawn(async move { watched.write_all(&[7; 64]).await });
        // It reads a byte from time to time, for longer than the limit in all.
        let mut read = 0;
        while begun.elapsed() < Duration::from_millis(500) {
            sleep(Duration::from_millis(50)).await;
            client.read_u8().await.unwrap();
            read += 1;
        }
        assert!(read < 64 && !writing.is_finished());
        let error = writing.await.unwrap().unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
    }
}
