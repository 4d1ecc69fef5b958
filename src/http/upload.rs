//! Bodies on their way to a server, watched: a server that stops reading is not waited for.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::Stream;
use http_body::Body as _;

use super::{Payload, SMALL, Silence, Timeouts};

/// How much is handed over at once, in bytes, of what is at hand.
const PIECE: usize = 64 << 10;

/// How far a request has come, seen from the body that it sends.
#[derive(Clone, Debug)]
pub(super) struct Progress(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    stage: Stage,
    since: Instant,
    sent: u64,
    size: u64,
}

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The server's, to take more of the body.
    Taking,
    /// The source's, to give more of it: somebody else watches that.
    Giving,
    /// The server's, to answer a package.
    Committing,
    /// The server's, to answer anything else.
    Answering,
}

impl Progress {
    /// Of a request with this payload, and the payload that must be sent in its place.
    pub(super) fn of(payload: Option<Payload>) -> (Self, Option<Payload>) {
        let payload = match payload {
            // Long ones are watched too.
            Some(Payload::Bytes(bytes)) if bytes.len() as u64 > SMALL => Some(Payload::Stream {
                size: bytes.len() as u64,
                body: in_pieces(bytes),
            }),
            payload => payload,
        };
        match payload {
            Some(Payload::Stream { body, size }) => {
                let progress = Self::at(Stage::Taking, 0, size);
                let watched = Watched {
                    body,
                    progress: progress.clone(),
                };
                let body = reqwest::Body::wrap_stream(watched);
                (progress, Some(Payload::Stream { body, size }))
            }
            at_hand => {
                let size = at_hand.as_ref().map_or(0, Payload::size);
                (Self::at(Stage::Answering, size, size), at_hand)
            }
        }
    }

    fn at(stage: Stage, sent: u64, size: u64) -> Self {
        Self(Arc::new(Mutex::new(State {
            stage,
            since: Instant::now(),
            sent,
            size,
        })))
    }

    pub(super) fn sent(&self) -> u64 {
        self.state().sent
    }

    /// Comes to an end when the server was silent for too long, with what it was silent about.
    pub(super) async fn silence(&self, timeouts: &Timeouts) -> (Silence, Duration) {
        loop {
            let (stage, since) = {
                let state = self.state();
                (state.stage, state.since)
            };
            let (silence, limit) = match stage {
                Stage::Taking => (Silence::Upload, timeouts.stall),
                Stage::Answering => (Silence::Answer, timeouts.answer),
                Stage::Committing => (Silence::Answer, timeouts.commit),
                Stage::Giving => {
                    tokio::time::sleep(timeouts.stall).await;
                    continue;
                }
            };
            let left = limit.saturating_sub(since.elapsed());
            if left.is_zero() {
                return (silence, limit);
            }
            tokio::time::sleep(left).await;
        }
    }

    /// More was given to be sent. Nobody asks whether there is more than the announced size.
    fn gave(&self, bytes: usize) {
        let mut state = self.state();
        state.sent += bytes as u64;
        state.since = Instant::now();
        state.stage = match state.size {
            size if state.sent < size => Stage::Taking,
            0..=SMALL => Stage::Answering,
            _ => Stage::Committing,
        };
    }

    fn waits_for_its_source(&self) {
        self.state().stage = Stage::Giving;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes that are at hand, one piece after the other.
fn in_pieces(bytes: Bytes) -> reqwest::Body {
    let pieces = futures_util::stream::unfold(bytes, |mut rest| async move {
        let piece = rest.split_to(rest.len().min(PIECE));
        (!piece.is_empty()).then_some((Ok::<_, Infallible>(piece), rest))
    });
    reqwest::Body::wrap_stream(pieces)
}

struct Watched {
    body: reqwest::Body,
    progress: Progress,
}

impl Stream for Watched {
    type Item = Result<Bytes, reqwest::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) else {
                self.progress.waits_for_its_source();
                return Poll::Pending;
            };
            match frame.map(|frame| frame.map(http_body::Frame::into_data)) {
                None => return Poll::Ready(None),
                Some(Ok(Ok(bytes))) => {
                    self.progress.gave(bytes.len());
                    return Poll::Ready(Some(Ok(bytes)));
                }
                // Trailers, which no body of ours has.
                Some(Ok(Err(_))) => {}
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
            }
        }
    }
}
