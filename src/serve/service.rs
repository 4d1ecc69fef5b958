//! The journey of a request: it is authorized, routed, and answered from a list of versions, in both protocols: the
//! [network mirror](crate::clients#network-mirrors), and the [provider registry](crate::clients#provider-registry-protocol).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::header::{ALLOW, AUTHORIZATION, HOST, LOCATION, WARNING};
use hyper::header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_FRAME_OPTIONS};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::access::{self, AccessControl, ClientToken};
use super::answer::{self, Caching, Document, Response};
use super::cached::Unavailable;
use super::clients::Client;
use super::listing::ProviderListing;
use super::notice::RequestRecord;
use super::package::{self, Packages};
use super::path::{File, Route, Target, What, segment};
use super::served::{ServedVersion, SignedFiles, archives, signed_names};
use super::served_store::{Listing, ServedStore};
use super::settings::Context;
use crate::address::{Hostname, ProviderAddr};
use crate::protocol::network_mirror::SignedDocuments;
use crate::release::Package;
use crate::store::StoreBlob;
use crate::version::Version;

const JSON: &str = "application/json";
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

/// The longest time that clients and proxies may cache a list. A new version is then visible after a minute.
const LONGEST_LIST: Duration = Duration::from_secs(60);
/// The largest document that takes no place of its client. Most documents of both protocols are smaller.
const LARGEST_FREE: u64 = 16 << 10;
/// How long an answer waits for the store in total. Clients give up after 10 seconds.
const LONGEST_ANSWER: Duration = Duration::from_millis(8_500);
/// The text of an answer while the store, or the origin with `--fill`, does not answer.
const UNREADABLE: &str = "the versions cannot be read now";
/// The answer to a request whose path has no route. It names those that have one, for people who open a wrong or incomplete URL.
const NO_ROUTE: &str = "nothing is here\n  the network mirror is at /mirror/HOST/NAMESPACE/TYPE/index.json\n  the provider registry is at /v1/providers/NAMESPACE/TYPE/versions\n  the page at / has the configuration for clients";
/// The answer if the page cannot be rendered.
const NO_PAGE: &str = "the page cannot be made now";
/// How long clients and proxies may cache a package: a year, as usual for content that never changes.
const YEAR: Duration = Duration::from_secs(31_536_000);

/// Renders the pages as HTML.
pub trait PageRenderer: Send + Sync + 'static {
    /// HTML that lists the providers of the server.
    fn home(&self, visitor: &Visitor, home: &HomePage) -> String;
    /// HTML that lists the versions of one provider, and says how to install it. A list is stale if it is older than `--max-age`, because the
    /// store was unreachable.
    fn provider(&self, visitor: &Visitor, listing: &ProviderListing, is_stale: bool) -> String;
}

/// For whom a page is.
#[derive(Debug)]
pub struct Visitor {
    /// The public URL, without a slash at its end.
    pub url: String,
    /// The host of the provider registry, if it is known.
    pub provider_host: Option<Hostname>,
    /// Whether clients need a token.
    pub needs_token: bool,
}

/// The contents of the page about the whole server.
#[derive(Debug)]
pub struct HomePage {
    /// Whether the request is authorized to see the providers.
    pub may_list: bool,
    /// Whether the last request to the store failed.
    pub is_store_unreachable: bool,
    /// The providers, each with its list of versions, if that was read.
    pub providers: BTreeMap<ProviderAddr, Option<Arc<ProviderListing>>>,
}

/// What answers requests.
pub(super) struct Service {
    pub(super) shared: Arc<Context>,
    pub(super) store: Arc<ServedStore>,
    pub(super) access: Option<AccessControl>,
    pub(super) discovery: Document,
    pub(super) packages: Packages,
    pub(super) page: Arc<dyn PageRenderer>,
    /// Whether the server ends.
    pub(super) draining: watch::Sender<bool>,
}

type Answer = Result<Response, Response>;

/// An authorized request.
struct Asked<'a> {
    service: &'a Service,
    client: &'a Client,
    head: &'a Parts,
    token: Option<&'a ClientToken>,
    /// The remaining lifetime of the link that authorized the request; `None` without a link.
    link: Option<Duration>,
    record: &'a mut RequestRecord,
}

impl Service {
    /// Reads the path of a request.
    pub(super) fn target<'p>(&self, head: &'p Parts) -> Target<'p> {
        Target::read(head.uri.path(), || self.provider_host(head))
    }

    /// The host of the provider registry: the configured one, or the one that the client requested.
    fn provider_host(&self, head: &Parts) -> Option<Hostname> {
        let requested = || {
            let header = head.headers.get(HOST).and_then(|host| host.to_str().ok());
            let authority = head.uri.authority().map(|authority| authority.as_str());
            Hostname::from_ascii(authority.or(header)?).ok()
        };
        let settings = &self.shared.settings;
        settings.provider_host.clone().or_else(requested)
    }

    /// Answers a request. The answer has the [`Permits`](super::clients::Permits) that are held until it was sent as an extension.
    pub(super) async fn answer(
        &self,
        client: &Client,
        head: &Parts,
        target: &Target<'_>,
        record: &mut RequestRecord,
    ) -> Response {
        if !matches!(head.method, Method::GET | Method::HEAD) {
            let status = StatusCode::METHOD_NOT_ALLOWED;
            return answer::with(status, "only GET and HEAD are allowed", ALLOW, "GET, HEAD");
        }
        let route = target.route.as_ref();
        record.route = route.map_or("none", Route::name);
        let header = head.headers.get(AUTHORIZATION);
        let header = header.and_then(|header| header.to_str().ok());
        let header = header.unwrap_or_default();
        let access = self.access.as_ref();
        let tokens = access.map(|access| access.tokens());
        let tokens = tokens.as_deref();
        let token = tokens.and_then(|tokens| ClientToken::find(tokens, header));
        record.token = token.map(|token| token.name.clone());
        let link = access.map(|access| access.authorize(target, token, header));
        let link = match link.transpose() {
            Ok(link) => link.flatten(),
            Err(reason) => {
                record.denied = Some(reason);
                return access::denied(reason);
            }
        };
        let mut asked = Asked {
            service: self,
            client,
            head,
            token,
            link,
            record,
        };
        let answer = match route {
            Some(route) => asked.route(route).await,
            None => Err(answer::text(StatusCode::NOT_FOUND, NO_ROUTE)),
        };
        let (Ok(mut answer) | Err(mut answer)) = answer;
        if asked.record.is_stale {
            let warning = "110 tfoci \"the list is older than --max-age\"";
            answer::set(&mut answer, WARNING, warning);
        }
        answer
    }

    fn ready(&self) -> Response {
        // Other replicas may have lists from before. While the store is unreachable, cached lists are served, so a load balancer must not remove
        // this server.
        let has_answered = self.store.has_answered.load(Ordering::Relaxed);
        match has_answered && !*self.draining.borrow() {
            true => answer::text(StatusCode::OK, "ready"),
            false => answer::unavailable("not ready"),
        }
    }

    /// The URL of a file, relative to a document: in the network mirror, or beside a version of the provider registry. It is signed if clients
    /// need a token.
    fn link(&self, provider: &ProviderAddr, version: Option<&Version>, file: &str) -> String {
        let host = provider.hostname().as_ascii();
        let [namespace, type_name, file] =
            [provider.namespace(), provider.type_name(), file].map(segment);
        // The directory of the file, the host if the path does not name it, and the ways from the document to the root and to the file.
        let (directory, host, up, beside) = match version {
            None => {
                let directory = format!("/mirror/{host}/{namespace}/{type_name}");
                (directory, "", "../".repeat(4), "")
            }
            Some(version) => {
                let directory = format!("/v1/providers/{namespace}/{type_name}/{version}");
                (directory, host, "../".repeat(7), "../../")
            }
        };
        let Some(access) = &self.access else {
            return format!("{beside}{file}");
        };
        let path = format!("{directory}/{file}");
        let prefix = access.links().prefix(host, &path, SystemTime::now());
        format!("{up}{}{path}", prefix.unwrap_or_default())
    }

    /// The answer while there is no place for what a client requests.
    fn full(&self, what: &str) -> Response {
        self.shared.metrics.limited.inc();
        answer::unavailable(&format!("too many {what} are being sent"))
    }
}

impl Asked<'_> {
    async fn route(&mut self, route: &Route) -> Answer {
        match route {
            Route::Health => Ok(answer::text(StatusCode::OK, "ok")),
            Route::Ready => Ok(self.service.ready()),
            Route::Metrics => {
                let text = Document::new(self.service.shared.metrics.text());
                self.document(OPENMETRICS, text, Caching::Never)
            }
            Route::Discovery => {
                let caching = Caching::Public(LONGEST_LIST);
                self.document(JSON, self.service.discovery.clone(), caching)
            }
            Route::Home => self.home().await,
            Route::Provider(provider, what) => match what {
                What::Page => self.provider_page(provider).await,
                What::MirrorIndex | What::RegistryVersions => {
                    self.versions(provider, *what == What::MirrorIndex).await
                }
                What::Version(version, file) => self.file(provider, version, file).await,
            },
        }
    }

    /// The versions of a provider: `index.json` of the network mirror, or `versions` of the provider registry.
    async fn versions(&mut self, provider: &ProviderAddr, is_mirror: bool) -> Answer {
        let listing = self.listing(provider).await?;
        let list = &listing.value;
        let caching = self.caching_of(&listing);
        let document = match is_mirror {
            true => &list.index,
            false => &list.registry_versions,
        };
        if let Some(document) = document {
            return self.document(JSON, document.clone(), caching);
        }
        // Those that it has are hidden by the policy of this server, which needs no store. An origin may have others.
        if !list.hidden.is_empty() && !list.is_origin_unreachable {
            let message = format!("all versions of {provider} are hidden: they did not verify");
            return Err(answer::not_found(&message, caching));
        }
        Err(self.lacking(&listing, provider))
    }

    /// A document or package of a version.
    async fn file(&mut self, provider: &ProviderAddr, version: &Version, file: &File) -> Answer {
        let (served, listing) = self.served(provider, version).await?;
        let (service, caching) = (self.service, self.caching_of(&listing));
        let names = signed_names(provider, version);
        let document = match file {
            // Each link expires.
            File::Archives if service.access.is_some() => {
                let link = |file: &str| service.link(provider, None, file);
                archives(
                    provider,
                    version,
                    &served.packages,
                    served.is_signed(),
                    link,
                )
            }
            File::Archives => served.archives.clone(),
            File::SignedDocuments => {
                let signed = signed(&served)?;
                Document::json(&SignedDocuments {
                    checksums: STANDARD.encode(&signed.checksums),
                    signature: STANDARD.encode(&signed.signature),
                    keys: String::from_utf8_lossy(&signed.certificate).into_owned(),
                })
            }
            File::Download(platform) => {
                let signed = signed(&served)?;
                let Some(package) = served.package(platform) else {
                    let what = format!("{provider} {version} for {platform}");
                    return Err(self.lacking(&listing, &what));
                };
                let link = |file: &str| service.link(provider, Some(version), file);
                // It has the key of its author, and is too large to be kept for each package.
                served.download(signed, package, &names, link)
            }
            File::MirrorPackage(platform) => {
                let package = served.package(platform);
                return self.package(&listing, package).await;
            }
            File::Named(name) => {
                let (signed, [checksums, signature]) = (signed(&served)?, names);
                let (kind, bytes) = match name {
                    name if *name == checksums => ("text/plain", &signed.checksums),
                    name if *name == signature => ("application/octet-stream", &signed.signature),
                    _ => {
                        let mut packages = served.packages.iter();
                        let package = packages.find(|package| package.file_name == *name);
                        return self.package(&listing, package).await;
                    }
                };
                let caching = self.caching(service.shared.settings.ages.fresh);
                return self.document(kind, Document::new(bytes.clone()), caching);
            }
        };
        self.document(JSON, document, caching)
    }

    /// Answers with a package of a version, or with a redirect to the storage behind the OCI registry.
    async fn package(&mut self, listing: &Listing, package: Option<&Package<StoreBlob>>) -> Answer {
        let Some(package) = package else {
            return Err(self.lacking(listing, &"this file"));
        };
        let Service {
            shared, packages, ..
        } = self.service;
        if shared.settings.redirects
            && self.head.method == Method::GET
            && let Ok(Some(url)) = timeout(LONGEST_ANSWER, package::storage_url(package)).await
        {
            let status = StatusCode::TEMPORARY_REDIRECT;
            let text = "the package is at another URL";
            return Ok(answer::with(status, text, LOCATION, url.as_str()));
        }
        let place = shared.clients.place(self.client, LONGEST_ANSWER).await;
        let place = place.ok_or_else(|| self.service.full("packages"))?;
        let caching = self.caching(YEAR);
        let mut answer = packages.answer(self.head, package, caching).await;
        answer.extensions_mut().insert(place);
        Ok(answer)
    }

    async fn home(&mut self) -> Answer {
        let service = self.service;
        let may_list = service.access.is_none() || self.token.is_some();
        let is_shown = |provider: &ProviderAddr| {
            let token = self.token;
            token.is_none_or(|token| token.is_for(provider))
        };
        let providers = match may_list {
            true => service.store.providers(is_shown).await,
            false => BTreeMap::new(),
        };
        let home = HomePage {
            may_list,
            is_store_unreachable: service.store.is_unreachable.load(Ordering::Relaxed),
            providers,
        };
        let (page, visitor) = (service.page.clone(), self.visitor());
        // A large page takes milliseconds, in which other requests of this thread would wait.
        let html = spawn_blocking(move || page.home(&visitor, &home)).await;
        let html = html.map_err(|_| answer::unavailable(NO_PAGE))?;
        self.html(Document::new(html), Duration::ZERO)
    }

    async fn provider_page(&mut self, provider: &ProviderAddr) -> Answer {
        let listing = self.listing(provider).await?;
        if !listing.value.exists {
            return Err(self.lacking(&listing, provider));
        }
        let (visitor, is_stale) = (self.visitor(), listing.is_stale);
        let key = format!("{visitor:?} {is_stale}");
        // Locked while the page is rendered, so that many requests render it once.
        let mut page = listing.value.page.lock().await;
        if page.0 != key {
            let (renderer, list) = (self.service.page.clone(), listing.value.clone());
            let html = spawn_blocking(move || renderer.provider(&visitor, &list, is_stale));
            let html = html.await.map_err(|_| answer::unavailable(NO_PAGE))?;
            *page = (key, Document::new(html));
        }
        let document = page.1.clone();
        drop(page);
        self.html(document, listing.lifetime.min(LONGEST_LIST))
    }

    /// For whom a page is: without a public URL, its links begin with the host of the provider registry.
    fn visitor(&self) -> Visitor {
        let provider_host = self.service.provider_host(self.head);
        let host = provider_host.as_ref().map_or("HOST", Hostname::as_ascii);
        let url = self.service.shared.settings.url.clone();
        Visitor {
            url: url.unwrap_or_else(|| format!("https://{host}")),
            provider_host,
            needs_token: self.service.access.is_some(),
        }
    }

    /// Answers with a page that is valid for this long.
    fn html(&mut self, document: Document, lifetime: Duration) -> Answer {
        let registry = &self.service.shared.settings.provider_host;
        let caching = match (self.caching(lifetime), registry) {
            // A cache that several clients share might give one of them the host that another one made up.
            (Caching::Public(age), None) => Caching::Private(age),
            (caching, _) => caching,
        };
        let mut answer = self.document(HTML, document, caching)?;
        answer::set(&mut answer, CONTENT_SECURITY_POLICY, POLICY);
        answer::set(&mut answer, REFERRER_POLICY, "no-referrer");
        answer::set(&mut answer, X_FRAME_OPTIONS, "DENY");
        Ok(answer)
    }

    /// The versions of a provider.
    async fn listing(&mut self, provider: &ProviderAddr) -> Result<Listing, Response> {
        let Service { store, .. } = self.service;
        let listing = store.listing(provider, self.client).await;
        let listing = listing.map_err(|_| answer::unavailable(UNREADABLE))?;
        self.record.is_stale = listing.is_stale || listing.value.is_origin_unreachable;
        Ok(listing)
    }

    /// Finds a version, and compares its tags if that is due.
    async fn served(
        &mut self,
        provider: &ProviderAddr,
        version: &Version,
    ) -> Result<(Arc<ServedVersion>, Listing), Response> {
        let Service { store, .. } = self.service;
        let checked = store.with_checked_tags(provider, version, self.client);
        let listing = timeout(LONGEST_ANSWER, checked).await;
        let listing = listing.unwrap_or(Err(Unavailable::Slow));
        let listing = listing.map_err(|_| answer::unavailable(UNREADABLE))?;
        self.record.is_stale = listing.is_stale;
        let list = &listing.value;
        if let Some(served) = list.versions.get(version) {
            return Ok((served.clone(), listing));
        }
        if let Some(problem) = list.hidden.get(version) {
            let message = format!("{provider} {version} is hidden: {problem}");
            return Err(answer::not_found(&message, self.caching_of(&listing)));
        }
        // After 404, clients would say that there is no such version. The next request mirrors it.
        if list.offered.contains(version) {
            return Err(answer::unavailable(UNREADABLE));
        }
        Err(self.lacking(&listing, &format!("{provider} {version}")))
    }

    /// The answer if a list does not have what a client requests. If the list is old, the store may have it by now. After 404, clients would silently
    /// use another installation method.
    fn lacking(&self, listing: &Listing, what: &dyn fmt::Display) -> Response {
        if listing.is_stale || listing.value.is_origin_unreachable {
            return answer::unavailable(UNREADABLE);
        }
        let message = format!("the store does not have {what}");
        answer::not_found(&message, self.caching_of(listing))
    }

    /// Answers with a document, or with `304` if the client has it already. A large one takes places of its client until it was sent.
    fn document(&self, kind: &'static str, document: Document, caching: Caching) -> Answer {
        let mut answer = answer::document(&self.head.headers, kind, document, caching);
        let size = answer.body().left;
        if self.head.method == Method::GET && size > LARGEST_FREE {
            let places = self.service.shared.clients.places(self.client, size);
            let places = places.ok_or_else(|| self.service.full("documents"))?;
            answer.extensions_mut().insert(places);
        }
        Ok(answer)
    }

    /// The caching of an answer that is valid for this long.
    fn caching(&self, lifetime: Duration) -> Caching {
        // The answer to a link must not be cached for longer than the link is valid.
        let lifetime = self.link.map_or(lifetime, |left| left.min(lifetime));
        match self.service.access {
            Some(_) => Caching::Private(lifetime),
            None => Caching::Public(lifetime),
        }
    }

    /// The caching of what a list says. A cached document must expire before its links, and clients need half of their lifetime for the downloads.
    fn caching_of(&self, listing: &Listing) -> Caching {
        let access = self.service.access.as_ref();
        let links = access.map_or(LONGEST_LIST, |access| access.links().lifetime() / 2);
        self.caching(listing.lifetime.min(LONGEST_LIST).min(links))
    }
}

/// The documents of a version for the provider registry.
fn signed(served: &ServedVersion) -> Result<&SignedFiles, Response> {
    let message = "the version has no signature, which this protocol requires";
    let signed = served.documents.as_ref();
    signed.ok_or_else(|| answer::text(StatusCode::NOT_FOUND, message))
}
