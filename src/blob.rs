//! Blobs: bytes that flow from where they lie to where they are wanted, proved while they pass.
//!
//! A [`BlobSource`] is a local file, a blob of another store, or an origin's zip: its digest and size are known beforehand, and it
//! can be opened at any offset. [`hold_back`] stands between it and the writer: it hashes the bytes, and passes the last chunk only if the
//! digest is right. A writer that commits at the end of the stream can therefore never commit wrong bytes. [`proven`] opens a blob so,
//! and resumes where the network cuts it; [`Pieces`] is the same for a writer in pieces, and [`Shared`] for several destinations. A
//! package that was not opened before must at least have the [`Frame`] of a zip: a digest proves whose bytes they are, and not that they
//! are a zip.

mod error;
mod pieces;
mod proof;
mod resuming;
mod shared;

pub use error::Error;
pub use pieces::Pieces;
pub use proof::hold_back;
pub use resuming::MOST_RESUMPTIONS;
pub use shared::Shared;

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _};
use reqwest::StatusCode;

use crate::archive::Frame;
use crate::digest::{Algorithm, Hasher};
use crate::disk;
use crate::http::Answer;
use crate::oci::Repository;
use crate::release::Expected;

/// Bytes that can be read from the start or from any offset, as often as needed.
pub trait BlobSource: Clone + Send + Sync + 'static {
    /// What the bytes must turn out to be.
    fn expected(&self) -> Expected;

    /// Whether it may end before its time without being shorter, as what comes over a network may.
    fn can_be_cut(&self) -> bool {
        false
    }

    /// Whether it is a package that was not opened before. Its frame is checked while it passes.
    fn is_unopened(&self) -> bool {
        false
    }

    /// Whether its bytes have to be checked even where a store has them already.
    fn is_unverified(&self) -> bool {
        false
    }

    /// Where a store keeps it, so that another repository may share it instead of having it copied.
    fn kept(&self) -> Option<Kept<'_>> {
        None
    }

    /// Starts reading at an offset.
    fn open(&self, from: u64) -> impl Future<Output = Result<Body, Error>> + Send;
}

/// Where a store keeps a blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept<'a> {
    /// In a repository, whose registry can mount it in another one.
    InRegistry(&'a Repository),
    /// In a file of a layout, which is never altered: a hard link is as good as a copy.
    InFile(&'a Path),
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

/// Opens a blob, resumes where the network cuts it, and proves it while it flows.
///
/// # Errors
/// It cannot be opened at all, or is empty and should not be.
pub async fn proven<B: BlobSource>(blob: &B) -> Result<Body, Error> {
    let expected = blob.expected();
    let frame = blob.is_unopened().then(|| Frame::new(expected.size));
    let body = proof::prove(resuming::resuming(blob).await?, expected, frame);
    if expected.size > 0 {
        return Ok(body);
    }
    // A writer of no bytes reads none, and would not see the error.
    body.collect(0).await?;
    Ok(Body::new(futures_util::stream::empty()))
}

/// The body of an answer to a request for all bytes from an offset on. A server that ignores the range sends everything; what came
/// before is left out.
pub fn received(answer: Answer, from: u64) -> Body {
    let skip = match answer.status() {
        StatusCode::PARTIAL_CONTENT => 0,
        _ => from,
    };
    skipping(Body::new(answer.chunks().map_err(Error::Http)), skip)
}

/// As [`received`], of bytes whose number was promised. An answer that announces another number, or that ends before its time where its
/// server meant it to end, is no answer that was cut.
///
/// # Errors
/// The answer announces another number.
pub fn promised(answer: Answer, from: u64, size: u64) -> Result<Body, Error> {
    let differs = |received: u64| match received < size {
        true => Error::Shorter {
            expected: size,
            received,
        },
        false => Error::Longer { expected: size },
    };
    let announced = match answer.status() {
        StatusCode::PARTIAL_CONTENT => answer.range().and_then(|range| range.total),
        _ => answer.content_length(),
    };
    if let Some(announced) = announced.filter(|announced| *announced != size) {
        return Err(differs(announced));
    }
    let is_framed = answer.is_framed();
    let body = received(answer, from);
    if !is_framed {
        return Ok(body);
    }
    let state = Some((body, from));
    Ok(Body::new(futures_util::stream::unfold(
        state,
        move |state| async move {
            let (mut body, passed) = state?;
            match body.next().await {
                Some(Ok(chunk)) => {
                    let passed = passed + chunk.len() as u64;
                    Some((Ok(chunk), Some((body, passed))))
                }
                Some(Err(error)) => Some((Err(error), None)),
                None if passed < size => Some((
                    Err(Error::Shorter {
                        expected: size,
                        received: passed,
                    }),
                    None,
                )),
                None => None,
            }
        },
    )))
}

fn skipping(body: Body, count: u64) -> Body {
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
