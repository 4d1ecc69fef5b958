//! Answers requests: who may ask, what the path names, and where the answer comes from.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use axum::body::Body;
use axum::http::header::{AUTHORIZATION, HOST};
use axum::http::{HeaderMap, Method, Request, StatusCode, Uri};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

use super::access::{self, AccessControl};
use super::answer::{self, Caching, Response};
use super::cached::{CachedValue, Unavailable};
use super::catalog::Catalog;
use super::client_quota::ClientQuota;
use super::documents;
use super::links;
use super::listing::{Listing, Served};
use super::log_limit::LogLimit;
use super::metrics::Metrics;
use super::notice::{Denied, Observer};
use super::outcome::Outcome;
use super::package::{self, VerifiedPackages};
use super::page::Page;
use super::path::{NoRoute, Route, segment};
use super::rate_limit::RateLimit;
use super::tokens::{self, ClientToken};
use crate::address::{Hostname, ProviderAddr};
use crate::outcome::Failure;
use crate::version::Version;

pub(super) const JSON: &str = "application/json";
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// How long an answer waits for the store as a whole. Clients wait for 10 seconds.
const LONGEST_ANSWER: Duration = Duration::from_millis(8_500);
/// The longest time that others may keep a list.
pub(super) const LONGEST_LIST: Duration = Duration::from_secs(60);

/// The time that others may keep a package.
const YEAR: Duration = Duration::from_secs(31_536_000);

/// The most packages that are sent at once. Each holds a file or a transfer from the store, and some memory.
pub(super) const MOST_PACKAGES: usize = 256;

/// Everything that answers need.
pub(super) struct Service {
    pub(super) catalog: Arc<Catalog>,
    pub(super) access: Option<Arc<AccessControl>>,
    /// The public URL without a slash at its end.
    pub(super) url: Option<String>,
    /// The path of the public URL, without a slash at its end; empty behind a proxy, which takes it away.
    pub(super) base: String,
    /// The host of the registry's providers. Without it, the host that the client asked.
    pub(super) registry_host: Option<Hostname>,
    pub(super) verified: Arc<VerifiedPackages>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) observer: Arc<dyn Observer>,
    pub(super) page: Arc<dyn Page>,
    /// Whether clients are sent to the place where the registry keeps a package.
    pub(super) redirects: bool,
    pub(super) is_draining: AtomicBool,
    pub(super) rate: Option<RateLimit>,
    /// The clients that were answered `429`.
    pub(super) refusals_logged: LogLimit,
    /// As many permits as packages may be sent at once.
    pub(super) packages: Arc<Semaphore>,
    /// How many of them are for one client; `None` behind a proxy.
    pub(super) shares: Option<ClientQuota>,
}

/// A request as the routes see it.
pub(super) struct RouteRequest<'a> {
    pub(super) client: IpAddr,
    pub(super) method: &'a Method,
    pub(super) headers: &'a HeaderMap,
    pub(super) uri: &'a Uri,
    /// Whether the tokens of the server decide who may ask.
    pub(super) is_guarded: bool,
    pub(super) token: Option<&'a ClientToken>,
    /// How long the link that opened the request is still valid; `None` if the request has no link.
    pub(super) link: Option<Duration>,
}

impl Service {
    /// Whether a client asks more often than it may.
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

    /// A path below the public URL. What is a path of its own without that stays one.
    fn below_base<'p>(&self, path: &'p str) -> &'p str {
        let plain = links::split(path).map_or(path, |(_, rest)| rest);
        let below = path.strip_prefix(&self.base);
        let below = below.filter(|rest| rest.starts_with('/') && Route::read(plain).is_err());
        below.unwrap_or(path)
    }

    /// Answers a request.
    pub(super) async fn answer(
        self: &Arc<Self>,
        client: IpAddr,
        request: Request<Body>,
    ) -> Outcome {
        let path = self.below_base(request.uri().path());
        let signed = links::split(path);
        let plain = signed.map_or(path, |(_, rest)| rest);
        let mut outcome = Outcome::new(answer::method_not_allowed(), "none", path);
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return outcome;
        }
        let route = Route::read(plain);
        if let Ok(route) = &route {
            outcome.route = route.name();
        }
        let known = self.access.as_ref().map(|access| access.tokens.load_full());
        let header = request.headers().get(AUTHORIZATION);
        let header = header.and_then(|header| header.to_str().ok());
        let token = known
            .as_ref()
            .zip(header)
            .and_then(|(known, header)| known.find(header));
        outcome.token = token.map(|token| token.name.clone());
        let mut link = None;
        if let (Some((signature, path)), Some(access)) = (signed, &self.access) {
            let is_file = route.as_ref().is_ok_and(Route::is_file);
            let names = self.named(route.as_ref().ok(), request.headers(), request.uri());
            let opened = access
                .links
                .load()
                .opens(signature, &names, path, SystemTime::now());
            link = opened.filter(|_| is_file);
            if link.is_none() {
                outcome.answer = outcome.deny(Denied::Link);
                return outcome;
            }
        }
        let is_bearer = header.is_some_and(tokens::is_bearer);
        if self.access.is_some()
            && link.is_none()
            && let Some(reason) = access::refusal(route.as_ref().ok(), token, is_bearer)
        {
            outcome.answer = outcome.deny(reason);
            return outcome;
        }
        let request = RouteRequest {
            client,
            method: request.method(),
            headers: request.headers(),
            uri: request.uri(),
            is_guarded: self.access.is_some(),
            token,
            link,
        };
        match route {
            Ok(route) => self.route(route, &request, &mut outcome).await,
            Err(NoRoute::NetworkMirrorRoot) => {
                let said = "the network mirror begins here, and has no list of all providers\n  expected /mirror/HOST/NAMESPACE/TYPE/index.json\n  the page at / has the configuration for clients";
                outcome.answer = answer::not_found(said, Caching::Never);
            }
            Err(NoRoute::ProviderRegistryRoot) => {
                let said = "the provider registry begins here, and has no list of all providers\n  expected /v1/providers/NAMESPACE/TYPE/versions\n  the page at / has the configuration for clients";
                outcome.answer = answer::not_found(said, Caching::Never);
            }
            Err(NoRoute::Malformed) => {
                outcome.answer = answer::text(StatusCode::BAD_REQUEST, "the path is malformed");
            }
            Err(NoRoute::Unknown) => {
                outcome.answer = answer::not_found("nothing is here", Caching::Never);
            }
        }
        if outcome.is_stale {
            answer::mark_stale(&mut outcome.answer);
        }
        outcome
    }

    async fn route(
        self: &Arc<Self>,
        route: Route,
        request: &RouteRequest<'_>,
        outcome: &mut Outcome,
    ) {
        let answer = match route {
            Route::Health => answer::text(StatusCode::OK, "ok"),
            Route::Ready if self.is_draining.load(Ordering::Relaxed) => {
                answer::unavailable("the server is ending")
            }
            // Lists that are known are served while the store is away, so that clients must not be kept from this server.
            Route::Ready if self.catalog.store_health.is_unreachable() => {
                let said = "ready, but the store could not be asked when it was last needed";
                answer::text(StatusCode::OK, said)
            }
            Route::Ready => answer::text(StatusCode::OK, "ready"),
            Route::Metrics => answer::document(
                request.headers,
                OPENMETRICS,
                self.metrics.text().into_bytes(),
                Caching::Never,
            ),
            Route::Discovery => {
                let base = self.url.as_deref().unwrap_or_default();
                let caching = Caching::Public(LONGEST_LIST);
                answer::document(request.headers, JSON, documents::discovery(base), caching)
            }
            Route::Home => self.home(request).await,
            Route::ProviderPage(provider) => self.provider_page(&provider, request, outcome).await,
            Route::NetworkMirrorIndex(provider) => {
                self.network_mirror_index(&provider, request, outcome).await
            }
            Route::NetworkMirrorVersion(provider, version) => {
                self.network_mirror_version(&provider, &version, request, outcome)
                    .await
            }
            Route::NetworkMirrorPackage(provider, file) => {
                self.network_mirror_package(&provider, &file, request, outcome)
                    .await
            }
            Route::ProviderRegistryVersions(name) => {
                self.provider_registry_versions(&name, request, outcome)
                    .await
            }
            Route::ProviderRegistryDownload(name, version, platform) => {
                self.provider_registry_download(&name, &version, &platform, request, outcome)
                    .await
            }
            Route::ProviderRegistryFile(name, version, file) => {
                self.provider_registry_file(&name, &version, &file, request, outcome)
                    .await
            }
        };
        outcome.answer = answer;
    }

    /// A list of versions in either protocol; `None` if it has none.
    pub(super) async fn listed(
        self: &Arc<Self>,
        provider: &ProviderAddr,
        request: &RouteRequest<'_>,
        outcome: &mut Outcome,
        write: impl Fn(&Listing) -> Option<Vec<u8>>,
    ) -> Response {
        let listing = match self.catalog.listing(provider).await {
            Ok(listing) => listing,
            Err(reason) => return unavailable(&reason),
        };
        outcome.is_stale = listing.is_stale;
        let caching = request.caching(listing.lifetime.min(LONGEST_LIST));
        match write(&listing.value) {
            Some(document) => answer::document(request.headers, JSON, document, caching),
            None => answer::not_found(&absent(&listing.value), caching),
        }
    }

    /// The version of a list, whose tags were compared.
    pub(super) async fn served(
        self: &Arc<Self>,
        provider: &ProviderAddr,
        version: &Version,
        request: &RouteRequest<'_>,
        outcome: &mut Outcome,
    ) -> Result<(Arc<Served>, CachedValue<Listing>), Response> {
        let current = self.catalog.with_checked_tags(provider, version);
        let current = tokio::time::timeout(LONGEST_ANSWER, current).await;
        let listing = current.unwrap_or(Err(Unavailable::Slow));
        let listing = listing.map_err(|reason| unavailable(&reason))?;
        outcome.is_stale = listing.is_stale;
        match listing.value.versions.get(version) {
            Some(served) => Ok((served.clone(), listing)),
            None => {
                let caching = request.caching(listing.lifetime.min(LONGEST_LIST));
                let said = match listing.value.hidden.get(version) {
                    Some(hidden) => format!("{provider} {version} is hidden: {}", hidden.problem),
                    None if listing.value.exists => {
                        format!("the store does not have {provider} {version}")
                    }
                    None => absent(&listing.value),
                };
                Err(answer::not_found(&said, caching))
            }
        }
    }

    pub(super) async fn package(
        &self,
        package: &super::listing::ServedPackage,
        request: &RouteRequest<'_>,
        outcome: &mut Outcome,
    ) -> Response {
        let (method, headers) = (request.method, request.headers);
        if self.redirects
            && *method == Method::GET
            && let Some(url) = package::elsewhere(package).await
        {
            return answer::redirect(&url);
        }
        let end = Instant::now() + LONGEST_ANSWER;
        if let Some(shares) = &self.shares {
            match timeout_at(end, shares.of(request.client).acquire_owned()).await {
                Ok(Ok(permit)) => outcome.permits.push(permit),
                _ => {
                    self.metrics.limited.inc();
                    return answer::too_many_packages();
                }
            }
        }
        match timeout_at(end, self.packages.clone().acquire_owned()).await {
            Ok(Ok(permit)) => outcome.permits.push(permit),
            _ => return answer::unavailable("too many packages are being sent"),
        }
        let (verified, observer) = (&self.verified, &self.observer);
        let caching = request.caching(YEAR);
        package::answer(method, headers, package, verified, caching, observer).await
    }

    /// What a link is for besides its path: the host of the provider, where the path does not name it.
    fn named(&self, route: Option<&Route>, headers: &HeaderMap, uri: &Uri) -> String {
        let is_registry = matches!(route, Some(Route::ProviderRegistryFile(..)));
        let host = is_registry.then(|| self.host(headers, uri)).flatten();
        host.map(|host| host.as_ascii().to_owned())
            .unwrap_or_default()
    }

    /// The host of the registry's providers.
    pub(super) fn host(&self, headers: &HeaderMap, uri: &Uri) -> Option<Hostname> {
        let asked_host = || {
            let header = headers.get(HOST).and_then(|host| host.to_str().ok());
            let host = uri
                .authority()
                .map(|authority| authority.as_str())
                .or(header)?;
            Hostname::from_ascii(host).ok()
        };
        self.registry_host.clone().or_else(asked_host)
    }

    /// The URL of a file: its name, or a signed path relative to the document, which begins with `up`. `host` is that of the provider, where
    /// the path does not name it.
    pub(super) fn link(&self, host: &str, base: &str, file: &str, up: &str) -> String {
        let name = segment(file);
        let Some(access) = &self.access else {
            return name;
        };
        let path = format!("{base}/{name}");
        let links = access.links.load();
        let prefix = links.prefix(host, &path, SystemTime::now());
        let prefix = prefix.unwrap_or_default();
        format!("{up}{prefix}{path}")
    }

    /// The caching of a document that has links.
    pub(super) fn with_links(
        &self,
        request: &RouteRequest<'_>,
        listing: &CachedValue<Listing>,
    ) -> Caching {
        let lifetime = listing.lifetime.min(LONGEST_LIST);
        match &self.access {
            // A kept document must not outlive its links, and clients need some of their time.
            Some(access) => Caching::Private(lifetime.min(access.links.load().lifetime() / 2)),
            None => request.caching(lifetime),
        }
    }
}

impl RouteRequest<'_> {
    pub(super) fn caching(&self, lifetime: Duration) -> Caching {
        // What a link opened must not be kept for longer than the link is valid.
        let lifetime = self.link.map_or(lifetime, |left| left.min(lifetime));
        match self.is_guarded {
            true => Caching::Private(lifetime),
            false => Caching::Public(lifetime),
        }
    }
}

pub(super) fn unavailable(reason: &Unavailable<Failure>) -> Response {
    match reason {
        Unavailable::Failed(_) => answer::unavailable("the store or the origin cannot be asked"),
        Unavailable::Slow => answer::unavailable("the store has not answered yet"),
    }
}

/// Why a provider is not found, for people.
pub(super) fn absent(listing: &Listing) -> String {
    let provider = &listing.provider;
    match listing.hidden.len() {
        0 => format!("the store does not have {provider}"),
        1 => format!("one version of {provider} is hidden, since it did not verify"),
        hidden => format!("{hidden} versions of {provider} are hidden, since they did not verify"),
    }
}
