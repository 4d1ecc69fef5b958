//! Connections: reads requests, calls the service, and sends answers or faults.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;

use super::Service;
use super::answer::{Answer, Flow};
use super::fault::Fault;
use super::seen::{Door, Seen};

/// How much of a body is read before a refusal is sent, as in Go's servers. The connection ends after a longer body.
const DRAINED: u64 = 256 << 10;

/// The state that all connections share.
pub struct Server<S> {
    pub service: Arc<Mutex<S>>,
    pub tls: Option<TlsAcceptor>,
}

impl<S> Clone for Server<S> {
    fn clone(&self) -> Self {
        Self {
            service: Arc::clone(&self.service),
            tls: self.tls.clone(),
        }
    }
}

/// One connection.
#[derive(Clone)]
struct Line {
    door: Door,
    number: u64,
    hang_up: Arc<Notify>,
    /// Whether the connection ends with a reset.
    reset: Arc<AtomicBool>,
}

impl<S: Service> Server<S> {
    /// Accepts connections at a door until the runtime ends.
    pub async fn listen(self, door: Door, listener: std::net::TcpListener) {
        listener.set_nonblocking(true).unwrap();
        let listener = TcpListener::from_std(listener).unwrap();
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                continue;
            };
            let line = Line {
                door,
                number: self.service().book().number(),
                hang_up: Arc::default(),
                reset: Arc::default(),
            };
            tokio::spawn(self.clone().serve(line, stream));
        }
    }

    async fn serve(self, line: Line, stream: TcpStream) {
        let wire = Wire {
            stream,
            reset: Arc::clone(&line.reset),
        };
        match self.tls.clone().filter(|_| line.door != Door::Plain) {
            None => self.speak(line, wire).await,
            Some(tls) => {
                if let Ok(wire) = tls.accept(wire).await {
                    self.speak(line, wire).await;
                }
            }
        }
    }

    async fn speak(self, line: Line, wire: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let hang_up = Arc::clone(&line.hang_up);
        let service = service_fn(move |request| {
            let (server, line) = (self.clone(), line.clone());
            async move { Ok::<_, Infallible>(server.handle(&line, request).await) }
        });
        let connection = hyper::server::conn::http1::Builder::new()
            .serve_connection(TokioIo::new(wire), service);
        tokio::select! {
            _ = connection => {}
            () = hang_up.notified() => {}
        }
    }

    async fn handle(&self, line: &Line, request: Request<Incoming>) -> Response<Flow> {
        let (parts, body) = request.into_parts();
        let seen = Seen::new(line.door, line.number, &parts);
        let (place, fault, delay) = self.service().book().arrive(seen.clone());
        let stay = self.stay(place);
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        let answer = match fault {
            Some(Fault::Reset) => return line.reset().await,
            Some(Fault::Stall) => return std::future::pending().await,
            Some(Fault::CutRequest(after)) => {
                let (bytes, _) = read(body, after).await;
                self.note(place, |seen| seen.body = bytes.len() as u64);
                self.service().keep_partial(&seen, &bytes);
                return line.hang_up().await;
            }
            Some(Fault::Answer(answer)) => Some(self.refuse(place, body, answer).await),
            fault => self.attend(place, &seen, body, fault).await,
        };
        let Some(answer) = answer else {
            return line.hang_up().await;
        };
        self.note(place, |seen| seen.status = Some(answer.status));
        answer.response(seen.method == "HEAD", stay)
    }

    /// Admits or refuses a request, reads its body, and answers. Returns `None` if the connection is to end.
    async fn attend(
        &self,
        place: usize,
        seen: &Seen,
        body: Incoming,
        fault: Option<Fault>,
    ) -> Option<Answer> {
        if matches!(fault, Some(Fault::ExpiredToken)) {
            self.service().revoke(seen);
        }
        let refusal = self.service().receive(seen);
        if let Some(refusal) = refusal {
            return Some(self.refuse(place, body, refusal).await);
        }
        let limit = self.service().limit(seen);
        let (bytes, whole) = read(body, limit).await;
        self.note(place, |seen| seen.body = bytes.len() as u64);
        if !whole {
            self.service().keep_partial(seen, &bytes);
            return None;
        }
        if let Some(Fault::Together(barrier)) = &fault {
            barrier.wait().await;
        }
        if let Some(Fault::Held(place)) = &fault {
            place.begin().await;
        }
        let mut service = self.service();
        let answer = service.answer(seen, bytes);
        spoil(&mut *service, seen, fault, answer)
    }

    /// Notes the end of a request when it is dropped.
    fn stay(&self, place: usize) -> Stay {
        let server = self.clone();
        Stay(Box::new(move || {
            server.note(place, |seen| seen.ended = Some(Instant::now()));
        }))
    }

    /// Answers before the body was read.
    async fn refuse(&self, place: usize, body: Incoming, answer: Answer) -> Answer {
        let (bytes, whole) = read(body, DRAINED).await;
        self.note(place, |seen| seen.body = bytes.len() as u64);
        match whole {
            true => answer,
            false => answer.header("connection", "close"),
        }
    }

    /// Notes something in the record of a request.
    fn note(&self, place: usize, what: impl FnOnce(&mut Seen)) {
        if let Some(seen) = self.service().book().at(place) {
            what(seen);
        }
    }

    fn service(&self) -> MutexGuard<'_, S> {
        self.service.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Applies a fault to an answer. Returns `None` if the answer is lost.
fn spoil(
    service: &mut impl Service,
    seen: &Seen,
    fault: Option<Fault>,
    mut answer: Answer,
) -> Option<Answer> {
    match fault {
        Some(Fault::LostAnswer) => return None,
        Some(Fault::Alter(alteration)) => alteration(&mut answer),
        Some(Fault::Held(place)) => answer.gate = Some(place),
        Some(Fault::RedirectElsewhere) => {
            return service.redirect_to(seen, Door::Elsewhere).or(Some(answer));
        }
        Some(Fault::RedirectPlain) => {
            return service.redirect_to(seen, Door::Plain).or(Some(answer));
        }
        Some(Fault::RedirectLoop) => {
            answer = Answer::new(307).header("location", &seen.path);
        }
        _ => {}
    }
    Some(answer)
}

/// A request in progress.
pub struct Stay(Box<dyn Fn() + Send>);

impl Drop for Stay {
    fn drop(&mut self) {
        (self.0)();
    }
}

impl Line {
    async fn hang_up<T>(&self) -> T {
        self.hang_up.notify_one();
        std::future::pending().await
    }

    async fn reset<T>(&self) -> T {
        self.reset.store(true, Ordering::Relaxed);
        self.hang_up().await
    }
}

/// Reads a body up to a limit. Returns `false` if the body is longer or the client disconnected.
async fn read(mut body: Incoming, limit: u64) -> (Bytes, bool) {
    let mut all = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else {
            return (all.into(), false);
        };
        all.extend_from_slice(frame.data_ref().unwrap_or(&Bytes::new()));
        if all.len() as u64 > limit {
            all.truncate(usize::try_from(limit).unwrap());
            return (all.into(), false);
        }
    }
    (all.into(), true)
}

/// A socket that can end in a reset.
struct Wire {
    stream: TcpStream,
    reset: Arc<AtomicBool>,
}

impl Drop for Wire {
    fn drop(&mut self) {
        if self.reset.load(Ordering::Relaxed) {
            let _unsupported = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
