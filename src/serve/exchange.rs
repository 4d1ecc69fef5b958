//! A request and its answer, as the log reports them.

use axum::http::StatusCode;
use tokio::sync::OwnedSemaphorePermit;

use super::access;
use super::answer::{self, Response};
use super::notice::Denied;

/// An answer with the facts for the log.
pub(super) struct Exchange {
    pub(super) answer: Response,
    pub(super) route: &'static str,
    pub(super) token: Option<String>,
    pub(super) denied: Option<Denied>,
    pub(super) is_stale: bool,
    /// The permits of a package, held until it was sent.
    pub(super) permits: Vec<OwnedSemaphorePermit>,
}

impl Exchange {
    /// Records that the request is not authorized, and returns the answer.
    pub(super) fn deny(&mut self, reason: Denied) -> Response {
        self.denied = Some(reason);
        access::denied(reason)
    }

    /// The answer to a client that exceeds its rate of requests.
    pub(super) fn too_many() -> Self {
        Self::new(answer::too_many("too many requests", 1), "limited")
    }

    /// The answer to a request that names no host, or several.
    pub(super) fn ambiguous() -> Self {
        let answer = answer::text(
            StatusCode::BAD_REQUEST,
            "the request names no host, or several",
        );
        Self::new(answer, "none")
    }

    /// An answer of which the log tells no more than its route.
    pub(super) fn new(answer: Response, route: &'static str) -> Self {
        Self {
            answer,
            route,
            token: None,
            denied: None,
            is_stale: false,
            permits: Vec::new(),
        }
    }
}
