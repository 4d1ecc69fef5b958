//! The contents of the pages for people.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::listing::ProviderListing;
use crate::address::{Hostname, ProviderAddr};
use crate::version::Version;

/// Renders the pages as HTML.
pub trait PageRenderer: Send + Sync + 'static {
    /// HTML that lists the providers of the server.
    fn home(&self, home: &HomePage<'_>) -> String;
    /// HTML that lists the versions of one provider, and says how to install it.
    fn provider(&self, page: &ProviderPage<'_>) -> String;
}

/// The contents of the page about the whole server.
#[derive(Debug)]
pub struct HomePage<'a> {
    /// The public URL, without a slash at its end.
    pub url: String,
    /// The host of the provider registry, if it is known.
    pub provider_host: Option<Hostname>,
    /// Whether clients need a token.
    pub needs_token: bool,
    /// Whether the request is authorized to see the providers.
    pub may_list: bool,
    /// Whether the last request to the store failed.
    pub is_store_unreachable: bool,
    /// The search text; empty for all providers.
    pub search: String,
    /// The providers, each with its list of versions if that was read.
    pub providers: &'a BTreeMap<ProviderAddr, Option<Arc<ProviderListing>>>,
}

/// The contents of the page about a provider.
#[derive(Debug)]
pub struct ProviderPage<'a> {
    /// The public URL, without a slash at its end.
    pub url: String,
    /// The host of the provider registry, if it is known.
    pub provider_host: Option<Hostname>,
    /// Whether clients need a token.
    pub needs_token: bool,
    /// The provider with its versions.
    pub listing: &'a ProviderListing,
    /// Offered versions that could not be mirrored from the origin lately. The log says why; visitors need not learn of files and hosts.
    pub failed: BTreeSet<Version>,
    /// Whether the list is older than `--max-age`, because the store was unreachable.
    pub is_stale: bool,
}
