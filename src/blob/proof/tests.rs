use std::convert::Infallible;

use futures_util::{FutureExt as _, StreamExt as _};

use super::super::{BlobInfo, BlobSource, Body, Opened, ReadError, proven};
use super::*;
use crate::archive::zipfile::{executable, zip};

/// Bytes in chunks.
#[derive(Clone)]
struct Chunks(&'static [&'static str], Expected);

impl BlobSource for Chunks {
    type Failure = Infallible;

    fn info(&self) -> BlobInfo<'_> {
        BlobInfo::of(self.1)
    }

    async fn open(&self, _: u64) -> Opened<Infallible> {
        let chunks = self.0.iter();
        let chunks = chunks.map(|chunk| Ok(Bytes::from_static(chunk.as_bytes())));
        Ok(Body::new(futures_util::stream::iter(chunks)))
    }
}

fn run(chunks: &'static [&'static str], expected: Expected) -> (String, Option<Error>) {
    let mut passed = String::new();
    let reading = async {
        let mut body = match proven(&Chunks(chunks, expected)).await {
            Ok(body) => body,
            Err(ReadError::Blob(error)) => return Some(error),
        };
        while let Some(chunk) = body.next().await {
            match chunk {
                Ok(bytes) => passed.push_str(str::from_utf8(&bytes).unwrap()),
                Err(ReadError::Blob(error)) => return Some(error),
            }
        }
        None
    };
    let error = reading.now_or_never().expect("never waits");
    (passed, error)
}

/// A package that arrives byte by byte, and was not opened before.
#[derive(Clone)]
struct Unopened(Vec<u8>, Expected);

impl BlobSource for Unopened {
    type Failure = Infallible;

    fn info(&self) -> BlobInfo<'_> {
        BlobInfo {
            is_unopened: true,
            ..BlobInfo::of(self.1)
        }
    }

    async fn open(&self, from: u64) -> Opened<Infallible> {
        assert_eq!(from, 0);
        let bytes = self.0.clone().into_iter();
        let chunks = bytes.map(|byte| Ok(Bytes::from(vec![byte])));
        Ok(Body::new(futures_util::stream::iter(chunks)))
    }
}

/// Reads an unopened package. Returns how many bytes passed, and the error.
fn opened(bytes: &[u8], expected: Expected) -> (usize, Option<Error>) {
    let source = Unopened(bytes.to_vec(), expected);
    let reading = async {
        let mut body = match proven(&source).await {
            Ok(body) => body,
            Err(ReadError::Blob(error)) => return (0, Some(error)),
        };
        let mut passed = 0;
        while let Some(chunk) = body.next().await {
            match chunk {
                Ok(chunk) => passed += chunk.len(),
                Err(ReadError::Blob(error)) => return (passed, Some(error)),
            }
        }
        (passed, None)
    };
    reading.now_or_never().expect("never waits")
}

#[test]
fn right_bytes_pass_whole() {
    assert!(
        matches!(run(&["ab", "", "cd"], Expected::of(b"abcd")), (passed, None) if passed == "abcd")
    );
    assert!(matches!(run(&[], Expected::of(b"")), (passed, None) if passed.is_empty()));
}

#[test]
fn the_last_chunk_of_wrong_bytes_never_passes() {
    let expected = Expected::of(b"abcd");
    assert!(matches!(run(&["ab", "cX"], expected), (p, Some(Error::Digest { .. })) if p == "ab"));
    assert!(matches!(run(&["ab", "c"], expected), (p, Some(Error::Shorter { .. })) if p == "ab"));
    assert!(
        matches!(run(&["ab", "cd", "e"], expected), (p, Some(Error::Longer { .. })) if p == "ab")
    );
}

#[test]
fn a_package_that_is_no_zip_never_passes_whole() {
    let whole = zip([executable()]);
    assert!(
        matches!(opened(&whole, Expected::of(&whole)), (passed, None) if passed == whole.len())
    );
    for length in 0..whole.len() {
        let cut = &whole[..length];
        let (passed, error) = opened(cut, Expected::of(cut));
        assert!(matches!(error, Some(Error::Archive(_))), "{length}");
        assert_eq!(passed, length.saturating_sub(1));
    }
    // A digest mismatch takes precedence over a missing end.
    let cut = &whole[..20];
    let other = Expected {
        size: 20,
        ..Expected::of(&whole)
    };
    assert!(matches!(
        opened(cut, other),
        (19, Some(Error::Digest { .. }))
    ));
}

/// A writer that expects no bytes does not read the stream.
#[test]
fn what_should_be_empty_is_proved_at_once() {
    let nothing = Expected::of(b"");
    let other = Expected {
        size: 0,
        ..Expected::of(b"abc")
    };
    assert!(matches!(opened(b"", nothing), (0, Some(Error::Archive(_)))));
    assert!(matches!(
        opened(b"", other),
        (0, Some(Error::Digest { .. }))
    ));
    assert!(matches!(
        opened(b"abc", nothing),
        (0, Some(Error::Longer { .. }))
    ));
}
