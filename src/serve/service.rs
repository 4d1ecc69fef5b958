//! The journey of a request: it is authorized, routed, and answered from a list of versions, in both protocols: the
//! [network mirror](crate::clients#network-mirrors), and the [provider registry](crate::clients#provider-registry-protocol).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use hyper::header::{AUTHORIZATION, HOST};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};
use tokio::time::timeout;

use super::access::{self, AccessControl};
use super::answer::{self, Caching, Document, Response};
use super::cached::{CachedValue, Unavailable};
use super::clients::{Client, Clients, Full, Permits};
use super::documents;
use super::listing::ProviderListing;
use super::metrics::Metrics;
use super::notice::{Denied, Observer, RequestRecord};
use super::package::{self, Packages};
use super::page::PageRenderer;
use super::path::{NoRoute, Route, Target, segment};
use super::served::{ServedPackage, ServedVersion};
use super::served_store::ServedStore;
use super::tokens::{self, ClientToken};
use crate::address::{Hostname, ProviderAddr};
use crate::outcome::Failure;
use crate::platform::Platform;
use crate::trust::PackageName;
use crate::version::Version;

const JSON: &str = "application/json";
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The longest time that clients and proxies may cache a list. A new version is then visible after a minute.
pub(super) const LONGEST_LIST: Duration = Duration::from_secs(60);
/// The largest document that takes no place of its client. Most documents of both protocols are smaller.
const LARGEST_FREE: usize = 16 << 10;

/// How long an answer waits for the store in total. Clients give up after 10 seconds.
const LONGEST_ANSWER: Duration = Duration::from_millis(8_500);
/// How long clients and proxies may cache a package: a year, as usual for content that never changes.
const YEAR: Duration = Duration::from_secs(31_536_000);
/// The relative path from `/mirror/HOST/NAMESPACE/TYPE/` to the root of the server.
const UP_FROM_MIRROR: &str = "../../../../";
/// The relative path from `/v1/providers/NAMESPACE/TYPE/VERSION/download/OS/` to the root of the server.
const UP_FROM_DOWNLOAD: &str = "../../../../../../../";
/// The relative path from the same place to `/v1/providers/NAMESPACE/TYPE/VERSION/`.
const UP_TO_VERSION: &str = "../../";

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

    /// `index.json` of the network mirror.
    async fn network_mirror_index(
        &self,
        provider: &ProviderAddr,
        asked: &mut Asked<'_>,
    ) -> Result<Response, Response> {
        let index = |listing: &ProviderListing| {
            let has_any = listing.installable().next().is_some();
            has_any.then(|| {
                let new = || Document::new(documents::index(listing));
                listing.index.get_or_init(new).clone()
            })
        };
        self.listed(provider, asked, index).await
    }

    /// `VERSION.json` of the network mirror.
    async fn network_mirror_version(
        &self,
        provider: &ProviderAddr,
        version: &Version,
        asked: &mut Asked<'_>,
    ) -> Result<Response, Response> {
        let (served, listing) = self.served(provider, version, asked).await?;
        let document = match &self.access {
            None => {
                let new = || Document::new(documents::archives(&served, segment));
                served.archives.get_or_init(new).clone()
            }
            // Each link expires.
            Some(_) => {
                let host = provider.hostname().as_ascii();
                let (namespace, type_name) =
                    (segment(provider.namespace()), segment(provider.type_name()));
                let base = format!("/mirror/{host}/{namespace}/{type_name}");
                let link = |file: &str| self.link("", &base, file, UP_FROM_MIRROR);
                Document::new(documents::archives(&served, link))
            }
        };
        let caching = self.caching_with_links(asked, &listing);
        self.document(asked, JSON, document, caching)
    }

    /// A package of the network mirror by its file name.
    async fn network_mirror_package(
        &self,
        provider: &ProviderAddr,
        file: &str,
        asked: &mut Asked<'_>,
    ) -> Result<Response, Response> {
        let Some(name) = PackageName::canonical(file, provider.type_name()) else {
            let message = "no package has this name";
            return Err(answer::not_found(message, Caching::Never));
        };
        let version = name.version.version();
        let (served, listing) = self.served(provider, version, asked).await?;
        match served.package(&name.platform) {
            Some(package) => self.package(&served, package, asked).await,
            None => {
                let message = "the version has no such package";
                Err(lacking(&listing, message, Caching::Never))
            }
        }
    }

    /// `versions` of the provider registry.
    async fn provider_registry_versions(
        &self,
        provider: &ProviderAddr,
        asked: &mut Asked<'_>,
    ) -> Result<Response, Response> {
        let versions = |listing: &ProviderListing| {
            listing.exists.then(|| {
                let new = || Document::new(documents::versions(listing));
                listing.registry_versions.get_or_init(new).clone()
            })
        };
        self.listed(provider, asked, versions).await
    }

    /// `VERSION/download/OS/ARCH` of the provider registry: the metadata of a package.
    async fn provider_registry_download(
        &self,
        provider: &ProviderAddr,
        version: &Version,
        platform: &Platform,
        asked: &mut Asked<'_>,
    ) -> Result<Response, Response> {
        let (served, listing) = self.served(provider, version, asked).await?;
        let caching = self.caching_with_links(asked, &listing);
        let Some(documents) = &served.documents else {
            let message =
                format!("{provider} {version} has no signature, which this protocol requires");
            return Err(answer::not_found(&message, caching));
        };
        let Some(package) = served.package(platform) else {
            let message = format!("{provider} {version} has no package for {platform}");
            return Err(lacking(&listing, &message, caching));
        };
        let (namespace, type_name) = (segment(provider.namespace()), segment(provider.type_name()));
        let base = format!("/v1/providers/{namespace}/{type_name}/{version}");
        let link = |file: &str| match &self.access {
            Some(_) => self.link(
                provider.hostname().as_ascii(),
                &base,
                file,
                UP_FROM_DOWNLOAD,
            ),
            None => format!("{UP_TO_VERSION}{}", segment(file)),
        };
        let names = documents::names(provider, version);
        // It has the key of its author, and is too large to be kept for each package.
        let document = Document::new(documents::download(
            &served, documents, package, &names, link,
        ));
        self.document(asked, JSON, document, caching)
    }

    /// `VERSION/FILE` of the provider registry: a package, the checksum document or its signature.
    async fn provider_registry_file(
        &self,
        provider: &ProviderAddr,
        version: &Version,
        file: &str,
        asked: &mut Asked<'_>,
    ) -> Result<Response, Response> {
        let (served, listing) = self.served(provider, version, asked).await?;
        let Some(signed) = &served.documents else {
            let message = "the version has no signature";
            return Err(answer::not_found(message, Caching::Never));
        };
        let [checksums, signature] = documents::names(provider, version);
        for (name, kind, bytes) in [
            (checksums, "text/plain", &signed.checksums),
            (signature, "application/octet-stream", &signed.signature),
        ] {
            if file == name {
                let caching = asked.caching(self.store.ages.fresh);
                let document = Document::new(bytes.clone());
                return self.document(asked, kind, document, caching);
            }
        }
        let mut packages = served.packages.iter();
        match packages.find(|package| package.file_name == file) {
            Some(package) => self.package(&served, package, asked).await,
            None => {
                let message = "the version has no such file";
                Err(lacking(&listing, message, Caching::Never))
            }
        }
    }

    /// Answers with a list of versions. `document` returns `None` if the protocol has none for this provider.
    async fn listed(
        &self,
        provider: &ProviderAddr,
        asked: &mut Asked<'_>,
        document: impl Fn(&ProviderListing) -> Option<Document>,
    ) -> Result<Response, Response> {
        let listing = self.listing(provider, asked).await?;
        let caching = asked.caching(listing.lifetime.min(LONGEST_LIST));
        match document(&listing.value) {
            Some(document) => self.document(asked, JSON, document, caching),
            // Those that it has are hidden by the policy of this server, which needs no store. An origin may have others.
            None if !listing.value.hidden.is_empty() && !listing.value.is_origin_unreachable => {
                Err(answer::not_found(&self.absent(&listing.value), caching))
            }
            None => Err(lacking(&listing, &self.absent(&listing.value), caching)),
        }
    }

    /// The versions of a provider.
    pub(super) async fn listing(
        &self,
        provider: &ProviderAddr,
        asked: &mut Asked<'_>,
    ) -> Result<CachedValue<ProviderListing>, Response> {
        let exists = |old: &ProviderListing| old.exists;
        let listing = self.store.listing(provider, &exists, asked.client).await;
        let listing = listing.map_err(|reason| self.unavailable(&reason))?;
        asked.record.is_stale = listing.is_stale || listing.value.is_origin_unreachable;
        Ok(listing)
    }

    /// Finds a version, and compares its tags if that is due.
    async fn served(
        &self,
        provider: &ProviderAddr,
        version: &Version,
        asked: &mut Asked<'_>,
    ) -> Result<(Arc<ServedVersion>, CachedValue<ProviderListing>), Response> {
        let checked = self
            .store
            .with_checked_tags(provider, version, asked.client);
        let listing = timeout(LONGEST_ANSWER, checked).await;
        let listing = listing.unwrap_or(Err(Unavailable::Slow));
        let listing = listing.map_err(|reason| self.unavailable(&reason))?;
        asked.record.is_stale = listing.is_stale;
        if let Some(served) = listing.value.versions.get(version) {
            return Ok((served.clone(), listing));
        }
        let caching = asked.caching(listing.lifetime.min(LONGEST_LIST));
        if let Some(hidden) = listing.value.hidden.get(version) {
            let message = format!("{provider} {version} is hidden: {}", hidden.problem);
            return Err(answer::not_found(&message, caching));
        }
        // After 404, clients would say that there is no such version.
        if listing.value.offered.contains(version) && !listing.is_stale {
            return Err(answer::unavailable(
                "the store does not have this version now; the next request mirrors it",
            ));
        }
        let message = match listing.value.exists {
            true => self.lacks(&format!("{provider} {version}")),
            false => self.absent(&listing.value),
        };
        Err(lacking(&listing, &message, caching))
    }

    /// Answers with a package of a version, or with a redirect to the storage behind the OCI registry.
    async fn package(
        &self,
        served: &ServedVersion,
        package: &ServedPackage,
        asked: &mut Asked<'_>,
    ) -> Result<Response, Response> {
        if self.redirects
            && asked.head.method == Method::GET
            && let Ok(Some(url)) = timeout(LONGEST_ANSWER, package::storage_url(package)).await
        {
            return Ok(answer::redirect(&url));
        }
        let place = self.clients.place(asked.client, LONGEST_ANSWER);
        asked.permits = place.await.map_err(|full| self.full(full, "packages"))?;
        let caching = asked.caching(YEAR);
        let answer = self.packages.answer(asked.head, package, caching).await;
        if answer.status() == StatusCode::BAD_GATEWAY {
            served.doubt_tags();
        }
        Ok(answer)
    }

    /// The URL of a file: a signed path relative to the document, which begins with `up`. `host` is that of the provider if the path does not
    /// name it.
    fn link(&self, host: &str, base: &str, file: &str, up: &str) -> String {
        let path = format!("{base}/{}", segment(file));
        let links = self.access.as_ref().map(|access| access.links());
        let prefix = links.and_then(|links| links.prefix(host, &path, SystemTime::now()));
        format!("{up}{}{path}", prefix.unwrap_or_default())
    }

    /// The caching of a document with links.
    fn caching_with_links(
        &self,
        asked: &Asked<'_>,
        listing: &CachedValue<ProviderListing>,
    ) -> Caching {
        let lifetime = listing.lifetime.min(LONGEST_LIST);
        match &self.access {
            // A cached document must expire before its links, and clients need half of their lifetime for the downloads.
            Some(access) => Caching::Private(lifetime.min(access.links().lifetime() / 2)),
            None => asked.caching(lifetime),
        }
    }

    /// The message about a provider without any served version.
    pub(super) fn absent(&self, listing: &ProviderListing) -> String {
        let provider = &listing.provider;
        match listing.hidden.len() {
            0 => self.lacks(&provider.to_string()),
            1 => format!("one version of {provider} is hidden, since it did not verify"),
            hidden => {
                format!("{hidden} versions of {provider} are hidden, since they did not verify")
            }
        }
    }

    /// The message about what the server does not have.
    fn lacks(&self, what: &str) -> String {
        let rest = match self.store.fill {
            Some(_) => {
                ", and this server does not mirror it: its origin lacks it, or an option or a limit leaves it out"
            }
            None => "",
        };
        format!("the store does not have {what}{rest}")
    }

    fn unavailable(&self, reason: &Unavailable<Failure>) -> Response {
        answer::unavailable(match reason {
            Unavailable::Failed(_) if self.store.fill.is_some() => {
                "cannot read from the store or the origin"
            }
            Unavailable::Failed(_) => "cannot read from the store",
            Unavailable::Slow if self.store.fill.is_some() => {
                "this is still being mirrored from its origin, or the store or the origin gives no answer now"
            }
            Unavailable::Slow => "the store gives no answer now",
        })
    }
}

impl Asked<'_> {
    /// The caching of an answer that is valid for this long.
    pub(super) fn caching(&self, lifetime: Duration) -> Caching {
        // The answer to a link must not be cached for longer than the link is valid.
        let lifetime = self.link.map_or(lifetime, |left| left.min(lifetime));
        match self.needs_token {
            true => Caching::Private(lifetime),
            false => Caching::Public(lifetime),
        }
    }
}

/// The answer about what a list lacks. If the list is old, the store may have that by now, and after 404 clients would silently use another
/// installation method.
pub(super) fn lacking(
    listing: &CachedValue<ProviderListing>,
    message: &str,
    caching: Caching,
) -> Response {
    match listing.value.is_origin_unreachable {
        _ if listing.is_stale => {
            answer::unavailable("the store cannot be read now, and did not have this before")
        }
        true => {
            answer::unavailable("the store does not have this, and its origin cannot be asked now")
        }
        false => answer::not_found(message, caching),
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
