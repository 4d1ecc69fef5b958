//! Uploads: how they begin, the upload of a blob in one request, and the choice between that and [chunks](super::chunked_upload).
//!
//! An upload is one POST and one PUT of known length. Some registries abort a long PUT, and some proxies in front of registries
//! refuse it. The blob is then uploaded in chunks: from the start if the registry is known to need them, and never if it is known to corrupt them. A
//! registry that refuses both is an error.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _};
use reqwest::header::{CONTENT_TYPE, LOCATION};
use reqwest::{Method, StatusCode};
use url::Url;

use super::scope::Scope;
use super::session::Session;
use super::{Error, answer};
use crate::blob::{BlobSource, proven};
use crate::digest::Digest;
use crate::event::Transfer;
use crate::http::{Answer, Authorization, Payload, Request, Retry, Shown, retry_after};
use crate::jobs::locked;
use crate::release::Expected;
use crate::store::known::{KnownRegistry, UploadSupport};
use crate::store::{Breach, Declined, PutError, Requested};

/// The number of times that the upload of a blob may start again from its first byte. Each time may send the whole blob again, so with
/// more than a few, it would take hours to report that a registry cannot take a large one.
const RETRIES: u32 = 4;
/// The media type of requests with the bytes of a blob.
pub(super) const BYTES: &str = "application/octet-stream";

/// The length of chunks in bytes where nothing else is known. Every known registry takes chunks of this length.
const CHUNK: usize = 4 << 20;
/// Blobs up to this size are always uploaded in one request: where that fails, chunks would not help.
pub(super) const SMALLEST: usize = 64 << 10;
/// After this many uploads that broke off in the middle, chunks are tried. One may be an accident.
const CUTS: u32 = 2;

/// What registries answer, with a pause, to a client that sends too much.
pub(super) const THROTTLED: [StatusCode; 3] = [
    StatusCode::TOO_MANY_REQUESTS,
    StatusCode::FORBIDDEN,
    StatusCode::SERVICE_UNAVAILABLE,
];

/// The upload of a blob to a repository that does not have it.
pub(super) struct Upload<'a, B> {
    pub(super) session: &'a Session,
    pub(super) blob: &'a B,
    /// The digest and size of the blob.
    pub(super) expected: Expected,
    /// A repository of the registry to mount the blob from.
    pub(super) from: Option<&'a str>,
}

/// An upload session that the registry has opened.
pub(super) struct UploadSession {
    /// The URL of the next request.
    pub(super) location: Url,
    /// That URL, for a message.
    pub(super) shown: Shown,
    /// The scope of tokens for this upload.
    pub(super) scope: Scope,
}

/// The error of an attempt to upload a blob, which decides the next attempt.
pub(super) enum UploadError<F> {
    /// Another attempt would fail, too.
    Fatal(PutError<F>),
    /// Another attempt may succeed, after as long as the registry asks to wait.
    Retry(Duration, Error),
    /// The same, but the upload broke off in the middle of the bytes.
    Cut(Duration, Error),
    /// The registry refuses this mode of upload; another one may succeed.
    ModeRefused(Error),
}

impl<F, E: Into<PutError<F>>> From<E> for UploadError<F> {
    fn from(error: E) -> Self {
        Self::Fatal(error.into())
    }
}

impl<B: BlobSource> Upload<'_, B> {
    /// Uploads the blob, with retries and in another mode where the registry refuses one.
    pub(super) async fn run(&self) -> Result<Transfer, PutError<B::Failure>> {
        let size = self.expected.size;
        let http = &self.session.http;
        let _permit = http.upload_permit(&self.session.base, size).await;
        let url = self.session.url("blobs/uploads/")?;
        let (host, _) = self.session.repository.host_and_name();
        let support = KnownRegistry::of(host).upload_support();
        // The length of chunks; `None` for one request.
        let mut chunk = match support {
            UploadSupport::Whole => None,
            UploadSupport::Chunks(length) => Some(length),
            UploadSupport::Any => self.session.cache().chunk,
        };
        chunk = chunk.filter(|length| size > *length as u64);
        let mut may_switch = support != UploadSupport::Whole && size > SMALLEST as u64;
        let (mut retry, mut cuts) = (Retry::new(RETRIES), 0);
        loop {
            let Some(opened) = self.begin().await? else {
                return Ok(Transfer::Mounted);
            };
            let put = match chunk {
                Some(length) => self.put_chunks(opened, length).await,
                None => self.put(opened).await,
            };
            cuts += u32::from(matches!(put, Err(UploadError::Cut(..))));
            match put {
                Ok(put) => return Ok(put),
                Err(UploadError::Fatal(error)) => return Err(error),
                Err(UploadError::ModeRefused(error)) if !may_switch => return Err(error.into()),
                Err(UploadError::ModeRefused(_)) => {
                    may_switch = false;
                    chunk = chunk.is_none().then_some(CHUNK);
                }
                Err(UploadError::Retry(after, error) | UploadError::Cut(after, error)) => {
                    let failure = error.transient(after);
                    if !retry.wait(http, url.clone(), failure).await {
                        return Err(error.into());
                    }
                    if cuts >= CUTS && may_switch {
                        chunk = chunk.or(Some(CHUNK));
                    }
                }
            }
        }
    }

    /// Opens an upload session; `None` if the registry mounted the blob instead.
    async fn begin(&self) -> Result<Option<UploadSession>, Error> {
        if let Some(from) = self.from {
            let is_itself = from == self.session.name();
            match self.post(Some(from)).await {
                // The credentials may allow writing here, but not reading the other repository.
                Err(Error::Unauthorized { .. }) if !is_itself => {}
                // The registry may refuse mounts, but accept uploads.
                Err(Error::Declined {
                    declined: Declined::Request(_) | Declined::Repository(_),
                    ..
                }) => self.session.cache().refuses_mounts |= is_itself,
                begun => return begun,
            }
        }
        self.post(None).await
    }

    async fn post(&self, from: Option<&str>) -> Result<Option<UploadSession>, Error> {
        let mut scope = Scope::push(self.session.name());
        let mut url = self.session.url("blobs/uploads/")?;
        if let Some(from) = from {
            let digest = self.expected.digest.to_string();
            url.query_pairs_mut()
                .append_pair("mount", &digest)
                .append_pair("from", from);
            if from != self.session.name() {
                scope = scope.and_pull(from);
            }
        }
        let request = || {
            Request::new(Method::POST, url.clone(), &self.session.base)
                .payload(Payload::Bytes(bytes::Bytes::new()))
        };
        let answer = self.session.send(&scope, request).await?;
        match answer.status() {
            StatusCode::CREATED if from.is_some() => return Ok(None),
            StatusCode::ACCEPTED => {}
            StatusCode::NOT_FOUND => {
                self.session.check_registry(b"").await?;
                let repository = self.session.repository.clone();
                return Err(answer::declined(Declined::Repository(repository), &answer));
            }
            _ => return Err(self.refusal(&answer)),
        }
        let location = self.location(&answer);
        let (location, shown) = location.ok_or_else(|| Error::Protocol {
            breach: Breach::Other,
            expected: "a `Location` to upload to".to_owned(),
            received: "none".to_owned(),
            url: url.into(),
        })?;
        Ok(Some(UploadSession {
            location,
            shown,
            scope,
        }))
    }

    /// Sends all bytes in one request, which also completes the upload.
    async fn put(&self, opened: UploadSession) -> Result<Transfer, UploadError<B::Failure>> {
        // The body can be sent only once, so a token is fetched beforehand rather than after a 401.
        let secret = self.session.secret(&opened.scope).await?;
        let body = proven(self.blob).await.map_err(PutError::Source)?;
        let read_error = Arc::new(Mutex::new(None));
        let cell = Arc::clone(&read_error);
        // Kept aside, since the HTTP client would only report that the body failed.
        let body = body.map_err(move |error| {
            let text = error.to_string();
            *locked(&cell) = Some(error);
            std::io::Error::other(text)
        });
        let url = with_digest(opened.location, &self.expected.digest);
        let request = Request::new(Method::PUT, url, &self.session.base)
            .header(CONTENT_TYPE, BYTES)
            .authorization(secret.clone(), &self.session.base)
            .payload(Payload::Stream {
                body: body.boxed(),
                size: self.expected.size,
            });
        let sent = self.session.http.send(request).await;
        if let Some(source) = locked(&read_error).take() {
            return Err(PutError::Source(source).into());
        }
        let answer = match sent {
            Ok(answer) => answer,
            Err(error) if error.is_transient() => {
                return self.unanswered(Duration::ZERO, error.into()).await;
            }
            Err(error) => return Err(Error::from(error).into()),
        };
        match answer.status().is_success() {
            true => Ok(Transfer::Copied),
            false => self.failed(answer, &opened.scope, secret.as_ref()).await,
        }
    }

    /// What follows from a refused PUT with all bytes.
    async fn failed(
        &self,
        answer: Answer,
        scope: &Scope,
        secret: Option<&Authorization>,
    ) -> Result<Transfer, UploadError<B::Failure>> {
        let (status, retry_after) = (answer.status(), retry_after(&answer));
        let renewed = status == StatusCode::UNAUTHORIZED
            && self.session.learn(&answer, scope, secret).await?;
        let error = self.refusal(&answer);
        match (status, retry_after) {
            (StatusCode::UNAUTHORIZED, _) if renewed => {
                Err(UploadError::Retry(Duration::ZERO, error))
            }
            // The registry has forgotten the upload session.
            (StatusCode::NOT_FOUND, _) => Err(UploadError::Retry(Duration::ZERO, error)),
            // A proxy limits the size of requests, or refuses this form of them.
            (StatusCode::PAYLOAD_TOO_LARGE | StatusCode::LENGTH_REQUIRED, _) => {
                Err(UploadError::ModeRefused(error))
            }
            // Throttled: the registry has stored nothing, and chunks would only be more requests.
            (status, Some(retry_after)) if THROTTLED.contains(&status) => {
                Err(UploadError::Retry(retry_after, error))
            }
            (_, Some(retry_after)) => self.unanswered(retry_after, error).await,
            (_, None) => Err(error.into()),
        }
    }

    /// Whether the last request of an upload succeeded although its answer was lost or an error. A blob that is there is not
    /// uploaded again.
    pub(super) async fn unanswered(
        &self,
        retry_after: Duration,
        error: Error,
    ) -> Result<Transfer, UploadError<B::Failure>> {
        let is_there = self.session.has_blob(&self.expected);
        match is_there.await {
            Ok(true) => Ok(Transfer::Copied),
            _ => Err(UploadError::Cut(retry_after, error)),
        }
    }

    pub(super) fn refusal(&self, answer: &Answer) -> Error {
        self.session.refusal(Requested::Upload, answer)
    }

    /// The URL of the next request of an upload, relative to the URL of the answer, and that URL for a message.
    ///
    /// Only the registry may lead to a URL of the registry: requests go there with its credentials, and another host could choose
    /// what they write.
    pub(super) fn location(&self, answer: &Answer) -> Option<(Url, Shown)> {
        let text = answer.header(LOCATION).filter(|text| !text.is_empty())?;
        let (from, to) = (answer.url(), answer.url().join(&text).ok()?);
        let is_ours = |url| self.session.is_own(url);
        let shown = answer.shown_reference(to.as_str());
        (is_ours(from) || !is_ours(&to)).then_some((to, shown))
    }
}

/// Adds the digest that completes an upload to its URL.
pub(super) fn with_digest(mut location: Url, digest: &Digest) -> Url {
    location
        .query_pairs_mut()
        .append_pair("digest", &digest.to_string());
    location
}
