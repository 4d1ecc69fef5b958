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

    /// Whether a header can hold it.
    pub fn can_be_sent(&self) -> bool {
        HeaderValue::from_str(&self.0).is_ok()
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
    /// How much of the answer's body is read at once; `None` leaves it to flow.
    pub(super) whole: Option<u64>,
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
            whole: None,
        }
    }

    /// Where it goes.
    pub fn url(&self) -> &Url {
        &self.url
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

    /// Wants the answer's body at once, of at most `limit` bytes: an answer that is cut in the middle is none then, and can
    /// be asked for again.
    #[must_use]
    pub fn whole(mut self, limit: u64) -> Self {
        self.whole = Some(limit);
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
            whole: self.whole,
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

/// What a server answered.
#[derive(Debug)]
pub struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    url: Url,
    body: Content,
}

#[derive(Debug)]
enum Content {
    /// Yet to be read.
    Coming(Response),
    /// Read whole.
    Read(Vec<u8>),
}

impl Answer {
    pub(super) fn new(response: Response) -> Self {
        Self {
            status: response.status(),
            headers: response.headers().clone(),
            url: response.url().clone(),
            body: Content::Coming(response),
        }
    }

    /// The status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Where the answer came from, after redirects.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// A header, if it is there and is text.
    pub fn header(&self, name: HeaderName) -> Option<String> {
        self.headers.get(name)?.to_str().ok().map(str::to_owned)
    }

    /// Every value of a header that is text.
    pub fn headers(&self, name: HeaderName) -> Vec<String> {
        let values = self.headers.get_all(name).iter();
        values
            .filter_map(|value| value.to_str().ok().map(str::to_owned))
            .collect()
    }

    /// The length of the body, where the server says it.
    pub fn content_length(&self) -> Option<u64> {
        self.header(reqwest::header::CONTENT_LENGTH)?.parse().ok()
    }

    /// Reads the body now, so that whoever sends again can do so when it is cut.
    pub(super) async fn read(self, limit: u64) -> Result<Self, Error> {
        let Self {
            status,
            headers,
            url,
            body,
        } = self;
        let bytes = whole(body, &url, limit).await?;
        Ok(Self {
            status,
            headers,
            url,
            body: Content::Read(bytes),
        })
    }

    /// What was read of the body so far.
    pub(super) fn seen(&self) -> &[u8] {
        match &self.body {
            Content::Coming(_) => &[],
            Content::Read(bytes) => bytes,
        }
    }

    /// The whole body, of at most `limit` bytes.
    ///
    /// # Errors
    /// The network's, or more bytes than that.
    pub async fn bytes(self, limit: u64) -> Result<Vec<u8>, Error> {
        whole(self.body, &self.url, limit).await
    }

    /// The body as it comes.
    pub fn chunks(self) -> impl futures_util::Stream<Item = Result<Bytes, Error>> + Send + 'static {
        flow(self.body, self.url)
    }
}

async fn whole(body: Content, url: &Url, limit: u64) -> Result<Vec<u8>, Error> {
    let mut chunks = Box::pin(flow(body, url.clone()));
    let mut all = Vec::new();
    while let Some(chunk) = chunks.next().await {
        all.extend_from_slice(&chunk?);
        if all.len() as u64 > limit {
            return Err(Error::Large {
                url: url.clone().into(),
                limit,
            });
        }
    }
    Ok(all)
}

fn flow(
    body: Content,
    url: Url,
) -> impl futures_util::Stream<Item = Result<Bytes, Error>> + Send + 'static {
    futures_util::stream::unfold(Some(body), move |body| {
        let url = url.clone();
        async move {
            let mut response = match body? {
                Content::Read(bytes) => return Some((Ok(bytes.into()), None)),
                Content::Coming(response) => response,
            };
            match tokio::time::timeout(STALL, response.chunk()).await {
                Ok(Ok(Some(chunk))) => Some((Ok(chunk), Some(Content::Coming(response)))),
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
