//! Requests to a source, and the error for each way in which they fail.

use reqwest::StatusCode;
use reqwest::header::CONTENT_TYPE;
use url::Url;

use super::auth::{AuthTried, RequestAuth};
use super::error::{Document, Error, is_json};
use crate::address::Hostname;
use crate::credentials::Credentials;
use crate::http::{self, Answer, Http, Request, Retry};
use crate::json::{self, Object};
use crate::release::LARGEST_BLOB;

/// Access to the network for sources: HTTP client, credentials, retries and limits.
#[derive(Clone, Debug)]
pub struct Access {
    /// The HTTP client, shared with stores.
    pub http: Http,
    /// Tokens for origins and mirrors, and names and passwords for hosts of packages.
    pub credentials: Credentials,
    /// Limits on retries and on the size of packages.
    pub request_limits: RequestLimits,
}

/// Limits on retries and on the size of packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestLimits {
    /// The most retries of a document. The default of clients is one.
    pub documents: u32,
    /// The most retries of a package. The default of clients is two.
    pub packages: u32,
    /// The largest package, in bytes.
    pub package_bytes: u64,
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self {
            documents: 5,
            packages: 5,
            package_bytes: LARGEST_BLOB,
        }
    }
}

impl Access {
    /// The token for documents of a host. If a source of tokens failed, this matters only once the host requires a token.
    pub(super) async fn auth(&self, host: &Hostname) -> RequestAuth {
        let token = match self.http.base(host.as_ascii()) {
            Ok(url) if self.http.is_unnamed(&url) => Ok(None),
            _ => self.credentials.for_origin(host).await,
        };
        let auth = RequestAuth::of(token, AuthTried::NoToken(host.clone()));
        self.report_credential(&host.to_string(), &auth);
        auth
    }

    /// The name and password for the host of a package. Requests for packages carry no tokens
    /// ([clients: host tokens](crate::clients#host-tokens)).
    pub(super) fn auth_at(&self, url: &Url) -> RequestAuth {
        let host = http::authority(url).unwrap_or_default();
        let login = match self.http.is_unnamed(url) {
            true => Ok(None),
            false => self.credentials.for_package(url),
        };
        let auth = RequestAuth::of(login, AuthTried::NoLogin(host.clone()));
        if auth.secret.is_some() {
            self.report_credential(&host, &auth);
        }
        auth
    }

    fn report_credential(&self, host: &str, auth: &RequestAuth) {
        let found_in = match &auth.tried {
            AuthTried::Sent(found_in) => Some(found_in),
            _ => None,
        };
        self.credentials.report_use(host, found_in, &self.http);
    }

    /// Requests a document, and retries transient failures.
    pub(super) async fn document(&self, request: impl Fn() -> Request) -> Result<Answer, Error> {
        let retry = Retry::new(self.request_limits.documents);
        Ok(self.http.retrying(retry, request).await?)
    }

    /// Requests a package, and retries transient failures.
    pub(super) async fn package(&self, request: impl Fn() -> Request) -> Result<Answer, Error> {
        let retry = Retry::new(self.request_limits.packages);
        Ok(self.http.retrying(retry, request).await?)
    }
}

/// Returns a successful response, or the error for its status.
pub(super) fn successful(
    what: &Document,
    answer: Answer,
    auth: &RequestAuth,
) -> Result<Answer, Error> {
    let (status, url) = (answer.status(), answer.shown());
    if status == StatusCode::OK {
        return Ok(answer);
    }
    let is_refused = status == StatusCode::UNAUTHORIZED || status == StatusCode::FORBIDDEN;
    // Some servers respond with 401 or 403 when they limit the rate of requests.
    let auth = match is_refused && http::retry_after(&answer).is_none() {
        true if answer.is_elsewhere() => Some(RequestAuth::none()),
        true => Some(auth.clone()),
        false => None,
    };
    let (tried, failure) = auth.map(|auth| (auth.tried, auth.failure)).unzip();
    Err(Error::Status {
        what: what.clone(),
        url,
        status: status.as_u16(),
        answer: reason(&answer),
        tried,
        source: failure.flatten().map(Box::new),
    })
}

/// Refuses a response with a content type other than JSON, as clients do.
pub(super) fn json_only(what: &Document, answer: Answer) -> Result<Answer, Error> {
    let received = answer.header(CONTENT_TYPE).unwrap_or("none".to_owned());
    match is_json(&received) {
        true => Ok(answer),
        false => {
            let wrong = format!("the content type is `{received}` and not application/json");
            Err(Error::invalid(what, &answer.shown(), wrong))
        }
    }
}

/// What a response says about an error, without secrets: its first line. That of an HTML page says nothing about the error.
fn reason(answer: &Answer) -> String {
    let text = String::from_utf8_lossy(answer.body());
    let line = text.lines().next().unwrap_or_default().trim();
    match line.starts_with('<') {
        true => String::new(),
        false => answer.hide(line),
    }
}

/// Parses a response as a JSON object. Like clients, it ignores anything after the object ([clients:
/// JSON](crate::clients#json)).
pub(super) fn json<T>(
    what: &Document,
    answer: Answer,
    read: impl FnOnce(Object<'_>) -> Result<T, json::Error>,
) -> Result<T, Error> {
    let url = answer.shown();
    let read = Object::first(answer.body()).and_then(read);
    read.map_err(|source| Error::Json {
        what: what.clone(),
        url,
        source,
    })
}
