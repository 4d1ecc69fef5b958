//! Answers requests for lists, versions and packages, in both protocols: the [network mirror](crate::clients#network-mirrors), and the
//! [provider registry](crate::clients#provider-registry-protocol).

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use hyper::{Method, StatusCode};
use tokio::time::timeout;

use super::answer::{self, Caching, Document, Response};
use super::cached::{CachedValue, Unavailable};
use super::documents;
use super::listing::ProviderListing;
use super::package;
use super::path::segment;
use super::served::{ServedPackage, ServedVersion};
use super::service::{Asked, JSON, LONGEST_LIST, Service};
use crate::address::ProviderAddr;
use crate::outcome::Failure;
use crate::platform::Platform;
use crate::trust::PackageName;
use crate::version::Version;

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

impl Service {
    /// `index.json` of the network mirror.
    pub(super) async fn network_mirror_index(
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
    pub(super) async fn network_mirror_version(
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
    pub(super) async fn network_mirror_package(
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
    pub(super) async fn provider_registry_versions(
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
    pub(super) async fn provider_registry_download(
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
    pub(super) async fn provider_registry_file(
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
        let listing = match listing.unwrap_or(Err(Unavailable::Slow)) {
            Ok(listing) => listing,
            Err(Unavailable::Slow) if self.store.is_filling(provider, version).await => {
                return Err(answer::unavailable(
                    "this version is still being mirrored from its origin, or waits for that",
                ));
            }
            Err(reason) => return Err(self.unavailable(&reason)),
        };
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
