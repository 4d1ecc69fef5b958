//! `tfoci list`.

mod inventory;

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::Ending;
use super::arguments::ReadTrust;
use super::error::CommandError;
use super::json::SCHEMA;
use super::session::Session;

const EXAMPLES: &str = "\
Examples:
  tfoci list --from oci-layout:mirror
  tfoci list --long --from oci-layout:mirror --trust trust.toml
  tfoci list --from 'registry.internal/tofu/${hostname}/${namespace}/${type}' \\
    --ca-file ca.pem";

/// List the providers in a store
///
/// tfoci reads the list of a registry's repositories (`/v2/_catalog`), and finds the provider of each by the template. Some registries do
/// not list repositories, or not for every user. The template may consist of text, `hostname`, `namespace` and `type` only. tfoci skips
/// repositories that do not belong to exactly one provider, and prints their number and one of them.
///
/// With `--long`, tfoci reads each index, its platform manifests and its evidence: versions, platforms, sizes, who signed, and problems. For one
/// provider, it prints a line for each version. `--format csv` has a line for each version, too.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// With `--long` or `--unlocked`, only these providers, with constraints on their versions
    #[arg(value_name = "ADDR[@CONSTRAINTS]")]
    providers: Vec<String>,
    /// The store: oci-layout:DIR, or a registry's repository template
    #[arg(long, value_name = "STORE")]
    from: Option<String>,
    /// Print versions, platforms, sizes, who signed, and problems
    #[arg(long)]
    long: bool,
    /// Only versions that no lock file in this directory or below it names; may be repeated
    ///
    /// Hidden directories are left out. Without `--long`, tfoci prints `ADDR@VERSION`, and reads tags only.
    #[arg(long, value_name = "DIR")]
    unlocked: Vec<PathBuf>,
    /// The providers in this mirror file, for a store that cannot list its own
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    trust: ReadTrust,
}

impl Arguments {
    /// Whether more than the names of providers is asked for.
    pub(super) fn is_inventory(&self) -> bool {
        self.long || !self.unlocked.is_empty()
    }
}

pub(super) async fn run(arguments: Arguments, session: &Session) -> Result<Ending, CommandError> {
    if arguments.is_inventory() {
        return inventory::run(arguments, session).await;
    }
    if !arguments.providers.is_empty() || arguments.file.is_some() {
        return Err(CommandError::usage(
            "the list of providers takes none: add `--long` or `--unlocked DIR`",
        ));
    }
    let endpoint = session.endpoint(&session.store(arguments.from, "--from")?)?;
    if endpoint.is_exact() {
        return Err(CommandError::one_repository(&endpoint));
    }
    let registry = session.registry(&session.http()?);
    let store = session.open_store(&endpoint, registry)?;
    let host = session.default_host();
    let everything = session.everything(&endpoint, &store, host).await?;
    everything.note(&session.printer);
    everything.warn(&session.printer);
    let providers = everything.listed.providers;
    for provider in &providers {
        session.printer.result(&provider.to_string());
    }
    session.printer.document(&json!({
        "schema": SCHEMA,
        "store": endpoint.to_string(),
        "providers": providers,
    }));
    Ok(Ending::Done)
}
