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
                Some(Ok(chunk)) => {
                    self.passed += chunk.len() as u64;
                    self.failures = 0;
                    return Some(Ok(chunk));
                }
                None if self.passed >= self.blob.expected().size => return None,
                None => None,
                Some(Err(error)) if error.is_passing() => Some(error),
                Some(Err(error)) => return self.fail(error),
            };
            if self.failures >= PATIENCE || (cut.is_none() && !self.blob.can_be_cut()) {
                // What is too short is told by whoever checks the whole.
                return cut.and_then(|error| self.fail(error));
            }
            tokio::time::sleep(std::time::Duration::from_millis(100 << self.failures)).await;
            self.failures += 1;
            match self.blob.open(self.passed).await {
                Ok(body) => self.body = Some(body),
                Err(error) if error.is_passing() => {}
                Err(error) => return self.fail(error),
            }
        }
    }

    fn fail(&mut self, error: Error) -> Option<Result<Bytes, Error>> {
        self.body = None;
        Some(Err(error))
    }
}
