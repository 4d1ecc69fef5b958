//! The URLs of packages, and requests to them. Origins sign these URLs for a limited time, which may end while a download runs or waits.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use reqwest::header::RANGE;
use reqwest::{Method, StatusCode};
use url::Url;

use super::auth::RequestAuth;
use super::error::{Document, Error};
use super::fetch::{self, Access};
use crate::digest::Digest;
use crate::event::Event;
use crate::hash::PackageHash;
use crate::http::{self, Answer, Request};
use crate::platform::Platform;
use crate::shown::Shown;

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
        let answer = self.ask_for("0-0").await?;
        match answer.status() {
            StatusCode::PARTIAL_CONTENT => Ok(answer.range().and_then(|range| range.total)),
            _ => Ok(answer.content_length()),
        }
    }

    /// Requests the package from an offset on. A response other than 206 contains the whole package.
    pub(super) async fn ask(&self, from: u64) -> Result<Answer, Error> {
        if from == 0 {
            return self.ask_for("").await;
        }
        let url = Shown::from(self.url.clone());
        let text = format!("{url} after {from} bytes");
        let verb = "Resuming";
        self.access.http.report(Event::Decided { verb, text });
        self.ask_for(&format!("{from}-")).await
    }

    /// Requests a range of bytes, such as `100-`; all of them if it is empty. If the URL has expired, requests them once more at a new one.
    async fn ask_for(&self, range: &str) -> Result<Answer, Error> {
        let (mut answer, mut auth) = self.ask_at(&self.url, range).await?;
        if is_expired(answer.status())
            && let Some(Renewal(ask)) = &self.renewal
            && let Some(url) = ask().await?.filter(|url| *url != self.url)
        {
            (answer, auth) = self.ask_at(&url, range).await?;
        }
        match answer.status() {
            StatusCode::PARTIAL_CONTENT => Ok(answer),
            _ => fetch::successful(&self.what(), answer, &auth),
        }
    }

    async fn ask_at(&self, url: &Url, range: &str) -> Result<(Answer, RequestAuth), Error> {
        let auth = self.access.auth_at(url);
        let all = || {
            Request::new(Method::GET, url.clone(), &self.named)
                .authorization(auth.secret.clone(), url)
                .streaming()
        };
        let request = || match range {
            "" => all(),
            range => all().header(RANGE, &format!("bytes={range}")),
        };
        let mut answer = self.access.package(request).await?;
        let from = range.split('-').next();
        let is_other = || {
            let received = answer.range();
            received.is_none_or(|received| Some(received.start.to_string().as_str()) != from)
        };
        if let StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE = answer.status()
            && !range.is_empty()
            && is_other()
        {
            // The server does not support this range: request the whole package. This response holds a permit for a download.
            drop(answer);
            answer = self.access.package(all).await?;
        }
        Ok((answer, auth))
    }
}

type RequestUrl = dyn Fn() -> BoxFuture<'static, Result<Option<Url>, Error>> + Send + Sync;

/// Requests the current URL of a package from its origin.
#[derive(Clone)]
pub(super) struct Renewal(pub(super) Arc<RequestUrl>);

impl fmt::Debug for Renewal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Renewal")
    }
}

/// Whether object stores respond with this status to an expired signature. One of them responds with 400.
fn is_expired(status: StatusCode) -> bool {
    matches!(status.as_u16(), 400 | 401 | 403 | 410)
}
