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

/// Opens a blob, verifies it during the transfer, and resumes if the connection is lost.
///
/// # Errors
/// The blob cannot be opened. An empty blob is verified here, and fails if the source has any bytes.
pub async fn proven<B: BlobSource>(blob: &B) -> Opened<B::Failure> {
    let BlobInfo {
        expected,
        is_unopened,
        ..
    } = blob.info();
    let frame = is_unopened.then(|| Skeleton::new(expected.size));
    let transfer = Transfer {
        blob: blob.clone(),
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
                Some(Err(_)) if passed >= self.proof.expected.size => return None,
                Some(Err(error)) => error,
                // A body that is too short fails the check of size and digest.
                None => return None,
            };
            if self.failures >= MOST_FAILURES || self.resumptions >= MOST_RESUMPTIONS {
                return Some(Err(cut));
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
mod tests;
