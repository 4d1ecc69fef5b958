//! The provider registry protocol ([clients: registry protocol](crate::clients#registry-protocol)).

use std::sync::Arc;

use super::answer::{self, Answered, Caching};
use super::cached::Answer;
use super::documents;
use super::listing::{Listing, Served};
use super::notice::Denied;
use super::outcome::Outcome;
use super::path::{RegistryName, segment};
use super::service::{Asked, JSON, Service};
use crate::address::ProviderAddr;
use crate::platform::Platform;
use crate::version::Version;

/// From `/v1/providers/NAMESPACE/TYPE/VERSION/download/OS/` to the server.
const UP: &str = "../../../../../../../";
/// From there to `/v1/providers/NAMESPACE/TYPE/VERSION/`.
const UP_TO_VERSION: &str = "../../";

impl Service {
    /// The list of versions.
    pub(super) async fn registry_versions(
        self: &Arc<Self>,
        name: &RegistryName,
        asked: &Asked<'_>,
        outcome: &mut Outcome,
    ) -> Answered {
        let provider = match self.provider(name, asked, outcome) {
            Ok(provider) => provider,
            Err(answer) => return answer,
        };
        self.listed(&provider, asked, outcome, |listing| {
            listing.exists.then(|| documents::versions(listing))
        })
        .await
    }

    /// The metadata of a package.
    pub(super) async fn download(
        self: &Arc<Self>,
        name: &RegistryName,
        version: &Version,
        platform: &Platform,
        asked: &Asked<'_>,
        outcome: &mut Outcome,
    ) -> Answered {
        let found = self.version_here(name, version, asked, outcome).await;
        let (provider, served, listing) = match found {
            Ok(found) => found,
            Err(answer) => return answer,
        };
        let caching = self.with_links(asked, &listing);
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
        answer::document(asked.headers, JSON, document, caching)
    }

    /// A package, the checksum document or its signature.
    pub(super) async fn registry_file(
        self: &Arc<Self>,
        name: &RegistryName,
        version: &Version,
        file: &str,
        asked: &Asked<'_>,
        outcome: &mut Outcome,
    ) -> Answered {
        let found = self.version_here(name, version, asked, outcome).await;
        let (provider, served, _) = match found {
            Ok(found) => found,
            Err(answer) => return answer,
        };
        let Some(signed) = &served.documents else {
            return answer::not_found("the version has no signature", Caching::Never);
        };
        let (checksums, signature) = documents::document_names(&provider, version);
        let caching = asked.caching(self.catalog.ages.fresh);
        if file == checksums {
            let bytes = signed.checksums.to_vec();
            return answer::document(asked.headers, "text/plain", bytes, caching);
        }
        if file == signature {
            let bytes = signed.signature.to_vec();
            return answer::document(asked.headers, "application/octet-stream", bytes, caching);
        }
        match served
            .packages
            .iter()
            .find(|package| package.file_name == file)
        {
            Some(package) => self.package(package, asked, outcome).await,
            None => answer::not_found("the version has no such file", Caching::Never),
        }
    }

    /// A version of a provider of the registry protocol.
    async fn version_here(
        self: &Arc<Self>,
        name: &RegistryName,
        version: &Version,
        asked: &Asked<'_>,
        outcome: &mut Outcome,
    ) -> Result<(ProviderAddr, Arc<Served>, Answer<Listing>), Answered> {
        let provider = self.provider(name, asked, outcome)?;
        let (served, listing) = self.served(&provider, version, asked, outcome).await?;
        Ok((provider, served, listing))
    }

    /// The provider of the registry protocol.
    fn provider(
        &self,
        name: &RegistryName,
        asked: &Asked<'_>,
        outcome: &mut Outcome,
    ) -> Result<ProviderAddr, Answered> {
        let nowhere = || answer::not_found("no registry is at this host", Caching::Never);
        let host = self.host(asked.headers, asked.uri).ok_or_else(nowhere)?;
        let provider = name.on(&host);
        let provider = provider
            .map_err(|_| answer::not_found("no provider has this address", Caching::Never))?;
        match asked.token {
            Some(token) if !token.opens(&provider) => Err(outcome.deny(Denied::OtherProvider)),
            _ => Ok(provider),
        }
    }
}
