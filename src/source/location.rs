//! The URLs of packages, and requests to them. Origins sign these URLs for a limited time, which may end while a download runs or waits.

use std::fmt;
use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use reqwest::header::{IF_RANGE, RANGE};
use reqwest::{Method, StatusCode};
use url::Url;

use super::auth::RequestAuth;
use super::error::{Document, Error};
use super::fetch::{self, Access};
use crate::digest::Digest;
use crate::event::Event;
use crate::hash::PackageHash;
use crate::http::{self, Answer, Request};
use crate::jobs::locked;
use crate::platform::Platform;

/// The most times that a new URL is requested for one package. URLs are valid for minutes, so an origin whose third URL is refused too has
/// another problem.
const MOST_RENEWALS: u32 = 2;

/// A package at a URL that may expire, with the metadata that the source provides.
#[derive(Clone, Debug)]
pub struct RemoteMetadata {
    pub(super) access: Access,
    pub(super) url: Url,
    /// The URL that the user named, from whose responses this URL comes.
    pub(super) named: Url,
    /// Requests another URL when this one has expired.
    pub(super) renewal: Option<Renewal>,
    pub(super) platform: Platform,
    /// The digest, if the source provides it.
    pub(super) digest: Option<Digest>,
    /// The size in bytes, if the source provides it.
    pub(super) size: Option<u64>,
    /// If the digest is unknown, the package must match one of these hashes. If there are none, any package is accepted.
    pub(super) hashes: Vec<PackageHash>,
}

impl RemoteMetadata {
    /// The largest package that is read, in bytes.
    pub(super) fn largest(&self) -> u64 {
        self.access.request_limits.package_bytes
    }

    /// The error of a size above the limit.
    pub(super) fn too_large(&self) -> Error {
        Error::Http(http::Error::Large {
            url: self.url.clone().into(),
            limit: self.largest(),
        })
    }

    pub(super) fn what(&self) -> Document {
        Document::Package(self.platform.clone())
    }

    /// Asks for the size of the package: by a request for its first byte, because the URL may be signed for `GET` alone. `None` if the server does
    /// not say it.
    pub(super) async fn ask_size(&self) -> Result<Option<u64>, Error> {
        let answer = self.ask_for("0-0", None).await?;
        match answer.status() {
            StatusCode::PARTIAL_CONTENT => Ok(answer.range().and_then(|range| range.total)),
            _ => Ok(answer.content_length()),
        }
    }

    /// Requests the package from an offset on, at its latest URL. With an `ETag`, the server sends the rest only if that is
    /// unchanged. A response other than 206 contains the whole package.
    pub(super) async fn ask(&self, from: u64, etag: Option<&str>) -> Result<Answer, Error> {
        if from == 0 {
            return self.ask_for("", None).await;
        }
        let url = self.latest_url().into();
        self.access.http.report(Event::Resuming { url, from });
        self.ask_for(&format!("{from}-"), etag).await
    }

    fn latest_url(&self) -> Url {
        let latest = self.renewal.as_ref().and_then(Renewal::latest);
        latest.unwrap_or_else(|| self.url.clone())
    }

    /// Requests a range of bytes, such as `100-`; all of them if it is empty.
    async fn ask_for(&self, range: &str, etag: Option<&str>) -> Result<Answer, Error> {
        let mut url = self.latest_url();
        loop {
            let auth = self.access.auth_at(&url);
            let answer = self.ask_at(&url, &auth, (range, etag)).await?;
            if is_expired(answer.status())
                && let Some(renewal) = &self.renewal
                && let Some(other) = renewal.after(&url).await?
            {
                url = other;
                continue;
            }
            if answer.status() == StatusCode::PARTIAL_CONTENT {
                return Ok(answer);
            }
            return fetch::successful(&self.what(), answer, &auth);
        }
    }

    async fn ask_at(
        &self,
        url: &Url,
        auth: &RequestAuth,
        (range, etag): (&str, Option<&str>),
    ) -> Result<Answer, Error> {
        let all = || {
            Request::new(Method::GET, url.clone(), &self.named)
                .authorization(auth.secret.clone(), url)
                .streaming()
        };
        let part = || all().header(RANGE, &format!("bytes={range}"));
        let request = || match (range, etag) {
            ("", _) => all(),
            (_, None) => part(),
            (_, Some(etag)) => part().header(IF_RANGE, etag),
        };
        let answer = self.access.package(request).await?;
        let from = range.split('-').next();
        let is_other = || {
            let received = answer.range();
            received.is_none_or(|received| Some(received.start.to_string().as_str()) != from)
        };
        match answer.status() {
            // The server does not support this range: request the whole package.
            StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE
                if !range.is_empty() && is_other() =>
            {
                // This response holds a permit for a download.
                drop(answer);
                self.access.package(all).await
            }
            _ => Ok(answer),
        }
    }
}

/// Requests the current URL of a package from its origin.
type RequestUrl = dyn Fn() -> BoxFuture<'static, Result<Option<Url>, Error>> + Send + Sync;

/// Requests new URLs for one package. Clones share the responses.
#[derive(Clone)]
pub(super) struct Renewal(Arc<Shared>);

struct Shared {
    ask: Box<RequestUrl>,
    latest: Mutex<Option<Url>>,
    /// The number of requests. Locked during a request, so that only one runs at a time.
    asked: tokio::sync::Mutex<u32>,
}

impl Renewal {
    pub(super) fn new(
        ask: impl Fn() -> BoxFuture<'static, Result<Option<Url>, Error>> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(Shared {
            ask: Box::new(ask),
            latest: Mutex::default(),
            asked: tokio::sync::Mutex::default(),
        }))
    }

    /// The URL from the last response.
    fn latest(&self) -> Option<Url> {
        locked(&self.0.latest).clone()
    }

    /// Returns a URL other than the expired one; `None` if there is none, or the limit is reached.
    ///
    /// # Errors
    /// The request failed, or the origin now has a package with another digest.
    async fn after(&self, expired: &Url) -> Result<Option<Url>, Error> {
        let mut asked = self.0.asked.lock().await;
        let known = self.latest().filter(|latest| latest != expired);
        if known.is_some() {
            return Ok(known);
        }
        if *asked == MOST_RENEWALS {
            return Ok(None);
        }
        *asked += 1;
        let answer = (self.0.ask)().await?;
        let other = answer.filter(|url| url != expired);
        let mut latest = locked(&self.0.latest);
        *latest = other.clone().or(latest.take());
        Ok(other)
    }
}

impl fmt::Debug for Renewal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Renewal")
    }
}

/// Whether object stores respond with this status to an expired signature. One of them responds with 400.
fn is_expired(status: StatusCode) -> bool {
    matches!(status.as_u16(), 400 | 401 | 403 | 410)
}
