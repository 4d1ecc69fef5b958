//! Renewal of package URLs. Origins sign them for a limited time, which may end while a download runs or waits.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use reqwest::StatusCode;
use url::Url;

use super::error::Error;

/// The most times that a new URL is requested for one package. URLs are valid for minutes, so an origin whose third URL is refused too has
/// another problem.
const MOST: u32 = 2;

/// Requests the current URL of a package from its origin.
type RequestUrl = dyn Fn() -> BoxFuture<'static, Result<Option<Url>, Error>> + Send + Sync;

/// Requests new URLs for one package. Clones share the responses.
#[derive(Clone)]
pub(super) struct Renewal(Arc<Shared>);

struct Shared {
    ask: Box<RequestUrl>,
    latest: Mutex<Option<Url>>,
    /// The number of requests. Locked during a request, so that only one runs at a time.
    asked: tokio::sync::Mutex<u32>,
}

impl Renewal {
    pub(super) fn new(
        ask: impl Fn() -> BoxFuture<'static, Result<Option<Url>, Error>> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(Shared {
            ask: Box::new(ask),
            latest: Mutex::default(),
            asked: tokio::sync::Mutex::default(),
        }))
    }

    /// The URL from the last response.
    pub(super) fn latest(&self) -> Option<Url> {
        let latest = self.0.latest.lock();
        latest.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns a URL other than the expired one; `None` if there is none, or the limit is reached.
    ///
    /// # Errors
    /// The request failed, or the origin now has a package with another digest.
    pub(super) async fn after(&self, expired: &Url) -> Result<Option<Url>, Error> {
        let mut asked = self.0.asked.lock().await;
        let known = self.latest().filter(|latest| latest != expired);
        if known.is_some() {
            return Ok(known);
        }
        if *asked == MOST {
            return Ok(None);
        }
        *asked += 1;
        let answer = (self.0.ask)().await?;
        let other = answer.filter(|url| url != expired);
        let mut latest = self.0.latest.lock().unwrap_or_else(PoisonError::into_inner);
        *latest = other.clone().or(latest.take());
        Ok(other)
    }
}

impl fmt::Debug for Renewal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Renewal")
    }
}

/// Whether object stores respond with this status to an expired signature. One of them responds with 400.
pub(super) fn is_expired(status: StatusCode) -> bool {
    matches!(status.as_u16(), 400 | 401 | 403 | 410)
}
