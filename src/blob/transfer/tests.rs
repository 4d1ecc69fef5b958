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
        BlobInfo::of(Expected::of(&self.bytes))
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
