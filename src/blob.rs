//! Blobs: streams of bytes that are verified during the transfer.
//!
//! A [`BlobSource`] is a local file, a blob of another store, or an origin's zip. Its digest and size are known beforehand, and it can be
//! opened at any offset. [`proven`] opens a blob as one stream, which resumes after a lost connection, hashes the bytes on their way to the
//! writer, and passes the last chunk only if the digest matches. A writer that commits at the end of the stream can therefore never commit
//! wrong bytes. [`Pieces`] does the same for uploads in chunks. A package that was not opened
//! before must also have the [end](crate::archive::Skeleton) of a zip, because a matching digest does not prove that the bytes are a zip.

mod error;
mod pieces;
mod proof;
mod transfer;

pub use error::{Error, ReadError};
pub use pieces::Pieces;
pub(crate) use transfer::verify;
pub use transfer::{MOST_RESUMPTIONS, proven};

use std::convert::Infallible;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes};
use futures_util::{Stream, StreamExt as _, TryStreamExt as _};
use reqwest::StatusCode;

use crate::digest::Digest;
use crate::disk;
use crate::http::Answer;
use crate::oci::Repository;
use crate::release::Expected;
use proof::HoldBack;

/// Bytes that can be read from the start or from any offset, as often as needed.
pub trait BlobSource: Clone + Send + Sync + 'static {
    /// The error of an origin or a store that does not give the blob; [`Infallible`] for local blobs, which only fail with an [`Error`].
    type Failure: std::error::Error + Send + Sync + 'static;

    /// What is known about the blob before it is read.
    fn info(&self) -> BlobInfo<'_>;

    /// Starts reading at an offset.
    fn open(&self, from: u64) -> impl Future<Output = Opened<Self::Failure>> + Send;

    /// The digest and size that the bytes must have.
    fn expected(&self) -> Expected {
        self.info().expected
    }
}

/// The bytes of an opened blob, or why it could not be opened. `F` is the [`BlobSource::Failure`].
pub type Opened<F> = Result<Body<F>, ReadError<F>>;

/// What is known about a blob before it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlobInfo<'a> {
    /// The digest and size that the bytes must have.
    pub expected: Expected,
    /// Whether it is a package that was not opened before. Its frame is then checked during the transfer.
    pub is_unopened: bool,
    /// Whether its bytes have to be verified even if the destination already has them.
    pub is_unverified: bool,
    /// The place of the blob in a store, from which another repository can share it without a copy.
    pub location: Option<BlobLocation<'a>>,
}

impl BlobInfo<'_> {
    /// A local blob that is in no store, and was verified.
    pub fn of(expected: Expected) -> Self {
        Self {
            expected,
            is_unopened: false,
            is_unverified: false,
            location: None,
        }
    }
}

/// The place of a blob in a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlobLocation<'a> {
    /// In a repository of a registry, which can mount it in another repository.
    InRegistry(&'a Repository),
    /// In a file of a layout. It is never modified, so it can be hard-linked.
    InFile(&'a Path),
}

/// A stream of bytes.
pub struct Body<F>(Pin<Box<dyn Stream<Item = Result<Bytes, ReadError<F>>> + Send>>);

impl<F> Body<F> {
    /// Wraps a stream of chunks.
    pub fn new(stream: impl Stream<Item = Result<Bytes, ReadError<F>>> + Send + 'static) -> Self {
        Self(Box::pin(stream))
    }

    /// The rest of a file.
    pub fn of_file(mut blocks: disk::Blocks) -> Self {
        Self::new(futures_util::stream::poll_fn(move |context| {
            // A local read never waits. Without this, other tasks would wait, and this one could not be cancelled.
            ready!(tokio::task::coop::poll_proceed(context)).made_progress();
            // A blocking read is faster than one on another thread (measured: 4 to 6 % of a push).
            Poll::Ready(blocks.next_block().map_err(ReadError::from).transpose())
        }))
    }

    /// Reads everything into memory.
    ///
    /// # Errors
    /// The source failed, or there are more than `limit` bytes.
    pub async fn collect(mut self, limit: u64) -> Result<Vec<u8>, ReadError<F>> {
        let mut all = Vec::new();
        while let Some(chunk) = self.next().await {
            all.extend_from_slice(&chunk?);
            if all.len() as u64 > limit {
                return Err(Error::Longer { expected: limit }.into());
            }
        }
        Ok(all)
    }
}

impl<F> Stream for Body<F> {
    type Item = Result<Bytes, ReadError<F>>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_next_unpin(context)
    }
}

/// Bytes in memory as a blob.
#[derive(Clone, Debug)]
pub struct Memory {
    bytes: Bytes,
    expected: Expected,
}

impl Memory {
    /// Wraps the bytes and computes their digest.
    pub fn new(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self {
            expected: Expected::of(&bytes),
            bytes,
        }
    }

    /// All bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes from an offset on.
    pub fn body<F: Send + 'static>(&self, from: u64) -> Body<F> {
        let rest = usize::try_from(from)
            .ok()
            .filter(|from| *from <= self.bytes.len())
            .map(|from| self.bytes.slice(from..));
        Body::new(futures_util::stream::iter(rest.map(Ok)))
    }
}

impl BlobSource for Memory {
    type Failure = Infallible;

    fn info(&self) -> BlobInfo<'_> {
        BlobInfo::of(self.expected)
    }

    async fn open(&self, from: u64) -> Opened<Infallible> {
        Ok(self.body(from))
    }
}

/// A local file whose digest is known.
#[derive(Clone, Debug)]
pub struct File {
    /// Where it is. Each attempt to read it opens it anew.
    pub path: std::path::PathBuf,
    /// The digest and size that it must have.
    pub expected: Expected,
    /// Whether its digest is that of a document, and not of its bytes.
    pub is_unverified: bool,
}

impl File {
    /// Reads a file to learn its digest and size.
    ///
    /// # Errors
    /// The file cannot be read.
    pub async fn measured(path: std::path::PathBuf) -> Result<Self, disk::Error> {
        let digest = disk::Blocks::open(&path, 0)?.digest_in_task().await?;
        Ok(Self {
            is_unverified: false,
            ..Self::claimed(path, digest)?
        })
    }

    /// A file that must have this digest. Only its size is read.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn claimed(path: std::path::PathBuf, digest: Digest) -> Result<Self, disk::Error> {
        let metadata = disk::open(&path)?.metadata();
        let metadata = metadata.map_err(|source| disk::Error::at("read", &path, source))?;
        let size = metadata.len();
        Ok(Self {
            path,
            expected: Expected { digest, size },
            is_unverified: true,
        })
    }
}

impl BlobSource for File {
    type Failure = Infallible;

    fn info(&self) -> BlobInfo<'_> {
        BlobInfo {
            is_unverified: self.is_unverified,
            ..BlobInfo::of(self.expected)
        }
    }

    async fn open(&self, from: u64) -> Opened<Infallible> {
        Ok(Body::of_file(disk::Blocks::open(&self.path, from)?))
    }
}

/// Reads a document into memory and verifies it.
///
/// # Errors
/// The document cannot be read, or its bytes are not the expected ones.
pub async fn document<F>(mut body: Body<F>, expected: Expected) -> Result<Vec<u8>, ReadError<F>> {
    let mut proof = HoldBack::new(expected, None);
    let mut all = Vec::new();
    while let Some(chunk) = body.next().await {
        all.extend_from_slice(&proof.push(chunk?)?.unwrap_or_default());
    }
    all.extend_from_slice(&proof.finish()?.unwrap_or_default());
    Ok(all)
}

/// The body of a response to a request for the bytes from an offset on. If the server ignored the range, the bytes before the offset are
/// skipped. If the `size` of the blob is known, the response must not announce another one.
///
/// # Errors
/// The response announces another length than `size`.
pub fn received<F: 'static>(mut answer: Answer, from: u64, size: Option<u64>) -> Opened<F> {
    let is_part = answer.status() == StatusCode::PARTIAL_CONTENT;
    let announced = match is_part {
        true => answer.range().and_then(|range| range.total),
        false => answer.content_length(),
    };
    match (announced, size) {
        (Some(received), Some(expected)) if received < expected => {
            return Err(Error::Shorter { expected, received }.into());
        }
        (Some(received), Some(expected)) if received > expected => {
            return Err(Error::Longer { expected }.into());
        }
        _ => {}
    }
    let mut skip = if is_part { 0 } else { from };
    let chunks = answer.chunks().map_ok(move |mut chunk| {
        let skipped = skip.min(chunk.len() as u64);
        skip -= skipped;
        chunk.advance(usize::try_from(skipped).unwrap_or(usize::MAX));
        chunk
    });
    Ok(Body::new(chunks.map_err(ReadError::from)))
}
