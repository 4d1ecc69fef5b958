//! Requests: a URL, headers, an [`Authorization`], a body, and how the answer's body is to be read.

use bytes::Bytes;
use futures_util::stream::BoxStream;
use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use url::Url;

use super::{Authorization, MOST_REDIRECTS, Shown};
use crate::secret::Secret;

/// The body of a request.
pub enum Payload {
    /// Bytes in memory.
    Bytes(Bytes),
    /// A stream of known length.
    Stream {
        /// The bytes. After an error, the request fails.
        body: BoxStream<'static, std::io::Result<Bytes>>,
        /// Their length.
        size: u64,
    },
}

impl Payload {
    /// How many bytes it has.
    pub fn size(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Stream { size, .. } => *size,
        }
    }
}

/// How the body of a successful answer is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyUse {
    Nothing,
    /// Into memory, at most this many bytes.
    Whole(u64),
    /// In chunks, by the caller, who limits its size.
    Stream,
}

/// What to send, with the limits for the answer. Nothing is sent before [`Http::send`](super::Http::send).
#[must_use]
pub struct Request {
    pub(super) method: Method,
    pub(super) url: Url,
    /// The URL that the user named, from which this one was reached.
    pub(super) named: Url,
    pub(super) headers: HeaderMap,
    pub(super) authorization: Option<Authorization>,
    pub(super) payload: Option<Payload>,
    /// What no message about the answer may show.
    pub(super) secrets: Vec<Secret>,
    pub(super) body_use: BodyUse,
    /// The most redirects to follow.
    pub(super) redirects: usize,
    /// Whether a redirect is the answer.
    pub(super) is_unfollowed: bool,
    /// Whether it is sent only once, because the caller finds out first whether it took effect.
    pub(super) is_unrepeated: bool,
    /// Whether it requests a token. Such requests are not counted.
    pub(super) is_for_token: bool,
}

impl Request {
    /// Creates a request to `url`, which the user named or which was found through `named`.
    pub fn new(method: Method, url: Url, named: &Url) -> Self {
        Self {
            method,
            url,
            named: named.clone(),
            headers: HeaderMap::new(),
            authorization: None,
            payload: None,
            secrets: Vec::new(),
            body_use: BodyUse::Nothing,
            redirects: MOST_REDIRECTS,
            is_unfollowed: false,
            is_unrepeated: false,
            is_for_token: false,
        }
    }

    /// The URL that it is sent to.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// That URL, for a message.
    pub(super) fn shown(&self) -> Shown {
        Shown::hiding(&self.secrets, self.url.as_str())
    }

    /// Adds a header. A value that no header can have is left out: only the media type of a manifest could be one, without which a registry refuses
    /// the manifest.
    pub fn header(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.append(name, value);
        }
        self
    }

    /// Adds the authorization if the URL has the scheme, host and port that it is for. Its secrets are hidden anyway, because the server that
    /// gets them may have named the URL.
    pub fn authorization(mut self, value: Option<Authorization>, meant_for: &Url) -> Self {
        let secrets = value.iter().flat_map(Authorization::secrets);
        self.secrets.extend(secrets.cloned());
        self.authorization = value.filter(|_| self.url.origin() == meant_for.origin());
        self
    }

    /// Reads the response body into memory, at most `limit` bytes. A lost connection is then an error of the request, which can be retried.
    pub fn whole(mut self, limit: u64) -> Self {
        self.body_use = BodyUse::Whole(limit);
        self
    }

    /// Follows at most this many redirects, if that is fewer than the default.
    pub fn redirects(mut self, most: usize) -> Self {
        self.redirects = most.min(MOST_REDIRECTS);
        self
    }

    /// Follows no redirect: it is the answer.
    pub fn unfollowed(mut self) -> Self {
        self.is_unfollowed = true;
        self
    }

    /// Sends it only once, because the caller finds out whether it took effect before it sends it again.
    pub fn unrepeated(mut self) -> Self {
        self.is_unrepeated = true;
        self
    }

    /// Marks it as a request for a token, which is not counted.
    pub fn for_token(mut self) -> Self {
        self.is_for_token = true;
        self
    }

    /// Reads the response body as a stream, which holds a permit for a download until its end.
    pub fn streaming(mut self) -> Self {
        self.body_use = BodyUse::Stream;
        self
    }

    /// Adds a body.
    pub fn payload(mut self, payload: Payload) -> Self {
        self.payload = Some(payload);
        self
    }

    /// Names a secret in the body of the request, so that an answer that repeats it does not show it.
    pub fn with_secret(mut self, secret: &Secret) -> Self {
        self.secrets.push(secret.clone());
        self
    }

    /// Follows a redirect. An authorization is for one scheme, host and port.
    pub(super) fn redirect(&mut self, to: Url) {
        if self.url.origin() != to.origin() {
            self.authorization = None;
        }
        self.url = to;
    }
}
