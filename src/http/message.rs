//! Requests: a URL, headers, an [`Authorization`], a body, and how the answer's body is to be read.

use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, RequestBuilder};
use url::Url;

use super::limits::RequestClass;
use super::{Authorization, MOST_REDIRECTS, SMALL};

/// The body of a request.
pub enum Payload {
    /// Bytes in memory.
    Bytes(Bytes),
    /// A stream of known length.
    Stream {
        /// The bytes.
        body: reqwest::Body,
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

    pub(super) fn attach(self, builder: RequestBuilder) -> RequestBuilder {
        match self {
            Self::Bytes(bytes) => builder.body(bytes),
            Self::Stream { body, size } => builder
                .header(reqwest::header::CONTENT_LENGTH, size)
                .body(body),
        }
    }
}

/// How the body of a successful answer is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyUse {
    Nothing,
    /// Into memory, at most this many bytes.
    Whole(u64),
    /// As a stream.
    Stream,
}

/// A request.
pub struct Request {
    pub(super) method: Method,
    pub(super) url: Url,
    /// The URL that the user named, from which this one was reached.
    pub(super) named: Url,
    pub(super) headers: HeaderMap,
    pub(super) authorization: Option<Authorization>,
    pub(super) payload: Option<Payload>,
    pub(super) body_use: BodyUse,
    /// The longest time from the request to the last byte of the response.
    pub(super) limit: Option<Duration>,
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
            body_use: BodyUse::Nothing,
            limit: None,
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

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.append(name, value);
        }
        self
    }

    /// Adds the authorization if the URL has the scheme, host and port that it is for.
    #[must_use]
    pub fn authorization(mut self, value: Option<Authorization>, meant_for: &Url) -> Self {
        self.authorization = value.filter(|_| self.url.origin() == meant_for.origin());
        self
    }

    /// Reads the response body into memory, at most `limit` bytes. A lost connection is then an error of the request, which can be retried.
    #[must_use]
    pub fn whole(mut self, limit: u64) -> Self {
        self.body_use = BodyUse::Whole(limit);
        self
    }

    /// Limits the time for the whole response. Waiting for a permit does not count.
    #[must_use]
    pub fn within(mut self, limit: Option<Duration>) -> Self {
        self.limit = limit;
        self
    }

    /// Follows at most this many redirects, if that is fewer than the default.
    #[must_use]
    pub fn redirects(mut self, most: usize) -> Self {
        self.redirects = most.min(MOST_REDIRECTS);
        self
    }

    /// Follows no redirect: it is the answer.
    #[must_use]
    pub fn unfollowed(mut self) -> Self {
        self.is_unfollowed = true;
        self
    }

    /// Sends it only once, because the caller finds out whether it took effect before it sends it again.
    #[must_use]
    pub fn unrepeated(mut self) -> Self {
        self.is_unrepeated = true;
        self
    }

    /// Marks it as a request for a token, which is not counted.
    #[must_use]
    pub fn for_token(mut self) -> Self {
        self.is_for_token = true;
        self
    }

    /// Reads the response body as a stream, which holds a permit for a download until its end.
    #[must_use]
    pub fn streaming(mut self) -> Self {
        self.body_use = BodyUse::Stream;
        self
    }

    /// The permit that it needs; `None` for the upload of a package or of a part of one, because one permit covers all requests of an
    /// upload.
    pub(super) fn permit(&self) -> Option<RequestClass> {
        match &self.payload {
            Some(payload) if payload.size() > SMALL => None,
            _ if self.body_use == BodyUse::Stream => Some(RequestClass::Download),
            _ => Some(RequestClass::Small),
        }
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
            authorization: self.authorization.clone(),
            payload: None,
            body_use: self.body_use,
            limit: self.limit,
            redirects: self.redirects,
            is_unfollowed: self.is_unfollowed,
            is_unrepeated: self.is_unrepeated,
            is_for_token: self.is_for_token,
        }
    }

    pub(super) fn redirected(mut self, from: &Url, to: Url) -> Self {
        if from.origin() != to.origin() {
            self.authorization = None;
        }
        self.url = to;
        self
    }
}
