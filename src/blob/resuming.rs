//! Resumes a body after a lost connection.

use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;

use super::{BlobSource, Body, Error};
use crate::http::LEAST_FLOW;

/// The most resumptions in a row that each yield less than [`LEAST_FLOW`] bytes. Their pauses add up to three seconds, and each resumption
/// retries its own request.
const MOST_FAILURES: u32 = 5;
/// The most resumptions of one body. Otherwise a server that cuts every connection after [`LEAST_FLOW`] bytes would keep a transfer alive
/// without end.
pub const MOST_RESUMPTIONS: u32 = 100;

/// The pause before the first resumption. It doubles with each further one in a row.
#[cfg(not(test))]
const FIRST_PAUSE: Duration = Duration::from_millis(100);
#[cfg(test)]
const FIRST_PAUSE: Duration = Duration::from_millis(1);

/// Opens a blob from its start, and resumes if the connection is lost or the body ends too early.
pub(super) async fn resuming<B: BlobSource>(blob: &B) -> Result<Body, Error> {
    let first = blob.open(0).await?;
    let state = Resuming {
        blob: blob.clone(),
        body: Some(first),
        passed: 0,
        gained: 0,
        resumptions: 0,
        failures: 0,
    };
    Ok(Body::new(futures_util::stream::unfold(
        state,
        |mut state| async move { state.next().await.map(|chunk| (chunk, state)) },
    )))
}

struct Resuming<B> {
    blob: B,
    /// `None` after an error that was passed on.
    body: Option<Body>,
    passed: u64,
    /// The number of bytes received since it was last opened.
    gained: u64,
    /// The number of resumptions.
    resumptions: u32,
    /// The number of resumptions in a row that yielded too little.
    failures: u32,
}

impl<B: BlobSource> Resuming<B> {
    async fn next(&mut self) -> Option<Result<Bytes, Error>> {
        loop {
            let cut = match self.body.as_mut()?.next().await {
                // An empty chunk is no progress.
                Some(Ok(chunk)) if chunk.is_empty() => continue,
                Some(Ok(chunk)) => {
                    self.passed += chunk.len() as u64;
                    self.gained += chunk.len() as u64;
                    if self.gained >= LEAST_FLOW {
                        self.failures = 0;
                    }
                    return Some(Ok(chunk));
                }
                Some(Err(error)) if !error.is_transient() => return self.fail(error),
                // All bytes have arrived, so an error at the end does not matter.
                _ if self.passed >= self.blob.expected().size => return None,
                Some(Err(error)) => Some(error),
                None => None,
            };
            let is_enough = self.failures >= MOST_FAILURES || self.resumptions >= MOST_RESUMPTIONS;
            if is_enough || (cut.is_none() && !self.blob.may_end_early()) {
                // A body that is too short fails the check of size and digest.
                return cut.and_then(|error| self.fail(error));
            }
            tokio::time::sleep(FIRST_PAUSE * (1 << self.failures)).await;
            self.failures += 1;
            self.resumptions += 1;
            self.gained = 0;
            match self.blob.open(self.passed).await {
                Ok(body) => self.body = Some(body),
                // The source has already retried.
                Err(error) => return self.fail(error),
            }
        }
    }

    fn fail(&mut self, error: Error) -> Option<Result<Bytes, Error>> {
        self.body = None;
        Some(Err(error))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::super::proven;
    use super::*;
    use crate::http::{self, Silence};
    use crate::release::Expected;

    const BYTES: &[u8] = b"abcdef";
    const ENOUGH: usize = LEAST_FLOW as usize;

    fn silent() -> Error {
        Error::Http(http::Error::Silent {
            url: "https://example.com/".into(),
            silence: Silence::Download,
            limit: Duration::ZERO,
        })
    }

    /// Yields some bytes and then a timeout. It can be opened a limited number of times.
    #[derive(Clone)]
    struct Faltering {
        bytes: Bytes,
        piece: usize,
        left: Arc<AtomicU64>,
    }

    impl BlobSource for Faltering {
        fn expected(&self) -> Expected {
            Expected::of(&self.bytes)
        }

        fn may_end_early(&self) -> bool {
            true
        }

        async fn open(&self, from: u64) -> Result<Body, Error> {
            let left = self
                .left
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                    left.checked_sub(1)
                });
            if left.is_err() {
                return Err(silent());
            }
            let bytes = self.bytes.slice(from as usize..);
            let piece = bytes.slice(..bytes.len().min(self.piece));
            // Like bodies from the network, it must not be polled after its end.
            let all = [Ok(piece), Err(silent())];
            let chunks = futures_util::stream::unfold(all.into_iter(), |mut rest| async {
                rest.next().map(|chunk| (chunk, rest))
            });
            Ok(Body::new(chunks))
        }
    }

    fn read(times: u64) -> Result<Vec<u8>, Error> {
        read_in_pieces(Bytes::from_static(BYTES), 2, times).0
    }

    /// The result of reading bytes that arrive in pieces, and the number of resumptions.
    fn read_in_pieces(bytes: Bytes, piece: usize, times: u64) -> (Result<Vec<u8>, Error>, u64) {
        let left = Arc::new(AtomicU64::new(times));
        let source = Faltering {
            bytes,
            piece,
            left: Arc::clone(&left),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build();
        let read = runtime.unwrap().block_on(async {
            let body = proven(&source).await?;
            body.collect(u64::MAX).await
        });
        let opened = times - left.load(Ordering::SeqCst);
        (read, opened.saturating_sub(1))
    }

    #[test]
    fn a_hundred_times_are_enough_for_any_package() {
        let most = u64::from(MOST_RESUMPTIONS);
        let large = |pieces: usize| Bytes::from(vec![7; pieces * ENOUGH]);
        let (read, resumptions) = read_in_pieces(large(101), ENOUGH, 1000);
        assert_eq!((read.unwrap().len(), resumptions), (101 * ENOUGH, most));
        let (read, resumptions) = read_in_pieces(large(102), ENOUGH, 1000);
        assert!(matches!(read, Err(Error::Http(_))), "{read:?}");
        assert_eq!(resumptions, most);
    }

    #[test]
    fn what_brings_too_little_each_time_is_given_up() {
        let large = || Bytes::from(vec![7; 20 * ENOUGH]);
        let (read, resumptions) = read_in_pieces(large(), ENOUGH - 1, 1000);
        assert!(matches!(read, Err(Error::Http(_))), "{read:?}");
        assert_eq!(resumptions, u64::from(MOST_FAILURES));
        // The last resumption reaches the end, so it may yield little.
        let (read, _) = read_in_pieces(large(), 3 * ENOUGH + 1, 1000);
        assert_eq!(read.unwrap().len(), 20 * ENOUGH);
    }

    #[test]
    fn what_falls_silent_goes_on_until_it_cannot_be_opened() {
        assert_eq!(read(3).unwrap(), BYTES);
        for times in 0..3 {
            assert!(matches!(read(times), Err(Error::Http(_))), "{times}");
        }
    }
}
