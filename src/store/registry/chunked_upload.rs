//! Uploading a blob in chunks, with one PATCH for each.
//!
//! A chunk stays in memory until the registry has it: one that was throttled, or that came without the right token, is sent again. After a broken
//! connection, the registry may have any part of a chunk, and the upload begins again.

use std::time::Duration;

use bytes::{Buf as _, Bytes};
use reqwest::header::{CONTENT_RANGE, CONTENT_TYPE};
use reqwest::{Method, StatusCode};

use super::Error;
use super::upload::{BYTES, SMALLEST, THROTTLED, Upload, UploadError, UploadSession, with_digest};
use crate::blob::{BlobSource, Pieces};
use crate::event::Transfer;
use crate::http::{Payload, Request, Retry, retry_after};
use crate::store::PutError;

impl<B: BlobSource> Upload<'_, B> {
    /// Sends all bytes in chunks of `length` bytes, and completes the upload.
    pub(super) async fn put_chunks(
        &self,
        mut opened: UploadSession,
        mut length: usize,
    ) -> Result<Transfer, UploadError<B::Failure>> {
        let mut pieces = Pieces::of(self.blob).await.map_err(PutError::Source)?;
        let (mut offset, mut unsent, mut retry) = (0, Bytes::new(), Retry::default());
        loop {
            let filled = pieces.fill(unsent, length).await;
            unsent = filled.map_err(PutError::Source)?;
            if unsent.is_empty() {
                return self.complete(opened, length).await;
            }
            let chunk = unsent.slice(..unsent.len().min(length));
            let range = format!("{offset}-{}", offset + chunk.len() - 1);
            let request = || {
                Request::new(Method::PATCH, opened.location.clone(), &self.session.base)
                    .header(CONTENT_TYPE, BYTES)
                    .header(CONTENT_RANGE, &range)
                    .payload(Payload::Bytes(chunk.clone()))
                    .unrepeated()
            };
            let answer = match self.session.send(&opened.scope, request).await {
                Err(Error::Http(error)) if error.is_transient() => {
                    return Err(UploadError::Cut(Duration::ZERO, error.into()));
                }
                answer => answer?,
            };
            let shorter = (chunk.len() / 2).max(SMALLEST);
            if answer.status().is_success() {
                retry.progressed();
                offset += chunk.len();
                unsent.advance(chunk.len());
                if let Some(location) = self.location(&answer) {
                    (opened.location, opened.shown) = location;
                }
                continue;
            }
            let error = self.refusal(&answer);
            match (answer.status(), retry_after(&answer)) {
                (StatusCode::PAYLOAD_TOO_LARGE, _) if shorter < chunk.len() => length = shorter,
                // The registry has another offset, or has forgotten the upload session.
                (StatusCode::RANGE_NOT_SATISFIABLE | StatusCode::NOT_FOUND, _) => {
                    return Err(UploadError::Retry(Duration::ZERO, error));
                }
                // Throttled: the registry has stored nothing.
                (status, Some(after)) if THROTTLED.contains(&status) => {
                    let (shown, failure) = (opened.shown.clone(), error.transient(after));
                    if !retry.wait(&self.session.http, shown, failure).await {
                        return Err(error.into());
                    }
                }
                (_, Some(after)) => return Err(UploadError::Retry(after, error)),
                (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, None) => {
                    return Err(error.into());
                }
                (_, None) => return Err(UploadError::ModeRefused(error)),
            }
        }
    }

    async fn complete(
        &self,
        opened: UploadSession,
        length: usize,
    ) -> Result<Transfer, UploadError<B::Failure>> {
        let url = with_digest(opened.location, &self.expected.digest);
        let request = || {
            Request::new(Method::PUT, url.clone(), &self.session.base)
                .header(CONTENT_TYPE, BYTES)
                .payload(Payload::Bytes(Bytes::new()))
        };
        let answer = self.session.send(&opened.scope, request).await?;
        let error = match answer.status() {
            status if status.is_success() => {
                self.session.cache().chunk = Some(length);
                return Ok(Transfer::Copied);
            }
            _ => self.refusal(&answer),
        };
        match answer.status() {
            // An earlier attempt may have completed the upload, and only its answer may have been lost.
            StatusCode::NOT_FOUND => self.unanswered(Duration::ZERO, error).await,
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(error.into()),
            _ => Err(UploadError::ModeRefused(error)),
        }
    }
}
