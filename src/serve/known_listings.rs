//! The lists of the requested providers, within a limit of memory.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use super::cached::Cached;
use super::listing::ProviderListing;
use crate::address::ProviderAddr;
use crate::outcome::Failure;

/// The most memory for all lists together, in bytes. More than a thousand versions for 15 platforms each fit.
/// `tfoci help deployment` states this number.
const MOST_BYTES: usize = 16 << 20;
/// The weight of an empty list without its address in bytes, which is about the size of its structures.
const EMPTY_LIST_BYTES: usize = 512;

/// The list of a provider, shared by its requests.
pub(super) type CachedListing = Arc<Cached<ProviderListing, Failure>>;

/// The lists by provider, with the total of their weights.
#[derive(Default)]
pub(super) struct KnownListings {
    all: HashMap<ProviderAddr, KnownListing>,
    /// The sum of all weights.
    weight: usize,
}

struct KnownListing {
    listing: CachedListing,
    used: Instant,
    weight: usize,
}

impl KnownListing {
    /// Whether the list that was read last has a verified version.
    fn has_verified(&self) -> bool {
        let last = self.listing.last();
        last.is_some_and(|listing| !listing.versions.is_empty())
    }
}

impl KnownListings {
    /// Returns the list of a provider, and records that it was used now.
    pub(super) fn of(&mut self, provider: &ProviderAddr) -> CachedListing {
        let weight = empty_weight(provider);
        if !self.all.contains_key(provider) {
            self.weight += weight;
        }
        let known = self
            .all
            .entry(provider.clone())
            .or_insert_with(|| KnownListing {
                listing: Arc::default(),
                used: Instant::now(),
                weight,
            });
        known.used = Instant::now();
        known.listing.clone()
    }

    /// Drops the lists of all other providers.
    pub(super) fn retain(&mut self, is_kept: impl Fn(&ProviderAddr) -> bool) {
        self.all.retain(|provider, _| is_kept(provider));
        self.weight = self.all.values().map(|known| known.weight).sum();
    }

    /// The lists that were read, however old.
    pub(super) fn read(&self) -> impl Iterator<Item = (&ProviderAddr, Arc<ProviderListing>)> {
        let all = self.all.iter();
        all.filter_map(|(provider, known)| Some((provider, known.listing.last()?)))
    }

    /// Records the weight of a list. If all lists together are too large, drops the least recently used ones, first those without a verified version:
    /// clients may request any number of providers that do not exist, or that only an origin has.
    pub(super) fn set_weight(&mut self, provider: &ProviderAddr, weight: usize) {
        if let Some(known) = self.all.get_mut(provider) {
            let weight = empty_weight(provider) + weight;
            self.weight = self.weight.saturating_sub(known.weight) + weight;
            known.weight = weight;
        }
        if self.weight <= MOST_BYTES {
            return;
        }
        let all = self.all.iter();
        let mut by_worth: Vec<_> = all
            .map(|(one, known)| (known.has_verified(), known.used, one))
            .collect();
        by_worth.sort();
        // A quarter is dropped at once, so that the sorting is rare.
        let mut left = self.weight;
        let others = by_worth.into_iter().filter(|(.., one)| *one != provider);
        let dropped = others.take_while(|(.., one)| {
            let is_dropped = left > MOST_BYTES / 4 * 3;
            left = left.saturating_sub(self.all.get(*one).map_or(0, |known| known.weight));
            is_dropped
        });
        let dropped: Vec<_> = dropped.map(|(.., one)| one.clone()).collect();
        for one in dropped {
            if let Some(dropped) = self.all.remove(&one) {
                self.weight = self.weight.saturating_sub(dropped.weight);
            }
        }
    }
}

/// The weight of a list before it is read. Clients may request made-up addresses, which are then the largest part of such a list.
fn empty_weight(provider: &ProviderAddr) -> usize {
    EMPTY_LIST_BYTES + provider.length()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use super::super::cached::Ages;
    use super::super::served::ServedVersion;
    use super::*;
    use crate::version::Version;

    /// Reads a list.
    async fn read(lists: &mut KnownListings, listing: ProviderListing) {
        let ages = Ages {
            fresh: Duration::MAX,
            stale: Duration::MAX,
        };
        let provider = listing.provider.clone();
        let cached = lists.of(&provider);
        let load = |_| Some(std::future::ready(Ok(listing)));
        let read = cached.get(ages, |_| true, load).await.unwrap();
        lists.set_weight(&provider, read.value.weight());
    }

    /// An origin with many providers and versions must not end `--max-stale` of others.
    #[tokio::test]
    async fn lists_of_offered_versions_are_dropped_before_those_with_verified_ones() {
        let mut lists = KnownListings::default();
        let version = |minor| Version::new(1, minor, 0);
        let stored: ProviderAddr = "good.example/acme/demo".parse().unwrap();
        let mut listing = ProviderListing::absent(&stored);
        let served = Arc::new(ServedVersion::bare());
        listing.versions.insert(version(0), served);
        read(&mut lists, listing).await;
        for number in 0..100 {
            let text = format!("many.example/acme/p{number}");
            let provider: ProviderAddr = text.parse().unwrap();
            let mut listing = ProviderListing::absent(&provider);
            let offered = (0..20_000).map(version).collect();
            listing.offer(Some(offered), BTreeMap::new());
            read(&mut lists, listing).await;
            assert!(lists.all.contains_key(&provider), "{number}");
        }
        assert!(lists.all.len() < 50, "{}", lists.all.len());
        assert!(lists.all.contains_key(&stored));
    }

    #[test]
    fn made_up_addresses_stay_within_the_limit_of_memory() {
        let mut lists = KnownListings::default();
        let long = "n".repeat(240);
        let host = ["n".repeat(60).as_str(); 3].join(".");
        for number in 0..20_000 {
            let text = format!("{host}.test/{long}/{long}{number}");
            let provider: ProviderAddr = text.parse().unwrap();
            let _list = lists.of(&provider);
            let listing = ProviderListing::absent(&provider);
            lists.set_weight(&provider, listing.weight());
            assert!(lists.all.contains_key(&provider), "{number}");
            // The address is stored twice: as the key, and in the list.
            let names = lists.all.keys().next().map_or(0, |one| 2 * text_of(one));
            assert!(lists.all.len() * names <= MOST_BYTES, "{number}");
        }
        let weights = lists.all.values().map(|known| known.weight);
        assert_eq!(weights.sum::<usize>(), lists.weight);
    }

    fn text_of(provider: &ProviderAddr) -> usize {
        provider.to_ascii().len()
    }
}
