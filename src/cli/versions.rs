//! `tfoci versions`.

use clap::Args;
use serde_json::{Value, json};

use tfoci::address::ProviderAddr;
use tfoci::event::Subject;
use tfoci::examine::Versions;
use tfoci::outcome::Problem;

use super::Ending;
use super::error::CommandError;
use super::json::{SCHEMA, object};
use super::session::Session;
use super::session::place::{Places, StoreOrSource, is_source};

const EXAMPLES: &str = "\
Examples:
  tfoci versions example.com/acme/demo --from oci-layout:mirror
  tfoci versions example.com/acme/demo --from oci-layout:mirror --all
  tfoci versions example.com/acme/demo \\
    --from 'ghcr.io/acme/providers/${hostname}/${namespace}/${type}'";

/// List the versions of a provider in a store or at its origin
///
/// tfoci lists the versions that clients see, oldest first: the tags that are versions. It does not read them: `tfoci verify` says which ones
/// clients can install, and which ones their evidence proves.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The provider
    #[arg(value_name = "ADDR")]
    provider: String,
    /// The store: oci-layout:DIR, or a registry's repository template; or `origin`
    ///
    /// network-mirror:URL and filesystem-mirror:DIR are read too.
    #[arg(long, value_name = "STORE")]
    from: Option<String>,
    /// Also list the tags that are no versions, and why
    #[arg(long)]
    all: bool,
}

pub(super) async fn run(arguments: Arguments, session: &Session) -> Result<Ending, CommandError> {
    let provider = session.provider(&arguments.provider, "versions")?;
    let from = session.store(arguments.from, "--from")?;
    let (place, found) = match is_source(&from) {
        true => at_source(&from, &provider, session).await?,
        false => {
            let stored = session.open_provider(&from, &provider)?;
            (stored.repo.to_string(), stored.versions().await?)
        }
    };
    let Versions { versions, ignored } = found;
    let printer = &session.printer;
    if versions.is_empty() {
        printer.warning(&format!("{provider}: {place} has no versions"));
    }
    for version in &versions {
        printer.result(&version.to_string());
    }
    let ignored = ignored
        .iter()
        .filter(|_| arguments.all)
        .map(|(tag, reason)| {
            let reason = reason.to_string();
            printer.result(&format!("{tag}\t{reason}"));
            json!({"tag": tag, "reason": reason})
        });
    let ignored: Vec<Value> = ignored.collect();
    printer.document(&object([json!({
        "schema": SCHEMA,
        "provider": provider,
        "repository": place,
        "versions": versions,
        "ignored": arguments.all.then_some(ignored),
    })]));
    Ok(Ending::Done)
}

/// The name of an origin or a mirror, and its versions.
async fn at_source(
    from: &str,
    provider: &ProviderAddr,
    session: &Session,
) -> Result<(String, Versions), CommandError> {
    let StoreOrSource::Source(source) = Places::new(session)?.open(from)? else {
        return Err(CommandError::no_selection(from));
    };
    let place = source.place(provider);
    let available = source.available_versions(provider);
    let available = available.await.map_err(|error| {
        let at = Some(place.clone());
        Problem::from(error).of(Subject::provider(provider), at)
    })?;
    for warning in &available.warnings {
        session.printer.warning(&format!("{provider}: {warning}"));
    }
    let versions = available.versions.iter();
    let versions = versions.map(|one| one.version.version().clone());
    let found = Versions {
        versions: versions.collect(),
        ignored: Vec::new(),
    };
    Ok((place.to_string(), found))
}
