//! Reading blobs of a registry from any offset.

use reqwest::header::RANGE;
use reqwest::{Method, StatusCode};
use url::Url;

use super::auth::Scope;
use super::{Error, Registry};
use crate::blob::{self, BlobInfo, BlobLocation, BlobSource, Opened, ReadError};
use crate::event::Event;
use crate::http::{Answer, Request, SMALL};
use crate::oci::{LARGEST_READ, Part, Repository};
use crate::release::Expected;
use crate::store::Requested;

/// A blob that each read requests anew, with `GET` and a range.
#[derive(Clone, Debug)]
pub struct RegistryBlob {
    pub(super) registry: Registry,
    pub(super) repository: Repository,
    pub(super) expected: Expected,
}

impl BlobSource for RegistryBlob {
    type Failure = Error;

    fn info(&self) -> BlobInfo<'_> {
        BlobInfo {
            may_end_early: true,
            location: Some(BlobLocation::InRegistry(&self.repository)),
            ..BlobInfo::of(self.expected)
        }
    }

    async fn open(&self, from: u64) -> Opened<Error> {
        let answer = self.request(from).await.map_err(|error| match error {
            Error::Missing { .. } => blob::Error::Missing.into(),
            Error::Http(error) => error.into(),
            error => ReadError::Source(error),
        })?;
        blob::received(answer, from, None)
    }
}

impl RegistryBlob {
    /// The URL elsewhere that lets any client read the blob for a while, without credentials; `None` if it gives the bytes itself.
    ///
    /// # Errors
    /// The registry fails.
    pub async fn elsewhere(&self) -> Result<Option<Url>, Error> {
        let (session, name) = self.registry.locate(&self.repository).await?;
        let url = session.url(name, &format!("blobs/{}", self.expected.digest))?;
        // A registry that gives the bytes itself sends one of them. `HEAD` would lead to a URL that is signed for `HEAD` alone.
        let request = || {
            let request = Request::new(Method::GET, url.clone(), &session.base).unfollowed();
            request.header(RANGE, "bytes=0-0")
        };
        let scope = Scope::pull(name);
        let answer = self.registry.send(&session, &scope, request).await?;
        let target = answer.redirect().transpose().ok().flatten();
        // Redirects within the registry need its authorization.
        Ok(target.filter(|target| target.scheme() == "https" && target.origin() != url.origin()))
    }

    async fn request(&self, from: u64) -> Result<Answer, Error> {
        let (session, name) = self.registry.locate(&self.repository).await?;
        let url = session.url(name, &format!("blobs/{}", self.expected.digest))?;
        if from > 0 {
            let url = url.clone().into();
            self.registry.http.report(Event::Resuming { url, from });
        }
        let request = || {
            let request = Request::new(Method::GET, url.clone(), &session.base);
            // A small blob is read at once, so that it does not occupy one of the limited transfers.
            let request = match self.expected.size {
                0..=SMALL => request.whole(LARGEST_READ),
                _ => request.streaming(),
            };
            if from > 0 {
                request.header(RANGE, &format!("bytes={from}-"))
            } else {
                request
            }
        };
        let answer = self
            .registry
            .send(&session, &Scope::pull(name), request)
            .await?;
        let is_other_range = answer.status() == StatusCode::PARTIAL_CONTENT
            && answer.range().map(|range| range.start) != Some(from);
        if from > 0 && (is_other_range || answer.status() == StatusCode::RANGE_NOT_SATISFIABLE) {
            // The answer is not the requested range, so all bytes are requested. The answer is dropped first, since it may occupy
            // one of the limited transfers.
            drop(answer);
            return Box::pin(self.request(0)).await;
        }
        match answer.status() {
            StatusCode::NOT_FOUND => Err(Error::Missing {
                what: Part::Blob,
                digest: self.expected.digest,
            }),
            status if status.is_success() => Ok(answer),
            _ => Err(session.refusal(Requested::Blob, &answer)),
        }
    }
}
