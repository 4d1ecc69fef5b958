//! Renders the pages for people, from the templates in `templates/serve`.

use handlebars::html_escape;
use serde::Serialize;

use tfoci::address::Hostname;
use tfoci::authentication::{Anchor, Status};
use tfoci::serve::{HomePage, PageRenderer, ProviderListing, ProviderPage, ServedVersion};
use tfoci::version::Version;

use crate::cli::json;
use crate::cli::render::fill;

/// The most providers on a page. A search finds the others.
const MOST_SHOWN: usize = 500;

/// Renders the pages from templates.
pub(super) struct Pages;

#[derive(Serialize)]
struct HomePageView<'a> {
    style: &'static str,
    title: String,
    url: &'a str,
    /// The hosts that clients send the token to; none if they need no token.
    token_hosts: Vec<String>,
    /// The host of the provider registry, if it has a port: clients cannot install its providers from a network mirror.
    direct: Option<String>,
    provider_host: Option<String>,
    foreign_host: Option<String>,
    may_list: bool,
    is_store_unreachable: bool,
    search: &'a str,
    count: usize,
    is_cut: bool,
    /// Whether the versions of a shown provider are not read yet.
    has_unread: bool,
    providers: Vec<ProviderLine>,
}

#[derive(Serialize)]
struct ProviderLine {
    address: String,
    path: String,
    /// The counts, if a client has requested the provider.
    known: Option<VersionCounts>,
}

#[derive(Serialize)]
struct VersionCounts {
    newest: Option<String>,
    versions: usize,
    hidden: usize,
}

#[derive(Serialize)]
struct ProviderPageView<'a> {
    style: &'static str,
    title: String,
    address: String,
    url: &'a str,
    /// The host of the provider registry, if it has a port: clients cannot install its providers from a network mirror.
    direct: Option<String>,
    /// The local name in a configuration.
    name: &'a str,
    /// Whether the host has a port, so that clients cannot install the provider from a network mirror.
    has_port: bool,
    source: String,
    constraint: String,
    /// Whether clients can install a version.
    is_usable: bool,
    /// Whether the provider registry of this server lists it.
    is_origin: bool,
    foreign_host: Option<String>,
    /// Whether the provider is on the host of that provider registry, which does not list it because it has no signed version.
    is_unsigned_here: bool,
    /// Whether some versions are on the network mirror only.
    has_mirror_only: bool,
    /// Whether some versions need the network mirror.
    needs_mirror: bool,
    /// The hosts that clients send the token to; none if they need no token.
    token_hosts: Vec<String>,
    is_stale: bool,
    is_origin_unreachable: bool,
    versions: Vec<VersionLine>,
    hidden: Vec<HiddenLine>,
    /// The versions that are mirrored when a client requests them.
    offered: Vec<OfferedLine>,
}

#[derive(Serialize)]
struct OfferedLine {
    version: String,
    /// Whether it could not be mirrored lately.
    has_failed: bool,
}

#[derive(Serialize)]
struct VersionLine {
    version: String,
    tone: &'static str,
    status: String,
    explanation: &'static str,
    mirror_only: bool,
    protocols: String,
    assumed: bool,
    platforms: Vec<PlatformLine>,
}

#[derive(Serialize)]
struct PlatformLine {
    platform: String,
    size: String,
    digest: String,
}

#[derive(Serialize)]
struct HiddenLine {
    version: String,
    reason: String,
}

const STYLE: &str = include_str!("../../../templates/serve/style.css");
const HOME: &str = include_str!("../../../templates/serve/home.html.hbs");
const INSTALLATION: &str = include_str!("../../../templates/serve/installation.tfrc.hbs");
const CREDENTIALS: &str = include_str!("../../../templates/serve/credentials.html.hbs");
const HOST: &str = include_str!("../../../templates/serve/host.html.hbs");
const PROVIDER: &str = include_str!("../../../templates/serve/provider.html.hbs");

impl PageRenderer for Pages {
    fn home(&self, home: &HomePage<'_>) -> String {
        let shown = home.providers.iter().take(MOST_SHOWN);
        let providers = shown.map(|(provider, listing)| ProviderLine {
            address: provider.to_string(),
            path: provider.to_ascii(),
            known: listing.as_deref().map(version_counts),
        });
        let providers: Vec<_> = providers.collect();
        render(
            HOME,
            &HomePageView {
                style: STYLE,
                title: format!("Providers at {}", home.url),
                url: &home.url,
                token_hosts: match home.needs_token {
                    true => token_hosts(Some(&home.url), home.provider_host.as_ref()),
                    false => Vec::new(),
                },
                direct: direct(home.provider_host.as_ref()),
                provider_host: home.provider_host.as_ref().map(ToString::to_string),
                foreign_host: foreign(home.provider_host.as_ref(), &home.url),
                may_list: home.may_list,
                is_store_unreachable: home.is_store_unreachable,
                search: &home.search,
                count: home.providers.len(),
                is_cut: home.providers.len() > MOST_SHOWN,
                has_unread: providers.iter().any(|line| line.known.is_none()),
                providers,
            },
        )
    }

    fn provider(&self, page: &ProviderPage<'_>) -> String {
        let listing = page.listing;
        let provider = &listing.provider;
        let versions = listing.versions.iter().rev();
        let versions = versions.map(|(version, served)| version_line(version, served));
        let hidden = listing.hidden.iter().rev();
        let hidden = hidden.map(|(version, hidden)| HiddenLine {
            version: version.to_string(),
            reason: json::sentence(&*hidden.problem),
        });
        let offered = listing.offered.iter().rev().map(|version| OfferedLine {
            version: version.to_string(),
            has_failed: page.failed.contains(version),
        });
        let is_here = page.provider_host.as_ref() == Some(provider.hostname());
        let is_origin = is_here && listing.signed().next().is_some();
        let has_mirror_only = listing.versions.values().any(|served| !served.is_signed());
        let newest = match is_origin {
            true => listing.signed().max(),
            false => listing.installable().max(),
        };
        let constraint = newest.map(ToString::to_string).unwrap_or_default();
        let needs_mirror = !is_origin || has_mirror_only;
        let mirror = needs_mirror.then_some(page.url.as_str());
        let origin = page.provider_host.as_ref().filter(|_| is_origin);
        render(
            PROVIDER,
            &ProviderPageView {
                style: STYLE,
                title: provider.to_string(),
                address: provider.to_string(),
                url: &page.url,
                direct: direct(page.provider_host.as_ref()),
                name: provider.type_name(),
                has_port: provider.hostname().has_port(),
                source: provider.to_string(),
                constraint,
                is_usable: listing.installable().next().is_some(),
                is_origin,
                foreign_host: foreign(page.provider_host.as_ref(), &page.url),
                is_unsigned_here: is_here && !is_origin && has_mirror_only,
                has_mirror_only,
                needs_mirror,
                token_hosts: match page.needs_token {
                    true => token_hosts(mirror, origin),
                    false => Vec::new(),
                },
                is_stale: page.is_stale,
                is_origin_unreachable: listing.is_origin_unreachable,
                versions: versions.collect(),
                hidden: hidden.collect(),
                offered: offered.collect(),
            },
        )
    }
}

fn version_line(version: &Version, served: &ServedVersion) -> VersionLine {
    let authentication = &served.authentication;
    let (tone, explanation) = meaning(authentication.status, authentication.anchor);
    let platforms = served.packages.iter().map(|package| PlatformLine {
        platform: package.platform.to_string(),
        size: indicatif::HumanBytes(package.expected.size).to_string(),
        digest: package.expected.digest.to_string(),
    });
    VersionLine {
        version: version.to_string(),
        tone,
        explanation,
        mirror_only: !served.is_signed(),
        status: authentication.to_string(),
        protocols: served.protocols.join(", "),
        assumed: !served.are_protocols_known,
        platforms: platforms.collect(),
    }
}

/// The hosts that clients send the token of this server to: the host of the network mirror's URL, and the host of the provider registry.
fn token_hosts(mirror: Option<&str>, origin: Option<&Hostname>) -> Vec<String> {
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
    let host = host.filter(|host| host.has_port());
    host.map(ToString::to_string)
}

/// The host of the provider registry, if it is another one than that of the server's URL. Perhaps it does not lead here.
fn foreign(provider_host: Option<&Hostname>, url: &str) -> Option<String> {
    let provider_host = provider_host.map(ToString::to_string);
    provider_host.filter(|name| *name != host(url))
}

fn version_counts(listing: &ProviderListing) -> VersionCounts {
    VersionCounts {
        newest: listing.installable().max().map(ToString::to_string),
        versions: listing.installable().count(),
        hidden: listing.hidden.len(),
    }
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

fn render(template: &str, view: &impl Serialize) -> String {
    let partials = [
        ("installation", INSTALLATION),
        ("credentials", CREDENTIALS),
        ("host", HOST),
    ];
    fill(template, &partials, html_escape, view)
}
