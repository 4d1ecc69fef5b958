//! Requests and answers.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use url::Url;

use super::Error;

/// How long a body may stand still before the connection counts as lost.
const STALL: Duration = Duration::from_secs(60);

/// A value of the `Authorization` header. It is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// A bearer token.
    pub fn bearer(token: &str) -> Self {
        Self(format!("Bearer {token}"))
    }

    /// A name and password.
    pub fn basic(username: &str, password: &str) -> Self {
        use base64::Engine as _;
        let pair =
            base64::engine::general_purpose::STANDARD.encode(format!("{username}:{password}"));
        Self(format!("Basic {pair}"))
    }

    pub(super) fn header(&self) -> Result<HeaderValue, Error> {
        let mut value = HeaderValue::from_str(&self.0).map_err(|_| Error::Secret)?;
        value.set_sensitive(true);
        Ok(value)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// What a request carries.
pub enum Payload {
    /// Bytes that are at hand.
    Bytes(Bytes),
    /// Bytes of known length that flow.
    Stream {
        /// The bytes.
        body: reqwest::Body,
        /// Their length.
        size: u64,
    },
}

impl Payload {
    pub(super) fn attach(self, builder: RequestBuilder) -> RequestBuilder {
        match self {
            Self::Bytes(bytes) => builder.body(bytes),
            Self::Stream { body, size } => builder
                .header(reqwest::header::CONTENT_LENGTH, size)
                .body(body),
        }
    }
}

/// A request.
pub struct Request {
    pub(super) method: Method,
    pub(super) url: Url,
    /// The host that the user named, from which this URL came in the end.
    pub(super) named: Url,
    pub(super) headers: HeaderMap,
    pub(super) secret: Option<Secret>,
    pub(super) payload: Option<Payload>,
}

impl Request {
    /// A request to a URL that `named` led to, directly or by its answers.
    pub fn new(method: Method, url: Url, named: &Url) -> Self {
        Self {
            method,
            url,
            named: named.clone(),
            headers: HeaderMap::new(),
            secret: None,
            payload: None,
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.append(name, value);
        }
        self
    }

    /// Adds a secret, if the URL is where it belongs.
    #[must_use]
    pub fn secret(mut self, secret: Option<Secret>, belongs_to: &Url) -> Self {
        self.secret = secret.filter(|_| self.url.origin() == belongs_to.origin());
        self
    }

    /// Adds a body.
    #[must_use]
    pub fn payload(mut self, payload: Payload) -> Self {
        self.payload = Some(payload);
        self
    }

    pub(super) fn without_body(&self) -> Self {
        Self {
            method: self.method.clone(),
            url: self.url.clone(),
            named: self.named.clone(),
            headers: self.headers.clone(),
            secret: self.secret.clone(),
            payload: None,
        }
    }

    pub(super) fn towards(mut self, from: &Url, to: Url) -> Self {
        if from.origin() != to.origin() {
            self.secret = None;
        }
        self.url = to;
        self
    }
}

/// What a server answered. The body is yet to be read.
#[derive(Debug)]
pub struct Answer {
    response: Response,
}

impl Answer {
    pub(super) fn new(response: Response) -> Self {
        Self { response }
    }

    /// The status.
    pub fn status(&self) -> StatusCode {
        self.response.status()
    }

    /// Where the answer came from, after redirects.
    pub fn url(&self) -> &Url {
        self.response.url()
    }

    /// A header, if it is there and is text.
    pub fn header(&self, name: HeaderName) -> Option<String> {
        self.response
            .headers()
            .get(name)?
            .to_str()
            .ok()
            .map(str::to_owned)
    }

    /// Every value of a header that is text.
    pub fn headers(&self, name: HeaderName) -> Vec<String> {
        let values = self.response.headers().get_all(name).iter();
        values
            .filter_map(|value| value.to_str().ok().map(str::to_owned))
            .collect()
    }

    /// The length of the body, where the server says it.
    pub fn content_length(&self) -> Option<u64> {
        self.header(reqwest::header::CONTENT_LENGTH)?.parse().ok()
    }

    /// The whole body, of at most `limit` bytes.
    ///
    /// # Errors
    /// The network's, or more bytes than that.
    pub async fn bytes(self, limit: u64) -> Result<Vec<u8>, Error> {
        let url = self.url().clone();
        let mut chunks = Box::pin(self.chunks());
        let mut all = Vec::new();
        while let Some(chunk) = chunks.next().await {
            all.extend_from_slice(&chunk?);
            if all.len() as u64 > limit {
                return Err(Error::Large {
                    url: url.into(),
                    limit,
                });
            }
        }
        Ok(all)
    }

    /// The body as it comes.
    pub fn chunks(self) -> impl futures_util::Stream<Item = Result<Bytes, Error>> + Send + 'static {
        let url = self.url().clone();
        futures_util::stream::unfold(Some(self.response), move |response| {
            let url = url.clone();
            async move {
                let mut response = response?;
                match tokio::time::timeout(STALL, response.chunk()).await {
                    Ok(Ok(Some(chunk))) => Some((Ok(chunk), Some(response))),
                    Ok(Ok(None)) => None,
                    Ok(Err(source)) => Some((
                        Err(Error::Transport {
                            url: url.into(),
                            source,
                        }),
                        None,
                    )),
                    Err(_) => Some((
                        Err(Error::Silent {
                            url: url.into(),
                            seconds: STALL.as_secs(),
                        }),
                        None,
                    )),
                }
            }
        })
    }
}
