//! Answers requests for the pages for people.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::http::header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_FRAME_OPTIONS};

use super::answer::{self, Caching, Response};
use super::exchange::Exchange;
use super::page::{HomePage, ProviderPage};
use super::path;
use super::protocol_handlers::{is_old, lacking};
use super::service::{LONGEST_LIST, RouteRequest, Service};
use crate::address::ProviderAddr;
use crate::error::printable;

const HTML: &str = "text/html; charset=utf-8";
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

impl Service {
    pub(super) async fn home(&self, request: &RouteRequest<'_>) -> Response {
        let may_list = !request.needs_token || request.token.is_some();
        let search = search(request.uri.query().unwrap_or_default());
        let mut providers = match may_list {
            true => self.store.providers().await,
            false => BTreeMap::new(),
        };
        providers.retain(|provider, _| {
            let is_for = request.token.is_none_or(|token| token.is_for(provider));
            is_for && provider.to_string().contains(&search)
        });
        let home = HomePage {
            url: self.public_url(request),
            provider_host: self.provider_host(request.headers, request.uri),
            needs_token: request.needs_token,
            may_list,
            is_store_unreachable: self.store.store_health.is_unreachable(),
            search,
            providers: &providers,
        };
        let caching = self.page_caching(request, Duration::ZERO);
        self.rendered(request, self.page.home(&home), caching)
    }

    pub(super) async fn provider_page(
        self: &Arc<Self>,
        provider: &ProviderAddr,
        request: &RouteRequest<'_>,
        exchange: &mut Exchange,
    ) -> Result<Response, Response> {
        let client = request.client;
        let listing = self.store.listing(provider, |old| old.exists, client).await;
        let listing = listing.map_err(|reason| self.unavailable(&reason))?;
        exchange.is_stale = is_old(&listing);
        if !listing.value.exists {
            return Err(lacking(
                &listing,
                &self.absent(&listing.value),
                Caching::Never,
            ));
        }
        let page = ProviderPage {
            url: self.public_url(request),
            provider_host: self.provider_host(request.headers, request.uri),
            needs_token: request.needs_token,
            listing: &listing.value,
            failed: self.store.failed_fills(provider),
            is_stale: listing.is_stale(),
        };
        let caching = self.page_caching(request, listing.lifetime.min(LONGEST_LIST));
        Ok(self.rendered(request, self.page.provider(&page), caching))
    }

    /// Redirects from the path of a provider's page with a slash at its end, from where the relative links of the page would lead nowhere.
    pub(super) fn page_without_slash(provider: &ProviderAddr) -> Response {
        answer::moved(&format!("../{}", path::segment(provider.type_name())))
    }

    /// The caching of a page that is valid for this long.
    fn page_caching(&self, request: &RouteRequest<'_>, lifetime: Duration) -> Caching {
        let caching = request.caching(lifetime);
        // A cache that several clients share might give one of them the host that another one made up.
        match self.provider_host.is_none() {
            true => caching.of_one_client(),
            false => caching,
        }
    }

    /// Answers with a page.
    fn rendered(&self, request: &RouteRequest<'_>, html: String, caching: Caching) -> Response {
        let mut answer = self.document(request, HTML, html, caching);
        answer::set(&mut answer, CONTENT_SECURITY_POLICY, POLICY);
        answer::set(&mut answer, REFERRER_POLICY, "no-referrer");
        answer::set(&mut answer, X_FRAME_OPTIONS, "DENY");
        answer
    }

    /// The public URL for a page: the configured one, or one from the host of the provider registry.
    fn public_url(&self, request: &RouteRequest<'_>) -> String {
        let from_host = || {
            let host = self.provider_host(request.headers, request.uri);
            let host = host.map_or_else(|| "HOST".to_owned(), |host| host.as_ascii().to_owned());
            format!("https://{host}")
        };
        self.url.clone().unwrap_or_else(from_host)
    }
}

/// The search text of `?q=`, in lower case and safe to print, because a page may also be read in a terminal.
fn search(query: &str) -> String {
    let mut pairs = url::form_urlencoded::parse(query.as_bytes());
    let wanted = pairs.find(|(name, _)| name == "q");
    wanted
        .map(|(_, value)| printable(&value.trim().to_lowercase()))
        .unwrap_or_default()
}
