//! The providers of the store, as far as clients asked for them.
//!
//! A provider's list is asked for once however many wait for it, kept for [`Ages::fresh`], and used for [`Ages::stale`] while the store is
//! away ([`Fresh`]). A version that passed is not read again until its tags move. The lists that were not used for the longest time are
//! dropped when all together become too large.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::fresh::{Ages, Answer, Fresh, Unanswered};
use super::listing::Listing;
use super::metrics::Metrics;
use super::notice::{Notice, Observer};
use crate::address::{Hostname, ProviderAddr};
use crate::examine::{StoredProvider, TrustOptions};
use crate::outcome::{Failure, Problem};
use crate::store::{Endpoint, Registry, Repo};
use crate::version::Version;

/// The bytes of all lists together.
const MOST_BYTES: usize = 16 << 20;
/// How long a request waits for the comparison of a version's tags.
const LONGEST_CHECK: Duration = Duration::from_secs(4);
/// The bytes that a list is counted with in addition to its versions.
const LEAST_BYTES: usize = 512;

/// The store, and what is known of it.
pub(super) struct Catalog {
    pub(super) endpoint: Endpoint,
    pub(super) registry: Registry,
    /// The only host whose providers the store has.
    pub(super) only_host: Option<Hostname>,
    pub(super) trust: TrustOptions,
    pub(super) ages: Ages,
    pub(super) observer: Arc<dyn Observer>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) known: Mutex<HashMap<ProviderAddr, Known>>,
}

type FreshListing = Arc<Fresh<Listing, Failure>>;

pub(super) struct Known {
    listing: FreshListing,
    used: Instant,
    weight: usize,
}

impl Catalog {
    /// The versions of a provider.
    pub(super) async fn listing(
        self: &Arc<Self>,
        provider: &ProviderAddr,
    ) -> Result<Answer<Listing>, Unanswered<Failure>> {
        let fresh = self.known(provider);
        let mut is_hit = true;
        let asked = fresh
            .get(self.ages, |old| {
                is_hit = false;
                let (this, provider) = (self.clone(), provider.clone());
                async move { this.read(&provider, old).await }
            })
            .await;
        let count = if is_hit {
            &self.metrics.hits
        } else {
            &self.metrics.misses
        };
        count.inc();
        if let Ok(answer) = &asked {
            self.weigh(provider, answer.value.weight());
        }
        asked
    }

    /// The versions of a provider, after the tags of one version were compared with what passed if that is some time ago.
    pub(super) async fn with_current(
        self: &Arc<Self>,
        provider: &ProviderAddr,
        version: &Version,
    ) -> Result<Answer<Listing>, Unanswered<Failure>> {
        let answer = self.listing(provider).await?;
        let Some(served) = answer.value.versions.get(version) else {
            return Ok(answer);
        };
        if answer.is_stale {
            return Ok(answer);
        }
        let Ok(Some(stored)) = self.stored(provider) else {
            return Ok(answer);
        };
        let check = served.is_current(&stored, version, self.ages.fresh);
        match tokio::time::timeout(LONGEST_CHECK, check).await {
            Ok(Ok(true)) => Ok(answer),
            Ok(Ok(false)) => {
                self.known(provider).outdate();
                self.listing(provider).await
            }
            // What passed before is better than no answer.
            Ok(Err(_)) | Err(_) => Ok(Answer {
                is_stale: true,
                lifetime: Duration::ZERO,
                ..answer
            }),
        }
    }

    /// What is known of a provider without asking.
    pub(super) fn remembered(&self) -> Vec<Arc<Listing>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let listings = known.values().filter_map(|known| known.listing.last());
        let mut listings: Vec<_> = listings.filter(|listing| listing.exists).collect();
        listings.sort_by(|a, b| a.provider.cmp(&b.provider));
        listings
    }

    async fn read(
        &self,
        provider: &ProviderAddr,
        old: Option<Arc<Listing>>,
    ) -> Result<Listing, Failure> {
        let Some(stored) = self.stored(provider)? else {
            return Ok(Listing::absent(provider));
        };
        let listing = Listing::read(&stored, &self.trust, old.as_deref()).await;
        match &listing {
            Ok(listing) => self.report_hidden(listing, old.as_deref()),
            Err(failure) => {
                self.metrics.store_failures.inc();
                self.observer.notice(&Notice::StoreFailed { failure });
            }
        }
        listing
    }

    /// The provider in the store; `None` if the store cannot have it.
    fn stored(&self, provider: &ProviderAddr) -> Result<Option<StoredProvider>, Failure> {
        let is_elsewhere = |host: &Hostname| host != provider.hostname();
        if self.only_host.as_ref().is_some_and(is_elsewhere) {
            return Ok(None);
        }
        let Ok(repository) = self.endpoint.repository(provider) else {
            return Ok(None);
        };
        // Opened each time, so that a directory that is gone is noticed.
        let store = self.endpoint.read(self.registry.clone());
        let store = store.map_err(|error| Failure::from(Problem::from(error)))?;
        Ok(Some(StoredProvider {
            provider: provider.clone(),
            place: self.endpoint.place(&repository),
            repo: Repo::new(store, repository),
        }))
    }

    fn report_hidden(&self, new: &Listing, old: Option<&Listing>) {
        for (version, hidden) in &new.hidden {
            let was_hidden = old.is_some_and(|old| old.hidden.contains_key(version));
            if !was_hidden {
                self.metrics.hidden.inc();
                self.observer.notice(&Notice::Hidden {
                    provider: &new.provider,
                    version,
                    problem: &hidden.problem,
                });
            }
        }
    }

    fn known(&self, provider: &ProviderAddr) -> FreshListing {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = known.entry(provider.clone()).or_insert_with(|| Known {
            listing: Arc::default(),
            used: Instant::now(),
            weight: LEAST_BYTES,
        });
        entry.used = Instant::now();
        entry.listing.clone()
    }

    /// Notes the weight of a list, and drops the lists that were not used for the longest time if all together are too large.
    fn weigh(&self, provider: &ProviderAddr, weight: usize) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = known.get_mut(provider) {
            entry.weight = LEAST_BYTES + weight;
        }
        let mut total: usize = known.values().map(|entry| entry.weight).sum();
        if total <= MOST_BYTES {
            return;
        }
        let mut by_use: Vec<_> = known
            .iter()
            .map(|(one, entry)| (entry.used, one.clone()))
            .collect();
        by_use.sort();
        for (_, oldest) in by_use {
            if total <= MOST_BYTES / 4 * 3 || oldest == *provider {
                break;
            }
            if let Some(dropped) = known.remove(&oldest) {
                total = total.saturating_sub(dropped.weight);
            }
        }
    }
}
