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

use super::access::{self, Access};
use super::answer::{self, Answered, Caching};
use super::cached::{Answer, Unanswered};
use super::catalog::Catalog;
use super::client_quota::Shares;
use super::documents;
use super::links;
use super::listing::{Listing, Served};
use super::log_limit::News;
use super::metrics::Metrics;
use super::notice::{Denied, Observer};
use super::outcome::Outcome;
use super::package::{self, Passed};
use super::page::Page;
use super::path::{Route, Unknown, segment};
use super::rate_limit::Rate;
use super::tokens::{self, Token};
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
    pub(super) access: Option<Arc<Access>>,
    /// The public URL without a slash at its end.
    pub(super) url: Option<String>,
    /// The path of the public URL, without a slash at its end; empty behind a proxy, which takes it away.
    pub(super) base: String,
    /// The host of the registry's providers. Without it, the host that the client asked.
    pub(super) registry_host: Option<Hostname>,
    pub(super) passed: Arc<Passed>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) observer: Arc<dyn Observer>,
    pub(super) page: Arc<dyn Page>,
    /// Whether clients are sent to the place where the registry keeps a package.
    pub(super) redirects: bool,
    pub(super) is_draining: AtomicBool,
    pub(super) rate: Option<Rate>,
    /// The clients that were answered `429`.
    pub(super) refused: News,
    /// As many permits as packages may be sent at once.
    pub(super) packages: Arc<Semaphore>,
    /// How many of them are for one client; `None` behind a proxy.
    pub(super) shares: Option<Shares>,
}

/// A request as the routes see it.
pub(super) struct Asked<'a> {
    pub(super) client: IpAddr,
    pub(super) method: &'a Method,
    pub(super) headers: &'a HeaderMap,
    pub(super) uri: &'a Uri,
    /// Whether the tokens of the server decide who may ask.
    pub(super) is_guarded: bool,
    pub(super) token: Option<&'a Token>,
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
        if let (Some((proof, path)), Some(access)) = (signed, &self.access) {
            let is_file = route.as_ref().is_ok_and(Route::is_file);
            let names = self.named(route.as_ref().ok(), request.headers(), request.uri());
            let opened = access
                .links
                .load()
                .opens(proof, &names, path, SystemTime::now());
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
        let asked = Asked {
            client,
            method: request.method(),
            headers: request.headers(),
            uri: request.uri(),
            is_guarded: self.access.is_some(),
            token,
            link,
        };
        match route {
            Ok(route) => self.route(route, &asked, &mut outcome).await,
            Err(Unknown::Mirror) => {
                let said = "the network mirror begins here, and has no list of all providers\n  expected /mirror/HOST/NAMESPACE/TYPE/index.json\n  the page at / has the configuration for clients";
                outcome.answer = answer::not_found(said, Caching::Never);
            }
            Err(Unknown::Registry) => {
                let said = "the provider registry begins here, and has no list of all providers\n  expected /v1/providers/NAMESPACE/TYPE/versions\n  the page at / has the configuration for clients";
                outcome.answer = answer::not_found(said, Caching::Never);
            }
            Err(Unknown::Malformed) => {
                outcome.answer = answer::text(StatusCode::BAD_REQUEST, "the path is malformed");
            }
            Err(Unknown::Nowhere) => {
                outcome.answer = answer::not_found("nothing is here", Caching::Never);
            }
        }
        if outcome.is_stale {
            answer::mark_stale(&mut outcome.answer);
        }
        outcome
    }

    async fn route(self: &Arc<Self>, route: Route, asked: &Asked<'_>, outcome: &mut Outcome) {
        let answer = match route {
            Route::Health => answer::text(StatusCode::OK, "ok"),
            Route::Ready if self.is_draining.load(Ordering::Relaxed) => {
                answer::unavailable("the server is ending")
            }
            // Lists that are known are served while the store is away, so that clients must not be kept from this server.
            Route::Ready if self.catalog.reach.is_away() => {
                let said = "ready, but the store could not be asked when it was last needed";
                answer::text(StatusCode::OK, said)
            }
            Route::Ready => answer::text(StatusCode::OK, "ready"),
            Route::Metrics => answer::document(
                asked.headers,
                OPENMETRICS,
                self.metrics.text().into_bytes(),
                Caching::Never,
            ),
            Route::Discovery => {
                let base = self.url.as_deref().unwrap_or_default();
                let caching = Caching::Public(LONGEST_LIST);
                answer::document(asked.headers, JSON, documents::discovery(base), caching)
            }
            Route::Home => self.home(asked).await,
            Route::ProviderPage(provider) => self.provider_page(&provider, asked, outcome).await,
            Route::MirrorIndex(provider) => self.mirror_index(&provider, asked, outcome).await,
            Route::MirrorVersion(provider, version) => {
                self.mirror_version(&provider, &version, asked, outcome)
                    .await
            }
            Route::MirrorPackage(provider, file) => {
                self.mirror_package(&provider, &file, asked, outcome).await
            }
            Route::Versions(name) => self.registry_versions(&name, asked, outcome).await,
            Route::Download(name, version, platform) => {
                self.download(&name, &version, &platform, asked, outcome)
                    .await
            }
            Route::RegistryFile(name, version, file) => {
                self.registry_file(&name, &version, &file, asked, outcome)
                    .await
            }
        };
        outcome.answer = answer;
    }

    /// A list of versions in either protocol; `None` if it has none.
    pub(super) async fn listed(
        self: &Arc<Self>,
        provider: &ProviderAddr,
        asked: &Asked<'_>,
        outcome: &mut Outcome,
        write: impl Fn(&Listing) -> Option<Vec<u8>>,
    ) -> Answered {
        let listing = match self.catalog.listing(provider).await {
            Ok(listing) => listing,
            Err(unanswered) => return unavailable(&unanswered),
        };
        outcome.is_stale = listing.is_stale;
        let caching = asked.caching(listing.lifetime.min(LONGEST_LIST));
        match write(&listing.value) {
            Some(document) => answer::document(asked.headers, JSON, document, caching),
            None => answer::not_found(&absent(&listing.value), caching),
        }
    }

    /// The version of a list, whose tags were compared.
    pub(super) async fn served(
        self: &Arc<Self>,
        provider: &ProviderAddr,
        version: &Version,
        asked: &Asked<'_>,
        outcome: &mut Outcome,
    ) -> Result<(Arc<Served>, Answer<Listing>), Answered> {
        let current = self.catalog.with_current(provider, version);
        let current = tokio::time::timeout(LONGEST_ANSWER, current).await;
        let listing = current.unwrap_or(Err(Unanswered::Slow));
        let listing = listing.map_err(|unanswered| unavailable(&unanswered))?;
        outcome.is_stale = listing.is_stale;
        match listing.value.versions.get(version) {
            Some(served) => Ok((served.clone(), listing)),
            None => {
                let caching = asked.caching(listing.lifetime.min(LONGEST_LIST));
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
        asked: &Asked<'_>,
        outcome: &mut Outcome,
    ) -> Answered {
        let (method, headers) = (asked.method, asked.headers);
        if self.redirects
            && *method == Method::GET
            && let Some(url) = package::elsewhere(package).await
        {
            return answer::redirect(&url);
        }
        let end = Instant::now() + LONGEST_ANSWER;
        if let Some(shares) = &self.shares {
            match timeout_at(end, shares.of(asked.client).acquire_owned()).await {
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
        let (passed, observer) = (&self.passed, &self.observer);
        let caching = asked.caching(YEAR);
        package::answer(method, headers, package, passed, caching, observer).await
    }

    /// What a link is for besides its path: the host of the provider, where the path does not name it.
    fn named(&self, route: Option<&Route>, headers: &HeaderMap, uri: &Uri) -> String {
        let is_registry = matches!(route, Some(Route::RegistryFile(..)));
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
    pub(super) fn with_links(&self, asked: &Asked<'_>, listing: &Answer<Listing>) -> Caching {
        let lifetime = listing.lifetime.min(LONGEST_LIST);
        match &self.access {
            // A kept document must not outlive its links, and clients need some of their time.
            Some(access) => Caching::Private(lifetime.min(access.links.load().lifetime() / 2)),
            None => asked.caching(lifetime),
        }
    }
}

impl Asked<'_> {
    pub(super) fn caching(&self, lifetime: Duration) -> Caching {
        // What a link opened must not be kept for longer than the link is valid.
        let lifetime = self.link.map_or(lifetime, |left| left.min(lifetime));
        match self.is_guarded {
            true => Caching::Private(lifetime),
            false => Caching::Public(lifetime),
        }
    }
}

pub(super) fn unavailable(unanswered: &Unanswered<Failure>) -> Answered {
    match unanswered {
        Unanswered::Failed(_) => answer::unavailable("the store or the origin cannot be asked"),
        Unanswered::Slow => answer::unavailable("the store has not answered yet"),
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
