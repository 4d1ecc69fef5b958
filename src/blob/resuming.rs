//! Taking up again what a network cuts.

use bytes::Bytes;
use futures_util::StreamExt as _;

use super::{BlobSource, Body, Error};

/// How often in a row a body is taken up again without a byte of progress.
const PATIENCE: u32 = 5;

/// Opens a blob from its start; when the network cuts it, or it ends too early, it goes on where it was cut.
pub(super) async fn resuming<B: BlobSource>(blob: &B) -> Result<Body, Error> {
    let first = blob.open(0).await?;
    let state = Resuming {
        blob: blob.clone(),
        body: Some(first),
        passed: 0,
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
    failures: u32,
}

impl<B: BlobSource> Resuming<B> {
    async fn next(&mut self) -> Option<Result<Bytes, Error>> {
        loop {
            let cut = match self.body.as_mut()?.next().await {
                // Nothing is no progress.
                Some(Ok(chunk)) if chunk.is_empty() => continue,
                Some(Ok(chunk)) => {
                    self.passed += chunk.len() as u64;
                    self.failures = 0;
                    return Some(Ok(chunk));
                }
                Some(Err(error)) if !error.is_passing() => return self.fail(error),
                // However it ended: all of it has come.
                _ if self.passed >= self.blob.expected().size => return None,
                Some(Err(error)) => Some(error),
                None => None,
            };
            if self.failures >= PATIENCE || (cut.is_none() && !self.blob.can_be_cut()) {
                // What is too short is told by whoever checks the whole.
                return cut.and_then(|error| self.fail(error));
            }
            tokio::time::sleep(std::time::Duration::from_millis(100 << self.failures)).await;
            self.failures += 1;
            match self.blob.open(self.passed).await {
                Ok(body) => self.body = Some(body),
                // Whoever opens it has asked as often as its patience goes.
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
    use std::time::Duration;

    use super::super::proven;
    use super::*;
    use crate::http::{self, Silence};
    use crate::release::Expected;

    const BYTES: &[u8] = b"abcdef";

    fn silent() -> Error {
        Error::Http(http::Error::Silent {
            url: "https://example.com/".into(),
            silence: Silence::Download,
            limit: Duration::ZERO,
        })
    }

    /// Gives two bytes at a time and falls silent, and can be opened so often.
    #[derive(Clone)]
    struct Faltering(Arc<AtomicU64>);

    impl BlobSource for Faltering {
        fn expected(&self) -> Expected {
            Expected::of(BYTES)
        }

        fn can_be_cut(&self) -> bool {
            true
        }

        async fn open(&self, from: u64) -> Result<Body, Error> {
            let left = self
                .0
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                    left.checked_sub(1)
                });
            if left.is_err() {
                return Err(silent());
            }
            let bytes = BYTES.iter().skip(from as usize).take(2).copied();
            // As bodies from the network are: nobody may ask again after their end.
            let all = [Ok(bytes.collect()), Err(silent())];
            let chunks = futures_util::stream::unfold(all.into_iter(), |mut rest| async {
                rest.next().map(|chunk| (chunk, rest))
            });
            Ok(Body::new(chunks))
        }
    }

    fn read(times: u64) -> Result<Vec<u8>, Error> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build();
        runtime.unwrap().block_on(async {
            let source = Faltering(Arc::new(AtomicU64::new(times)));
            proven(&source).await?.collect(100).await
        })
    }

    #[test]
    fn what_falls_silent_goes_on_until_it_cannot_be_opened() {
        assert_eq!(read(3).unwrap(), BYTES);
        for times in 0..3 {
            assert!(matches!(read(times), Err(Error::Http(_))), "{times}");
        }
    }
}
