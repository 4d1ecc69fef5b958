//! The providers that clients have requested, with their lists of versions.
//!
//! A list is read once for all clients that wait for it, kept for [`super::Ages::fresh`], and used for [`super::Ages::usable`] while the store is
//! unreachable ([`Cached`]). A verified version is not read again until one of its tags moves. If all lists together take too much memory, those
//! that are requested least are dropped.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::future;
use tokio::sync::Semaphore;

use super::cached::{Cached, CachedValue, LONGEST_LOAD, Unavailable};
use super::clients::{Client, Permits};
use super::fill::{Fill, OriginList};
use super::listing::ProviderListing;
use super::settings::Context;
use crate::address::{Hostname, ProviderAddr};
use crate::error::Category;
use crate::examine::{StoredProvider, TrustOptions};
use crate::outcome::Failure;
use crate::store::{self, Store};
use crate::trust::Policy;
use crate::version::Version;

/// How long the server waits before it asks a store again that has not answered yet.
const PAUSE: Duration = Duration::from_secs(5);
/// The most versions that are read concurrently, the same as requests for documents at one registry.
const MOST_READS: usize = 16;
/// The most memory for all lists together, in bytes. More than a thousand versions for 15 platforms each fit.
const MOST_BYTES: u64 = 16 << 20;
/// The weight of a list that is not read yet, without its address. Clients may request made-up addresses.
const EMPTY_LIST_BYTES: usize = 512;

/// The most providers on a page.
pub const MOST_SHOWN: usize = 500;

/// The versions of a provider, with their age.
pub(super) type Listing = CachedValue<ProviderListing>;

/// The store and the lists that were read from it.
pub(super) struct ServedStore {
    shared: Arc<Context>,
    /// Mirrors versions that the store does not have.
    pub(super) fill: Option<Arc<Fill>>,
    lists: Cached<ProviderAddr, ProviderListing>,
    listed_providers: Cached<(), Vec<ProviderAddr>>,
    /// Limits the versions that are read concurrently. Each may have several documents of 4 MiB.
    reads: Semaphore,
    /// Whether the last request that concerns the whole store failed.
    pub(super) is_unreachable: AtomicBool,
    /// Whether the store has ever answered, even with a refusal. Until then, the server has no list that it could go on with.
    pub(super) has_answered: AtomicBool,
    /// Whether the store has ever had an entry. If its directory is then missing or empty, its disk is away.
    had_content: AtomicBool,
}

impl ServedStore {
    pub(super) fn new(shared: Arc<Context>, fill: Option<Arc<Fill>>) -> Self {
        let weight = |provider: &ProviderAddr, listing: Option<&ProviderListing>| {
            let empty = || EMPTY_LIST_BYTES + provider.length();
            listing.map_or_else(empty, ProviderListing::weight) as u64
        };
        let ages = shared.settings.ages;
        Self {
            shared,
            fill,
            lists: Cached::new(ages, MOST_BYTES, LONGEST_LOAD, weight),
            listed_providers: Cached::new(ages, 1, LONGEST_LOAD, |(), _| 0),
            reads: Semaphore::new(MOST_READS),
            is_unreachable: AtomicBool::new(false),
            has_answered: AtomicBool::new(false),
            had_content: AtomicBool::new(false),
        }
    }

    /// Returns the versions of a provider.
    pub(super) async fn listing(
        self: &Arc<Self>,
        provider: &ProviderAddr,
        client: &Client,
    ) -> Result<Listing, Unavailable> {
        loop {
            let Context {
                clients, metrics, ..
            } = &*self.shared;
            let mut is_read = false;
            let read = |old: Option<Arc<ProviderListing>>| {
                // Clients may request any number of made-up addresses, and a read goes on after its client has disconnected.
                let is_known = old.as_ref().is_some_and(|old| old.exists);
                let mut place = None;
                if !is_known {
                    place = clients.places(client, 0);
                    if place.is_none() {
                        metrics.limited.inc();
                        return None;
                    }
                }
                is_read = true;
                metrics.misses.inc();
                let (this, provider) = (self.clone(), provider.clone());
                Some(async move { this.read(&provider, old, place).await })
            };
            let listing = self.lists.get(provider, read).await;
            if listing.is_ok() && !is_read {
                metrics.hits.inc();
            }
            // The list may have been read with a policy that another one has replaced meanwhile.
            let list = listing.as_ref().ok();
            if list.is_none_or(|list| self.still_trusts(&list.value)) {
                return listing;
            }
            self.lists.forget(provider).await;
        }
    }

    /// Returns the versions of a provider. If the tags of `version` were not compared for [`super::Ages::fresh`], compares them first. If the
    /// origin offers the version, mirrors it first.
    pub(super) async fn with_checked_tags(
        self: &Arc<Self>,
        provider: &ProviderAddr,
        version: &Version,
        client: &Client,
    ) -> Result<Listing, Unavailable> {
        let mut listing = self.listing(provider, client).await?;
        if listing.value.offered.contains(version)
            && let Some(fill) = &self.fill
        {
            listing = self.filled(fill, &listing.value, version, client).await?;
        }
        let served = listing.value.versions.get(version);
        let Some(served) = served.filter(|_| !listing.is_stale) else {
            return Ok(listing);
        };
        let open = || self.stored(provider).ok()?;
        let is_current = served.is_current(version, self.shared.settings.ages.fresh, open);
        match is_current.await {
            Some(true) => Ok(listing),
            Some(false) => {
                self.lists.invalidate(provider, Instant::now()).await;
                self.listing(provider, client).await
            }
            // An older list is better than none.
            None => Ok(CachedValue {
                is_stale: true,
                lifetime: Duration::ZERO,
                ..listing
            }),
        }
    }

    /// Mirrors a version from the origin, and returns the versions of the provider. A version that cannot be mirrored for a definite reason is
    /// among the hidden ones.
    async fn filled(
        self: &Arc<Self>,
        fill: &Arc<Fill>,
        old: &ProviderListing,
        version: &Version,
        client: &Client,
    ) -> Result<Listing, Unavailable> {
        let provider = &old.provider;
        let store = self.open().map_err(Failure::from)?;
        let destination = self.shared.settings.endpoint.repo_mut(&store, provider);
        let destination = destination.map_err(Failure::from)?;
        let filled = fill.fill(provider, version, destination).await;
        let is_hidden = || (fill.hidden(provider)).any(|(hidden, _)| hidden == *version);
        let since = match filled {
            Ok(mirrored_at) => mirrored_at,
            // A version that is hidden now is not a failure of the request.
            Err(Unavailable::Failed(_)) if is_hidden() => Instant::now(),
            Err(reason) => return Err(reason),
        };
        self.lists.invalidate(provider, since).await;
        self.listing(provider, client).await
    }

    /// Applies another policy. All versions are verified again before they are served.
    pub(super) fn set_policy(&self, policy: Policy) {
        let options = TrustOptions::clone(&self.shared.trust());
        let options = TrustOptions { policy, ..options };
        self.shared.trust.send_replace(Arc::new(options));
        if let Some(fill) = &self.fill {
            fill.forget_hidden();
        }
    }

    /// The providers that the store lists, and those that clients have requested, if the page shows them. Each has its list, if that was read.
    pub(super) async fn providers(
        self: &Arc<Self>,
        is_shown: impl Fn(&ProviderAddr) -> bool,
    ) -> BTreeMap<ProviderAddr, Option<Arc<ProviderListing>>> {
        let this = self.clone();
        let list = |_| Some(async move { this.list().await });
        let listed = self.listed_providers.get(&(), list).await;
        let listed = listed.iter().flat_map(|listed| listed.value.iter());
        let mut providers: BTreeMap<_, _> = listed.map(|one| (one.clone(), None)).collect();
        let read = self.lists.values().filter(|(_, list)| list.exists);
        providers.extend(read.map(|(provider, list)| {
            let list = self.still_trusts(&list).then_some(list);
            ((*provider).clone(), list)
        }));
        providers.retain(|provider, _| is_shown(provider));
        providers
    }

    /// Whether the policy that a list was read with still holds.
    fn still_trusts(&self, list: &ProviderListing) -> bool {
        let trust = list.trust.as_ref();
        trust.is_none_or(|trust| self.shared.still_trusts(trust))
    }

    /// Reads the providers that the store lists; none if it cannot list them.
    async fn list(&self) -> Result<Vec<ProviderAddr>, Failure> {
        let (store, settings) = (self.open()?, &self.shared.settings);
        let host = settings.only_host.clone();
        let host = host.unwrap_or_else(Hostname::default_origin);
        let providers = settings.endpoint.providers(&store, &host).await?;
        Ok(providers.map(|all| all.providers).unwrap_or_default())
    }

    async fn read(
        &self,
        provider: &ProviderAddr,
        old: Option<Arc<ProviderListing>>,
        place: Option<Permits>,
    ) -> Result<ProviderListing, Failure> {
        let trust = self.shared.trust();
        // What was read with another policy is read again.
        let old = old.filter(|old| self.still_trusts(old));
        let old = old.as_deref();
        let stored = self.stored(provider);
        let mut listing = match stored.inspect_err(|failure| self.record(Err(failure), true))? {
            Some(stored) => self.read_stored(&stored, &trust, old, place).await?,
            None => ProviderListing::absent(provider),
        };
        listing.render();
        listing.report(old, &self.shared);
        Ok(listing)
    }

    /// Reads the versions of a provider in the store, and those that the origin offers. The place is held while the store is read.
    async fn read_stored(
        &self,
        stored: &StoredProvider,
        trust: &Arc<TrustOptions>,
        old: Option<&ProviderListing>,
        place: Option<Permits>,
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
            drop(place);
            self.record(listing.as_ref().map(|_| ()), false);
            listing
        };
        let Some(fill) = fill else {
            return listing.await;
        };
        let (listing, offered) = future::join(listing, fill.offered(provider)).await;
        let mut listing = listing?;
        for (version, problem) in fill.hidden(provider) {
            if !listing.versions.contains_key(&version) {
                listing.hidden.entry(version).or_insert(problem);
            }
        }
        match offered {
            Ok(offered) => {
                listing.exists |= offered.value.is_some();
                listing.is_origin_unreachable = offered.is_stale;
                listing.offer(OriginList::clone(&offered.value).unwrap_or_default());
            }
            Err(failure) if !listing.exists => return Err(failure),
            Err(_) => listing.is_origin_unreachable = true,
        }
        Ok(listing)
    }

    /// The provider in the store; `None` if the store has no repository for its address.
    fn stored(&self, provider: &ProviderAddr) -> Result<Option<StoredProvider>, Failure> {
        let settings = &self.shared.settings;
        let only_host = settings.only_host.as_ref();
        if only_host.is_some_and(|host| host != provider.hostname()) {
            return Ok(None);
        }
        let store = self.open()?;
        Ok(StoredProvider::of(&settings.endpoint, store, provider).ok())
    }

    /// Opens the store. This is done each time, so that a deleted directory is noticed. A directory has to have an entry: clients take 404 as the
    /// answer that there is no such provider, and ask elsewhere.
    fn open(&self) -> Result<Store, store::Error> {
        let settings = &self.shared.settings;
        let opened = settings.endpoint.read(settings.registry.clone());
        let opened = opened.and_then(Store::refuse_empty);
        let had_content = self.had_content.fetch_or(opened.is_ok(), Ordering::Relaxed);
        // The directory of a pull-through store may be missing until its first version.
        match self.fill.is_some() && !had_content {
            true => opened.or_else(|_| settings.endpoint.write(settings.registry.clone())),
            false => opened,
        }
    }

    /// Requests the root of the store until it answers, so that a mistake in its address or credentials is reported when the server starts.
    pub(super) async fn ping(&self) {
        let settings = &self.shared.settings;
        loop {
            let pinged = match self.open() {
                Ok(_) => settings.endpoint.ping(&settings.registry).await,
                Err(error) => Err(error),
            };
            match pinged {
                Ok(()) => self.record(Ok(()), true),
                // The start reports an empty directory itself.
                Err(_) if settings.endpoint.directory().is_some() => {
                    self.is_unreachable.store(true, Ordering::Relaxed);
                }
                Err(error) => {
                    let mut failure = Failure::from(error);
                    failure.at = Some(settings.endpoint.whole());
                    self.record(Err(&failure), true);
                }
            }
            if self.has_answered.load(Ordering::Relaxed) {
                return;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Records the result of a request, and reports a failure, but only the first of an outage, and its end. A failure that concerns only one
    /// provider begins no outage.
    fn record(&self, result: Result<(), &Failure>, is_about_all: bool) {
        use Category::{Local, NotFound, Unauthorized, Unreachable};
        let category = result.err().map(Failure::category);
        // There may be no store yet: a directory is empty where its disk is not mounted.
        let is_answer = !matches!(category, Some(Unreachable | Local | NotFound));
        self.has_answered.fetch_or(is_answer, Ordering::Relaxed);
        let is_about_all =
            is_about_all || matches!(category, None | Some(Unreachable | Unauthorized | Local));
        let was_unreachable = match is_about_all {
            true => self.is_unreachable.swap(result.is_err(), Ordering::Relaxed),
            false => self.is_unreachable.load(Ordering::Relaxed),
        };
        match result {
            Err(failure) => {
                self.shared.metrics.store_failures.inc();
                if !was_unreachable {
                    self.shared.fail("store-failed", failure);
                }
            }
            Ok(()) if was_unreachable => {
                let text = "the store again, which was unreachable".to_owned();
                let observer = &self.shared.observer;
                observer.tell("store-answers", "Reading", text);
            }
            Ok(()) => {}
        }
    }
}
