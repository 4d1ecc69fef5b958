//! Answers requests for lists, versions and packages, in both protocols.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::http::{Method, StatusCode};
use bytes::Bytes;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout, timeout_at};

use super::answer::{self, Caching, Response};
use super::cached::{CachedValue, Stale, Unavailable};
use super::exchange::Exchange;
use super::listing::ProviderListing;
use super::package::{self, PackageRequest};
use super::path::segment;
use super::sent_documents::{Full, Pieces};
use super::served::{ServedPackage, ServedVersion};
use super::service::{JSON, LONGEST_LIST, RouteRequest, Service};
use crate::address::ProviderAddr;
use crate::digest::Digest;
use crate::outcome::Failure;
use crate::version::Version;

/// How long an answer waits for the store in total. Clients give up after 10 seconds.
pub(super) const LONGEST_ANSWER: Duration = Duration::from_millis(8_500);
/// How long clients and proxies may cache a package: a year, as usual for content that never changes.
const YEAR: Duration = Duration::from_secs(31_536_000);

impl Service {
    /// Answers with a document, or with `304` if the client has it already.
    pub(super) fn document(
        &self,
        request: &RouteRequest<'_>,
        content_type: &'static str,
        bytes: impl Into<Bytes>,
        caching: Caching,
    ) -> Response {
        let bytes = bytes.into();
        let digest = Digest::of(&bytes);
        let shared = match answer::has(request.headers, &answer::etag(&digest)) {
            true => Ok(Bytes::new()),
            false => self.documents.share(request.client, digest, bytes),
        };
        match shared {
            Ok(bytes) => {
                let body = Pieces { left: bytes };
                answer::document(request.headers, content_type, &digest, body, caching)
            }
            Err(Full::Client) => {
                self.beyond_quota("too many documents are being sent to this address")
            }
            Err(Full::Server) => {
                answer::unavailable("too many documents are being sent to clients that do not read")
            }
        }
    }

    /// Answers with a list of versions. `write` returns `None` if the protocol has none for this provider.
    pub(super) async fn listed(
        self: &Arc<Self>,
        provider: &ProviderAddr,
        request: &RouteRequest<'_>,
        exchange: &mut Exchange,
        write: impl Fn(&ProviderListing) -> Option<Vec<u8>>,
    ) -> Result<Response, Response> {
        let client = request.client;
        let listing = self.store.listing(provider, |old| old.exists, client).await;
        let listing = listing.map_err(|reason| self.unavailable(&reason))?;
        exchange.is_stale = is_old(&listing);
        let caching = request.caching(listing.lifetime.min(LONGEST_LIST));
        match write(&listing.value) {
            Some(document) => Ok(self.document(request, JSON, document, caching)),
            // Those that it has are hidden by the policy of this server, which needs no store. An origin may have others.
            None if !listing.value.hidden.is_empty() && !listing.value.is_origin_unreachable => {
                Err(answer::not_found(&self.absent(&listing.value), caching))
            }
            None => Err(lacking(&listing, &self.absent(&listing.value), caching)),
        }
    }

    /// Finds a version, and compares its tags if that is due.
    pub(super) async fn served(
        self: &Arc<Self>,
        provider: &ProviderAddr,
        version: &Version,
        request: &RouteRequest<'_>,
        exchange: &mut Exchange,
    ) -> Result<(Arc<ServedVersion>, CachedValue<ProviderListing>), Response> {
        let client = request.client;
        let checked = self.store.with_checked_tags(provider, version, client);
        let listing = timeout(LONGEST_ANSWER, checked).await;
        let listing = listing.unwrap_or(Err(Unavailable::Slow));
        let listing = listing.map_err(|reason| {
            let fill = self.store.fill.as_ref();
            let is_filling = || fill.is_some_and(|fill| fill.is_filling(provider, version));
            match reason {
                Unavailable::Slow if is_filling() => answer::unavailable(
                    "this version is still being mirrored from its origin, or waits for that",
                ),
                reason => self.unavailable(&reason),
            }
        })?;
        exchange.is_stale = listing.is_stale();
        if let Some(served) = listing.value.versions.get(version) {
            return Ok((served.clone(), listing));
        }
        let caching = request.caching(listing.lifetime.min(LONGEST_LIST));
        if let Some(hidden) = listing.value.hidden.get(version) {
            let message = format!("{provider} {version} is hidden: {}", hidden.problem);
            return Err(answer::not_found(&message, caching));
        }
        // After 404, clients would say that there is no such version.
        if listing.value.offered.contains(version) && !listing.is_stale() {
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
    pub(super) async fn package(
        &self,
        served: &ServedVersion,
        package: &ServedPackage,
        request: &RouteRequest<'_>,
        exchange: &mut Exchange,
    ) -> Result<Response, Response> {
        if self.redirects
            && *request.method == Method::GET
            && let Ok(Some(url)) = timeout(LONGEST_ANSWER, package::storage_url(package)).await
        {
            return Ok(answer::redirect(&url));
        }
        let permits = self.package_permits(request).await?;
        exchange.permits.extend(permits);
        let package = PackageRequest {
            method: request.method,
            headers: request.headers,
            package,
            verified: &self.verified,
            observer: &self.observer,
            metrics: &self.metrics,
        };
        let answer = package.answer(request.caching(YEAR)).await;
        if answer.status() == StatusCode::BAD_GATEWAY {
            served.doubt_tags();
        }
        Ok(answer)
    }

    /// Waits for the permits of a package: one of the client's quota, and one of the server's limit.
    async fn package_permits(
        &self,
        request: &RouteRequest<'_>,
    ) -> Result<Vec<OwnedSemaphorePermit>, Response> {
        let mut permits = Vec::new();
        let end = Instant::now() + LONGEST_ANSWER;
        if let Some(quota) = &self.package_quota {
            match timeout_at(end, quota.of(request.client).acquire_owned()).await {
                Ok(Ok(permit)) => permits.push(permit),
                _ => {
                    let message = "too many packages are being sent to this address";
                    return Err(self.beyond_quota(message));
                }
            }
        }
        match timeout_at(end, self.packages.clone().acquire_owned()).await {
            Ok(Ok(permit)) => permits.push(permit),
            _ => return Err(answer::unavailable("too many packages are being sent")),
        }
        Ok(permits)
    }

    /// The URL of a file: its name, or a signed path relative to the document, which begins with `up`. `host` is that of the provider if the path
    /// does not name it.
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

    /// The caching of a document with links.
    pub(super) fn caching_with_links(
        &self,
        request: &RouteRequest<'_>,
        listing: &CachedValue<ProviderListing>,
    ) -> Caching {
        let lifetime = listing.lifetime.min(LONGEST_LIST);
        match &self.access {
            // A cached document must expire before its links, and clients need half of their lifetime for the downloads.
            Some(access) => Caching::Private(lifetime.min(access.links.load().lifetime() / 2)),
            None => request.caching(lifetime),
        }
    }

    /// The answer to a client that has exceeded its quota of packages or memory.
    fn beyond_quota(&self, message: &str) -> Response {
        self.metrics.limited.inc();
        answer::too_many(message, answer::RETRY_SECONDS)
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

    pub(super) fn unavailable(&self, reason: &Unavailable<Failure>) -> Response {
        answer::unavailable(match reason {
            Unavailable::Failed(_) if self.store.fill.is_some() => {
                "cannot read from the store or the origin"
            }
            Unavailable::Failed(_) => "cannot read from the store",
            Unavailable::Slow => "the store gives no answer now",
        })
    }
}

impl RouteRequest<'_> {
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
    match listing.stale {
        Some(Stale::Failed) => {
            answer::unavailable("the store cannot be read now, and did not have this before")
        }
        Some(Stale::Slow) => {
            answer::unavailable("the store gives no answer now, and did not have this before")
        }
        None if listing.value.is_origin_unreachable => {
            answer::unavailable("the store does not have this, and its origin cannot be asked now")
        }
        None => answer::not_found(message, caching),
    }
}

/// Whether a list is older than `--max-age`, or its origin could not be asked.
pub(super) fn is_old(listing: &CachedValue<ProviderListing>) -> bool {
    listing.is_stale() || listing.value.is_origin_unreachable
}
