//! Versions that the store lacks, and that its origin has (`--fill`).

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;

use super::cached::{CachedValue, Unavailable};
use super::fill::Fill;
use super::listing::ProviderListing;
use super::notice::Notice;
use super::origin_lists::OriginList;
use super::protocol_handlers::LONGEST_ANSWER;
use super::served_store::ServedStore;
use crate::address::ProviderAddr;
use crate::event::Subject;
use crate::outcome::{At, Failure, Problem};
use crate::version::Version;

impl ServedStore {
    /// Mirrors a version from the origin, and returns the versions of the provider. A version that the policy refused is among the hidden ones.
    pub(super) async fn filled(
        self: &Arc<Self>,
        fill: &Arc<Fill>,
        provider: &ProviderAddr,
        version: &Version,
        client: IpAddr,
    ) -> Result<CachedValue<ProviderListing>, Unavailable<Failure>> {
        let failed = |problem| {
            let subject = Subject::version(provider, version);
            let at = At::written(self.endpoint.whole());
            Unavailable::Failed(Arc::new(Problem::of(problem, subject, at)))
        };
        let store = self.open();
        let store = store.map_err(|error| failed(Problem::from(error)))?;
        let to = self.endpoint.repo_mut(&store, provider);
        let to = to.map_err(|error| failed(Problem::from(error)))?;
        let filled = fill.fill(provider, version, to).await;
        match &filled {
            Ok(()) => {}
            Err(Unavailable::Failed(_)) => {
                // A version that the policy refused is not a failure of the request: the list has it among the hidden ones.
                if !fill.failed().refused_of(provider).contains_key(version) {
                    filled?;
                }
            }
            Err(Unavailable::Slow) => filled?,
        }
        self.cached(provider).invalidate();
        // The old list offers the version, which is not enough any more.
        let is_read = |old: &ProviderListing| old.has_read(version);
        let listing = self.listing(provider, is_read, client).await?;
        if listing.value.offered.contains(version) && !listing.is_stale() {
            fill.forget(provider, version);
        }
        Ok(listing)
    }

    /// The versions of a provider that could not be mirrored from its origin lately.
    pub(super) fn failed_fills(&self, provider: &ProviderAddr) -> BTreeSet<Version> {
        let fill = self.fill.as_ref();
        fill.map(|fill| fill.failed().others_of(provider))
            .unwrap_or_default()
    }

    /// Whether the origin need not be asked: the list is read again because the store has changed, and the origin was asked a moment ago. A slow one
    /// would delay the answer about a version that was just mirrored.
    pub(super) fn has_recent_offer(&self, old: &ProviderListing) -> bool {
        let longest = self.ages.fresh.saturating_add(LONGEST_ANSWER);
        old.has_offer_within(longest) && self.cached(&old.provider).is_outdated()
    }

    /// Adds the versions that the origin offers to the list. While the origin is unreachable, these are the ones that it offered before.
    ///
    /// # Errors
    /// The store cannot be read, or does not have the provider while the origin is unreachable.
    pub(super) fn with_offered(
        &self,
        listing: Result<ProviderListing, Failure>,
        offered: Result<CachedValue<OriginList>, Failure>,
        fill: &Fill,
        old: Option<&ProviderListing>,
    ) -> Result<ProviderListing, Failure> {
        let mut listing = listing?;
        let refused = fill.failed().refused_of(&listing.provider);
        match offered {
            Ok(offered) => {
                listing.offer(offered.value.versions.clone(), refused);
                listing.offered_at = Some(offered.value.at);
                listing.is_origin_unreachable = offered.is_stale();
            }
            Err(failure) if !listing.exists => return Err(failure),
            Err(failure) => {
                self.observer
                    .notice(&Notice::NotFilled { failure: &failure });
                listing.offer_as_before(old, self.ages.stale, refused);
                listing.is_origin_unreachable = true;
            }
        }
        Ok(listing)
    }
}
