//! Holding back: the last bytes of a body pass when all of them are right.

use bytes::Bytes;
use futures_util::StreamExt as _;

use super::{Body, Error};
use crate::digest::Hasher;
use crate::release::Expected;

/// Passes a body on, and its last chunk only when everything is as expected.
pub fn hold_back(body: Body, expected: Expected) -> Body {
    let state = Some((body, HoldBack::new(expected)));
    Body::new(futures_util::stream::unfold(state, |state| async move {
        let (mut body, mut hold) = state?;
        loop {
            match body.next().await {
                Some(Ok(chunk)) => match hold.push(chunk) {
                    Ok(Some(released)) => return Some((Ok(released), Some((body, hold)))),
                    Ok(None) => {}
                    Err(error) => return Some((Err(error), None)),
                },
                Some(Err(error)) => return Some((Err(error), None)),
                None => return hold.finish().transpose().map(|last| (last, None)),
            }
        }
    }))
}

struct HoldBack {
    expected: Expected,
    hasher: Hasher,
    passed: u64,
    held: Option<Bytes>,
}

impl HoldBack {
    fn new(expected: Expected) -> Self {
        Self {
            expected,
            hasher: Hasher::new(expected.digest.algorithm()),
            passed: 0,
            held: None,
        }
    }

    fn push(&mut self, chunk: Bytes) -> Result<Option<Bytes>, Error> {
        if chunk.is_empty() {
            return Ok(None);
        }
        self.hasher.update(&chunk);
        self.passed += chunk.len() as u64;
        if self.passed > self.expected.size {
            return Err(Error::Longer {
                expected: self.expected.size,
            });
        }
        Ok(self.held.replace(chunk))
    }

    fn finish(self) -> Result<Option<Bytes>, Error> {
        if self.passed != self.expected.size {
            return Err(Error::Shorter {
                expected: self.expected.size,
                received: self.passed,
            });
        }
        let received = self.hasher.finish();
        if received != self.expected.digest {
            return Err(Error::Digest {
                expected: self.expected.digest,
                received,
            });
        }
        Ok(self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(chunks: &[&'static str], expected: Expected) -> (String, Option<Error>) {
        let body = Body::new(futures_util::stream::iter(
            chunks
                .iter()
                .map(|chunk| Ok(Bytes::from_static(chunk.as_bytes())))
                .collect::<Vec<_>>(),
        ));
        let mut passed = String::new();
        let error = futures_util::FutureExt::now_or_never(async {
            let mut body = hold_back(body, expected);
            while let Some(chunk) = body.next().await {
                match chunk {
                    Ok(bytes) => passed.push_str(str::from_utf8(&bytes).unwrap()),
                    Err(error) => return Some(error),
                }
            }
            None
        });
        (passed, error.expect("never waits"))
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
        assert!(
            matches!(run(&["ab", "cX"], expected), (p, Some(Error::Digest { .. })) if p == "ab")
        );
        assert!(
            matches!(run(&["ab", "c"], expected), (p, Some(Error::Shorter { .. })) if p == "ab")
        );
        assert!(
            matches!(run(&["ab", "cd", "e"], expected), (p, Some(Error::Longer { .. })) if p == "ab")
        );
    }
}
