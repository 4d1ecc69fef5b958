//! Connections: from bytes to the desk and back, or into the ditch.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

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

use super::answer::{Answer, Flow};
use super::desk::Desk;
use super::fault::Fault;
use super::route::Route;
use super::seen::{Door, Seen};

/// How much of a body is read before a refusal is answered, as Go's servers do; more than that and the connection ends.
const DRAINED: u64 = 256 << 10;

/// What all connections share.
#[derive(Clone)]
pub struct Server {
    pub desk: Arc<Mutex<Desk>>,
    pub tls: Option<TlsAcceptor>,
}

/// One connection.
#[derive(Clone)]
struct Line {
    door: Door,
    number: u64,
    hang_up: Arc<Notify>,
    /// Whether the end is a reset rather than a goodbye.
    reset: Arc<AtomicBool>,
}

impl Server {
    /// Takes connections at a door until the runtime ends.
    pub async fn listen(self, door: Door, listener: std::net::TcpListener) {
        listener.set_nonblocking(true).unwrap();
        let listener = TcpListener::from_std(listener).unwrap();
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                continue;
            };
            let line = Line {
                door,
                number: self.desk().number(),
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
        let route = Route::of(&seen.path);
        let (place, fault) = self.desk().arrive(seen.clone());
        let fault = match fault {
            Some(Fault::Reset) => return line.reset().await,
            Some(Fault::Stall) => return std::future::pending().await,
            Some(Fault::CutRequest(after)) => {
                let (bytes, _) = read(body, after).await;
                self.read(place, bytes.len());
                self.desk().keep_partial(&route, &bytes);
                return line.hang_up().await;
            }
            Some(Fault::Answer(answer)) => return self.refuse(place, &seen, body, answer).await,
            fault => fault,
        };
        if matches!(fault, Some(Fault::ExpiredToken)) {
            self.desk().revoke(&seen);
        }
        let refusal = self.desk().receive(&seen, &route);
        if let Some(refusal) = refusal {
            return self.refuse(place, &seen, body, refusal).await;
        }
        let limit = self.limit(&seen, &route);
        let (bytes, whole) = read(body, limit).await;
        self.read(place, bytes.len());
        if !whole {
            self.desk().keep_partial(&route, &bytes);
            return line.hang_up().await;
        }
        if let Some(Fault::Together(barrier)) = &fault {
            barrier.wait().await;
        }
        let answer = self.desk().answer(&seen, &route, bytes);
        match self.spoil(&seen, &route, fault, answer) {
            Some(answer) => self.deliver(place, &seen, answer),
            None => line.hang_up().await,
        }
    }

    /// What becomes of an answer by a fault; `None`: it is lost.
    fn spoil(
        &self,
        seen: &Seen,
        route: &Route,
        fault: Option<Fault>,
        mut answer: Answer,
    ) -> Option<Answer> {
        let mut desk = self.desk();
        let (Route::Blob(name, digest) | Route::Storage(name, digest)) = route.clone() else {
            return spoil_any(seen, fault, answer);
        };
        match fault {
            Some(Fault::RedirectElsewhere) => {
                let door = desk.doors.elsewhere.clone();
                answer = desk.redirect(&door, &name, &digest);
            }
            Some(Fault::RedirectPlain) => {
                let door = desk.doors.plain.clone();
                answer = desk.redirect(&door, &name, &digest);
            }
            fault => return spoil_any(seen, fault, answer),
        }
        Some(answer)
    }

    /// Answers before the body was read.
    async fn refuse(
        &self,
        place: usize,
        seen: &Seen,
        body: Incoming,
        answer: Answer,
    ) -> Response<Flow> {
        let (bytes, whole) = read(body, DRAINED).await;
        self.read(place, bytes.len());
        let answer = if whole {
            answer
        } else {
            answer.header("connection", "close")
        };
        self.deliver(place, seen, answer)
    }

    fn deliver(&self, place: usize, seen: &Seen, answer: Answer) -> Response<Flow> {
        if let Some(seen) = self.desk().seen.get_mut(place) {
            seen.status = Some(answer.status);
        }
        answer.response(seen.method == "HEAD")
    }

    fn read(&self, place: usize, count: usize) {
        if let Some(seen) = self.desk().seen.get_mut(place) {
            seen.body = count as u64;
        }
    }

    /// After how many bytes of a body the connection is cut.
    fn limit(&self, seen: &Seen, route: &Route) -> u64 {
        let limit = self.desk().quirks.largest_put;
        let upload = seen.method == "PUT" && matches!(route, Route::Upload(..));
        limit.filter(|_| upload).unwrap_or(u64::MAX)
    }

    fn desk(&self) -> std::sync::MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn spoil_any(seen: &Seen, fault: Option<Fault>, mut answer: Answer) -> Option<Answer> {
    match fault {
        Some(Fault::LostAnswer) => return None,
        Some(Fault::Alter(alteration)) => alteration(&mut answer),
        Some(Fault::RedirectLoop) => {
            answer = Answer::new(307).header("location", &seen.path);
        }
        _ => {}
    }
    Some(answer)
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

/// Reads a body up to a limit; `false` if there is more, or the client went away.
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
