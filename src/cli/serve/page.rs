//! Renders the pages for people, from the templates in `templates/serve`.

use std::collections::BTreeSet;

use indicatif::HumanBytes;
use serde_json::{Value, json};
use url::Url;

use tfoci::address::Hostname;
use tfoci::authentication::{Anchor, Status};
use tfoci::error::counted;
use tfoci::serve::{HomePage, MOST_SHOWN, PageRenderer, ProviderListing};
use tfoci::serve::{ServedVersion, Visitor};
use tfoci::version::Version;

use super::settings::host_of;
use crate::cli::json;
use crate::cli::page::{PageOptions, address, packages, render, signature};

/// Renders the pages from templates.
pub(super) struct Pages(pub(super) Box<PageOptions>);

const HOME: &str = include_str!("../../../templates/serve/home.html.hbs");
const PROVIDER: &str = include_str!("../../../templates/serve/provider.html.hbs");

impl PageRenderer for Pages {
    fn home(&self, visitor: &Visitor, home: &HomePage) -> String {
        let host = visitor.provider_host.as_ref();
        let shown = home.providers.iter().take(MOST_SHOWN);
        let providers: Vec<_> = shown
            .map(|(provider, listing)| {
                let listing = listing.as_deref();
                let newest = listing.and_then(|list| list.installable().max());
                json!({
                    "address": address(provider),
                    "facts": listing.zip(newest).map(|(list, newest)| facts(list, newest)),
                    "counts": listing.map(counts),
                    "hidden": listing.is_some_and(|list| !list.hidden.is_empty()),
                })
            })
            .collect();
        let view = json!({
            "page": self.0.view(),
            "url": visitor.url,
            "token_hosts": token_hosts(visitor),
            "provider_host": host.map(ToString::to_string),
            "foreign_host": foreign(host, &visitor.url),
            "may_list": home.may_list,
            "is_store_unreachable": home.is_store_unreachable,
            "count": home.providers.len(),
            "is_cut": home.providers.len() > MOST_SHOWN,
            "providers": providers,
        });
        render(HOME, &view)
    }

    fn provider(&self, visitor: &Visitor, listing: &ProviderListing, is_stale: bool) -> String {
        let provider = &listing.provider;
        let host = visitor.provider_host.as_ref();
        let versions = listing.versions.iter().rev();
        let versions = versions.map(|(version, served)| version_line(listing, version, served));
        let hidden = listing.hidden.iter().rev().map(|(version, problem)| {
            json!({"version": version.to_string(), "reason": json::sentence(&**problem)})
        });
        let offered = listing.offered.iter().rev().map(ToString::to_string);
        let is_origin = host == Some(provider.hostname()) && listing.signed().next().is_some();
        let has_mirror_only = listing.versions.values().any(|served| !served.is_signed());
        let newest = match is_origin {
            true => listing.signed().max(),
            false => listing.installable().max(),
        };
        let view = json!({
            "page": self.0.view(),
            "address": address(provider),
            "url": visitor.url,
            "name": provider.type_name(),
            "source": provider.to_string(),
            "constraint": newest.map(ToString::to_string).unwrap_or_default(),
            "is_usable": listing.installable().next().is_some(),
            // Whether the provider registry of this server lists it.
            "is_origin": is_origin,
            "foreign_host": foreign(host, &visitor.url),
            "has_mirror_only": has_mirror_only,
            "needs_mirror": !is_origin || has_mirror_only,
            "token_hosts": token_hosts(visitor),
            "is_stale": is_stale,
            "is_origin_unreachable": listing.is_origin_unreachable,
            "count": listing.versions.len(),
            "versions": versions.collect::<Vec<_>>(),
            "hidden": hidden.collect::<Vec<_>>(),
            "offered": offered.collect::<Vec<_>>(),
        });
        render(PROVIDER, &view)
    }
}

/// How many versions there are.
fn counts(listing: &ProviderListing) -> String {
    let versions = counted(listing.installable().count(), "version");
    match listing.hidden.len() {
        0 => versions,
        hidden => format!("{versions}, {hidden} hidden"),
    }
}

/// What is shown of a version; of one that only the origin has, nothing more.
fn facts(listing: &ProviderListing, version: &Version) -> Value {
    let served = listing.versions.get(version);
    let all = served.into_iter().flat_map(|served| &served.packages);
    let sizes = all.clone().map(|package| package.expected.size);
    json!({
        "version": version.to_string(),
        "signature": served.map(|served| signature(&served.authentication)),
        "packages": packages(all.map(|package| &package.platform), sizes.max()),
    })
}

fn version_line(listing: &ProviderListing, version: &Version, served: &ServedVersion) -> Value {
    let authentication = &served.authentication;
    let rows = served.packages.iter().map(|package| {
        json!({
            "platform": package.platform.to_string(),
            "size": HumanBytes(package.expected.size).to_string(),
            "digest": package.expected.digest.to_string(),
        })
    });
    json!({
        "facts": facts(listing, version),
        "rows": rows.collect::<Vec<_>>(),
        "is_pinned": authentication.anchor == Some(Anchor::Pinned),
        "has_checksums": authentication.status == Status::Checksum,
        "key": authentication.fingerprint.as_ref().map(ToString::to_string),
        "signer": authentication.signer,
        "mirror_only": !served.is_signed(),
        "status": authentication.to_string(),
        "protocols": served.protocols.join(", "),
        "assumed": !served.are_protocols_known,
    })
}

/// The hosts that clients send the token of this server to: the host of the network mirror's URL, and the host of the provider registry. None
/// if they need no token.
fn token_hosts(visitor: &Visitor) -> BTreeSet<String> {
    if !visitor.needs_token {
        return BTreeSet::new();
    }
    let registry = visitor.provider_host.iter().map(ToString::to_string);
    registry.chain([host(&visitor.url)]).collect()
}

/// The host of a URL, with its port, as clients write it in their configuration.
fn host(url: &str) -> String {
    let host = Url::parse(url).ok().as_ref().and_then(host_of);
    host.map_or_else(|| url.to_owned(), |host| host.to_string())
}

/// The host of the provider registry, if it is another one than that of the server's URL. Perhaps it does not lead here.
fn foreign(provider_host: Option<&Hostname>, url: &str) -> Option<String> {
    let provider_host = provider_host.map(ToString::to_string);
    provider_host.filter(|name| *name != host(url))
}
