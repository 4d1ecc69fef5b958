//! The providers that clients have requested, with their lists of versions.
//!
//! A list is read once for all clients that wait for it, kept for [`Ages::fresh`], and used for [`Ages::stale`] while the store is unreachable
//! ([`Cached`]). A verified version is not read again until one of its tags moves. If all lists together take too much memory, those that are
//! requested least are dropped.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future;
use tokio::sync::Semaphore;

use super::cached::{Ages, Cached, CachedValue, LONGEST_REFRESH, Unavailable};
use super::clients::{Client, Clients, Permits};
use super::current_trust::CurrentTrust;
use super::fill::{Fill, OriginList};
use super::listing::{ProviderListing, report_changes};
use super::metrics::Metrics;
use super::notice::{Notice, Observer};
use super::served::TagState;
use super::store_health::{Reachability, StoreHealth};
use crate::address::{Hostname, ProviderAddr};
use crate::event::Subject;
use crate::examine::{StoredProvider, TrustOptions};
use crate::outcome::{At, Failure, Problem};
use crate::store::{self, Endpoint, Registry, Store};
use crate::trust::Policy;
use crate::version::Version;

/// How long the server waits before it asks a store again that has not answered yet.
const PAUSE: Duration = Duration::from_secs(5);
/// The most memory for all lists together, in bytes. More than a thousand versions for 15 platforms each fit.
/// `tfoci help deployment` states this number.
const MOST_BYTES: u64 = 16 << 20;
/// The weight of a list that is not read yet, without its address. Clients may request made-up addresses.
const EMPTY_LIST_BYTES: usize = 512;

/// The lists by provider.
pub(super) type Lists = Cached<ProviderAddr, ProviderListing, Failure>;
type Listing = Result<CachedValue<ProviderListing>, Unavailable<Failure>>;

/// No lists.
pub(super) fn no_lists() -> Lists {
    Cached::new(
        MOST_BYTES,
        LONGEST_REFRESH,
        |provider: &ProviderAddr, listing| {
            let empty = || EMPTY_LIST_BYTES + provider.length();
            listing.map_or_else(empty, ProviderListing::weight) as u64
        },
    )
}

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
    pub(super) clients: Arc<Clients>,
    pub(super) listed_providers: Cached<(), Vec<ProviderAddr>, Failure>,
    pub(super) store_health: StoreHealth,
    pub(super) lists: Lists,
    /// Limits the versions that are read concurrently. Each may have several documents of 4 MiB.
    pub(super) reads: Semaphore,
}

impl ServedStore {
    /// Returns the versions of a provider. `is_enough` tells whether an old list has all that the request needs.
    pub(super) async fn listing(
        self: &Arc<Self>,
        provider: &ProviderAddr,
        is_enough: &(dyn Fn(&ProviderListing) -> bool + Sync),
        client: &Client,
    ) -> Listing {
        // The list may have been read with a policy that another one has replaced meanwhile.
        let is_valid = |listing: &ProviderListing| {
            let trust = listing.trust.as_ref();
            trust.is_none_or(|trust| self.trust.still_says(trust, provider))
        };
        loop {
            let mut is_hit = true;
            let read = |old: Option<Arc<ProviderListing>>| {
                is_hit = false;
                // Clients may request any number of made-up addresses, and a read goes on after its client has disconnected.
                let reading = match old.as_ref().is_some_and(|old| old.exists) {
                    true => None,
                    false => match self.clients.places(client, 0) {
                        Ok(places) => Some(places),
                        Err(_) => {
                            self.metrics.limited.inc();
                            return None;
                        }
                    },
                };
                let (this, provider) = (self.clone(), provider.clone());
                Some(async move { this.read(&provider, old, reading).await })
            };
            let checks = [&is_valid as _, is_enough];
            let listing = self.lists.get(provider, self.ages, checks, read).await;
            let count = if is_hit {
                &self.metrics.hits
            } else {
                &self.metrics.misses
            };
            count.inc();
            if listing
                .as_ref()
                .map_or(true, |listing| is_valid(&listing.value))
            {
                return listing;
            }
        }
    }

    /// Returns the versions of a provider. If the tags of `version` were not compared for [`Ages::fresh`], compares them first. If the origin
    /// offers the version, mirrors it first.
    pub(super) async fn with_checked_tags(
        self: &Arc<Self>,
        provider: &ProviderAddr,
        version: &Version,
        client: &Client,
    ) -> Listing {
        let has_version = |old: &ProviderListing| old.has(version);
        let mut listing = self.listing(provider, &has_version, client).await?;
        if listing.value.offered.contains(version)
            && let Some(fill) = &self.fill
        {
            listing = self.filled(fill, provider, version, client).await?;
        }
        let Some(served) = listing.value.versions.get(version) else {
            return Ok(listing);
        };
        if listing.is_stale {
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
                self.lists.invalidate(provider, Instant::now()).await;
                self.listing(provider, &has_version, client).await
            }
            // An older list is better than none.
            TagState::Unknown => Ok(CachedValue {
                is_stale: true,
                lifetime: Duration::ZERO,
                ..listing
            }),
        }
    }

    /// Mirrors a version from the origin, and returns the versions of the provider. A version that cannot be mirrored is among the hidden ones.
    async fn filled(
        self: &Arc<Self>,
        fill: &Arc<Fill>,
        provider: &ProviderAddr,
        version: &Version,
        client: &Client,
    ) -> Listing {
        let failed = |problem| {
            let subject = Subject::version(provider, version);
            let at = At::written(self.endpoint.whole());
            Unavailable::Failed(Arc::new(Problem::of(problem, subject, at)))
        };
        let store = self.open();
        let store = store.map_err(|error| failed(Problem::from(error)))?;
        let to = self.endpoint.repo_mut(&store, provider);
        let to = to.map_err(|error| failed(Problem::from(error)))?;
        // A version that is hidden now is not a failure of the request.
        let since = match fill.fill(provider, version, to).await {
            Ok(mirrored_at) => mirrored_at,
            Err(Unavailable::Failed(_)) if fill.is_hidden(provider, version).await => {
                Instant::now()
            }
            Err(reason) => return Err(reason),
        };
        self.lists.invalidate(provider, since).await;
        // The old list offers the version, which is not enough any more.
        let is_read = |old: &ProviderListing| old.has_read(version);
        let listing = self.listing(provider, &is_read, client).await?;
        if listing.value.offered.contains(version) && !listing.is_stale {
            fill.forget(provider, version).await;
        }
        Ok(listing)
    }

    /// The versions of a provider that could not be mirrored from its origin lately, and are not hidden.
    pub(super) fn failed_fills(&self, provider: &ProviderAddr) -> BTreeSet<Version> {
        let fill = self.fill.as_ref();
        fill.map(|fill| fill.failed_of(provider))
            .unwrap_or_default()
    }

    /// Applies another policy. The versions of each provider whose rule has changed are verified again before they are served.
    pub(super) fn set_policy(&self, policy: Policy) {
        self.trust.replace(policy);
        if let Some(fill) = &self.fill {
            fill.forget_failures();
        }
    }

    /// Returns the providers that the store lists, and those that clients have requested, each with its list if that was read.
    pub(super) async fn providers(
        self: &Arc<Self>,
    ) -> BTreeMap<ProviderAddr, Option<Arc<ProviderListing>>> {
        let this = self.clone();
        let list = |_| Some(async move { this.list().await });
        let any = |_: &Vec<ProviderAddr>| true;
        let listed = self
            .listed_providers
            .get(&(), self.ages, [&any, &any], list);
        let listed = listed.await.map(|listed| listed.value.to_vec());
        let listed = listed.unwrap_or_default().into_iter();
        let mut providers: BTreeMap<_, _> = listed.map(|one| (one, None)).collect();
        for (provider, listing) in self.lists.values() {
            if listing.exists {
                providers.insert((*provider).clone(), Some(listing));
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
        reading: Option<Permits>,
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
                self.observe(
                    self.store_health.record_ping(&failed),
                    failed.as_ref().err(),
                );
                failed.map(|()| ProviderListing::absent(provider))
            }
        };
        match &listing {
            Ok(listing) => {
                report_changes(listing, old.as_deref(), &self.metrics, &*self.observer);
                let is_unmatched = trust.policy.rule_for(provider).is_none();
                if is_unmatched && old.is_none() && listing.installable().next().is_some() {
                    let text = format!(
                        "no entry of the trust file matches {provider}: served although no key is pinned for it; add an entry, or `--require-pinned` hides such providers"
                    );
                    self.observer.notice(Notice {
                        unmatched: Some(provider),
                        ..Notice::warning("unmatched", "Warning", text)
                    });
                }
            }
            // The store has no such provider, and its origin is unreachable, as the log has said.
            Err(failure) if matches!(failure.at, At::Source(_)) => {}
            Err(failure) => {
                self.metrics.store_failures.inc();
                // One line for an outage, which concerns all providers.
                if !self.store_health.is_unreachable() {
                    self.observer
                        .notice(Notice::failed("store-failed", failure));
                }
            }
        }
        listing
    }

    /// Reads the versions of a provider in the store, and those that the origin offers. The permit is held while the store is read.
    async fn read_stored(
        &self,
        stored: &StoredProvider,
        trust: &Arc<TrustOptions>,
        old: Option<&ProviderListing>,
        reading: Option<Permits>,
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
            self.observe(self.store_health.record(&listing), listing.as_ref().err());
            if listing.as_ref().is_ok_and(|listing| listing.exists) {
                self.store_health.record_content();
            }
            listing
        };
        let listing = async {
            let mut listing = listing.await?;
            listing.trust = Some(trust.clone());
            Ok(listing)
        };
        match fill {
            None => listing.await,
            // The list is read again because the store has changed. A slow origin would delay the answer about a version that was just mirrored.
            Some(fill) if old.is_some_and(|old| old.has_offer_within(self.ages.fresh)) => {
                let mut listing = listing.await?;
                listing.offer_as_before(old, fill.hidden_of(provider));
                Ok(listing)
            }
            Some(fill) => {
                let (listing, offered) = future::join(listing, fill.offered(provider)).await;
                Self::with_offered(listing, offered, fill)
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
            let change = self.store_health.record_ping(&pinged);
            // The start reports an empty directory itself.
            if self.endpoint.directory().is_none() {
                self.observe(change, pinged.as_ref().err());
                self.metrics
                    .store_failures
                    .inc_by(u64::from(pinged.is_err()));
            }
            if self.store_health.has_answered() {
                return;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Reports the beginning of an outage with its failure, and its end.
    fn observe(&self, change: Option<Reachability>, failure: Option<&Failure>) {
        match (change, failure) {
            (Some(Reachability::Lost), Some(failure)) => {
                self.observer
                    .notice(Notice::failed("store-failed", failure));
            }
            (Some(Reachability::Back), _) => {
                let text = "the store again, which was unreachable".to_owned();
                self.observer
                    .notice(Notice::new("store-answers", "Reading", text));
            }
            _ => {}
        }
    }

    /// Adds the versions that the origin offers to the list.
    ///
    /// # Errors
    /// The store cannot be read, or does not have the provider while the origin is unreachable.
    fn with_offered(
        listing: Result<ProviderListing, Failure>,
        offered: Result<CachedValue<OriginList>, Failure>,
        fill: &Fill,
    ) -> Result<ProviderListing, Failure> {
        let mut listing = listing?;
        let hidden = fill.hidden_of(&listing.provider);
        match offered {
            Ok(offered) => {
                listing.offer(OriginList::clone(&offered.value), hidden);
                listing.offered_at = Some(offered.at);
                listing.is_origin_unreachable = offered.is_stale;
            }
            Err(failure) if !listing.exists => return Err(failure),
            Err(_) => {
                listing.offer(None, hidden);
                listing.is_origin_unreachable = true;
            }
        }
        Ok(listing)
    }
}
