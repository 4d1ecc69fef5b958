//! Authorizes requests and routes them to their handlers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use hyper::header::{AUTHORIZATION, HOST};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};

use super::access::{self, AccessControl};
use super::answer::{self, Caching, Document, Response};
use super::clients::{Client, Clients, Full, Permits};
use super::metrics::Metrics;
use super::notice::{Denied, Observer, RequestRecord};
use super::package::Packages;
use super::page::PageRenderer;
use super::path::{NoRoute, Route, Target};
use super::served_store::ServedStore;
use super::tokens::{self, ClientToken};
use crate::address::Hostname;

pub(super) const JSON: &str = "application/json";
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The longest time that clients and proxies may cache a list. A new version is then visible after a minute.
pub(super) const LONGEST_LIST: Duration = Duration::from_secs(60);
/// The largest document that takes no place of its client. Most documents of both protocols are smaller.
const LARGEST_FREE: usize = 16 << 10;

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
    pub(super) discovery: Document,
    pub(super) clients: Arc<Clients>,
    pub(super) packages: Packages,
    pub(super) metrics: Arc<Metrics>,
    pub(super) observer: Arc<dyn Observer>,
    pub(super) page: Arc<dyn PageRenderer>,
    /// Whether clients are redirected to the storage behind the OCI registry for packages.
    pub(super) redirects: bool,
    pub(super) is_draining: AtomicBool,
    /// Whether a proxy is in front, which may name the client of a request.
    pub(super) has_proxy: bool,
}

/// An authorized request.
pub(super) struct Asked<'a> {
    pub(super) client: &'a Client,
    pub(super) head: &'a Parts,
    /// Whether the server requires tokens.
    pub(super) needs_token: bool,
    pub(super) token: Option<&'a ClientToken>,
    /// The remaining lifetime of the link that authorized the request; `None` without a link.
    pub(super) link: Option<Duration>,
    pub(super) record: &'a mut RequestRecord,
    /// What is held until the answer was sent.
    pub(super) permits: Permits,
}

impl Service {
    /// Reads the path of a request.
    pub(super) fn target<'p>(&self, head: &'p Parts) -> Target<'p> {
        let registry = || self.provider_host(head);
        Target::read(head.uri.path(), &self.base, registry)
    }

    pub(super) async fn answer(
        &self,
        client: &Client,
        head: &Parts,
        target: &Target<'_>,
        record: &mut RequestRecord,
    ) -> (Response, Permits) {
        if !matches!(head.method, Method::GET | Method::HEAD) {
            return (answer::method_not_allowed(), Permits::new());
        }
        let route = target.route.as_ref();
        record.route = route.map_or("none", Route::name);
        let tokens = self.access.as_ref().map(|access| access.tokens());
        let token = tokens
            .as_ref()
            .zip(authorization(head))
            .and_then(|(tokens, header)| tokens.find(header));
        record.token = token.map(|token| token.name.clone());
        let link = match self.authorize(head, target, token) {
            Ok(link) => link,
            Err(reason) => {
                record.denied = Some(reason);
                return (access::denied(reason), Permits::new());
            }
        };
        let mut asked = Asked {
            client,
            head,
            needs_token: self.access.is_some(),
            token,
            link,
            record,
            permits: Permits::new(),
        };
        let answer = match route {
            Ok(route) => self.route(route, &mut asked).await,
            Err(reason) => Err(without_route(*reason)),
        };
        let (Ok(mut answer) | Err(mut answer)) = answer;
        if asked.record.is_stale {
            answer::mark_stale(&mut answer);
        }
        (answer, asked.permits)
    }

    /// Authorizes a request by its link or token. Returns the remaining lifetime of the link, if it has one.
    fn authorize(
        &self,
        head: &Parts,
        target: &Target<'_>,
        token: Option<&ClientToken>,
    ) -> Result<Option<Duration>, Denied> {
        let Some(access) = &self.access else {
            return Ok(None);
        };
        let route = target.route.as_ref().ok();
        if let Some(signature) = target.signature {
            // The signature covers the host of the provider, if the path does not name it.
            let host = match route {
                Some(Route::ProviderRegistryFile(provider, ..)) => provider.hostname().as_ascii(),
                _ => "",
            };
            let links = access.links();
            let remaining = links.remaining(signature, host, target.path, SystemTime::now());
            let is_file = route.is_some_and(Route::is_file);
            return match remaining {
                Some(remaining) if is_file => Ok(Some(remaining)),
                _ => Err(Denied::Link),
            };
        }
        let is_bearer = authorization(head).is_some_and(tokens::is_bearer);
        match access::refusal(route, token, is_bearer) {
            Some(reason) => Err(reason),
            None => Ok(None),
        }
    }

    async fn route(&self, route: &Route, asked: &mut Asked<'_>) -> Result<Response, Response> {
        match route {
            Route::Health => Ok(answer::text(StatusCode::OK, "ok")),
            Route::Ready => Ok(self.ready()),
            Route::Metrics => {
                let text = Document::new(self.metrics.text());
                self.document(asked, OPENMETRICS, text, Caching::Never)
            }
            Route::Discovery => {
                let caching = Caching::Public(LONGEST_LIST);
                self.document(asked, JSON, self.discovery.clone(), caching)
            }
            Route::Home => self.home(asked).await,
            Route::ProviderPage(provider) => self.provider_page(provider, asked).await,
            Route::ProviderPageDirectory(provider) => Ok(Self::page_without_slash(provider)),
            Route::NetworkMirrorIndex(provider) => self.network_mirror_index(provider, asked).await,
            Route::NetworkMirrorVersion(provider, version) => {
                self.network_mirror_version(provider, version, asked).await
            }
            Route::NetworkMirrorPackage(provider, file) => {
                self.network_mirror_package(provider, file, asked).await
            }
            Route::ProviderRegistryVersions(provider) => {
                self.provider_registry_versions(provider, asked).await
            }
            Route::ProviderRegistryDownload(provider, version, platform) => {
                self.provider_registry_download(provider, version, platform, asked)
                    .await
            }
            Route::ProviderRegistryFile(provider, version, file) => {
                self.provider_registry_file(provider, version, file, asked)
                    .await
            }
        }
    }

    /// Answers with a document, or with `304` if the client has it already. A large one takes places of its client until it was sent.
    pub(super) fn document(
        &self,
        asked: &mut Asked<'_>,
        content_type: &'static str,
        document: Document,
        caching: Caching,
    ) -> Result<Response, Response> {
        let headers = &asked.head.headers;
        let size = document.bytes.len();
        let is_sent = asked.head.method == Method::GET && !answer::has(headers, &document.etag);
        if is_sent && size > LARGEST_FREE {
            let permits = self.clients.places(asked.client, size);
            asked.permits = permits.map_err(|full| self.full(full, "documents"))?;
        }
        Ok(answer::document(headers, content_type, document, caching))
    }

    /// The answer while there is no place for what a client requests.
    pub(super) fn full(&self, full: Full, what: &str) -> Response {
        self.metrics.limited.inc();
        match full {
            Full::Client => {
                let message = format!("too many {what} are being sent to this address");
                answer::too_many(&message, answer::RETRY_SECONDS)
            }
            Full::Server => answer::unavailable(&format!("too many {what} are being sent")),
        }
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

    /// The host of the provider registry: the configured one, or the one that the client requested.
    pub(super) fn provider_host(&self, head: &Parts) -> Option<Hostname> {
        let requested = || {
            let header = head.headers.get(HOST).and_then(|host| host.to_str().ok());
            let authority = head.uri.authority().map(|authority| authority.as_str());
            Hostname::from_ascii(authority.or(header)?).ok()
        };
        self.provider_host.clone().or_else(requested)
    }
}

fn authorization(head: &Parts) -> Option<&str> {
    head.headers.get(AUTHORIZATION)?.to_str().ok()
}

/// The answer to a request whose path has no route. It names those that have one, for people who open a wrong or incomplete URL.
fn without_route(reason: NoRoute) -> Response {
    const ROUTES: &str = "\n  the network mirror is at /mirror/HOST/NAMESPACE/TYPE/index.json\n  the provider registry is at /v1/providers/NAMESPACE/TYPE/versions\n  the page at / has the configuration for clients";
    match reason {
        NoRoute::Malformed => answer::text(
            StatusCode::BAD_REQUEST,
            &format!("the path is malformed{ROUTES}"),
        ),
        NoRoute::NoRegistry => {
            answer::not_found("no provider registry is at this host", Caching::Never)
        }
        NoRoute::Unknown => answer::not_found(&format!("nothing is here{ROUTES}"), Caching::Never),
    }
}
