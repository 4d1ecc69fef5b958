//! The URLs of packages, and requests to them.

use reqwest::header::{IF_RANGE, RANGE};
use reqwest::{Method, StatusCode};
use url::Url;

use super::auth::RequestAuth;
use super::error::{Document, Error};
use super::fetch::{self, Access, RequestKind};
use super::renewal::{Renewal, is_expired};
use crate::event::Event;
use crate::http::{Answer, Request};
use crate::platform::Platform;

/// The URL of a package.
#[derive(Clone, Debug)]
pub(super) struct PackageLocation {
    pub(super) access: Access,
    pub(super) url: Url,
    /// The URL that the user named, from whose responses this URL comes.
    pub(super) named: Url,
    /// The package's platform.
    pub(super) platform: Platform,
    /// Requests another URL when this one has expired.
    pub(super) renewal: Option<Renewal>,
}

impl PackageLocation {
    pub(super) fn what(&self) -> Document {
        Document::Package(self.platform.clone())
    }

    fn request(&self, url: &Url, auth: &RequestAuth) -> Request {
        Request::new(Method::GET, url.clone(), &self.named).authorization(auth.secret.clone(), url)
    }

    /// Requests the package from an offset on, at its latest URL. With an `ETag`, the server sends the rest only if that is
    /// unchanged. A response other than 206 contains the whole package.
    pub(super) async fn ask(&self, from: u64, etag: Option<&str>) -> Result<Answer, Error> {
        let mut url = self.url.clone();
        if let Some(renewal) = &self.renewal {
            url = renewal.latest().unwrap_or(url);
        }
        if from > 0 {
            let url = url.clone().into();
            self.access.http.report(Event::Resuming { url, from });
        }
        loop {
            let auth = self.access.auth_at(&url);
            let answer = self.ask_at(&url, &auth, (from, etag)).await?;
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
        (from, etag): (u64, Option<&str>),
    ) -> Result<Answer, Error> {
        let all = || self.request(url, auth).streaming();
        let rest = || all().header(RANGE, &format!("bytes={from}-"));
        let request = || match (from, etag) {
            (0, _) => all(),
            (_, None) => rest(),
            (_, Some(etag)) => rest().header(IF_RANGE, etag),
        };
        let answer = self.access.send(RequestKind::Package, request).await?;
        let is_rest = answer.range().is_some_and(|range| range.start == from);
        match answer.status() {
            // The server does not support this range: request the whole package.
            StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE
                if from > 0 && !is_rest =>
            {
                // This response holds a permit for a download.
                drop(answer);
                self.access.send(RequestKind::Package, all).await
            }
            _ => Ok(answer),
        }
    }
}
