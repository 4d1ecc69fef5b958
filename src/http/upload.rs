//! Request bodies. The client notices when a server stops reading, and cancels the request.

use crate::jobs::locked;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, BoxStream};
use futures_util::{Stream, StreamExt as _};
use tokio::time::Instant;

use super::journal::Flow;
use super::{Payload, SMALL, Silence, Timeouts};

/// The size of the chunks in which bytes in memory are sent: that of a pipe or socket buffer, so that a stalled upload is noticed soon.
const PIECE: usize = 64 << 10;

/// The progress of a request body.
#[derive(Clone, Debug)]
pub(super) struct Progress(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    stage: Stage,
    since: Instant,
    /// What the server has taken of the body.
    flow: Flow,
    size: u64,
}

/// The side for which the request waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// For the server to read more of the body.
    Taking,
    /// For the source of the body, which has its own timeouts.
    Giving,
    /// For the response to a package.
    Committing,
    /// For the response to any other request.
    Answering,
}

impl Progress {
    /// Returns the progress of a request with this payload, and a body that updates it.
    pub(super) fn of(payload: Option<Payload>) -> (Self, Option<reqwest::Body>) {
        let size = payload.as_ref().map_or(0, Payload::size);
        let is_stream = matches!(payload, Some(Payload::Stream { .. }));
        let progress = Self(Arc::new(Mutex::new(State {
            stage: match is_stream || size > SMALL {
                true => Stage::Taking,
                false => Stage::Answering,
            },
            since: Instant::now(),
            flow: Flow::default(),
            size,
        })));
        let chunks = match payload {
            None => return (progress, None),
            Some(Payload::Stream { body, .. }) => body,
            Some(Payload::Bytes(bytes)) if size <= SMALL => return (progress, Some(bytes.into())),
            // Long bodies in memory are sent as streams, so that their progress is known.
            Some(Payload::Bytes(bytes)) => in_pieces(bytes),
        };
        let tracked = TrackedBody {
            chunks,
            progress: progress.clone(),
        };
        (progress, Some(reqwest::Body::wrap_stream(tracked)))
    }

    /// The bytes that the server has taken. Those of a small body count at once.
    pub(super) fn sent(&self) -> u64 {
        let state = self.state();
        match state.stage {
            Stage::Answering => state.size,
            _ => state.flow.bytes,
        }
    }

    /// Waits until the server has been silent for too long. Returns what the client waited for, and the timeout.
    pub(super) async fn silence(&self, timeouts: &Timeouts) -> (Silence, Duration) {
        loop {
            let (stage, since, flow) = {
                let state = self.state();
                (state.stage, state.since, state.flow)
            };
            let (silence, limit, left) = match stage {
                Stage::Taking => {
                    let left = flow.left(timeouts.stall);
                    (Silence::Upload, timeouts.stall, left)
                }
                Stage::Answering => (Silence::Answer, timeouts.answer, timeouts.answer),
                Stage::Committing => (Silence::Answer, timeouts.commit, timeouts.commit),
                Stage::Giving => {
                    tokio::time::sleep(timeouts.stall).await;
                    continue;
                }
            };
            let left = left.saturating_sub(since.elapsed());
            if left.is_zero() {
                return (silence, limit);
            }
            tokio::time::sleep(left).await;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.0)
    }
}

/// Splits bytes in memory into chunks.
fn in_pieces(bytes: Bytes) -> BoxStream<'static, io::Result<Bytes>> {
    let pieces = stream::unfold(bytes, |mut rest| async move {
        let piece = rest.split_to(rest.len().min(PIECE));
        (!piece.is_empty()).then_some((Ok(piece), rest))
    });
    pieces.boxed()
}

/// A body whose bytes are counted as they are passed on to be sent.
struct TrackedBody {
    chunks: BoxStream<'static, io::Result<Bytes>>,
    progress: Progress,
}

impl Stream for TrackedBody {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = self.chunks.poll_next_unpin(context);
        let bytes = match &polled {
            Poll::Pending => 0,
            Poll::Ready(Some(Ok(bytes))) => bytes.len(),
            Poll::Ready(Some(Err(_)) | None) => return polled,
        };
        let state = &mut *self.progress.state();
        let now = Instant::now();
        let waited = match state.stage {
            Stage::Taking => now - state.since,
            _ => Duration::ZERO,
        };
        state.since = now;
        state.flow.passed(bytes, waited);
        // The HTTP library stops reading at the announced size.
        state.stage = match state.size {
            _ if polled.is_pending() => Stage::Giving,
            size if state.flow.bytes < size => Stage::Taking,
            0..=SMALL => Stage::Answering,
            _ => Stage::Committing,
        };
        polled
    }
}

#[cfg(test)]
mod tests {
    use http_body::Body as _;

    use super::*;

    /// The timeout that ends a body in chunks of `piece` bytes when the server reads one chunk after each interval `every`.
    fn taken(piece: usize, every: Duration) -> Option<Silence> {
        const PIECES: usize = 32;
        let timeouts = Timeouts {
            stall: Duration::from_millis(400),
            commit: Duration::from_secs(600),
            ..Timeouts::default()
        };
        let bytes = move |_| Ok(Bytes::from(vec![0; piece]));
        let payload = Payload::Stream {
            body: stream::iter(0..PIECES).map(bytes).boxed(),
            size: (PIECES * piece) as u64,
        };
        let (progress, body) = Progress::of(Some(payload));
        let mut body = body.expect("it flows");
        let takes = async {
            while std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context))
                .await
                .is_some()
            {
                tokio::time::sleep(every).await;
            }
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build();
        runtime.unwrap().block_on(async {
            let silence = std::pin::pin!(progress.silence(&timeouts));
            match futures_util::future::select(std::pin::pin!(takes), silence).await {
                futures_util::future::Either::Left(_) => None,
                futures_util::future::Either::Right(((silence, _), _)) => Some(silence),
            }
        })
    }

    #[test]
    fn a_server_that_takes_bytes_too_slowly_is_not_waited_for() {
        let now_and_then = Duration::from_millis(40);
        for (piece, every, expected) in [
            (
                4 << 10,
                now_and_then,
                Some("less than 64 KiB more of the upload was taken"),
            ),
            (64 << 10, now_and_then, None),
            (16 << 10, Duration::ZERO, None),
            (
                64 << 10,
                Duration::from_secs(60),
                Some("less than 64 KiB more of the upload was taken"),
            ),
        ] {
            let silence = taken(piece, every).map(|silence| silence.to_string());
            assert_eq!(silence.as_deref(), expected, "{piece} {every:?}");
        }
    }
}
