//! `tfoci cli-config`: the block of a CLI configuration with which clients install from a mirror.
//!
//! This file decides from the arguments which kind of mirror it is, and refuses kinds that the client cannot read. [`render`](super::render)
//! writes the block. `--check` is the part of [`doctor`](super::doctor) that sends no request.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use tfoci::address::ProviderPattern;
use tfoci::error::printable;
use tfoci::lockfile::Client;
use tfoci::store::{self, Endpoint};

use super::Ending;
use super::doctor;
use super::error::CommandError;
use super::json::SCHEMA;
use super::public_url::mirror_url;
use super::render::{Mirror, ProviderInstallationView};
use super::session::Session;
use super::session::place::{into_store, is_store};

const EXAMPLES: &str = "\
Examples:
  tfoci cli-config 'example.com/acme/*' \\
    --from 'ghcr.io/acme/providers/${hostname}/${namespace}/${type}'
  tfoci cli-config hashicorp/random --client terraform --into providers
  tfoci cli-config --check";

/// Print the CLI configuration with which clients install from a mirror, or check theirs
///
/// The block `provider_installation` names the providers that come from the mirror, and leaves all others to their origins. A pattern is an
/// address, whose last parts may be `*`. OpenTofu reads an OCI registry itself. Terraform needs a directory that `tfoci install` wrote
/// (`--into`), or a network mirror (`--url`).
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The providers that come from the mirror [default: all]
    #[arg(value_name = "PATTERN", conflicts_with = "check")]
    providers: Vec<String>,
    /// The store, as a repository template or oci-layout:DIR
    #[arg(long, value_name = "STORE", conflicts_with_all = ["into", "url", "check"])]
    from: Option<String>,
    /// The directory of a filesystem mirror, which `tfoci install` wrote
    #[arg(long, value_name = "DIR", conflicts_with_all = ["url", "check"])]
    into: Option<PathBuf>,
    /// The https URL of a network mirror
    #[arg(long, value_name = "URL", value_parser = mirror_url, conflicts_with = "check")]
    url: Option<String>,
    /// The client that reads it [default: tofu]
    ///
    /// For terraform, `NAMESPACE/TYPE` is on registry.terraform.io. If that is the default host, terraform is the default here, too.
    #[arg(long, value_enum)]
    client: Option<Client>,
    /// Check the configuration that the client uses
    #[arg(long)]
    check: bool,
}

/// Prints the block for a mirror; with `--check`, the traps in the client's configuration.
pub(super) fn run(arguments: &Arguments, session: &Session) -> Result<Ending, CommandError> {
    let client = arguments.client.or_else(|| session.implied_client());
    let client = client.unwrap_or(Client::OpenTofu);
    if arguments.check {
        return doctor::check(client, session);
    }
    let host = session.default_host_of(client);
    let patterns = arguments.providers.iter();
    let patterns = patterns.map(|text| ProviderPattern::parse(text, &host));
    let patterns = patterns.collect::<Result<Vec<_>, _>>()?;
    let mirror = mirror(arguments, client, &patterns, session)?;
    let method = mirror.method();
    let include = patterns.iter().map(ToString::to_string).collect();
    let view = ProviderInstallationView::new(mirror, include, None);
    let configuration = view.render();
    for line in configuration.lines() {
        session.printer.result(line);
    }
    session.printer.document(&json!({
        "schema": SCHEMA,
        "client": client.program(),
        "method": method,
        "include": view.include(),
        "configuration": configuration,
    }));
    Ok(Ending::Done)
}

fn mirror(
    arguments: &Arguments,
    client: Client,
    include: &[ProviderPattern],
    session: &Session,
) -> Result<Mirror, CommandError> {
    if let Some(directory) = &arguments.into {
        if is_store(directory) {
            let expected = "DIR, the directory of a filesystem mirror: `tfoci install` writes it";
            return Err(into_store(directory, expected));
        }
        return Ok(Mirror::directory(directory));
    }
    if let Some(url) = arguments.url.clone() {
        return Ok(Mirror::Network { url });
    }
    let from = session.store(arguments.from.clone(), "--from")?;
    let endpoint = session.endpoint(&from)?;
    if client == Client::Terraform {
        return Err(CommandError::usage(
            "terraform cannot install from an OCI registry\n  expected `--into DIR` for a filesystem mirror, `--url URL` for a network mirror, or `--client tofu`",
        ));
    }
    oci_mirror(&endpoint, include, session)
}

/// A registry that has all these providers.
fn oci_mirror(
    endpoint: &Endpoint,
    include: &[ProviderPattern],
    session: &Session,
) -> Result<Mirror, CommandError> {
    let Some(template) = endpoint.template() else {
        let text = printable(&endpoint.to_string());
        return Err(CommandError::usage(format!(
            "clients cannot install from {text}\n  expected a registry, or `--into DIR` or `--url URL`"
        ))
        .advising(format!(
            "`tfoci install --from {text} --into DIR` writes a filesystem mirror"
        )));
    };
    template
        .check_patterns(include)
        .map_err(store::endpoint::AddressError::from)?;
    for provider in include.iter().filter_map(ProviderPattern::provider) {
        endpoint.repository(&provider)?;
    }
    session.warn_of_shared(endpoint);
    let template = template.hcl().to_owned();
    Ok(Mirror::Oci { template })
}
