//! The time in which an answer has to be complete: with the redirects before it, and however slowly its headers come.

use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, timeout};
use url::Url;

use super::{Error, Timeouts};

/// What is left of the time for one answer. Only what is spent on the network counts, not what is spent waiting for a place.
pub(super) struct Deadline {
    left: Duration,
    limit: Duration,
    /// Whether the user said so; else it is what a server gets at most.
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

    /// Waits for something from a URL as long as there is time.
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
