//! Errors and headers in the answers of a registry.

use reqwest::header::{CONTENT_TYPE, LINK};
use serde::Deserialize;
use url::Url;

use super::super::{Error, Requested};
use super::headers;
use crate::error::printable;
use crate::http::Answer;

/// What shows that a host is no registry, if it answers with something for people.
pub(super) const PAGE: &str = "it answers with a web page";

/// The error body of the OCI distribution specification.
#[derive(Default, Deserialize)]
struct ErrorList {
    #[serde(default)]
    errors: Vec<ErrorItem>,
}

#[derive(Deserialize)]
struct ErrorItem {
    #[serde(default)]
    code: String,
    #[serde(default)]
    message: String,
}

/// Whether an answer is a web page.
pub(super) fn is_page(answer: &Answer) -> bool {
    media_type(answer).eq_ignore_ascii_case("text/html")
}

/// The registry's explanation of a failure, in one line and without secrets.
pub(super) fn text(answer: &Answer) -> String {
    let body = answer.body();
    let mut errors = errors(body);
    if errors.is_empty() {
        // Some registries send the error itself.
        let itself = serde_json::from_slice(body).ok();
        errors.extend(
            itself.filter(|item: &ErrorItem| !item.code.is_empty() || !item.message.is_empty()),
        );
    }
    if errors.is_empty() {
        if body.trim_ascii_start().starts_with(b"<") {
            return "a web page".to_owned();
        }
        let text = String::from_utf8_lossy(body);
        let line = text.lines().next().unwrap_or_default().trim();
        return printable(&answer.hide(line));
    }
    let items = errors
        .iter()
        .map(|item| match (item.code.as_str(), item.message.as_str()) {
            ("", message) => message.to_owned(),
            (code, "") => code.to_owned(),
            (code, message) => format!("{code}: {message}"),
        });
    printable(&answer.hide(&items.collect::<Vec<_>>().join("; ")))
}

/// Turns an answer that is not a success into an error.
pub(super) fn failure(what: Requested, answer: &Answer) -> Error {
    let status = answer.status().as_u16();
    Error::Registry {
        what,
        url: answer.shown(),
        status,
        answer: text(answer),
        wants_tls: status == 400 && wants_tls(answer.body()),
    }
}

/// Whether an error, at any status, means that there is no such repository
/// ([clients: repository not found](crate::clients#repository-not-found)). Clients also stop at a 404 with other codes; tfoci
/// takes every 404 for a repository that does not exist.
pub(super) fn is_unknown_repository(body: &[u8]) -> bool {
    has_code(body, &["NAME_UNKNOWN", "NAME_INVALID"])
}

/// Whether an error has one of these codes.
pub(super) fn has_code(body: &[u8], codes: &[&str]) -> bool {
    let mut errors = errors(body).into_iter();
    errors.any(|error| codes.contains(&error.code.as_str()))
}

/// The errors in a body, as the distribution specification defines them.
fn errors(body: &[u8]) -> Vec<ErrorItem> {
    let list: ErrorList = serde_json::from_slice(body).unwrap_or_default();
    list.errors
}

/// Whether a server asks for TLS, as it does in answers to plain HTTP.
pub(super) fn wants_tls(body: &[u8]) -> bool {
    body.windows(5).any(|part| part == b"HTTPS")
}

/// Whether a body is an error of a registry, as the distribution specification defines it.
pub(super) fn is_error_list(body: &[u8]) -> bool {
    !errors(body).is_empty()
}

/// The media type of an answer, without parameters.
pub(super) fn media_type(answer: &Answer) -> String {
    let text = answer.header(CONTENT_TYPE).unwrap_or_default();
    text.split(';').next().unwrap_or_default().trim().to_owned()
}

/// The URL of the next page of a list; `None` on the last page.
pub(super) fn next_page(answer: &Answer, what: Requested) -> Result<Option<Url>, Error> {
    let links = answer.headers(LINK).join(", ");
    if links.is_empty() {
        return Ok(None);
    }
    let next = headers::next_page(&links, answer.url());
    next.map(Some).map_err(|unusable| Error::BadLink {
        what,
        origin: answer.url().origin().ascii_serialization(),
        received: answer.shown_reference(&unusable.received),
        is_foreign: unusable.is_foreign,
    })
}
