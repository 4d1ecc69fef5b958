//! Answers: statuses, caching and what people read.

use std::time::{Duration, SystemTime};

use axum::body::Body;
use axum::http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH, LOCATION, RETRY_AFTER, WARNING,
    WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use url::Url;

use crate::digest::Digest;

/// After how many seconds clients ask again. `terraform` and `tofu` sleep all of it.
const TRY_AGAIN: u64 = 5;

/// The body of an answer.
pub(super) type Response = axum::http::Response<Body>;

/// How long an answer may be kept by others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caching {
    /// By everybody, for this long.
    Public(Duration),
    /// By the client only, for this long: the answer depends on its token.
    Private(Duration),
    /// By nobody.
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

/// An answer with a body of text for people.
pub(super) fn text(status: StatusCode, said: &str) -> Response {
    let mut answer = Response::new(Body::from(format!("{said}\n")));
    *answer.status_mut() = status;
    set(&mut answer, CONTENT_TYPE, "text/plain; charset=utf-8");
    set(&mut answer, CACHE_CONTROL, &Caching::Never.header());
    set(&mut answer, X_CONTENT_TYPE_OPTIONS, "nosniff");
    answer
}

/// Sends the client to another URL, which opens one package for a while.
pub(super) fn redirect(url: &Url) -> Response {
    let mut answer = text(StatusCode::TEMPORARY_REDIRECT, "the package is elsewhere");
    set(&mut answer, LOCATION, url.as_str());
    answer
}

/// Something that the store does not have, or that the policy hides. It may be there soon, as a new tag.
pub(super) fn not_found(said: &str, caching: Caching) -> Response {
    let mut answer = text(StatusCode::NOT_FOUND, said);
    set(&mut answer, CACHE_CONTROL, &caching.header());
    answer
}

/// The store cannot be asked. Never "not found": clients would then use another method without a word.
pub(super) fn unavailable(said: &str) -> Response {
    let mut answer = text(StatusCode::SERVICE_UNAVAILABLE, said);
    set(&mut answer, RETRY_AFTER, &TRY_AGAIN.to_string());
    answer
}

/// The client asks too often.
pub(super) fn too_many() -> Response {
    let mut answer = text(StatusCode::TOO_MANY_REQUESTS, "too many requests");
    set(&mut answer, RETRY_AFTER, "1");
    answer
}

/// The client takes as many packages as it may, and none of them has ended.
pub(super) fn too_many_packages() -> Response {
    let said = "too many packages are being sent to this address";
    let mut answer = text(StatusCode::TOO_MANY_REQUESTS, said);
    set(&mut answer, RETRY_AFTER, &TRY_AGAIN.to_string());
    answer
}

/// The request has no token, or a wrong one.
pub(super) fn unauthorized(said: &str) -> Response {
    let mut answer = text(StatusCode::UNAUTHORIZED, said);
    set(&mut answer, WWW_AUTHENTICATE, "Bearer");
    answer
}

/// A method that changes something. There is nothing to change.
pub(super) fn method_not_allowed() -> Response {
    let mut answer = text(
        StatusCode::METHOD_NOT_ALLOWED,
        "only GET and HEAD are possible",
    );
    set(&mut answer, ALLOW, "GET, HEAD");
    answer
}

/// A document, or `304` if the client has it already.
pub(super) fn document(
    request: &HeaderMap,
    content_type: &'static str,
    bytes: Vec<u8>,
    caching: Caching,
) -> Response {
    let etag = etag(&Digest::of(&bytes));
    let mut answer = match has(request, &etag) {
        true => not_modified(),
        false => {
            let mut answer = Response::new(Body::from(bytes));
            set(&mut answer, CONTENT_TYPE, content_type);
            answer
        }
    };
    set(&mut answer, ETAG, &etag);
    set(&mut answer, CACHE_CONTROL, &caching.header());
    set(&mut answer, X_CONTENT_TYPE_OPTIONS, "nosniff");
    answer
}

/// Marks an answer that is older than it should be.
pub(super) fn mark_stale(answer: &mut Response) {
    set(
        answer,
        WARNING,
        "110 tfoci \"the store could not be asked\"",
    );
}

/// `304` without a body.
pub(super) fn not_modified() -> Response {
    let mut answer = Response::new(Body::empty());
    *answer.status_mut() = StatusCode::NOT_MODIFIED;
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

/// Sets a header, whose value is text of this program.
pub(super) fn set(answer: &mut Response, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        answer.headers_mut().insert(name, value);
    }
}

/// The `Date` of now, which HTTP wants of every answer.
pub(super) fn date() -> String {
    httpdate::fmt_http_date(SystemTime::now())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_has_the_document_gets_no_body() {
        let etag = etag(&Digest::of(b"{}"));
        for (header, expected) in [
            (etag.clone(), true),
            (format!("W/{etag}"), true),
            (format!("\"other\", {etag}"), true),
            ("*".to_owned(), true),
            ("\"other\"".to_owned(), false),
        ] {
            let mut request = HeaderMap::new();
            request.insert(IF_NONE_MATCH, HeaderValue::from_str(&header).unwrap());
            assert_eq!(has(&request, &etag), expected, "{header}");
            let answer = document(&request, "application/json", b"{}".to_vec(), Caching::Never);
            assert_eq!(answer.status() == StatusCode::NOT_MODIFIED, expected);
            assert_eq!(answer.headers()[ETAG], etag.as_str());
        }
    }
}
