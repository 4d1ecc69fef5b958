//! The provider registry protocol ([clients: registry protocol](crate::clients#registry-protocol)).

use std::sync::Arc;

use super::answer::{self, Caching, Response};
use super::cached::CachedValue;
use super::documents;
use super::listing::{Listing, Served};
use super::notice::Denied;
use super::outcome::Outcome;
use super::path::{ProviderRegistryName, segment};
use super::service::{JSON, RouteRequest, Service};
use crate::address::ProviderAddr;
use crate::platform::Platform;
use crate::version::Version;

/// From `/v1/providers/NAMESPACE/TYPE/VERSION/download/OS/` to the server.
const UP: &str = "../../../../../../../";
/// From there to `/v1/providers/NAMESPACE/TYPE/VERSION/`.
const UP_TO_VERSION: &str = "../../";

impl Service {
    /// The list of versions.
    pub(super) async fn provider_registry_versions(
        self: &Arc<Self>,
        name: &ProviderRegistryName,
        request: &RouteRequest<'_>,
        outcome: &mut Outcome,
    ) -> Response {
        let provider = match self.provider(name, request, outcome) {
            Ok(provider) => provider,
            Err(answer) => return answer,
        };
        self.listed(&provider, request, outcome, |listing| {
            listing.exists.then(|| documents::versions(listing))
        })
        .await
    }

    /// The metadata of a package.
    pub(super) async fn provider_registry_download(
        self: &Arc<Self>,
        name: &ProviderRegistryName,
        version: &Version,
        platform: &Platform,
        request: &RouteRequest<'_>,
        outcome: &mut Outcome,
    ) -> Response {
        let found = self.version_here(name, version, request, outcome).await;
        let (provider, served, listing) = match found {
            Ok(found) => found,
            Err(answer) => return answer,
        };
        let caching = self.with_links(request, &listing);
        let Some(documents) = &served.documents else {
            let said = format!("{provider} {version} has no signature, which this protocol needs");
            return answer::not_found(&said, caching);
        };
        let Some(package) = served.package(platform) else {
            let said = format!("{provider} {version} has no package for {platform}");
            return answer::not_found(&said, caching);
        };
        let (namespace, type_name) = (segment(provider.namespace()), segment(provider.type_name()));
        let base = format!("/v1/providers/{namespace}/{type_name}/{version}");
        let link = |file: &str| match &self.access {
            Some(_) => self.link(provider.hostname().as_ascii(), &base, file, UP),
            None => format!("{UP_TO_VERSION}{}", segment(file)),
        };
        let document = documents::download(&provider, version, &served, documents, package, link);
        answer::document(request.headers, JSON, document, caching)
    }

    /// A package, the checksum document or its signature.
    pub(super) async fn provider_registry_file(
        self: &Arc<Self>,
        name: &ProviderRegistryName,
        version: &Version,
        file: &str,
        request: &RouteRequest<'_>,
        outcome: &mut Outcome,
    ) -> Response {
        let found = self.version_here(name, version, request, outcome).await;
        let (provider, served, _) = match found {
            Ok(found) => found,
            Err(answer) => return answer,
        };
        let Some(signed) = &served.documents else {
            return answer::not_found("the version has no signature", Caching::Never);
        };
        let (checksums, signature) = documents::document_names(&provider, version);
        let caching = request.caching(self.catalog.ages.fresh);
        if file == checksums {
            let bytes = signed.checksums.to_vec();
            return answer::document(request.headers, "text/plain", bytes, caching);
        }
        if file == signature {
            let bytes = signed.signature.to_vec();
            return answer::document(request.headers, "application/octet-stream", bytes, caching);
        }
        match served
            .packages
            .iter()
            .find(|package| package.file_name == file)
        {
            Some(package) => self.package(package, request, outcome).await,
            None => answer::not_found("the version has no such file", Caching::Never),
        }
    }

    /// A version of a provider of the registry protocol.
    async fn version_here(
        self: &Arc<Self>,
        name: &ProviderRegistryName,
        version: &Version,
        request: &RouteRequest<'_>,
        outcome: &mut Outcome,
    ) -> Result<(ProviderAddr, Arc<Served>, CachedValue<Listing>), Response> {
        let provider = self.provider(name, request, outcome)?;
        let (served, listing) = self.served(&provider, version, request, outcome).await?;
        Ok((provider, served, listing))
    }

    /// The provider of the registry protocol.
    fn provider(
        &self,
        name: &ProviderRegistryName,
        request: &RouteRequest<'_>,
        outcome: &mut Outcome,
    ) -> Result<ProviderAddr, Response> {
        let nowhere = || answer::not_found("no registry is at this host", Caching::Never);
        let host = self
            .host(request.headers, request.uri)
            .ok_or_else(nowhere)?;
        let provider = name.on(&host);
        let provider = provider
            .map_err(|_| answer::not_found("no provider has this address", Caching::Never))?;
        match request.token {
            Some(token) if !token.opens(&provider) => Err(outcome.deny(Denied::OtherProvider)),
            _ => Ok(provider),
        }
    }
}
