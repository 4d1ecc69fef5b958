//! Renders the pages for people, from the templates in `templates/serve`.

use handlebars::Handlebars;
use serde::Serialize;

use tfoci::authentication::{Anchor, Status};
use tfoci::serve::{Home, Listing, Page, ProviderPage};

use crate::cli::json;

/// The pages.
pub(super) struct Pages;

#[derive(Serialize)]
struct HomeView<'a> {
    style: &'static str,
    title: String,
    url: &'a str,
    registry_host: Option<String>,
    needs_token: bool,
    may_list: bool,
    search: &'a str,
    count: usize,
    providers: Vec<ProviderLine>,
}

#[derive(Serialize)]
struct ProviderLine {
    address: String,
    path: String,
    newest: Option<String>,
    versions: usize,
    hidden: usize,
}

#[derive(Serialize)]
struct ProviderView<'a> {
    style: &'static str,
    title: String,
    address: String,
    url: &'a str,
    source: String,
    constraint: String,
    is_registry: bool,
    needs_token: bool,
    is_stale: bool,
    versions: Vec<VersionLine>,
    hidden: Vec<HiddenLine>,
}

#[derive(Serialize)]
struct VersionLine {
    version: String,
    tone: &'static str,
    status: String,
    explanation: &'static str,
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
const PROVIDER: &str = include_str!("../../../templates/serve/provider.html.hbs");

impl Page for Pages {
    fn home(&self, home: &Home<'_>) -> String {
        let providers = home.listings.iter().map(|listing| provider_line(listing));
        let providers: Vec<_> = providers.collect();
        render(
            HOME,
            &HomeView {
                style: STYLE,
                title: format!("Providers at {}", home.url),
                url: &home.url,
                registry_host: home.registry_host.as_ref().map(ToString::to_string),
                needs_token: home.needs_token,
                may_list: home.may_list,
                search: &home.search,
                count: providers.len(),
                providers,
            },
        )
    }

    fn provider(&self, page: &ProviderPage<'_>) -> String {
        let listing = page.listing;
        let provider = &listing.provider;
        let versions = listing.versions.iter().rev();
        let versions = versions.map(|(version, served)| {
            let authentication = &served.authentication;
            let (tone, explanation) = meaning(authentication.status, authentication.anchor);
            VersionLine {
                version: version.to_string(),
                tone,
                explanation,
                status: authentication.to_string(),
                protocols: served.protocols.join(", "),
                assumed: !served.are_protocols_known,
                platforms: served
                    .packages
                    .iter()
                    .map(|package| PlatformLine {
                        platform: package.platform.to_string(),
                        size: indicatif::HumanBytes(package.expected.size).to_string(),
                        digest: package.expected.digest.to_string(),
                    })
                    .collect(),
            }
        });
        let hidden = listing.hidden.iter().rev();
        let hidden = hidden.map(|(version, hidden)| HiddenLine {
            version: version.to_string(),
            reason: json::sentence(&*hidden.problem),
        });
        let newest = listing.versions.keys().next_back();
        let constraint = newest.map(ToString::to_string).unwrap_or_default();
        render(
            PROVIDER,
            &ProviderView {
                style: STYLE,
                title: provider.to_string(),
                address: provider.to_string(),
                url: &page.url,
                source: provider.to_string(),
                constraint,
                is_registry: page.registry_host.as_ref() == Some(provider.hostname()),
                needs_token: page.needs_token,
                is_stale: page.is_stale,
                versions: versions.collect(),
                hidden: hidden.collect(),
            },
        )
    }
}

fn provider_line(listing: &Listing) -> ProviderLine {
    ProviderLine {
        address: listing.provider.to_string(),
        path: listing.provider.to_ascii(),
        newest: listing.versions.keys().next_back().map(ToString::to_string),
        versions: listing.versions.len(),
        hidden: listing.hidden.len(),
    }
}

/// The colour of a status, and what it means in words.
fn meaning(status: Status, anchor: Option<Anchor>) -> (&'static str, &'static str) {
    match (status, anchor) {
        (Status::Signed, Some(Anchor::Pinned)) => (
            "good",
            "A key that this server was told to trust has signed the packages.",
        ),
        (Status::Signed, _) => (
            "fair",
            "The packages are signed. The key is stored beside them, so whoever can write to the store could have replaced both.",
        ),
        (Status::Checksum, _) => (
            "weak",
            "A list of checksums has the packages, and nobody signed the list.",
        ),
        (Status::Unverified, _) => ("weak", "Nothing proves who made the packages."),
    }
}

fn render(template: &str, view: &impl Serialize) -> String {
    let mut handlebars = Handlebars::new();
    handlebars.set_strict_mode(true);
    // The templates are compiled into the program, and tests render them, so this does not fail.
    handlebars
        .render_template(template, view)
        .unwrap_or_else(|error| error.to_string())
}
