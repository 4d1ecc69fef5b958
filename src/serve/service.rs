//! Authorizes requests and routes them to their handlers.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use axum::http::header::{AUTHORIZATION, HOST};
use axum::http::{HeaderMap, Method, Request, StatusCode, Uri};
use tokio::sync::Semaphore;

use super::access::{self, AccessControl};
use super::answer::{self, Caching, Response};
use super::documents;
use super::exchange::Exchange;
use super::links;
use super::log_limit::LogLimit;
use super::metrics::Metrics;
use super::notice::{Denied, Observer};
use super::page::PageRenderer;
use super::path::{NoRoute, Route};
use super::quota::ClientQuota;
use super::rate_limit::RateLimit;
use super::sent_documents::SentDocuments;
use super::served_store::ServedStore;
use super::tokens::{self, ClientToken};
use super::verified_packages::VerifiedPackages;
use crate::address::Hostname;
use crate::error::printable;

pub(super) const JSON: &str = "application/json";
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The longest time that clients and proxies may cache a list. A new version is then visible after a minute.
pub(super) const LONGEST_LIST: Duration = Duration::from_secs(60);

/// The most packages that are sent concurrently. Each has an open file or a transfer from the store, and its buffers.
pub(super) const MOST_PACKAGES: usize = 256;

/// The state that all requests share.
pub(super) struct Service {
    pub(super) store: Arc<ServedStore>,
    pub(super) access: Option<Arc<AccessControl>>,
    /// The public URL without a slash at its end.
    pub(super) url: Option<String>,
    /// The path of the public URL, without a slash at its end; empty behind a proxy, which removes it.
    pub(super) base: String,
    /// The configured host of the provider registry.
    pub(super) provider_host: Option<Hostname>,
    pub(super) verified: Arc<VerifiedPackages>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) observer: Arc<dyn Observer>,
    pub(super) page: Arc<dyn PageRenderer>,
    /// Whether clients are redirected to the storage behind the OCI registry for packages.
    pub(super) redirects: bool,
    pub(super) is_draining: AtomicBool,
    /// Whether a proxy is in front, which may name the client of a request.
    pub(super) has_proxy: bool,
    pub(super) rate: Option<RateLimit>,
    /// Limits the log lines about clients that were answered 429.
    pub(super) refusal_log: LogLimit,
    /// Limits the packages that are sent concurrently.
    pub(super) packages: Arc<Semaphore>,
    /// Limits the packages of one client; `None` behind a proxy.
    pub(super) package_quota: Option<ClientQuota>,
    /// The documents that are being sent.
    pub(super) documents: SentDocuments,
}

/// An authorized request.
pub(super) struct RouteRequest<'a> {
    pub(super) client: IpAddr,
    pub(super) method: &'a Method,
    pub(super) headers: &'a HeaderMap,
    pub(super) uri: &'a Uri,
    /// Whether the server requires tokens.
    pub(super) needs_token: bool,
    pub(super) token: Option<&'a ClientToken>,
    /// The remaining lifetime of the link that authorized the request; `None` without a link.
    pub(super) link: Option<Duration>,
}

impl Service {
    /// Counts a request, and returns whether its client exceeds the rate.
    pub(super) fn is_too_fast(&self, client: IpAddr) -> bool {
        let Some(rate) = &self.rate else {
            return false;
        };
        let is_too_fast = rate.is_exceeded(client);
        if is_too_fast {
            self.metrics.limited.inc();
        }
        is_too_fast
    }

    /// Removes the path of the public URL. A path that is already a route stays unchanged.
    fn below_base<'p>(&self, path: &'p str) -> &'p str {
        let plain = links::split(path).map_or(path, |(_, rest)| rest);
        let below = path.strip_prefix(&self.base);
        let below = below.filter(|rest| rest.starts_with('/') && Route::read(plain).is_err());
        below.unwrap_or(path)
    }

    /// A path as the log reports it: below the public URL, without the signature of a link, and safe to print.
    pub(super) fn logged_path(&self, path: &str) -> String {
        let path = self.below_base(path);
        let plain = links::split(path).map_or(path, |(_, rest)| rest);
        printable(&links::without_signatures(plain))
    }

    pub(super) async fn answer(
        self: &Arc<Self>,
        client: IpAddr,
        request: &Request<()>,
    ) -> Exchange {
        let path = self.below_base(request.uri().path());
        let signed = links::split(path);
        let plain = signed.map_or(path, |(_, rest)| rest);
        let mut exchange = Exchange::new(answer::method_not_allowed(), "none");
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return exchange;
        }
        let route = Route::read(plain);
        if let Ok(route) = &route {
            exchange.route = route.name();
        }
        let tokens = self.access.as_ref().map(|access| access.tokens.load_full());
        let token = tokens
            .as_ref()
            .zip(authorization(request))
            .and_then(|(tokens, header)| tokens.find(header));
        exchange.token = token.map(|token| token.name.clone());
        let link = match self.authorize(request, route.as_ref().ok(), signed, token) {
            Ok(link) => link,
            Err(reason) => {
                exchange.answer = exchange.deny(reason);
                return exchange;
            }
        };
        let request = RouteRequest {
            client,
            method: request.method(),
            headers: request.headers(),
            uri: request.uri(),
            needs_token: self.access.is_some(),
            token,
            link,
        };
        match route {
            Ok(route) => self.route(route, &request, &mut exchange).await,
            Err(reason) => exchange.answer = without_route(reason),
        }
        if exchange.is_stale {
            answer::mark_stale(&mut exchange.answer);
        }
        exchange
    }

    /// Authorizes a request by its link or token. Returns the remaining lifetime of the link, if it has one.
    fn authorize(
        &self,
        request: &Request<()>,
        route: Option<&Route>,
        signed: Option<(&str, &str)>,
        token: Option<&ClientToken>,
    ) -> Result<Option<Duration>, Denied> {
        let Some(access) = &self.access else {
            return Ok(None);
        };
        if let Some((signature, path)) = signed {
            let host = self.link_host(route, request.headers(), request.uri());
            let links = access.links.load();
            let remaining = links.remaining(signature, &host, path, SystemTime::now());
            let is_file = route.is_some_and(Route::is_file);
            return match remaining {
                Some(remaining) if is_file => Ok(Some(remaining)),
                _ => Err(Denied::Link),
            };
        }
        let is_bearer = authorization(request).is_some_and(tokens::is_bearer);
        match access::refusal(route, token, is_bearer) {
            Some(reason) => Err(reason),
            None => Ok(None),
        }
    }

    async fn route(
        self: &Arc<Self>,
        route: Route,
        request: &RouteRequest<'_>,
        exchange: &mut Exchange,
    ) {
        let answer = match route {
            Route::Health => Ok(answer::text(StatusCode::OK, "ok")),
            Route::Ready => Ok(self.ready()),
            Route::Metrics => {
                let text = self.metrics.text();
                Ok(self.document(request, OPENMETRICS, text, Caching::Never))
            }
            Route::Discovery => {
                let base = self.url.as_deref().unwrap_or_default();
                let caching = Caching::Public(LONGEST_LIST);
                Ok(self.document(request, JSON, documents::discovery(base), caching))
            }
            Route::Home => Ok(self.home(request).await),
            Route::ProviderPage(provider) => self.provider_page(&provider, request, exchange).await,
            Route::ProviderPageDirectory(provider) => Ok(Self::page_without_slash(&provider)),
            Route::NetworkMirrorIndex(provider) => {
                self.network_mirror_index(&provider, request, exchange)
                    .await
            }
            Route::NetworkMirrorVersion(provider, version) => {
                self.network_mirror_version(&provider, &version, request, exchange)
                    .await
            }
            Route::NetworkMirrorPackage(provider, file) => {
                self.network_mirror_package(&provider, &file, request, exchange)
                    .await
            }
            Route::ProviderRegistryVersions(name) => {
                self.provider_registry_versions(&name, request, exchange)
                    .await
            }
            Route::ProviderRegistryDownload(name, version, platform) => {
                self.provider_registry_download(&name, &version, &platform, request, exchange)
                    .await
            }
            Route::ProviderRegistryFile(name, version, file) => {
                self.provider_registry_file(&name, &version, &file, request, exchange)
                    .await
            }
        };
        let (Ok(answer) | Err(answer)) = answer;
        exchange.answer = answer;
    }

    fn ready(&self) -> Response {
        if self.is_draining.load(Ordering::Relaxed) {
            return answer::unavailable("the server is ending");
        }
        // Other replicas may have lists from before.
        if !self.store.store_health.has_answered() {
            return answer::unavailable("the store has not answered yet");
        }
        // While the store is unreachable, cached lists are served, so a load balancer must not remove this server.
        let text = match self.store.store_health.is_unreachable() {
            true => "ready, but the last request to the store failed",
            false => "ready",
        };
        answer::text(StatusCode::OK, text)
    }

    /// The host that the signature of a link covers: that of the provider, if the path does not name it.
    fn link_host(&self, route: Option<&Route>, headers: &HeaderMap, uri: &Uri) -> String {
        let is_provider_registry = matches!(route, Some(Route::ProviderRegistryFile(..)));
        let host = is_provider_registry
            .then(|| self.provider_host(headers, uri))
            .flatten();
        host.map(|host| host.as_ascii().to_owned())
            .unwrap_or_default()
    }

    /// The host of the provider registry: the configured one, or the one that the client requested.
    pub(super) fn provider_host(&self, headers: &HeaderMap, uri: &Uri) -> Option<Hostname> {
        let requested = || {
            let header = headers.get(HOST).and_then(|host| host.to_str().ok());
            let host = uri
                .authority()
                .map(|authority| authority.as_str())
                .or(header)?;
            Hostname::from_ascii(host).ok()
        };
        self.provider_host.clone().or_else(requested)
    }
}

fn authorization(request: &Request<()>) -> Option<&str> {
    request.headers().get(AUTHORIZATION)?.to_str().ok()
}

/// The answer to a request whose path has no route. It names those that have one, for people who open a wrong or incomplete URL.
fn without_route(reason: NoRoute) -> Response {
    const ROUTES: &str = "\n  the network mirror is at /mirror/HOST/NAMESPACE/TYPE/index.json\n  the provider registry is at /v1/providers/NAMESPACE/TYPE/versions\n  the page at / has the configuration for clients";
    match reason {
        NoRoute::Malformed => answer::text(
            StatusCode::BAD_REQUEST,
            &format!("the path is malformed{ROUTES}"),
        ),
        NoRoute::Unknown => answer::not_found(&format!("nothing is here{ROUTES}"), Caching::Never),
    }
}
