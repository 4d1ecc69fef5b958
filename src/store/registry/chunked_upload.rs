//! Uploading a blob in chunks, with one PATCH for each.
//!
//! A chunk stays in memory until the registry has it. After a broken connection, a lost answer or an error, the registry is
//! asked for its offset, and the upload continues from there. So the blob is read only once, and the bytes that were hashed
//! are the bytes that were sent.

use std::time::Duration;

use bytes::{Buf as _, Bytes};
use reqwest::header::{CONTENT_RANGE, CONTENT_TYPE, RANGE};
use reqwest::{Method, StatusCode};

use super::Error;
use super::upload::{BYTES, SMALLEST, Upload, UploadError, UploadSession, with_digest};
use crate::blob::{BlobSource, Pieces};
use crate::event::Transfer;
use crate::http::{Answer, LEAST_FLOW, Payload, Request, Retry, retry_after};
use crate::store::{Breach, PutError};

/// The longest chunk in bytes, which is held in memory. Storage backends of registries require 5 MiB, some 16 MiB.
const LARGEST: usize = 16 << 20;
/// Of uploads in longer chunks, one runs at a time: four would hold 64 MiB.
const LONG: usize = 5 << 20;

/// An upload for registries or proxies that refuse a whole package in one request.
struct ChunkedUpload<'a, B> {
    upload: &'a Upload<'a, B>,
    /// Each answer may change its location.
    opened: UploadSession,
    /// The number of bytes that the registry has.
    offset: u64,
    /// The length of the next chunk.
    length: usize,
    /// The least length of a chunk, except for the last one.
    min_length: usize,
    /// For requests in a row that fail to move the offset.
    retry: Retry,
}

impl<B: BlobSource> Upload<'_, B> {
    /// Sends all bytes in chunks of `length` bytes, or of more if the registry requires more, and completes the upload.
    pub(super) async fn put_chunks(
        &self,
        opened: UploadSession,
        length: usize,
    ) -> Result<Transfer, UploadError<B::Failure>> {
        let required = opened.chunk_min_length.unwrap_or(0);
        let min_length = usize::try_from(required).ok();
        let Some(min_length) = min_length.filter(|length| *length <= LARGEST) else {
            return Err(UploadError::ModeRefused(Error::Protocol {
                breach: Breach::Chunks,
                expected: format!("chunks of at most {LARGEST} bytes"),
                received: format!("at least {required} bytes"),
                url: opened.shown,
            }));
        };
        let chunked = ChunkedUpload {
            upload: self,
            opened,
            offset: 0,
            length: length.max(min_length),
            min_length,
            retry: Retry::default(),
        };
        chunked.run().await
    }
}

impl<B: BlobSource> ChunkedUpload<'_, B> {
    async fn run(mut self) -> Result<Transfer, UploadError<B::Failure>> {
        // The semaphore is never closed.
        let _permit = match self.length > LONG {
            true => self.upload.session.long_chunks.acquire().await.ok(),
            false => None,
        };
        let pieces = Pieces::of(self.upload.blob).await;
        let mut pieces = pieces.map_err(PutError::Source)?;
        let mut unsent = Bytes::new();
        loop {
            let filled = pieces.fill(unsent, self.length).await;
            unsent = filled.map_err(PutError::Source)?;
            if unsent.is_empty() {
                return self.complete().await;
            }
            let before = self.offset;
            let chunk = unsent.slice(..unsent.len().min(self.length));
            self.patch(chunk).await?;
            let taken = usize::try_from(self.offset - before).unwrap_or(unsent.len());
            unsent.advance(taken.min(unsent.len()));
        }
    }

    /// Sends a chunk, and moves the offset by as much as the registry took.
    async fn patch(&mut self, chunk: Bytes) -> Result<(), UploadError<B::Failure>> {
        let session = self.upload.session;
        let sent = chunk.len() as u64;
        let secret = session.secret(&self.opened.scope).await?;
        let range = format!("{}-{}", self.offset, (self.offset + sent).saturating_sub(1));
        let request = Request::new(Method::PATCH, self.opened.location.clone(), &session.base)
            .header(CONTENT_TYPE, BYTES)
            .header(CONTENT_RANGE, &range)
            .authorization(secret.clone(), &session.base)
            .payload(Payload::Bytes(chunk));
        let answer = match session.http.send(request).await {
            Ok(answer) => answer,
            Err(error) if error.is_transient() => {
                return self.resume_shorter(sent, error.into()).await;
            }
            Err(error) => return Err(Error::from(error).into()),
        };
        let status = answer.status();
        if status.is_success() {
            let all = self.offset + sent;
            return self.move_offset(&answer, sent, Some(all), None);
        }
        let scope = &self.opened.scope;
        let is_renewed = status == StatusCode::UNAUTHORIZED
            && session.learn(&answer, scope, secret.as_ref()).await?;
        let error = self.upload.refusal(&answer);
        match (status, retry_after(&answer)) {
            (StatusCode::UNAUTHORIZED, _) if is_renewed => {
                self.pause(Duration::ZERO, error).await.map(drop)
            }
            (StatusCode::PAYLOAD_TOO_LARGE, _) if self.shorten() => Ok(()),
            // The registry has another offset, or refuses chunks of this length.
            (StatusCode::RANGE_NOT_SATISFIABLE, _) => self.resume_shorter(sent, error).await,
            // The registry has forgotten the upload session.
            (StatusCode::NOT_FOUND, _) => Err(UploadError::Retry(Duration::ZERO, error)),
            (_, Some(retry_after)) => self.resume(sent, retry_after, error).await,
            (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, None) => Err(error.into()),
            (_, None) => Err(UploadError::ModeRefused(error)),
        }
    }

    /// As [`Self::resume`]. If the registry has nothing of the chunk, the next one is shorter: the connection may be too slow
    /// for this length, or a proxy may limit it.
    async fn resume_shorter(
        &mut self,
        sent: u64,
        error: Error,
    ) -> Result<(), UploadError<B::Failure>> {
        let before = self.offset;
        self.resume(sent, Duration::ZERO, error).await?;
        if self.offset == before {
            self.shorten();
        }
        Ok(())
    }

    /// Requests the offset of the upload from the registry, which may have received any part of the last chunk.
    async fn resume(
        &mut self,
        sent: u64,
        retry_after: Duration,
        error: Error,
    ) -> Result<(), UploadError<B::Failure>> {
        let error = self.pause(retry_after, error).await?;
        let session = self.upload.session;
        let request = || Request::new(Method::GET, self.opened.location.clone(), &session.base);
        let answer = session.send(&self.opened.scope, request).await?;
        if answer.status().is_success() {
            return self.move_offset(&answer, sent, None, Some(error));
        }
        let error = self.upload.refusal(&answer);
        Err(UploadError::Retry(Duration::ZERO, error))
    }

    /// Takes over the offset that an answer names, or `default` if it names none. `cause` is why the last chunk did not arrive.
    fn move_offset(
        &mut self,
        answer: &Answer,
        sent: u64,
        default: Option<u64>,
        cause: Option<Error>,
    ) -> Result<(), UploadError<B::Failure>> {
        if let Some(location) = self.upload.location(answer) {
            (self.opened.location, self.opened.shown) = location;
        }
        let (least, most) = (self.offset, self.offset + sent);
        let named = answer.header(RANGE).as_deref().and_then(length);
        let received = named.or(default);
        let error = || Error::Protocol {
            breach: Breach::Other,
            expected: format!("an upload offset of {least} to {most} bytes"),
            received: match received {
                Some(count) => format!("{count} bytes"),
                None => "no number".to_owned(),
            },
            url: answer.shown(),
        };
        match received {
            Some(received) if received > most => Err(UploadError::ModeRefused(error())),
            // Small gains count as failures, so that a registry cannot take a package byte by byte.
            Some(received) if received == most || received >= least + LEAST_FLOW => {
                self.retry.progressed();
                self.offset = received;
                Ok(())
            }
            Some(received) if received >= least && !self.retry.is_exhausted() => {
                self.retry.failed();
                self.offset = received;
                Ok(())
            }
            Some(received) if received >= least => {
                Err(UploadError::ModeRefused(cause.unwrap_or_else(error)))
            }
            // The registry has lost bytes, or does not name its offset: only a new upload is safe.
            _ => {
                let error = cause.unwrap_or_else(error);
                Err(UploadError::Retry(Duration::ZERO, error))
            }
        }
    }

    /// Counts a failure, waits, and returns the failure; fails if there were too many, or if the registry asks for a wait that is too long.
    async fn pause(
        &mut self,
        retry_after: Duration,
        error: Error,
    ) -> Result<Error, UploadError<B::Failure>> {
        if self.retry.is_exhausted() {
            return Err(UploadError::ModeRefused(error));
        }
        let http = &self.upload.session.http;
        let (shown, failure) = (self.opened.shown.clone(), error.transient(retry_after));
        match self.retry.wait(http, shown, failure).await {
            true => Ok(error),
            false => Err(error.into()),
        }
    }

    /// Halves the length of chunks; `false` if they are as short as possible.
    fn shorten(&mut self) -> bool {
        let shorter = (self.length / 2).max(SMALLEST).max(self.min_length);
        let can_be = shorter < self.length;
        if can_be {
            self.length = shorter;
        }
        can_be
    }

    async fn complete(self) -> Result<Transfer, UploadError<B::Failure>> {
        let session = self.upload.session;
        let url = with_digest(self.opened.location, &self.upload.expected.digest);
        let request = || {
            Request::new(Method::PUT, url.clone(), &session.base)
                .header(CONTENT_TYPE, BYTES)
                .payload(Payload::Bytes(Bytes::new()))
        };
        let answer = session.send(&self.opened.scope, request).await?;
        let status = answer.status();
        if status.is_success() {
            session.cache().chunk = Some(self.length);
            return Ok(Transfer::Copied);
        }
        let error = self.upload.refusal(&answer);
        match status {
            // An earlier attempt may have completed the upload, and only its answer may have been lost.
            StatusCode::NOT_FOUND => self.upload.unanswered(Duration::ZERO, error).await,
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(error.into()),
            _ => Err(UploadError::ModeRefused(error)),
        }
    }
}

/// The number of bytes that a registry has, by its `Range` header, which names the first and the last one. `0-0` means
/// none: registries that have nothing send it, and a chunk is never one byte long.
fn length(range: &str) -> Option<u64> {
    let range = range.trim();
    let range = range.strip_prefix("bytes").unwrap_or(range);
    let (first, last) = range.trim_start_matches(['=', ' ']).split_once('-')?;
    match (first.trim().parse().ok()?, last.trim().parse().ok()?) {
        (0_u64, 0_u64) => Some(0),
        (0, last) => last.checked_add(1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_range_names_the_number_of_bytes() {
        for (text, wanted) in [
            ("0-9", Some(10)),
            (" bytes=0-9 ", Some(10)),
            ("bytes 0-9", Some(10)),
            ("0-0", Some(0)),
            ("5-9", None),
            ("0-18446744073709551615", None),
            ("0-18446744073709551616", None),
            ("0--1", None),
            ("9", None),
            ("", None),
        ] {
            assert_eq!(length(text), wanted, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_count_is_read_and_no_text_panics(count in 2..u64::MAX, junk in "\\PC{0,12}") {
            prop_assert_eq!(length(&format!("0-{}", count - 1)), Some(count));
            let _never_panics = length(&junk);
        }
    }
}
