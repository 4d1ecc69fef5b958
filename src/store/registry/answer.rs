//! Errors and headers in the answers of a registry.

use reqwest::StatusCode;
use reqwest::header::{CONTENT_TYPE, LINK};
use serde::Deserialize;
use url::Url;

use super::headers;
use crate::error::printable;
use crate::http::Answer;
use crate::store::{Breach, Declined, Error};

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

/// Whether an answer refuses the credentials, or asks for some.
pub(super) fn is_refusal(answer: &Answer) -> bool {
    matches!(
        answer.status(),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN
    )
}

/// The registry's explanation of a failure, in one line and without secrets.
pub(super) fn text(answer: &Answer) -> String {
    let body = answer.body();
    let mut errors = errors(body);
    if errors.is_empty() {
        // Some registries send the error itself.
        errors.extend(serde_json::from_slice::<ErrorItem>(body));
        errors.retain(|item| !item.code.is_empty() || !item.message.is_empty());
    }
    if errors.is_empty() {
        if body.trim_ascii_start().starts_with(b"<") {
            return "a web page".to_owned();
        }
        let text = String::from_utf8_lossy(body);
        let line = text.lines().next().unwrap_or_default().trim();
        return printable(&answer.hide(line));
    }
    let items = errors.iter().map(|ErrorItem { code, message }| {
        let separator = if code.is_empty() || message.is_empty() {
            ""
        } else {
            ": "
        };
        format!("{code}{separator}{message}")
    });
    printable(&answer.hide(&items.collect::<Vec<_>>().join("; ")))
}

/// The error of a registry that does not do what it was asked for.
pub(super) fn declined(declined: Declined, answer: &Answer) -> Error {
    Error::Declined {
        declined,
        url: answer.shown(),
        status: answer.status().as_u16(),
        answer: text(answer),
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
pub(super) fn next_page(answer: &Answer) -> Result<Option<Url>, Error> {
    let links = answer.headers(LINK).join(", ");
    if links.is_empty() {
        return Ok(None);
    }
    let next = headers::next_page(&links, answer.url());
    let origin = answer.url().origin().ascii_serialization();
    next.map(Some).map_err(|unusable| Error::Protocol {
        breach: Breach::Link,
        expected: format!("the next page in a `Link` with <URL> at {origin}"),
        received: answer.shown_reference(&unusable).to_string(),
        url: answer.shown(),
    })
}
