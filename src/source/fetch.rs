//! Asking a source for its documents: every refusal with its own error.

use reqwest::StatusCode;
use serde::de::DeserializeOwned;

use super::error::{Document, Error};
use crate::http::{Answer, Http, Request, retrying};

/// How much of an explanation is read.
const LARGEST_EXPLANATION: u64 = 64 << 10;

/// Sends a request, again and again where that may help.
pub(super) async fn send(http: &Http, request: impl Fn() -> Request) -> Result<Answer, Error> {
    let send = || http.send(request());
    Ok(retrying(send).await?)
}

/// Passes on an answer that is a success. `tried` says where a token came from.
pub(super) async fn successful(
    what: Document,
    answer: Answer,
    tried: Option<&str>,
) -> Result<Answer, Error> {
    let (status, url) = (answer.status(), answer.url().clone());
    if status == StatusCode::OK {
        return Ok(answer);
    }
    if status == StatusCode::UNAUTHORIZED || status == StatusCode::FORBIDDEN {
        return Err(Error::Unauthorized {
            what,
            url: url.into(),
            status: status.as_u16(),
            tried: tried.map(str::to_owned),
        });
    }
    let body = answer.bytes(LARGEST_EXPLANATION).await.unwrap_or_default();
    let text = String::from_utf8_lossy(&body);
    let line = text.lines().next().unwrap_or_default().trim();
    Err(Error::Status {
        what,
        url: url.into(),
        status: status.as_u16(),
        // A page for browsers says nothing in its first line.
        answer: if line.starts_with('<') {
            String::new()
        } else {
            line.to_owned()
        },
    })
}

/// Reads an answer as JSON of at most `limit` bytes.
pub(super) async fn json<T: DeserializeOwned>(
    what: Document,
    answer: Answer,
    limit: u64,
) -> Result<T, Error> {
    let url = answer.url().clone();
    let body = answer.bytes(limit).await?;
    serde_json::from_slice(&body).map_err(|source| Error::Json {
        what,
        url: url.into(),
        source,
    })
}

/// Whether a content type says JSON.
pub(super) fn is_json(content_type: &str) -> bool {
    let media_type = content_type.split(';').next().unwrap_or_default();
    media_type.trim().eq_ignore_ascii_case("application/json")
}
