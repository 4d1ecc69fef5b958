//! Asking a source for its documents: every refusal with its own error.

use std::time::Duration;

use reqwest::StatusCode;
use reqwest::header::CONTENT_TYPE;
use url::Url;

use super::auth::RequestAuth;
use super::error::{Document, Error};
use super::opened::OpenAnswers;
use crate::address::Hostname;
use crate::credentials::Credentials;
use crate::disk::temp_file::TempFileBudget;
use crate::event::Event;
use crate::http::{self, Answer, Http, Request, Retry};
use crate::json::{self, Fault, Object};

/// The largest body of an error that is read, in bytes.
const LARGEST_EXPLANATION: u64 = 64 << 10;

/// How a source reaches its hosts.
#[derive(Clone, Debug)]
pub struct Access {
    /// The client.
    pub http: Http,
    /// Tokens for hosts, and names and passwords for packages.
    pub credentials: Credentials,
    /// How often requests are retried, and how long they may take.
    pub patience: Patience,
    /// How many packages may be in temporary files at once, until their size and hash are known.
    pub temp_files: TempFileBudget,
    /// How many answers may be open at once of which only the size was read.
    pub open_answers: OpenAnswers,
}

/// How often requests are retried, and how long they may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// How often a document is requested again. Clients do so once.
    pub documents: u32,
    /// How often a package is requested again. Clients do so twice.
    pub packages: u32,
    /// How long a document may take, from the request to its last byte; without a limit of its own as long as any document. Clients
    /// wait for ten seconds.
    pub timeout: Option<Duration>,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            documents: 5,
            packages: 5,
            timeout: None,
        }
    }
}

/// What is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Document,
    Package,
}

impl Access {
    /// The token for documents of a host. If a source of tokens failed, this matters only once the host requires a token.
    pub(super) async fn auth(&self, host: &Hostname) -> RequestAuth {
        let auth = RequestAuth::of_token(host, self.credentials.for_origin(host).await);
        self.introduce(&host.to_string(), &auth);
        auth
    }

    /// The name and password for the host of a package: packages get no tokens
    /// ([clients: registry tokens](crate::clients#registry-tokens)).
    pub(super) fn auth_at(&self, url: &Url) -> RequestAuth {
        let host = http::authority(url).unwrap_or_default();
        let auth = RequestAuth::of_login(&host, self.credentials.for_package(url));
        if auth.secret.is_some() {
            self.introduce(&host, &auth);
        }
        auth
    }

    fn introduce(&self, host: &str, auth: &RequestAuth) {
        let origin = auth.tried.origin();
        if self.credentials.is_first_use(host, origin) {
            self.http.report(Event::Introduced {
                host: host.to_owned(),
                origin: origin.map(str::to_owned),
            });
        }
    }

    /// Sends a request, and retries transient failures.
    pub(super) async fn send(
        &self,
        kind: Kind,
        request: impl Fn() -> Request,
    ) -> Result<Answer, Error> {
        let most = match kind {
            Kind::Document => self.patience.documents,
            Kind::Package => self.patience.packages,
        };
        let limit = self.patience.timeout.filter(|_| kind == Kind::Document);
        let request = || request().within(limit);
        Ok(self.http.retrying(Retry::new(most), request).await?)
    }
}

/// Passes on a successful answer to a request with these credentials.
pub(super) async fn successful(
    what: &Document,
    answer: Answer,
    auth: &RequestAuth,
) -> Result<Answer, Error> {
    let (status, url) = (answer.status(), answer.url().clone());
    if status == StatusCode::OK {
        return Ok(answer);
    }
    let is_refused = status == StatusCode::UNAUTHORIZED || status == StatusCode::FORBIDDEN;
    let retry_after = http::retry_after(&answer);
    // Some throttle by refusing.
    if is_refused && retry_after.is_none() {
        let redirected = RequestAuth::redirected();
        let auth = match answer.is_elsewhere() {
            true => &redirected,
            false => auth,
        };
        return Err(Error::Unauthorized {
            what: what.clone(),
            url: url.into(),
            status: status.as_u16(),
            tried: auth.tried.clone(),
            source: auth.failure.clone().map(Box::new),
        });
    }
    let body = answer.bytes(LARGEST_EXPLANATION).await.unwrap_or_default();
    let text = String::from_utf8_lossy(&body);
    let line = text.lines().next().unwrap_or_default().trim();
    Err(Error::Status {
        what: what.clone(),
        url: url.into(),
        status: status.as_u16(),
        // A page for browsers says nothing in its first line.
        answer: if line.starts_with('<') {
            String::new()
        } else {
            line.to_owned()
        },
        retry_after: retry_after.filter(|retry_after| !retry_after.is_zero()),
    })
}

/// Reads an answer of at most `limit` bytes as a JSON object. What follows it is passed over, as by
/// clients ([clients: JSON](crate::clients#json)).
pub(super) async fn json<T>(
    what: &Document,
    answer: Answer,
    limit: u64,
    read: impl FnOnce(Object<'_>) -> Result<T, json::Error>,
) -> Result<T, Error> {
    let (url, received) = (answer.url().clone(), answer.header(CONTENT_TYPE));
    let received = received.unwrap_or_else(|| "none".to_owned());
    let body = answer.bytes(limit).await?;
    Object::first(&body).and_then(read).map_err(|source| {
        let (what, url) = (what.clone(), url.into());
        match source.fault {
            Fault::Repeated { .. } => Error::Repeated {
                what,
                url,
                repeated: source,
            },
            Fault::TooMany { .. } => Error::TooMany {
                what,
                url,
                counted: source,
            },
            Fault::Malformed(_) => Error::Json {
                what,
                url,
                received: Some(received).filter(|received| !is_json(received)),
                source,
            },
        }
    })
}

/// Whether a content type says JSON.
pub(super) fn is_json(content_type: &str) -> bool {
    let media_type = content_type.split(';').next().unwrap_or_default();
    media_type.trim().eq_ignore_ascii_case("application/json")
}
