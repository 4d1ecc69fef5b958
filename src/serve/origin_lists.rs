//! Asks origins for their lists of versions.
//!
//! Clients name origins and providers, and an origin may give no answer for minutes. What the store has must not wait for that.

use std::time::Duration;

use tokio::sync::Semaphore;

use super::quota::Quota;
use crate::address::{Hostname, ProviderAddr};
use crate::source::{AvailableVersions, Error, Source};

/// How long a list of the store waits for that of the origin. It is shorter than requests wait for a list, so that even the first request of a
/// provider gets what the store has. `tfoci help deployment` states this number.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// The most lists that wait for origins. One origin has half of them: as many as providers that are read for the first time.
const MOST: usize = 256;

/// The lists that origins are asked for.
pub(super) struct OriginLists {
    all: Semaphore,
    of_origin: Quota<Hostname>,
}

impl OriginLists {
    pub(super) fn new() -> Self {
        Self {
            all: Semaphore::new(MOST),
            of_origin: Quota::half_of(MOST),
        }
    }

    /// Lists the versions of a provider.
    ///
    /// # Errors
    /// The source does not have the provider, cannot be read, or is too slow.
    pub(super) async fn versions(
        &self,
        source: &Source,
        provider: &ProviderAddr,
    ) -> Result<AvailableVersions, Error> {
        // Without a queue, requests that nobody waits for any more take no memory.
        let of_origin = self.of_origin.of(provider.hostname().clone());
        let (Ok(_own), Ok(_any)) = (of_origin.try_acquire(), self.all.try_acquire()) else {
            return Err(Error::Busy);
        };
        let versions = source.available_versions(provider);
        let versions = tokio::time::timeout(LONGEST_WAIT, versions).await;
        versions.unwrap_or(Err(Error::Late {
            limit: LONGEST_WAIT,
        }))
    }
}
