//! The pages for people, as answers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderMap;
use axum::http::header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_FRAME_OPTIONS};

use super::answer::{self, Answered, Caching};
use super::outcome::Outcome;
use super::page::{Home, ProviderPage};
use super::service::{Asked, LONGEST_LIST, Service, absent, unavailable};
use crate::address::ProviderAddr;
use crate::error::printable;

const HTML: &str = "text/html; charset=utf-8";
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

impl Service {
    /// The page about the whole server.
    pub(super) async fn home(&self, asked: &Asked<'_>) -> Answered {
        let may_list = !asked.is_guarded || asked.token.is_some();
        let search = search(asked.uri.query().unwrap_or_default());
        let mut providers = match may_list {
            true => self.catalog.providers().await,
            false => BTreeMap::new(),
        };
        providers.retain(|provider, _| {
            let is_for = asked.token.is_none_or(|token| token.opens(provider));
            is_for && provider.to_string().contains(&search)
        });
        let home = Home {
            url: self.public_url(asked),
            registry_host: self.host(asked.headers, asked.uri),
            needs_token: asked.is_guarded,
            may_list,
            is_store_away: self.catalog.reach.is_away(),
            search,
            providers: &providers,
        };
        rendered(
            asked.headers,
            self.page.home(&home),
            asked.caching(Duration::ZERO),
        )
    }

    /// The page about one provider.
    pub(super) async fn provider_page(
        self: &Arc<Self>,
        provider: &ProviderAddr,
        asked: &Asked<'_>,
        outcome: &mut Outcome,
    ) -> Answered {
        let listing = match self.catalog.listing(provider).await {
            Ok(listing) => listing,
            Err(unanswered) => return unavailable(&unanswered),
        };
        outcome.is_stale = listing.is_stale;
        if !listing.value.exists {
            return answer::not_found(&absent(&listing.value), Caching::Never);
        }
        let page = ProviderPage {
            url: self.public_url(asked),
            registry_host: self.host(asked.headers, asked.uri),
            needs_token: asked.is_guarded,
            listing: &listing.value,
            is_stale: listing.is_stale,
        };
        let caching = asked.caching(listing.lifetime.min(LONGEST_LIST));
        rendered(asked.headers, self.page.provider(&page), caching)
    }

    /// The URL that a page shows.
    fn public_url(&self, asked: &Asked<'_>) -> String {
        let from_host = || {
            let host = self.host(asked.headers, asked.uri);
            let host = host.map_or_else(|| "HOST".to_owned(), |host| host.as_ascii().to_owned());
            format!("https://{host}")
        };
        self.url.clone().unwrap_or_else(from_host)
    }
}

/// What `?q=` asks for, in lower case and safe to print: a page may also be read at a terminal.
fn search(query: &str) -> String {
    let mut pairs = url::form_urlencoded::parse(query.as_bytes());
    let wanted = pairs.find(|(name, _)| name == "q");
    wanted
        .map(|(_, value)| printable(&value.trim().to_lowercase()))
        .unwrap_or_default()
}

/// Answers with a page.
fn rendered(request: &HeaderMap, html: String, caching: Caching) -> Answered {
    let mut answer = answer::document(request, HTML, html.into_bytes(), caching);
    answer::set(&mut answer, CONTENT_SECURITY_POLICY, POLICY);
    answer::set(&mut answer, REFERRER_POLICY, "no-referrer");
    answer::set(&mut answer, X_FRAME_OPTIONS, "DENY");
    answer
}
