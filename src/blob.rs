//! Blobs: bytes that flow from where they lie to where they are wanted, proved while they pass.
//!
//! A [`BlobSource`] is a local file, a blob of another store, or an origin's zip: something whose digest and size are known
//! beforehand and that can be opened at any offset. [`hold_back`] stands between it and whoever writes: it hashes what
//! passes, and lets the last chunk go only when the digest is right. A writer that commits at the end of the stream
//! can therefore never commit wrong bytes.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};

use crate::digest::{Algorithm, Digest, Hasher};
use crate::disk;
use crate::error::Category;
use crate::http;
use crate::release::Expected;

/// Bytes that can be read from the start or from any offset, as often as needed.
pub trait BlobSource: Clone + Send + Sync + 'static {
    /// What the bytes must turn out to be.
    fn expected(&self) -> Expected;

    /// Whether it may end before its time without being shorter, as what comes over a network may.
    fn can_be_cut(&self) -> bool {
        false
    }

    /// Starts reading at an offset.
    fn open(&self, from: u64) -> impl Future<Output = Result<Body, Error>> + Send;
}

/// Bytes on their way.
pub struct Body(Pin<Box<dyn Stream<Item = Result<Bytes, Error>> + Send>>);

impl Body {
    /// Wraps a stream of chunks.
    pub fn new(stream: impl Stream<Item = Result<Bytes, Error>> + Send + 'static) -> Self {
        Self(Box::pin(stream))
    }

    /// Takes everything into memory.
    ///
    /// # Errors
    /// Whatever the source says, or more than `limit` bytes.
    pub async fn collect(mut self, limit: u64) -> Result<Vec<u8>, Error> {
        let mut all = Vec::new();
        while let Some(chunk) = self.next().await {
            all.extend_from_slice(&chunk?);
            if all.len() as u64 > limit {
                return Err(Error::Limit { limit });
            }
        }
        Ok(all)
    }
}

impl Stream for Body {
    type Item = Result<Bytes, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_next_unpin(context)
    }
}

/// Bytes that are at hand, as a source.
#[derive(Clone, Debug)]
pub struct Memory {
    bytes: Bytes,
    expected: Expected,
}

impl Memory {
    /// Wraps the bytes; their digest is computed.
    pub fn new(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self {
            expected: Expected::of(&bytes),
            bytes,
        }
    }
}

impl BlobSource for Memory {
    fn expected(&self) -> Expected {
        self.expected
    }

    async fn open(&self, from: u64) -> Result<Body, Error> {
        let rest = usize::try_from(from)
            .ok()
            .filter(|from| *from <= self.bytes.len())
            .map(|from| self.bytes.slice(from..));
        Ok(Body::new(futures_util::stream::iter(rest.map(Ok))))
    }
}

/// A local file whose digest is known.
#[derive(Clone, Debug)]
pub struct File {
    /// Where it lies.
    pub path: std::path::PathBuf,
    /// What it must turn out to be.
    pub expected: Expected,
}

impl File {
    /// Reads a file to learn its digest and size.
    ///
    /// # Errors
    /// What the system says.
    pub async fn measured(path: std::path::PathBuf) -> Result<Self, disk::Error> {
        let mut blocks = disk::Blocks::open(&path, 0)?;
        let (mut hasher, mut size) = (Hasher::new(Algorithm::Sha256), 0);
        while let Some(block) = blocks.next_block()? {
            hasher.update(&block);
            size += block.len() as u64;
            // A local file never waits; without this the task could not be stopped.
            tokio::task::consume_budget().await;
        }
        let digest = hasher.finish();
        Ok(Self {
            path,
            expected: Expected { digest, size },
        })
    }
}

impl BlobSource for File {
    fn expected(&self) -> Expected {
        self.expected
    }

    async fn open(&self, from: u64) -> Result<Body, Error> {
        let mut blocks = disk::Blocks::open(&self.path, from)?;
        Ok(Body::new(futures_util::stream::poll_fn(move |_| {
            // A local read is faster than handing it to another thread (measured: 4 to 6 % of a push).
            Poll::Ready(blocks.next_block().map_err(Error::Disk).transpose())
        })))
    }
}

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

/// Opens a blob, takes it up again where the network cuts it, and proves it while it flows.
///
/// # Errors
/// It cannot be opened at all.
pub async fn proven<B: BlobSource>(blob: &B) -> Result<Body, Error> {
    Ok(hold_back(resuming(blob).await?, blob.expected()))
}

/// How often in a row a body is taken up again without a byte of progress.
const PATIENCE: u32 = 5;

/// Opens a blob from its start; when the network cuts it, or it ends too early, it goes on where it was cut.
async fn resuming<B: BlobSource>(blob: &B) -> Result<Body, Error> {
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

/// Leaves out the first bytes of a body.
pub fn skipping(body: Body, count: u64) -> Body {
    if count == 0 {
        return body;
    }
    Body::new(futures_util::stream::unfold(
        (body, count),
        |(mut body, count)| async move {
            let chunk = body.next().await?;
            let (chunk, left) = match chunk {
                Ok(mut bytes) => {
                    let skipped = count.min(bytes.len() as u64);
                    (
                        Ok(bytes.split_off(
                            usize::try_from(skipped)
                                .unwrap_or(usize::MAX)
                                .min(bytes.len()),
                        )),
                        count - skipped,
                    )
                }
                Err(error) => (Err(error), count),
            };
            Some((chunk, (body, left)))
        },
    ))
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

/// Bytes that could not be had, or are not those that were expected.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file could not be read.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    /// The network.
    #[error(transparent)]
    Http(#[from] http::Error),
    /// The bytes are not there.
    #[error("the bytes are not there")]
    Missing,
    /// The store that has the bytes.
    #[error("the store does not give the bytes")]
    Store(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// More bytes than expected.
    #[error("there are more bytes than expected\n  expected {expected} bytes\n  received more")]
    Longer {
        /// The expected size in bytes.
        expected: u64,
    },
    /// Fewer bytes than expected.
    #[error(
        "there are fewer bytes than expected\n  expected {expected} bytes\n  received {received} bytes"
    )]
    Shorter {
        /// The expected size in bytes.
        expected: u64,
        /// How many came.
        received: u64,
    },
    /// Other bytes than expected.
    #[error("the bytes do not match their digest\n  expected {expected}\n  received {received}")]
    Digest {
        /// What was promised.
        expected: Digest,
        /// What came.
        received: Digest,
    },
    /// More bytes than anything of its kind may have.
    #[error(
        "there are more bytes than the limit\n  expected at most {limit} bytes\n  received more"
    )]
    Limit {
        /// The limit in bytes.
        limit: u64,
    },
}

impl Error {
    /// A word for what is wrong with the bytes; `None` where this machine could not read them.
    pub fn fault(&self) -> Option<&'static str> {
        match self {
            Self::Disk(_) | Self::Http(_) | Self::Store(_) => None,
            Self::Missing => Some("missing"),
            Self::Limit { .. } => Some("too-large"),
            Self::Longer { .. } | Self::Shorter { .. } => Some("size-mismatch"),
            Self::Digest { .. } => Some("digest-mismatch"),
        }
    }

    /// Whether the same bytes may come through a moment later.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Http(error) if error.is_passing())
    }

    /// What kind of problem it is.
    pub fn category(&self) -> Category {
        match self {
            Self::Disk(error) => error.category(),
            Self::Http(error) => error.category(),
            Self::Store(_) => Category::Unreachable,
            Self::Missing => Category::NotFound,
            Self::Limit { .. } => Category::Malformed,
            Self::Longer { .. } | Self::Shorter { .. } | Self::Digest { .. } => Category::Untrusted,
        }
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
