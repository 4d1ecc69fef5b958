//! The providers that clients have requested, with their lists of versions.
//!
//! A list is read once for all clients that wait for it, kept for [`Ages::fresh`], and used for [`Ages::stale`] while the store is unreachable
//! ([`Cached`]). A verified version is not read again until one of its tags moves. If all lists together take too much memory, the least
//! recently used are dropped, first those without a verified version.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::cached::{Ages, Cached, CachedValue, Stale, Unavailable};
use super::changes;
use super::current_trust::CurrentTrust;
use super::fill::Fill;
use super::known_listings::{CachedListing, KnownListings};
use super::listing::ProviderListing;
use super::metrics::Metrics;
use super::new_listings::NewListings;
use super::notice::{Notice, Observer};
use super::store_health::StoreHealth;
use super::tag_check::TagState;
use crate::address::{Hostname, ProviderAddr};
use crate::examine::{StoredProvider, TrustOptions};
use crate::outcome::{At, Failure};
use crate::store::{self, Endpoint, Registry, Store};
use crate::trust::Policy;
use crate::version::Version;

/// How long the server waits before it asks a store again that has not answered yet.
const PAUSE: Duration = Duration::from_secs(5);

/// The store and the lists that were read from it.
pub(super) struct ServedStore {
    pub(super) endpoint: Endpoint,
    pub(super) registry: Registry,
    /// The only host whose providers the store has; `None` for any.
    pub(super) only_host: Option<Hostname>,
    pub(super) trust: Arc<CurrentTrust>,
    pub(super) ages: Ages,
    /// Mirrors versions that the store lacks.
    pub(super) fill: Option<Arc<Fill>>,
    pub(super) observer: Arc<dyn Observer>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) listed_providers: Arc<Cached<Vec<ProviderAddr>, Failure>>,
    pub(super) store_health: StoreHealth,
    pub(super) listings: Mutex<KnownListings>,
    /// Limits the providers that are read for the first time.
    pub(super) new_listings: NewListings,
    /// Limits the versions that are read concurrently. Each may have several documents of 4 MiB.
    pub(super) reads: Semaphore,
}

impl ServedStore {
    /// Returns the versions of a provider. `is_enough` tells whether an old list has all that the request needs.
    pub(super) async fn listing(
        self: &Arc<Self>,
        provider: &ProviderAddr,
        is_enough: impl Fn(&ProviderListing) -> bool,
        client: IpAddr,
    ) -> Result<CachedValue<ProviderListing>, Unavailable<Failure>> {
        loop {
            let trust = self.trust.options();
            let listing = self.known_listing(provider, &is_enough, client).await;
            // The list may have been read with a policy that another one has replaced meanwhile.
            if self.trust.still_says(&trust, provider) {
                return listing;
            }
        }
    }

    async fn known_listing(
        self: &Arc<Self>,
        provider: &ProviderAddr,
        is_enough: impl Fn(&ProviderListing) -> bool,
        client: IpAddr,
    ) -> Result<CachedValue<ProviderListing>, Unavailable<Failure>> {
        let cached = self.cached(provider);
        let mut is_hit = true;
        let listing = cached
            .get(self.ages, is_enough, |old| {
                is_hit = false;
                let is_known = old.as_ref().is_some_and(|old| old.exists);
                let permits = match is_known {
                    true => None,
                    false => Some(self.new_listings.permits(client, &self.metrics)?),
                };
                let (this, provider) = (self.clone(), provider.clone());
                let (of_client, reading) = permits.unzip();
                Some(async move {
                    let _of_client = of_client;
                    this.read(&provider, old, reading).await
                })
            })
            .await;
        let count = if is_hit {
            &self.metrics.hits
        } else {
            &self.metrics.misses
        };
        count.inc();
        let weight = listing.as_ref().map_or(0, |listing| listing.value.weight());
        self.lists().set_weight(provider, weight);
        listing
    }

    /// Returns the versions of a provider. If the tags of `version` were not compared for [`Ages::fresh`], compares them first. If the origin
    /// offers the version, mirrors it first.
    pub(super) async fn with_checked_tags(
        self: &Arc<Self>,
        provider: &ProviderAddr,
        version: &Version,
        client: IpAddr,
    ) -> Result<CachedValue<ProviderListing>, Unavailable<Failure>> {
        let has_version = |old: &ProviderListing| old.has(version);
        let mut listing = self.listing(provider, has_version, client).await?;
        if listing.value.offered.contains(version)
            && let Some(fill) = &self.fill
        {
            listing = self.filled(fill, provider, version, client).await?;
        }
        let Some(served) = listing.value.versions.get(version) else {
            return Ok(listing);
        };
        if listing.is_stale() {
            return Ok(listing);
        }
        let state = match served.last_check(self.ages.fresh) {
            // Without a system call: to open a layout costs more than the whole answer.
            Some(state) => state,
            None => {
                let Ok(Some(stored)) = self.stored(provider) else {
                    return Ok(listing);
                };
                let checked = served.check_tags(&stored, version, self.ages.fresh);
                checked.await
            }
        };
        match state {
            TagState::Unchanged => Ok(listing),
            TagState::Moved => {
                self.cached(provider).invalidate();
                self.listing(provider, has_version, client).await
            }
            // An older list is better than none.
            TagState::Unknown => Ok(CachedValue {
                stale: Some(Stale::Failed),
                lifetime: Duration::ZERO,
                ..listing
            }),
        }
    }

    /// Applies another policy. The versions of each provider whose rule has changed are verified again before they are served.
    pub(super) fn set_policy(&self, policy: Policy) {
        // Locked until the policy applies, so that no request that begins with it finds a list of the former one.
        let mut lists = self.lists();
        let former = self.trust.options();
        lists.retain(|provider| former.policy.is_same_for(&policy, provider));
        self.trust.replace(policy);
        if let Some(fill) = &self.fill {
            fill.forget_refusals();
        }
    }

    /// Returns the providers that the store lists, and those that clients have requested, each with its list if that was read.
    pub(super) async fn providers(
        self: &Arc<Self>,
    ) -> BTreeMap<ProviderAddr, Option<Arc<ProviderListing>>> {
        let this = self.clone();
        let listed = self
            .listed_providers
            .get(
                self.ages,
                |_| true,
                |_| Some(async move { this.list().await }),
            )
            .await;
        let listed = listed
            .map(|listed| listed.value.to_vec())
            .unwrap_or_default();
        let listings = self.lists();
        let mut providers: BTreeMap<_, _> = listed.into_iter().map(|one| (one, None)).collect();
        for (provider, listing) in listings.read() {
            if listing.exists {
                providers.insert(provider.clone(), Some(listing));
            }
        }
        providers
    }

    /// Reads the providers that the store lists; none if it cannot list them.
    async fn list(&self) -> Result<Vec<ProviderAddr>, Failure> {
        let store = self.open()?;
        let default_host = self
            .only_host
            .clone()
            .unwrap_or_else(Hostname::default_origin);
        let providers = self.endpoint.providers(&store, &default_host).await;
        Ok(providers
            .map_err(Failure::from)?
            .map(|all| all.providers)
            .unwrap_or_default())
    }

    async fn read(
        &self,
        provider: &ProviderAddr,
        old: Option<Arc<ProviderListing>>,
        reading: Option<OwnedSemaphorePermit>,
    ) -> Result<ProviderListing, Failure> {
        let trust = self.trust.options();
        let listing = match self.stored(provider) {
            Ok(None) => return Ok(ProviderListing::absent(provider)),
            Ok(Some(stored)) => {
                let old = old.as_deref();
                self.read_stored(&stored, &trust, old, reading).await
            }
            Err(failure) => {
                let failed = Err(failure);
                self.store_health.record_ping(&failed);
                failed.map(|()| ProviderListing::absent(provider))
            }
        };
        match &listing {
            Ok(listing) => {
                changes::report(listing, old.as_deref(), &self.metrics, &*self.observer);
                let is_unmatched = trust.policy.rule_for(provider).is_none();
                if is_unmatched && old.is_none() && listing.installable().next().is_some() {
                    self.observer.notice(&Notice::Unmatched { provider });
                }
            }
            // The store has no such provider, and its origin is unreachable.
            Err(failure) if matches!(failure.at, At::Source(_)) => {
                self.observer.notice(&Notice::NotFilled { failure });
            }
            Err(failure) => {
                self.metrics.store_failures.inc();
                self.observer.notice(&Notice::StoreFailed { failure });
            }
        }
        listing
    }

    /// Reads the versions of a provider in the store, and those that the origin offers. The permit is held while the store is read.
    async fn read_stored(
        &self,
        stored: &StoredProvider,
        trust: &TrustOptions,
        old: Option<&ProviderListing>,
        reading: Option<OwnedSemaphorePermit>,
    ) -> Result<ProviderListing, Failure> {
        let provider = &stored.provider;
        let fill = self.fill.as_ref().filter(|fill| fill.is_for(provider));
        let listing = async {
            let listing = match ProviderListing::read(stored, trust, old, &self.reads).await {
                // The first version that was mirrored of it failed.
                Err(_) if fill.is_some() && stored.repo.is_begun() => {
                    Ok(ProviderListing::absent(provider))
                }
                listing => listing,
            };
            drop(reading);
            self.noted(self.store_health.record(&listing));
            if listing.as_ref().is_ok_and(|listing| listing.exists) {
                self.store_health.record_content();
            }
            listing
        };
        match fill {
            None => listing.await,
            Some(fill) if old.is_some_and(|old| self.has_recent_offer(old)) => {
                let mut listing = listing.await?;
                let refused = fill.failed().refused_of(provider);
                listing.offer_as_before(old, Duration::MAX, refused);
                Ok(listing)
            }
            Some(fill) => {
                let (listing, offered) = future::join(listing, fill.offered(provider)).await;
                self.with_offered(listing, offered, fill, old)
            }
        }
    }

    /// The provider in the store; `None` if the store has no repository for its address.
    fn stored(&self, provider: &ProviderAddr) -> Result<Option<StoredProvider>, Failure> {
        let is_elsewhere = |host: &Hostname| host != provider.hostname();
        if self.only_host.as_ref().is_some_and(is_elsewhere) {
            return Ok(None);
        }
        let store = self.open()?;
        Ok(StoredProvider::of(&self.endpoint, store, provider).ok())
    }

    /// Opens the store. This is done each time, so that a deleted directory is noticed.
    pub(super) fn open(&self) -> Result<Store, store::Error> {
        let opened = self.open_filled();
        match &self.fill {
            // The directory of a pull-through store may be missing until its first version.
            Some(_) if !self.store_health.had_content() => {
                opened.or_else(|_| self.endpoint.write(self.registry.clone()))
            }
            _ => opened,
        }
    }

    /// Opens the store. A directory has to have an entry: clients take 404 as the answer that there is no such provider, and ask elsewhere.
    fn open_filled(&self) -> Result<Store, store::Error> {
        let opened = self.endpoint.read(self.registry.clone());
        opened.and_then(Store::refuse_empty)
    }

    /// Requests the root of the store until it answers, so that a mistake in its address or credentials is reported when the server starts.
    pub(super) async fn ping(&self) {
        if self.open_filled().is_ok() {
            self.store_health.record_content();
        }
        // The start reports an empty directory itself.
        let mut is_reported = self.endpoint.directory().is_some();
        loop {
            let pinged = match self.open() {
                Ok(_) => self.endpoint.ping(&self.registry).await,
                Err(error) => Err(error),
            };
            let pinged = pinged.map_err(|error| {
                let mut failure = Failure::from(error);
                failure.at = At::read(self.endpoint.whole());
                failure
            });
            self.noted(self.store_health.record_ping(&pinged));
            if let (Err(failure), false) = (&pinged, is_reported) {
                self.metrics.store_failures.inc();
                self.observer.notice(&Notice::StoreFailed { failure });
                is_reported = true;
            }
            if self.store_health.has_answered() {
                return;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Reports that the store answers again, if it does.
    fn noted(&self, answers_again: bool) {
        if answers_again {
            self.observer.notice(&Notice::StoreAnswers);
        }
    }

    pub(super) fn cached(&self, provider: &ProviderAddr) -> CachedListing {
        self.lists().of(provider)
    }

    fn lists(&self) -> MutexGuard<'_, KnownListings> {
        self.listings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
