//! Uploading a blob: mounted where the registry has it, else one POST and one PUT of known length.
//!
//! Some registries cut a long PUT, and some proxies in front of others do not let it through. Then the blob goes in
//! [`Chunks`], at once where the registry is known for it, and never where it is known to spoil them.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::TryStreamExt as _;
use reqwest::header::{CONTENT_TYPE, HeaderName, LOCATION};
use reqwest::{Method, StatusCode};
use url::Url;

use super::auth::Scope;
use super::chunks::Chunks;
use super::ladder::{Ladder, Way};
use super::{Error, Registry, Session, with_digest};
use crate::blob::{self, BlobSource, proven};
use crate::http::{Answer, Payload, Secret, wish};
use crate::oci::{Part, Repository};
use crate::store::{Put, WriteStore as _};

/// How often a whole upload is begun again.
const ATTEMPTS: u32 = 5;
/// The least length of all chunks but the last (OCI distribution specification).
const LEAST: HeaderName = HeaderName::from_static("oci-chunk-min-length");
/// What the bytes of blobs are called.
pub(super) const BYTES: &str = "application/octet-stream";

/// A blob on its way to a repository that does not have it.
pub(super) struct Upload<'a, B> {
    pub(super) registry: &'a Registry,
    pub(super) host: &'a Session,
    pub(super) repository: &'a Repository,
    /// The repository's name in its registry.
    pub(super) name: &'a str,
    pub(super) blob: &'a B,
    /// Another repository of the registry that has the blob.
    pub(super) from: Option<&'a str>,
}

/// An upload that the registry has opened.
pub(super) struct Begun {
    /// Where it goes on.
    pub(super) location: Url,
    /// What is asked of the token server.
    pub(super) scope: Scope,
    /// The least length of all chunks but the last, where the registry says one.
    pub(super) least: Option<u64>,
}

/// Why an upload did not come to its end.
pub(super) enum Stop {
    /// It would not do so the next time either.
    Final(Error),
    /// It is worth beginning again.
    Again {
        /// How long the registry wants to be left alone.
        wish: Duration,
        /// Whether it was in the middle of the bytes.
        is_cut: bool,
        error: Error,
    },
    /// The bytes cannot go this way, but perhaps another.
    Otherwise(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Final(error)
    }
}

impl Stop {
    /// Something to begin again after.
    pub(super) fn again(wish: Duration, error: Error) -> Self {
        Self::Again {
            wish,
            is_cut: false,
            error,
        }
    }

    fn cut(wish: Duration, error: Error) -> Self {
        Self::Again {
            wish,
            is_cut: true,
            error,
        }
    }
}

impl<B: BlobSource> Upload<'_, B> {
    /// Uploads, however often it takes and whichever way it goes.
    pub(super) async fn run(&self) -> Result<Put, Error> {
        let learnt = self.host.seen().chunk;
        let size = self.blob.expected().size;
        let http = &self.registry.http;
        let _place = http.upload_place(&self.host.base, size).await;
        let url = self.host.url(self.name, "blobs/uploads/")?;
        let mut ladder = Ladder::new(self.host.known.uploads(), learnt, size);
        let mut attempt = 0;
        loop {
            match self.once(ladder.way()).await {
                Ok(put) => return Ok(put),
                Err(Stop::Final(error)) => return Err(error),
                Err(Stop::Otherwise(error)) => {
                    if !ladder.refuse() {
                        return Err(error);
                    }
                }
                Err(Stop::Again {
                    wish,
                    is_cut,
                    error,
                }) => {
                    attempt += 1;
                    let reason = error.in_short();
                    if attempt >= ATTEMPTS || !http.pause(attempt, wish, &url, reason).await {
                        return Err(error);
                    }
                    ladder.count(is_cut);
                }
            }
        }
    }

    async fn once(&self, way: Way) -> Result<Put, Stop> {
        let Some(begun) = self.begin().await? else {
            return Ok(Put::Mounted);
        };
        match way {
            Way::Whole => self.put(begun).await,
            Way::Chunks(length) => Chunks::new(self, begun, length)?.send().await,
        }
    }

    /// Opens an upload; `None` if the registry mounted the blob instead.
    async fn begin(&self) -> Result<Option<Begun>, Error> {
        if let Some(from) = self.from {
            let is_itself = from == self.name;
            match self.post(Some(from)).await {
                // Who may not read the other repository may still write to this one.
                Err(Error::Unauthorized { .. }) if !is_itself => {}
                // Who may not mount may still upload.
                Err(Error::Registry { .. } | Error::NoRepository { .. }) => {
                    self.host.seen().refuses_mounts |= is_itself;
                }
                begun => return begun,
            }
        }
        self.post(None).await
    }

    async fn post(&self, from: Option<&str>) -> Result<Option<Begun>, Error> {
        let mut scope = Scope::push(self.name);
        let mut url = self.host.url(self.name, "blobs/uploads/")?;
        if let Some(from) = from {
            let digest = self.blob.expected().digest.to_string();
            url.query_pairs_mut()
                .append_pair("mount", &digest)
                .append_pair("from", from);
            if from != self.name {
                scope = scope.and_pull(from);
            }
        }
        let request = || {
            self.host
                .request(Method::POST, url.clone())
                .payload(Payload::Bytes(bytes::Bytes::new()))
        };
        let answer = self.registry.send(self.host, &scope, request).await?;
        match answer.status() {
            StatusCode::CREATED if from.is_some() => return Ok(None),
            StatusCode::ACCEPTED => {}
            StatusCode::NOT_FOUND => return Err(self.no_repository(answer).await),
            _ => return Err(self.refusal(answer).await),
        }
        let location = location(&answer, &self.host.base)
            .ok_or_else(|| Error::NoLocation { url: url.into() })?;
        Ok(Some(Begun {
            location,
            scope,
            least: answer.header(LEAST).and_then(|text| text.parse().ok()),
        }))
    }

    /// Sends all bytes with the last request.
    async fn put(&self, begun: Begun) -> Result<Put, Stop> {
        let expected = self.blob.expected();
        // The body cannot be sent twice: a refused token would need a new upload, so the token is fetched before.
        let secret = self.host.auth.secret(&begun.scope).await?;
        let body = proven(self.blob)
            .await
            .map_err(|source| self.unread(source))?;
        let fault = Arc::new(Mutex::new(None));
        let kept = Arc::clone(&fault);
        // The client would only say that the body failed.
        let body = body.map_err(move |error| {
            let text = error.to_string();
            *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            std::io::Error::other(text)
        });
        let request = self
            .host
            .request(Method::PUT, with_digest(begun.location, &expected.digest))
            .header(CONTENT_TYPE, BYTES)
            .secret(secret.clone(), &self.host.base)
            .payload(Payload::Stream {
                body: reqwest::Body::wrap_stream(body),
                size: expected.size,
            });
        let sent = self.registry.http.send(request).await;
        if let Some(source) = fault.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(self.unread(source).into());
        }
        let answer = match sent {
            Ok(answer) => answer,
            Err(error) if error.is_passing() => {
                return self.lost(Duration::ZERO, error.into()).await;
            }
            Err(error) => return Err(Error::from(error).into()),
        };
        self.answered(answer, &begun.scope, secret.as_ref()).await
    }

    /// What came of a PUT with all bytes.
    async fn answered(
        &self,
        answer: Answer,
        scope: &Scope,
        secret: Option<&Secret>,
    ) -> Result<Put, Stop> {
        let (status, wish) = (answer.status(), wish(&answer));
        if status.is_success() {
            return Ok(Put::Stored);
        }
        let renewed = status == StatusCode::UNAUTHORIZED
            && self.host.auth.learn(&answer, scope, secret).await?;
        let error = self.refusal(answer).await;
        match (status, wish) {
            (StatusCode::UNAUTHORIZED, _) if renewed => Err(Stop::again(Duration::ZERO, error)),
            // The registry has forgotten the upload.
            (StatusCode::NOT_FOUND, _) => Err(Stop::again(Duration::ZERO, error)),
            // Somebody on the way takes less at once, or not in this form.
            (StatusCode::PAYLOAD_TOO_LARGE | StatusCode::LENGTH_REQUIRED, _) => {
                Err(Stop::Otherwise(error))
            }
            // Throttled: nothing was done, and chunks would be more of the same.
            (
                StatusCode::TOO_MANY_REQUESTS
                | StatusCode::FORBIDDEN
                | StatusCode::SERVICE_UNAVAILABLE,
                Some(wish),
            ) => Err(Stop::again(wish, error)),
            (_, Some(wish)) => self.lost(wish, error).await,
            (_, None) => Err(error.into()),
        }
    }

    /// What came of a last request whose answer was lost: what was done is not done again.
    pub(super) async fn lost(&self, wish: Duration, error: Error) -> Result<Put, Stop> {
        let expected = self.blob.expected();
        match self.registry.has_blob(self.repository, &expected).await {
            Ok(true) => Ok(Put::Stored),
            _ => Err(Stop::cut(wish, error)),
        }
    }

    /// The bytes to be uploaded cannot be had.
    pub(super) fn unread(&self, source: blob::Error) -> Error {
        Error::reading(Part::Blob, self.blob.expected().digest, source)
    }

    pub(super) async fn refusal(&self, answer: Answer) -> Error {
        self.registry.refusal(self.host, "upload", answer).await
    }

    async fn no_repository(&self, answer: Answer) -> Error {
        match self.refusal(answer).await {
            Error::Registry { url, answer, .. } => Error::NoRepository {
                registry: self.host.known,
                name: self.name.to_owned(),
                url,
                answer,
            },
            error => error,
        }
    }
}

/// Where an upload goes on; relative to where the answer came from. Only the registry itself may send requests to the registry, which
/// go there with its credentials: another host could choose what they write.
pub(super) fn location(answer: &Answer, registry: &Url) -> Option<Url> {
    let text = answer.header(LOCATION).filter(|text| !text.is_empty())?;
    let (from, to) = (answer.url(), answer.url().join(&text).ok()?);
    let may_say = from.origin() == registry.origin() || to.origin() != registry.origin();
    may_say.then_some(to)
}
