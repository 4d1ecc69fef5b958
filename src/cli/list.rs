//! `tfoci list`.

use clap::Args;

use tfoci::outcome::Failure;

use super::Ending;
use super::error::CommandError;
use super::json;
use super::session::Session;

const EXAMPLES: &str = "\
Examples:
  tfoci list --from oci-layout:mirror
  tfoci list --from 'registry.internal/tofu/${hostname}/${namespace}/${type}' \\
    --ca-file ca.pem";

/// List the providers in a store
///
/// tfoci reads the list of a registry's repositories (`/v2/_catalog`), and finds the provider of each by the template. Some registries do
/// not list repositories, or not for every user. The template may consist of text, `hostname`, `namespace` and `type` only. tfoci skips
/// repositories that do not belong to exactly one provider, and prints their number and one of them.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The store: oci-layout:DIR, or a registry's repository template
    #[arg(long, value_name = "STORE")]
    from: Option<String>,
}

pub(super) async fn run(arguments: Arguments, session: &Session) -> Result<Ending, CommandError> {
    let endpoint = session.endpoint(&session.store(arguments.from, "--from")?)?;
    if endpoint.is_exact() {
        return Err(CommandError::one_repository(&endpoint));
    }
    let registry = session.registry(&session.http()?);
    let store = session.open_store(&endpoint, registry);
    let store = store.map_err(Failure::from)?;
    let host = session.default_host();
    let everything = session.everything(&endpoint, &store, host).await?;
    everything.note(&session.printer);
    everything.warn(&session.printer);
    let providers = everything.listed.providers;
    for provider in &providers {
        session.printer.result(&provider.to_string());
    }
    session.printer.document(&json::List {
        schema: json::SCHEMA,
        store: endpoint.to_string(),
        providers: &providers,
    });
    Ok(Ending::Done)
}
