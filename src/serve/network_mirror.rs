//! The network mirror protocol ([clients: network mirrors](crate::clients#network-mirrors)).

use std::sync::Arc;

use super::answer::{self, Caching, Response};
use super::documents;
use super::exchange::Exchange;
use super::path::segment;
use super::protocol_handlers::lacking;
use super::service::{JSON, RouteRequest, Service};
use crate::address::ProviderAddr;
use crate::trust::PackageName;
use crate::version::Version;

/// The relative path from `/mirror/HOST/NAMESPACE/TYPE/` to the root of the server.
const UP: &str = "../../../../";

impl Service {
    /// `index.json`.
    pub(super) async fn network_mirror_index(
        self: &Arc<Self>,
        provider: &ProviderAddr,
        request: &RouteRequest<'_>,
        exchange: &mut Exchange,
    ) -> Result<Response, Response> {
        self.listed(provider, request, exchange, |listing| {
            let has_any = listing.installable().next().is_some();
            has_any.then(|| documents::index(listing))
        })
        .await
    }

    /// `VERSION.json`.
    pub(super) async fn network_mirror_version(
        self: &Arc<Self>,
        provider: &ProviderAddr,
        version: &Version,
        request: &RouteRequest<'_>,
        exchange: &mut Exchange,
    ) -> Result<Response, Response> {
        let (served, listing) = self.served(provider, version, request, exchange).await?;
        let base = format!("/mirror/{}", encoded(provider));
        let link = |file: &str| self.link("", &base, file, UP);
        let document = documents::archives(&served, link);
        let caching = self.caching_with_links(request, &listing);
        Ok(self.document(request, JSON, document, caching))
    }

    /// Answers a request for a package by its file name.
    pub(super) async fn network_mirror_package(
        self: &Arc<Self>,
        provider: &ProviderAddr,
        file: &str,
        request: &RouteRequest<'_>,
        exchange: &mut Exchange,
    ) -> Result<Response, Response> {
        let Some(name) = PackageName::canonical(file, provider.type_name()) else {
            let message = "no package has this name";
            return Err(answer::not_found(message, Caching::Never));
        };
        let version = name.version.version();
        let (served, listing) = self.served(provider, version, request, exchange).await?;
        match served.package(&name.platform) {
            Some(package) => self.package(&served, package, request, exchange).await,
            None => {
                let message = "the version has no such package";
                Err(lacking(&listing, message, Caching::Never))
            }
        }
    }
}

/// The path of a provider below `/mirror`, as clients request it.
fn encoded(provider: &ProviderAddr) -> String {
    let host = provider.hostname().as_ascii();
    let (namespace, type_name) = (segment(provider.namespace()), segment(provider.type_name()));
    format!("{host}/{namespace}/{type_name}")
}
