//! Upload sessions: how they begin, and the upload of a blob in one request.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _};
use reqwest::header::{CONTENT_TYPE, HeaderName, LOCATION};
use reqwest::{Method, StatusCode};
use url::Url;

use super::auth::Scope;
use super::{Error, Registry, RepositorySession};
use crate::blob::{BlobSource, proven};
use crate::digest::Digest;
use crate::event::Transfer;
use crate::http::{Answer, Authorization, Payload, Request, Shown, retry_after};
use crate::oci::Repository;
use crate::release::Expected;
use crate::store::{PutError, Requested, locked};

/// The least length of all chunks but the last (OCI distribution specification).
const CHUNK_MIN_LENGTH: HeaderName = HeaderName::from_static("oci-chunk-min-length");
/// The media type of requests with the bytes of a blob.
pub(super) const BYTES: &str = "application/octet-stream";

/// The upload of a blob to a repository that does not have it.
pub(super) struct Upload<'a, B> {
    pub(super) registry: &'a Registry,
    pub(super) session: &'a RepositorySession,
    pub(super) repository: &'a Repository,
    /// The repository's name in its registry.
    pub(super) name: &'a str,
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
    /// The least length of all chunks but the last, if the registry names one.
    pub(super) chunk_min_length: Option<u64>,
}

/// The error of an attempt to upload a blob, which decides the next attempt.
pub(super) enum UploadError<F> {
    /// Another attempt would fail, too.
    Fatal(PutError<F>),
    /// Another attempt in the same mode may succeed.
    Retry {
        /// How long the registry asks to wait.
        retry_after: Duration,
        /// Whether the upload broke off in the middle of the bytes.
        is_cut: bool,
        error: Error,
    },
    /// The registry refuses this mode of upload; another one may succeed.
    ModeRefused(Error),
}

impl<F, E: Into<PutError<F>>> From<E> for UploadError<F> {
    fn from(error: E) -> Self {
        Self::Fatal(error.into())
    }
}

impl<F> UploadError<F> {
    pub(super) fn retry(retry_after: Duration, error: Error) -> Self {
        Self::Retry {
            retry_after,
            is_cut: false,
            error,
        }
    }

    fn cut(retry_after: Duration, error: Error) -> Self {
        Self::Retry {
            retry_after,
            is_cut: true,
            error,
        }
    }
}

impl<B: BlobSource> Upload<'_, B> {
    /// Opens an upload session; `None` if the registry mounted the blob instead.
    pub(super) async fn begin(&self) -> Result<Option<UploadSession>, Error> {
        if let Some(from) = self.from {
            let is_itself = from == self.name;
            match self.post(Some(from)).await {
                // The credentials may allow writing here, but not reading the other repository.
                Err(Error::Unauthorized { .. } | Error::Forbidden { .. }) if !is_itself => {}
                // The registry may refuse mounts, but accept uploads.
                Err(Error::Registry { .. } | Error::NoRepository { .. }) => {
                    self.session.cache().refuses_mounts |= is_itself;
                }
                begun => return begun,
            }
        }
        self.post(None).await
    }

    async fn post(&self, from: Option<&str>) -> Result<Option<UploadSession>, Error> {
        let mut scope = Scope::push(self.name);
        let mut url = self.session.url(self.name, "blobs/uploads/")?;
        if let Some(from) = from {
            let digest = self.expected.digest.to_string();
            url.query_pairs_mut()
                .append_pair("mount", &digest)
                .append_pair("from", from);
            if from != self.name {
                scope = scope.and_pull(from);
            }
        }
        let request = || {
            Request::new(Method::POST, url.clone(), &self.session.base)
                .payload(Payload::Bytes(bytes::Bytes::new()))
        };
        let answer = self.registry.send(self.session, &scope, request).await?;
        match answer.status() {
            StatusCode::CREATED if from.is_some() => return Ok(None),
            StatusCode::ACCEPTED => {}
            StatusCode::NOT_FOUND => return Err(self.no_repository(answer).await),
            _ => return Err(self.refusal(&answer)),
        }
        let location = location(&answer, &self.session.base)
            .ok_or_else(|| Error::NoLocation { url: url.into() })?;
        Ok(Some(UploadSession {
            shown: answer.shown_reference(location.as_str()),
            location,
            scope,
            chunk_min_length: answer
                .header(CHUNK_MIN_LENGTH)
                .and_then(|text| text.parse().ok()),
        }))
    }

    /// Sends all bytes in one request, which also completes the upload.
    pub(super) async fn put(
        &self,
        opened: UploadSession,
    ) -> Result<Transfer, UploadError<B::Failure>> {
        // The body can be sent only once, so a token is fetched beforehand rather than after a 401.
        let secret = self.session.auth.secret(&opened.scope).await?;
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
        let sent = self.registry.http.send(request).await;
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
            && self.session.auth.learn(&answer, scope, secret).await?;
        let error = self.refusal(&answer);
        match (status, retry_after) {
            (StatusCode::UNAUTHORIZED, _) if renewed => {
                Err(UploadError::retry(Duration::ZERO, error))
            }
            // The registry has forgotten the upload session.
            (StatusCode::NOT_FOUND, _) => Err(UploadError::retry(Duration::ZERO, error)),
            // A proxy limits the size of requests, or refuses this form of them.
            (StatusCode::PAYLOAD_TOO_LARGE | StatusCode::LENGTH_REQUIRED, _) => {
                Err(UploadError::ModeRefused(error))
            }
            // Throttled: the registry has stored nothing, and chunks would only be more requests.
            (
                StatusCode::TOO_MANY_REQUESTS
                | StatusCode::FORBIDDEN
                | StatusCode::SERVICE_UNAVAILABLE,
                Some(retry_after),
            ) => Err(UploadError::retry(retry_after, error)),
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
        let is_there = self.registry.has_blob(self.repository, &self.expected);
        match is_there.await {
            Ok(true) => Ok(Transfer::Copied),
            _ => Err(UploadError::cut(retry_after, error)),
        }
    }

    pub(super) fn refusal(&self, answer: &Answer) -> Error {
        self.session.refusal(Requested::Upload, answer)
    }

    async fn no_repository(&self, answer: Answer) -> Error {
        if let Err(error) = self.registry.check_registry(self.session, b"").await {
            return error;
        }
        match self.refusal(&answer) {
            Error::Registry { url, answer, .. } => Error::NoRepository {
                repository: self.repository.clone(),
                url,
                answer,
            },
            error => error,
        }
    }
}

/// The URL of the next request of an upload, relative to the URL of the answer.
///
/// Only the registry may lead to a URL of the registry: requests go there with its credentials, and another host could choose
/// what they write.
pub(super) fn location(answer: &Answer, registry: &Url) -> Option<Url> {
    let text = answer.header(LOCATION).filter(|text| !text.is_empty())?;
    let (from, to) = (answer.url(), answer.url().join(&text).ok()?);
    let is_allowed = from.origin() == registry.origin() || to.origin() != registry.origin();
    is_allowed.then_some(to)
}

/// Adds the digest that completes an upload to its URL.
pub(super) fn with_digest(mut location: Url, digest: &Digest) -> Url {
    location
        .query_pairs_mut()
        .append_pair("digest", &digest.to_string());
    location
}
