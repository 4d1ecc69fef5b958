//! Package URLs that expire: origins sign them, and a long download, or one that waits for its turn, outlives the signature.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use reqwest::StatusCode;
use url::Url;

use super::error::Error;

/// How often another URL is requested for one package.
const MOST: u32 = 2;

/// Asks an origin for the current URL of a package.
type Ask = dyn Fn() -> BoxFuture<'static, Result<Option<Url>, Error>> + Send + Sync;

/// How to get another URL for a package. Clones share the answers.
#[derive(Clone)]
pub(super) struct Renewal(Arc<Shared>);

struct Shared {
    ask: Box<Ask>,
    latest: Mutex<Option<Url>>,
    /// How often it was asked. Held while asking.
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

    /// The URL that was answered last.
    pub(super) fn latest(&self) -> Option<Url> {
        let latest = self.0.latest.lock();
        latest.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Another URL than the expired one; `None` if there is none, or the limit is reached.
    ///
    /// # Errors
    /// The origin does not tell, or has another package there by now.
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

/// Whether object stores answer so to an expired signature. One of them answers 400.
pub(super) fn is_expired(status: StatusCode) -> bool {
    matches!(status.as_u16(), 400 | 401 | 403 | 410)
}
