//! Downloads packages of unknown size or digest into temporary files.

use std::pin::pin;

use futures_util::TryStreamExt as _;
use reqwest::StatusCode;
use reqwest::header::ETAG;

use super::error::Error;
use super::location::RemoteMetadata;
use crate::blob::MOST_RESUMPTIONS;
use crate::digest::Hasher;
use crate::disk::temp_file::{TempFile, TempFileWriter};
use crate::http::{LEAST_FLOW, Retry, Transient};
use crate::release::Expected;

/// A package that is downloaded into a temporary file.
pub(super) struct PackageDownload<'a> {
    metadata: &'a RemoteMetadata,
    file: TempFileWriter,
    hasher: Hasher,
    size: u64,
    /// The strong `ETag` of the part that has been received.
    etag: Option<String>,
}

impl<'a> PackageDownload<'a> {
    pub(super) fn new(metadata: &'a RemoteMetadata) -> Result<Self, Error> {
        Ok(Self {
            metadata,
            file: TempFileWriter::new()?,
            hasher: Hasher::new(),
            size: 0,
            etag: None,
        })
    }

    /// Downloads the package, and resumes after a lost connection.
    pub(super) async fn run(mut self) -> Result<(TempFile, Expected), Error> {
        let RemoteMetadata { access, url, .. } = self.metadata;
        let mut retry = Retry::new(access.request_limits.packages);
        let (mut furthest, mut resumptions) = (0, 0);
        while let Err(error) = self.attempt().await {
            if self.size >= furthest + LEAST_FLOW {
                furthest = self.size;
                retry.progressed();
            }
            resumptions += 1;
            let is_worth_it = error.is_transient() && resumptions <= MOST_RESUMPTIONS;
            let failure = Transient::because(error.summary());
            if !is_worth_it || !retry.wait(&access.http, url.clone(), failure).await {
                return Err(error);
            }
        }
        let (digest, size) = (self.hasher.finish(), self.size);
        Ok((self.file.finish(), Expected { digest, size }))
    }

    /// Downloads the rest of the package.
    async fn attempt(&mut self) -> Result<(), Error> {
        // Without an `ETag` and a digest, a rest that belongs to another package would not be noticed, so the download starts over.
        if self.etag.is_none() && self.metadata.digest.is_none() {
            self.start_over()?;
        }
        let answer = self.metadata.ask(self.size, self.etag.as_deref());
        let mut answer = answer.await?;
        if answer.status() != StatusCode::PARTIAL_CONTENT {
            self.start_over()?;
        }
        // The size of the whole package, as the server announces it.
        let rest = answer.content_length();
        let announced = rest.and_then(|rest| self.size.checked_add(rest));
        if announced.is_some_and(|size| size > self.metadata.largest()) {
            return Err(self.metadata.too_large());
        }
        self.etag = answer.header(ETAG).filter(|etag| !etag.starts_with("W/"));
        let mut chunks = pin!(answer.chunks());
        while let Some(chunk) = chunks.try_next().await? {
            self.size += chunk.len() as u64;
            if self.size > self.metadata.largest() {
                return Err(self.metadata.too_large());
            }
            self.hasher.update(&chunk);
            self.file.write(&chunk)?;
        }
        Ok(())
    }

    fn start_over(&mut self) -> Result<(), Error> {
        if self.size > 0 {
            self.file.clear()?;
            self.hasher = Hasher::new();
            self.size = 0;
        }
        Ok(())
    }
}
