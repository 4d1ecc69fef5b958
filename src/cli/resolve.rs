//! `tfoci resolve`.

use clap::Args;
use serde_json::json;

use super::Ending;
use super::error::CommandError;
use super::json::SCHEMA;
use super::session::Session;

const EXAMPLES: &str = "\
Examples:
  tfoci resolve example.com/acme/demo \\
    --from 'ghcr.io/acme/providers/${hostname}/${namespace}/${type}'
  tfoci resolve example.com/acme/demo \\
    --from ghcr.io/acme/providers/{hostname}/{namespace}/{type}";

/// Show the repository of a provider, and both spellings of the repository template
///
/// CLI configurations have the spelling `${...}`. Shells do not change the spelling `{...}`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The provider
    #[arg(value_name = "ADDR")]
    provider: String,
    /// The store: a registry's repository template, or oci-layout:DIR
    #[arg(long, value_name = "STORE")]
    from: Option<String>,
}

pub(super) fn run(arguments: Arguments, session: &Session) -> Result<Ending, CommandError> {
    let printer = &session.printer;
    let provider = session.provider(&arguments.provider, "resolve")?;
    let endpoint = session.endpoint(&session.store(arguments.from, "--from")?)?;
    endpoint.check(std::slice::from_ref(&provider))?;
    let repository = endpoint.repository(&provider)?;
    session.warn_of_shared(&endpoint);
    let reference = endpoint.name(&repository);
    printer.result(&reference);
    let template = endpoint.template().map(|template| {
        let (hcl, uri) = (template.hcl(), template.uri());
        printer.result(&format!("hcl  {hcl}"));
        let shown = uri.as_deref().unwrap_or("none: it has expressions");
        printer.result(&format!("uri  {shown}"));
        json!({"hcl": hcl, "uri": uri})
    });
    printer.document(&json!({
        "schema": SCHEMA,
        "provider": provider,
        "reference": reference,
        "template": template,
    }));
    Ok(Ending::Done)
}
