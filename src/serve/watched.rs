//! A connection with limits of time: for headers, for idle clients, and for clients that do not read.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// How long the header of a request may take. Clients send theirs in one packet. A longer limit would only help a client that
/// holds connections open on purpose.
const HEADER: Duration = Duration::from_secs(20);
/// How long a connection may be idle. It is longer than the 60 seconds of most load balancers, which would otherwise reuse connections that
/// this server has closed.
const IDLE: Duration = Duration::from_secs(75);
/// How long a client may read nothing of an answer, as in nginx. During this time the answer may hold an open file, or a transfer from the store.
const STALLED: Duration = Duration::from_secs(60);
/// How long the server reads and drops the bytes that a refused client still sends. The answer arrives within a second, and a client cannot
/// hold the connection for longer.
const LINGER: Duration = Duration::from_secs(1);

/// What a connection does, shared by the connection and its requests.
#[derive(Clone, Default)]
pub(super) struct Phase(Arc<AtomicU8>);

impl Phase {
    pub(super) const IDLE: u8 = 0;
    /// A part of a header has arrived.
    pub(super) const HEADER: u8 = 1;
    /// A request is answered.
    pub(super) const ANSWER: u8 = 2;

    pub(super) fn get(&self) -> u8 {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn set(&self, phase: u8) {
        self.0.store(phase, Ordering::Relaxed);
    }
}

/// A connection that ends when its client exceeds a limit of time.
pub(super) struct Watched<S> {
    stream: S,
    phase: Phase,
    /// The end of the phase in which the connection waits for bytes.
    reading: Option<(u8, Pin<Box<Sleep>>)>,
    /// When the client has read nothing for too long; `None` unless bytes wait for it.
    writing: Option<Pin<Box<Sleep>>>,
    /// The end of [`LINGER`]; `None` before the connection is closed.
    lingering: Option<Pin<Box<Sleep>>>,
    stalled: Duration,
}

impl<S> Watched<S> {
    pub(super) fn new(stream: S, phase: Phase) -> Self {
        Self {
            stream,
            phase,
            reading: None,
            writing: None,
            lingering: None,
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
    /// The end of the stream, if the client has sent nothing for too long.
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let this = &mut *self;
        let before = buffer.filled().len();
        let read = Pin::new(&mut this.stream).poll_read(context, buffer);
        let phase = this.phase.get();
        if read.is_ready() {
            if phase == Phase::IDLE && buffer.filled().len() > before {
                this.phase.set(Phase::HEADER);
                this.reading = None;
            }
            return read;
        }
        let longest = match phase {
            Phase::IDLE => IDLE,
            Phase::HEADER => HEADER,
            _ => {
                this.reading = None;
                return Poll::Pending;
            }
        };
        if this.reading.as_ref().is_none_or(|(of, _)| *of != phase) {
            this.reading = Some((phase, Box::pin(sleep(longest))));
        }
        match &mut this.reading {
            Some((_, end)) => end.as_mut().poll(context).map(Ok),
            None => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.written(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.written(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.written(context, flushed)
    }

    /// Closes the connection, and drops what its client still sends. Otherwise the operating system would reset the connection, and the client
    /// might lose the answer with the reason of a refusal.
    fn poll_shutdown(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        if self.lingering.is_none() {
            let shut = Pin::new(&mut self.stream).poll_shutdown(context);
            ready!(self.written(context, shut))?;
        }
        let this = &mut *self;
        let end = this
            .lingering
            .get_or_insert_with(|| Box::pin(sleep(LINGER)));
        if end.as_mut().poll(context).is_ready() {
            return Poll::Ready(Ok(()));
        }
        let mut dropped = [0; 4 << 10];
        loop {
            let mut buffer = ReadBuf::new(&mut dropped);
            let read = ready!(Pin::new(&mut this.stream).poll_read(context, &mut buffer));
            if read.is_err() || buffer.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[tokio::test]
    async fn only_a_client_that_reads_nothing_is_let_go() {
        let (server, mut client) = tokio::io::duplex(1);
        let mut watched = Watched::new(server, Phase::default());
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
