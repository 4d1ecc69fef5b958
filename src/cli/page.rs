//! What the pages of `serve` and `site` have in common: their options, and how they show a version, from the templates in `templates/serve`.

use std::collections::BTreeMap;

use clap::Args;
use handlebars::html_escape;
use indicatif::HumanBytes;
use serde_json::{Value, json};
use url::Url;

use tfoci::address::ProviderAddr;
use tfoci::authentication::{Anchor, Authentication, Status};
use tfoci::error::printable;
use tfoci::fingerprint::Fingerprint;
use tfoci::platform::Platform;

use super::help::home;
use super::public_url::public_url;
use super::render::fill;
use tfoci::date::date;

/// The parts that templates include by their names.
macro_rules! partials {
    ($($name:literal)*) => {
        [$(($name, include_str!(concat!("../../templates/serve/", $name, ".html.hbs")))),*]
    };
}

/// The title of a page whose operator set none.
const TITLE: &str = "Providers for OpenTofu and Terraform";

#[derive(Args, Clone)]
#[command(next_help_heading = "Page")]
pub(super) struct PageOptions {
    /// The title of the page [default: Providers for OpenTofu and Terraform]
    #[arg(long, value_name = "TEXT", hide_short_help = true)]
    title: Option<String>,
    /// A link at the top of the page, for example to your documentation
    #[arg(long, value_name = "URL", value_parser = link, hide_short_help = true)]
    link: Option<String>,
}

impl PageOptions {
    /// What every template shows.
    pub(super) fn view(&self) -> Value {
        let title = self.title.as_deref().map(printable);
        json!({
            "style": include_str!("../../templates/serve/style.css"),
            "title": title.as_deref().unwrap_or(TITLE),
            "link": self.link,
            "tfoci": env!("CARGO_PKG_VERSION"),
            "home": home(),
        })
    }
}

/// Fills a template.
pub(super) fn render(template: &str, view: &Value) -> String {
    let partials =
        partials!["head" "address" "client" "facts" "footer" "installation" "credentials" "host"];
    fill(template, &partials, html_escape, view)
}

/// The parts of an address, between which a line may break.
pub(super) fn address(provider: &ProviderAddr) -> Value {
    json!({
        "path": provider.to_ascii(),
        "host": provider.hostname().to_string(),
        "namespace": provider.namespace(),
        "name": provider.type_name(),
    })
}

/// Who signed a version, in words, and the date of the signature. The name of a key says something only if the key is pinned.
pub(super) fn signature(authentication: &Authentication) -> Value {
    let key = authentication.fingerprint.as_ref();
    let key_id = key.map(Fingerprint::key_id).unwrap_or_default();
    let user_id = authentication.signer.as_deref();
    let name = user_id.and_then(|user_id| user_id.split(" <").next());
    let name = name.unwrap_or(key_id);
    let (tone, words) = match (authentication.status, authentication.anchor) {
        (Status::Signed, Some(Anchor::Pinned)) => ("good", format!("verified: {name}")),
        (Status::Signed, _) => ("fair", format!("signed, not pinned: key {key_id}")),
        (Status::Checksum | Status::Unverified, _) => ("weak", "not signed".to_owned()),
    };
    let date = authentication.signed_at.map(date);
    json!({"tone": tone, "words": words, "date": date})
}

/// A chip for each operating system, with its architectures; and the size of the largest package.
pub(super) fn packages<'a>(
    platforms: impl IntoIterator<Item = &'a Platform>,
    largest: Option<u64>,
) -> Value {
    let mut chips = BTreeMap::<&str, Vec<&str>>::new();
    for platform in platforms {
        let arches = chips.entry(platform.os()).or_default();
        arches.push(platform.arch());
    }
    let chips = chips.into_iter();
    let chips = chips.map(|(os, arches)| json!({"os": os, "arches": arches.join(" ")}));
    json!({
        "chips": chips.collect::<Vec<_>>(),
        "size": largest.map(|size| HumanBytes(size).to_string()),
    })
}

/// A URL of http or https, in its canonical form, without anything that does something where it is shown.
fn link(text: &str) -> Result<String, String> {
    let bare = text.split(['?', '#']).next().unwrap_or_default();
    public_url(bare, &["https", "http"])?;
    Url::parse(text).map_or_else(|error| Err(error.to_string()), |url| Ok(url.into()))
}
