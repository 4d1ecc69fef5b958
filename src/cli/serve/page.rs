//! Renders the pages for people, from the templates in `templates/serve`.

use handlebars::html_escape;
use serde_json::{Value, json};

use tfoci::address::Hostname;
use tfoci::authentication::{Anchor, Status};
use tfoci::serve::{HomePage, PageRenderer, ProviderListing, ServedVersion, Visitor};
use tfoci::version::Version;

use crate::cli::json;
use crate::cli::render::fill;

/// The most providers on a page. A search finds the others.
const MOST_SHOWN: usize = 500;

/// Renders the pages from templates.
pub(super) struct Pages;

const STYLE: &str = include_str!("../../../templates/serve/style.css");
const HOME: &str = include_str!("../../../templates/serve/home.html.hbs");
const INSTALLATION: &str = include_str!("../../../templates/serve/installation.tfrc.hbs");
const CREDENTIALS: &str = include_str!("../../../templates/serve/credentials.html.hbs");
const HOST: &str = include_str!("../../../templates/serve/host.html.hbs");
const PROVIDER: &str = include_str!("../../../templates/serve/provider.html.hbs");

impl PageRenderer for Pages {
    fn home(&self, visitor: &Visitor, home: &HomePage) -> String {
        let host = visitor.provider_host.as_ref();
        let shown = home.providers.iter().take(MOST_SHOWN);
        let providers: Vec<_> = shown
            .map(|(provider, listing)| {
                json!({
                    "address": provider.to_string(),
                    "path": provider.to_ascii(),
                    // The counts, if a client has requested the provider.
                    "known": listing.as_deref().map(version_counts),
                })
            })
            .collect();
        let view = json!({
            "style": STYLE,
            "title": format!("Providers at {}", visitor.url),
            "url": visitor.url,
            "token_hosts": token_hosts(visitor.needs_token, Some(&visitor.url), host),
            "direct": direct(host),
            "provider_host": host.map(ToString::to_string),
            "foreign_host": foreign(host, &visitor.url),
            "may_list": home.may_list,
            "is_store_unreachable": home.is_store_unreachable,
            "search": home.search,
            "count": home.providers.len(),
            "is_cut": home.providers.len() > MOST_SHOWN,
            "has_unread": providers.iter().any(|line| line["known"].is_null()),
            "providers": providers,
        });
        render(HOME, &view)
    }

    fn provider(&self, visitor: &Visitor, listing: &ProviderListing, is_stale: bool) -> String {
        let provider = &listing.provider;
        let host = visitor.provider_host.as_ref();
        let versions = listing.versions.iter().rev();
        let versions = versions.map(|(version, served)| version_line(version, served));
        let hidden = listing.hidden.iter().rev().map(|(version, problem)| {
            json!({"version": version.to_string(), "reason": json::sentence(&**problem)})
        });
        // Each with whether it could not be mirrored lately.
        let offered = listing.offered.iter().rev().map(|version| {
            json!({"version": version.to_string(), "has_failed": listing.failed.contains(version)})
        });
        let is_here = host == Some(provider.hostname());
        let is_origin = is_here && listing.signed().next().is_some();
        let has_mirror_only = listing.versions.values().any(|served| !served.is_signed());
        let newest = match is_origin {
            true => listing.signed().max(),
            false => listing.installable().max(),
        };
        let needs_mirror = !is_origin || has_mirror_only;
        let mirror = needs_mirror.then_some(visitor.url.as_str());
        let view = json!({
            "style": STYLE,
            "title": provider.to_string(),
            "address": provider.to_string(),
            "url": visitor.url,
            "direct": direct(host),
            "name": provider.type_name(),
            // Clients cannot install providers whose host has a port from a network mirror.
            "has_port": provider.hostname().has_port(),
            "source": provider.to_string(),
            "constraint": newest.map(ToString::to_string).unwrap_or_default(),
            "is_usable": listing.installable().next().is_some(),
            // Whether the provider registry of this server lists it.
            "is_origin": is_origin,
            "foreign_host": foreign(host, &visitor.url),
            // Whether that registry does not list it because it has no signed version.
            "is_unsigned_here": is_here && !is_origin && has_mirror_only,
            "has_mirror_only": has_mirror_only,
            "needs_mirror": needs_mirror,
            "token_hosts": token_hosts(visitor.needs_token, mirror, host.filter(|_| is_origin)),
            "is_stale": is_stale,
            "is_origin_unreachable": listing.is_origin_unreachable,
            "versions": versions.collect::<Vec<_>>(),
            "hidden": hidden.collect::<Vec<_>>(),
            "offered": offered.collect::<Vec<_>>(),
        });
        render(PROVIDER, &view)
    }
}

fn version_line(version: &Version, served: &ServedVersion) -> Value {
    let authentication = &served.authentication;
    let (tone, explanation) = meaning(authentication.status, authentication.anchor);
    let platforms = served.packages.iter().map(|package| {
        json!({
            "platform": package.platform.to_string(),
            "size": indicatif::HumanBytes(package.expected.size).to_string(),
            "digest": package.expected.digest.to_string(),
        })
    });
    json!({
        "version": version.to_string(),
        "tone": tone,
        "explanation": explanation,
        "mirror_only": !served.is_signed(),
        "status": authentication.to_string(),
        "protocols": served.protocols.join(", "),
        "assumed": !served.are_protocols_known,
        "platforms": platforms.collect::<Vec<_>>(),
    })
}

/// The hosts that clients send the token of this server to: the host of the network mirror's URL, and the host of the provider registry. None
/// if they need no token.
fn token_hosts(needs_token: bool, mirror: Option<&str>, origin: Option<&Hostname>) -> Vec<String> {
    if !needs_token {
        return Vec::new();
    }
    let origin = origin.map(ToString::to_string);
    let mut hosts: Vec<_> = mirror.map(host).into_iter().collect();
    hosts.extend(origin.filter(|origin| !hosts.contains(origin)));
    hosts
}

/// The host of a URL, with its port, as clients write it in their configuration.
fn host(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split('/').next().unwrap_or(rest);
    let hostname = Hostname::from_ascii(host);
    hostname.map_or_else(|_| host.to_owned(), |hostname| hostname.to_string())
}

/// A host with a port. Clients refuse to install its providers from a network mirror.
fn direct(host: Option<&Hostname>) -> Option<String> {
    Some(host?.to_string()).filter(|_| host.is_some_and(Hostname::has_port))
}

/// The host of the provider registry, if it is another one than that of the server's URL. Perhaps it does not lead here.
fn foreign(provider_host: Option<&Hostname>, url: &str) -> Option<String> {
    let provider_host = provider_host.map(ToString::to_string);
    provider_host.filter(|name| *name != host(url))
}

fn version_counts(listing: &ProviderListing) -> Value {
    json!({
        "newest": listing.installable().max().map(ToString::to_string),
        "versions": listing.installable().count(),
        "hidden": listing.hidden.len(),
    })
}

/// The colour and the explanation of a status.
fn meaning(status: Status, anchor: Option<Anchor>) -> (&'static str, &'static str) {
    match (status, anchor) {
        (Status::Signed, Some(Anchor::Pinned)) => (
            "good",
            "The packages are signed by a key that this server trusts.",
        ),
        (Status::Signed, _) => (
            "fair",
            "The packages are signed. The key is stored beside them, so write access to the store is enough to replace both.",
        ),
        (Status::Checksum, _) => (
            "weak",
            "A list of checksums names the packages, but the list has no signature.",
        ),
        (Status::Unverified, _) => (
            "weak",
            "The packages have no signature, so their author is unknown.",
        ),
    }
}

fn render(template: &str, view: &Value) -> String {
    let partials = [
        ("installation", INSTALLATION),
        ("credentials", CREDENTIALS),
        ("host", HOST),
    ];
    fill(template, &partials, html_escape, view)
}
