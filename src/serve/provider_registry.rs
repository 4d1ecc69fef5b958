//! The [provider registry protocol](crate::clients#provider-registry-protocol).

use std::sync::Arc;

use super::answer::{self, Caching, Response};
use super::cached::CachedValue;
use super::documents::{self, DocumentNames};
use super::exchange::Exchange;
use super::listing::ProviderListing;
use super::notice::Denied;
use super::path::{ProviderRegistryName, segment};
use super::protocol_handlers::lacking;
use super::served::ServedVersion;
use super::service::{JSON, RouteRequest, Service};
use crate::address::ProviderAddr;
use crate::platform::Platform;
use crate::version::Version;

/// The relative path from `/v1/providers/NAMESPACE/TYPE/VERSION/download/OS/` to the root of the server.
const UP: &str = "../../../../../../../";
/// The relative path from the same place to `/v1/providers/NAMESPACE/TYPE/VERSION/`.
const UP_TO_VERSION: &str = "../../";

impl Service {
    /// Answers `GET /v1/providers/NAMESPACE/TYPE/versions`.
    pub(super) async fn provider_registry_versions(
        self: &Arc<Self>,
        name: &ProviderRegistryName,
        request: &RouteRequest<'_>,
        exchange: &mut Exchange,
    ) -> Result<Response, Response> {
        let provider = self.registry_provider(name, request, exchange)?;
        self.listed(&provider, request, exchange, |listing| {
            listing.exists.then(|| documents::versions(listing))
        })
        .await
    }

    /// `VERSION/download/OS/ARCH`: the metadata of a package.
    pub(super) async fn provider_registry_download(
        self: &Arc<Self>,
        name: &ProviderRegistryName,
        version: &Version,
        platform: &Platform,
        request: &RouteRequest<'_>,
        exchange: &mut Exchange,
    ) -> Result<Response, Response> {
        let found = self.registry_version(name, version, request, exchange);
        let (provider, served, listing) = found.await?;
        let caching = self.caching_with_links(request, &listing);
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
            Some(_) => self.link(provider.hostname().as_ascii(), &base, file, UP),
            None => format!("{UP_TO_VERSION}{}", segment(file)),
        };
        let names = DocumentNames::of(&provider, version);
        let document = documents::download(&served, documents, package, &names, link);
        Ok(self.document(request, JSON, document, caching))
    }

    /// `VERSION/FILE`: a package, the checksum document or its signature.
    pub(super) async fn provider_registry_file(
        self: &Arc<Self>,
        name: &ProviderRegistryName,
        version: &Version,
        file: &str,
        request: &RouteRequest<'_>,
        exchange: &mut Exchange,
    ) -> Result<Response, Response> {
        let found = self.registry_version(name, version, request, exchange);
        let (provider, served, listing) = found.await?;
        let Some(signed) = &served.documents else {
            let message = "the version has no signature";
            return Err(answer::not_found(message, Caching::Never));
        };
        let names = DocumentNames::of(&provider, version);
        let caching = request.caching(self.store.ages.fresh);
        if file == names.checksums {
            return Ok(self.document(request, "text/plain", signed.checksums.clone(), caching));
        }
        if file == names.signature {
            let kind = "application/octet-stream";
            return Ok(self.document(request, kind, signed.signature.clone(), caching));
        }
        match served
            .packages
            .iter()
            .find(|package| package.file_name == file)
        {
            Some(package) => self.package(&served, package, request, exchange).await,
            None => {
                let message = "the version has no such file";
                Err(lacking(&listing, message, Caching::Never))
            }
        }
    }

    /// Finds a version of a provider on the host of the provider registry.
    async fn registry_version(
        self: &Arc<Self>,
        name: &ProviderRegistryName,
        version: &Version,
        request: &RouteRequest<'_>,
        exchange: &mut Exchange,
    ) -> Result<
        (
            ProviderAddr,
            Arc<ServedVersion>,
            CachedValue<ProviderListing>,
        ),
        Response,
    > {
        let provider = self.registry_provider(name, request, exchange)?;
        let (served, listing) = self.served(&provider, version, request, exchange).await?;
        Ok((provider, served, listing))
    }

    /// The address of a provider on the host of the provider registry, if the token is for it.
    fn registry_provider(
        &self,
        name: &ProviderRegistryName,
        request: &RouteRequest<'_>,
        exchange: &mut Exchange,
    ) -> Result<ProviderAddr, Response> {
        let no_registry =
            || answer::not_found("no provider registry is at this host", Caching::Never);
        let host = self
            .provider_host(request.headers, request.uri)
            .ok_or_else(no_registry)?;
        let provider = name.on(&host);
        let provider = provider
            .map_err(|_| answer::not_found("no provider has this address", Caching::Never))?;
        match request.token {
            Some(token) if !token.is_for(&provider) => Err(exchange.deny(Denied::OtherProvider)),
            _ => Ok(provider),
        }
    }
}
