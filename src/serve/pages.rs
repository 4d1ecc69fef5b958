//! Answers requests for the pages for people.

use std::collections::BTreeMap;
use std::time::Duration;

use hyper::header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_FRAME_OPTIONS};

use super::answer::{self, Caching, Document, Response};
use super::listing::PageKey;
use super::page::{HomePage, ProviderPage};
use super::path;
use super::service::{Asked, LONGEST_LIST, Service, lacking};
use crate::address::ProviderAddr;
use crate::error::printable;

const HTML: &str = "text/html; charset=utf-8";
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

impl Service {
    pub(super) async fn home(&self, asked: &mut Asked<'_>) -> Result<Response, Response> {
        let needs_token = asked.needs_token;
        let may_list = !needs_token || asked.token.is_some();
        let search = search(asked.head.uri.query().unwrap_or_default());
        let mut providers = match may_list {
            true => self.store.providers().await,
            false => BTreeMap::new(),
        };
        providers.retain(|provider, _| {
            let is_for = asked.token.is_none_or(|token| token.is_for(provider));
            is_for && provider.to_string().contains(&search)
        });
        let (url, provider_host) = (self.public_url(asked), self.provider_host(asked.head));
        let is_store_unreachable = self.store.store_health.is_unreachable();
        let page = self.page.clone();
        let html = rendered(move || {
            page.home(&HomePage {
                url,
                provider_host,
                needs_token,
                may_list,
                is_store_unreachable,
                search,
                providers: &providers,
            })
        });
        let caching = self.page_caching(asked, Duration::ZERO);
        self.html(asked, Document::new(html.await), caching)
    }

    pub(super) async fn provider_page(
        &self,
        provider: &ProviderAddr,
        asked: &mut Asked<'_>,
    ) -> Result<Response, Response> {
        let listing = self.listing(provider, asked).await?;
        if !listing.value.exists {
            let message = self.absent(&listing.value);
            return Err(lacking(&listing, &message, Caching::Never));
        }
        let key = PageKey {
            url: self.public_url(asked),
            provider_host: self.provider_host(asked.head),
            failed: self.store.failed_fills(provider),
            is_stale: listing.is_stale,
        };
        // Locked while the page is rendered, so that many requests render it once.
        let mut last = listing.value.page.lock().await;
        let document = match &*last {
            Some((known, document)) if *known == key => document.clone(),
            _ => {
                let (page, shown) = (self.page.clone(), listing.value.clone());
                let (needs_token, for_key) = (asked.needs_token, key.clone());
                let html = rendered(move || {
                    page.provider(&ProviderPage {
                        url: for_key.url,
                        provider_host: for_key.provider_host,
                        needs_token,
                        listing: &shown,
                        failed: for_key.failed,
                        is_stale: for_key.is_stale,
                    })
                });
                let document = Document::new(html.await);
                *last = Some((key, document.clone()));
                document
            }
        };
        drop(last);
        let caching = self.page_caching(asked, listing.lifetime.min(LONGEST_LIST));
        self.html(asked, document, caching)
    }

    /// Redirects from the path of a provider's page with a slash at its end, from where the relative links of the page would lead nowhere.
    pub(super) fn page_without_slash(provider: &ProviderAddr) -> Response {
        answer::moved(&format!("../{}", path::segment(provider.type_name())))
    }

    /// The caching of a page that is valid for this long.
    fn page_caching(&self, asked: &Asked<'_>, lifetime: Duration) -> Caching {
        let caching = asked.caching(lifetime);
        // A cache that several clients share might give one of them the host that another one made up.
        match self.provider_host.is_none() {
            true => caching.of_one_client(),
            false => caching,
        }
    }

    /// Answers with a page.
    fn html(
        &self,
        asked: &mut Asked<'_>,
        document: Document,
        caching: Caching,
    ) -> Result<Response, Response> {
        let mut answer = self.document(asked, HTML, document, caching)?;
        answer::set(&mut answer, CONTENT_SECURITY_POLICY, POLICY);
        answer::set(&mut answer, REFERRER_POLICY, "no-referrer");
        answer::set(&mut answer, X_FRAME_OPTIONS, "DENY");
        Ok(answer)
    }

    /// The public URL for a page: the configured one, or one from the host of the provider registry.
    fn public_url(&self, asked: &Asked<'_>) -> String {
        let from_host = || {
            let host = self.provider_host(asked.head);
            let host = host.map_or_else(|| "HOST".to_owned(), |host| host.as_ascii().to_owned());
            format!("https://{host}")
        };
        self.url.clone().unwrap_or_else(from_host)
    }
}

/// Renders a page on a thread of its own: a large one takes milliseconds, in which other requests of this thread would wait.
async fn rendered(render: impl FnOnce() -> String + Send + 'static) -> String {
    let rendered = tokio::task::spawn_blocking(render).await;
    rendered.unwrap_or_default()
}

/// The search text of `?q=`, in lower case and safe to print, because a page may also be read in a terminal.
fn search(query: &str) -> String {
    let mut pairs = url::form_urlencoded::parse(query.as_bytes());
    let wanted = pairs.find(|(name, _)| name == "q");
    wanted
        .map(|(_, value)| printable(&value.trim().to_lowercase()))
        .unwrap_or_default()
}
