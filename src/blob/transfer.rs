//! The transfer of a blob: one stream that resumes after a lost connection, and verifies what it passes on. Its count of the
//! bytes is the offset from which it resumes.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};

use super::proof::HoldBack;
use super::{BlobInfo, BlobSource, Body, Opened, ReadError};
use crate::archive::Skeleton;
use crate::http::LEAST_FLOW;

/// The most resumptions in a row that each yield less than [`LEAST_FLOW`] bytes. Their pauses add up to three seconds, and each resumption
/// retries its own request.
const MOST_FAILURES: u32 = 5;
/// The most resumptions of one body. Otherwise a server that cuts every connection after [`LEAST_FLOW`] bytes would keep a transfer alive
/// without end.
pub const MOST_RESUMPTIONS: u32 = 100;

/// The pause before the first resumption. It doubles with each further one in a row. Most cut connections are accepted again at once, so
/// the first pause is short.
#[cfg(not(test))]
const FIRST_PAUSE: Duration = Duration::from_millis(100);
#[cfg(test)]
const FIRST_PAUSE: Duration = Duration::from_millis(1);

/// Opens a blob, verifies it during the transfer, and resumes if the connection is lost or the body ends too early.
///
/// # Errors
/// The blob cannot be opened. An empty blob is verified here, and fails if the source has any bytes.
pub async fn proven<B: BlobSource>(blob: &B) -> Opened<B::Failure> {
    let BlobInfo {
        expected,
        is_unopened,
        may_end_early,
        ..
    } = blob.info();
    let frame = is_unopened.then(|| Skeleton::new(expected.size));
    let transfer = Transfer {
        blob: blob.clone(),
        may_end_early,
        body: blob.open(0).await?,
        proof: HoldBack::new(expected, frame),
        opened_at: 0,
        resumptions: 0,
        failures: 0,
    };
    let body = Body::new(stream::unfold(Some(transfer), |state| async move {
        let mut transfer = state?;
        loop {
            let pushed = match transfer.next().await {
                Some(Ok(chunk)) => transfer.proof.push(chunk).map_err(ReadError::from),
                Some(Err(error)) => Err(error),
                None => {
                    let last = transfer.proof.finish().map_err(ReadError::from);
                    return Some((last.transpose()?, None));
                }
            };
            match pushed {
                Ok(None) => {}
                Ok(Some(released)) => return Some((Ok(released), Some(transfer))),
                Err(error) => return Some((Err(error), None)),
            }
        }
    }));
    if expected.size > 0 {
        return Ok(body);
    }
    // A writer that expects no bytes does not read the stream, and would miss the error.
    body.collect(0).await?;
    Ok(Body::new(stream::empty()))
}

/// Reads a blob to its end, which verifies it.
///
/// # Errors
/// It cannot be read, or has other bytes.
pub(crate) async fn verify<B: BlobSource>(blob: &B) -> Result<(), ReadError<B::Failure>> {
    let mut body = proven(blob).await?;
    while let Some(chunk) = body.next().await {
        chunk?;
    }
    Ok(())
}

struct Transfer<B: BlobSource> {
    blob: B,
    may_end_early: bool,
    body: Body<B::Failure>,
    proof: HoldBack,
    /// The offset at which the blob was last opened.
    opened_at: u64,
    resumptions: u32,
    /// The number of resumptions in a row that yielded too little.
    failures: u32,
}

impl<B: BlobSource> Transfer<B> {
    /// The next bytes of the blob. After an error or the end, nothing more can be read.
    async fn next(&mut self) -> Option<Result<Bytes, ReadError<B::Failure>>> {
        loop {
            let received = self.body.next().await;
            let passed = self.proof.passed;
            if passed - self.opened_at >= LEAST_FLOW {
                self.failures = 0;
            }
            let cut = match received {
                // An empty chunk is no progress.
                Some(Ok(chunk)) if chunk.is_empty() => continue,
                Some(Ok(chunk)) => return Some(Ok(chunk)),
                Some(Err(error)) if !error.is_transient() => return Some(Err(error)),
                // All bytes have arrived, so an error at the end does not matter.
                _ if passed >= self.proof.expected.size => return None,
                Some(Err(error)) => Some(error),
                None => None,
            };
            let is_final = cut.is_none() && (self.body.is_whole || !self.may_end_early);
            let is_enough = self.failures >= MOST_FAILURES || self.resumptions >= MOST_RESUMPTIONS;
            if is_enough || is_final {
                // A body that is too short fails the check of size and digest.
                return cut.map(Err);
            }
            tokio::time::sleep(FIRST_PAUSE * (1 << self.failures)).await;
            self.failures += 1;
            self.resumptions += 1;
            self.opened_at = passed;
            match self.blob.open(passed).await {
                Ok(body) => self.body = body,
                // The source has already retried.
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::super::{Error, proven};
    use super::*;
    use crate::http::{self, Silence};
    use crate::release::Expected;

    const BYTES: &[u8] = b"abcdef";
    const ENOUGH: usize = LEAST_FLOW as usize;

    fn silent() -> ReadError<Infallible> {
        ReadError::from(http::Error::Silent {
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
        type Failure = Infallible;

        fn info(&self) -> BlobInfo<'_> {
            BlobInfo {
                may_end_early: true,
                ..BlobInfo::of(Expected::of(&self.bytes))
            }
        }

        async fn open(&self, from: u64) -> Opened<Infallible> {
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
            let chunks = stream::unfold(all.into_iter(), |mut rest| async {
                rest.next().map(|chunk| (chunk, rest))
            });
            Ok(Body::new(chunks))
        }
    }

    fn read(times: u64) -> Result<Vec<u8>, ReadError<Infallible>> {
        read_in_pieces(Bytes::from_static(BYTES), 2, times).0
    }

    /// The result of reading bytes that arrive in pieces, and the number of resumptions.
    fn read_in_pieces(
        bytes: Bytes,
        piece: usize,
        times: u64,
    ) -> (Result<Vec<u8>, ReadError<Infallible>>, u64) {
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
        assert!(
            matches!(read, Err(ReadError::Blob(Error::Http(_)))),
            "{read:?}"
        );
        assert_eq!(resumptions, most);
    }

    #[test]
    fn what_brings_too_little_each_time_is_given_up() {
        let large = || Bytes::from(vec![7; 20 * ENOUGH]);
        let (read, resumptions) = read_in_pieces(large(), ENOUGH - 1, 1000);
        assert!(
            matches!(read, Err(ReadError::Blob(Error::Http(_)))),
            "{read:?}"
        );
        assert_eq!(resumptions, u64::from(MOST_FAILURES));
        // The last resumption reaches the end, so it may yield little.
        let (read, _) = read_in_pieces(large(), 3 * ENOUGH + 1, 1000);
        assert_eq!(read.unwrap().len(), 20 * ENOUGH);
    }

    #[test]
    fn what_falls_silent_goes_on_until_it_cannot_be_opened() {
        assert_eq!(read(3).unwrap(), BYTES);
        for times in 0..3 {
            assert!(
                matches!(read(times), Err(ReadError::Blob(Error::Http(_)))),
                "{times}"
            );
        }
    }
}
