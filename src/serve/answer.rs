//! Builds answers: status, caching headers and a text for people.

use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH, RETRY_AFTER};
use hyper::header::{HeaderName, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use hyper::{HeaderMap, StatusCode};
use serde::Serialize;

use crate::blob::ReadError;
use crate::digest::Digest;
use crate::store;

/// After how many seconds clients retry. `terraform` and `tofu` sleep for all of it.
const RETRY_SECONDS: u64 = 5;

/// The longest reason in the log, in characters. It may quote what a store or an origin says.
const LONGEST_REASON: usize = 300;

/// The largest piece of a document that is handed to the connection, which may hold it for longer than the answer holds its places.
const PIECE: usize = 16 << 10;

/// An HTTP answer of the server.
pub(super) type Response = hyper::Response<Content>;

/// Some bytes of an answer.
pub(super) type Piece = Result<Bytes, ReadError<store::Error>>;

/// The bytes of an answer that are not sent yet, and their number.
pub(super) struct Content {
    pub(super) pieces: BoxStream<'static, Piece>,
    pub(super) left: u64,
}

impl Content {
    pub(super) fn none() -> Self {
        Self::whole(Bytes::new())
    }

    /// A document, page or text.
    fn whole(mut bytes: Bytes) -> Self {
        let left = bytes.len() as u64;
        let pieces = std::iter::from_fn(move || {
            let size = bytes.len().min(PIECE);
            (size > 0).then(|| Ok(bytes.split_to(size)))
        });
        Self {
            pieces: stream::iter(pieces).boxed(),
            left,
        }
    }
}

/// A document or page with its `ETag`.
#[derive(Clone, Debug, Default)]
pub(super) struct Document {
    pub(super) bytes: Bytes,
    pub(super) etag: String,
}

impl Document {
    /// A document in JSON. It contains text and numbers only, so writing it cannot fail.
    pub(super) fn json(document: &impl Serialize) -> Self {
        Self::new(serde_json::to_vec(document).unwrap_or_default())
    }

    pub(super) fn new(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self {
            etag: etag(&Digest::of(&bytes)),
            bytes,
        }
    }
}

/// How long clients and proxies may cache an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caching {
    /// Clients and proxies may cache it for this long.
    Public(Duration),
    /// Only the client may cache it, for this long: the answer depends on the token, or on the host that the client requested.
    Private(Duration),
    /// No cache may keep it.
    Never,
}

impl Caching {
    pub(super) fn header(self) -> String {
        match self {
            Self::Public(age) => format!("public, max-age={}", age.as_secs()),
            Self::Private(age) => format!("private, max-age={}", age.as_secs()),
            Self::Never => "no-store".to_owned(),
        }
    }
}

/// Why an answer is an error, in one line for the log.
#[derive(Clone)]
pub(super) struct Reason(pub(super) String);

/// An answer whose body is a text for people.
pub(super) fn text(status: StatusCode, message: &str) -> Response {
    let mut answer = Response::new(Content::whole(format!("{message}\n").into()));
    *answer.status_mut() = status;
    if status.is_client_error() || status.is_server_error() {
        let line = message.lines().next().unwrap_or_default();
        let reason = line.chars().take(LONGEST_REASON).collect();
        answer.extensions_mut().insert(Reason(reason));
    }
    set(&mut answer, CONTENT_TYPE, "text/plain; charset=utf-8");
    set(&mut answer, CACHE_CONTROL, &Caching::Never.header());
    set(&mut answer, X_CONTENT_TYPE_OPTIONS, "nosniff");
    answer
}

/// An answer whose body is a text for people, with a header.
pub(super) fn with(status: StatusCode, message: &str, name: HeaderName, value: &str) -> Response {
    let mut answer = text(status, message);
    set(&mut answer, name, value);
    answer
}

/// The store does not have the requested version or file, or the policy hides it. A new tag may add it at any time.
pub(super) fn not_found(message: &str, caching: Caching) -> Response {
    let (status, caching) = (StatusCode::NOT_FOUND, caching.header());
    with(status, message, CACHE_CONTROL, &caching)
}

/// The store cannot be read. The status must not be 404: clients would silently use another installation method.
pub(super) fn unavailable(message: &str) -> Response {
    let (status, seconds) = (StatusCode::SERVICE_UNAVAILABLE, RETRY_SECONDS.to_string());
    with(status, message, RETRY_AFTER, &seconds)
}

/// A document, or `304` if the client has it already.
pub(super) fn document(
    request: &HeaderMap,
    content_type: &'static str,
    document: Document,
    caching: Caching,
) -> Response {
    let mut answer = Response::new(Content::none());
    if has(request, &document.etag) {
        *answer.status_mut() = StatusCode::NOT_MODIFIED;
    } else {
        *answer.body_mut() = Content::whole(document.bytes);
        set(&mut answer, CONTENT_TYPE, content_type);
    }
    set(&mut answer, ETAG, &document.etag);
    set(&mut answer, CACHE_CONTROL, &caching.header());
    set(&mut answer, X_CONTENT_TYPE_OPTIONS, "nosniff");
    answer
}

/// The `ETag` of these bytes.
pub(super) fn etag(digest: &Digest) -> String {
    format!("\"{digest}\"")
}

/// Whether `If-None-Match` names this `ETag`.
pub(super) fn has(request: &HeaderMap, etag: &str) -> bool {
    let headers = request.get_all(IF_NONE_MATCH).iter();
    let mut tags = headers
        .filter_map(|header| header.to_str().ok())
        .flat_map(|text| text.split(','))
        .map(|tag| tag.trim().trim_start_matches("W/"));
    tags.any(|tag| tag == etag || tag == "*")
}

/// Sets a header to a value that this program has made.
pub(super) fn set(answer: &mut Response, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        answer.headers_mut().insert(name, value);
    }
}
