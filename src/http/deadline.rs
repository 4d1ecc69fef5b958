//! The deadline for a complete response, which includes redirects and headers.

use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, timeout};
use url::Url;

use super::{Error, Timeouts};

/// The time that is left for one response. Waiting for a permit does not count.
pub(super) struct Deadline {
    left: Duration,
    limit: Duration,
    /// Whether the request set the limit. Otherwise it is the default for documents.
    is_chosen: bool,
}

impl Deadline {
    pub(super) fn new(chosen: Option<Duration>, timeouts: &Timeouts) -> Self {
        let limit = chosen.unwrap_or(timeouts.document);
        Self {
            left: limit,
            limit,
            is_chosen: chosen.is_some(),
        }
    }

    /// Waits for work on a URL, and fails when the deadline has passed.
    pub(super) async fn hold<T>(
        &mut self,
        url: &Url,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let began = Instant::now();
        let done = timeout(self.left, work).await;
        self.left = self.left.saturating_sub(began.elapsed());
        done.unwrap_or_else(|_| {
            let (url, limit) = (url.clone().into(), self.limit);
            Err(match self.is_chosen {
                true => Error::Slow { url, limit },
                false => Error::Endless { url, limit },
            })
        })
    }
}
