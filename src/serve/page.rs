//! The pages for people.
//!
//! The library gives the facts, and the program that uses it renders them ([`Page`]). A page has no script, and its
//! `Content-Security-Policy` allows none.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::listing::Listing;
use crate::address::{Hostname, ProviderAddr};

/// Renders the pages as HTML.
pub trait Page: Send + Sync + 'static {
    /// The page about the whole server.
    fn home(&self, home: &Home<'_>) -> String;
    /// The page about one provider.
    fn provider(&self, page: &ProviderPage<'_>) -> String;
}

/// What the page about the whole server shows.
#[derive(Debug)]
pub struct Home<'a> {
    /// The public URL, without a slash at its end.
    pub url: String,
    /// The host of the registry's providers, if it is known.
    pub registry_host: Option<Hostname>,
    /// Whether clients need a token.
    pub needs_token: bool,
    /// Whether the request may see providers.
    pub may_list: bool,
    /// Whether the store could not be asked when it was last needed.
    pub is_store_unreachable: bool,
    /// What was searched for.
    pub search: String,
    /// The providers, each with what is known of it.
    pub providers: &'a BTreeMap<ProviderAddr, Option<Arc<Listing>>>,
}

/// What the page about a provider shows.
#[derive(Debug)]
pub struct ProviderPage<'a> {
    /// The public URL, without a slash at its end.
    pub url: String,
    /// The host of the registry's providers, if it is known.
    pub registry_host: Option<Hostname>,
    /// Whether clients need a token.
    pub needs_token: bool,
    /// The provider with its versions.
    pub listing: &'a Listing,
    /// Whether the store could not be asked.
    pub is_stale: bool,
}
