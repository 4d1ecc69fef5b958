//! `tfoci versions`.

use clap::Args;

use tfoci::address::ProviderAddr;
use tfoci::event::Subject;
use tfoci::examine::Versions;
use tfoci::outcome::{At, Problem};
use tfoci::source::BadEntries;
use tfoci::version::Version;

use super::Ending;
use super::error::CommandError;
use super::json;
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
    let mut document = match is_source(&from) {
        true => at_source(&from, provider, session).await?,
        false => in_store(&from, provider, session).await?,
    };
    let printer = &session.printer;
    if document.versions.is_empty() {
        let has_others = document.ignored.iter().flatten().next().is_some();
        let all = match has_others && !arguments.all {
            true => "; `--all` shows its other tags",
            false => "",
        };
        let (provider, place) = (&document.provider, &document.repository);
        printer.warning(&format!("{provider}: {place} has no versions{all}"));
    }
    for version in &document.versions {
        printer.result(&version.to_string());
    }
    document.ignored = document.ignored.filter(|_| arguments.all);
    for json::IgnoredTag { tag, reason } in document.ignored.iter().flatten() {
        printer.result(&format!("{tag}\t{reason}"));
    }
    printer.document(&document);
    Ok(Ending::Done)
}

/// Lists the versions of a store.
async fn in_store(
    from: &str,
    provider: ProviderAddr,
    session: &Session,
) -> Result<json::Versions, CommandError> {
    let stored = session.open_provider(from, &provider)?;
    let Versions { versions, ignored } = stored.versions().await?;
    let ignored = ignored.into_iter().map(|(tag, reason)| json::IgnoredTag {
        tag,
        reason: reason.to_string(),
    });
    Ok(json::Versions {
        schema: json::SCHEMA,
        provider,
        repository: stored.repo.to_string(),
        versions,
        ignored: Some(ignored.collect()),
    })
}

/// Lists the versions of an origin or a mirror.
async fn at_source(
    from: &str,
    provider: ProviderAddr,
    session: &Session,
) -> Result<json::Versions, CommandError> {
    let StoreOrSource::Source(source) = Places::new(session)?.open(from)? else {
        return Err(CommandError::no_selection(from));
    };
    let place = source.place(&provider);
    let available = source.available_versions(&provider, BadEntries::Skipped);
    let available = available.await.map_err(|error| {
        let at = At::Source(place.clone());
        Problem::from(error).of(Subject::provider(&provider), at)
    })?;
    for warning in &available.warnings {
        session.printer.warning(&format!("{provider}: {warning}"));
    }
    let versions = available.versions.iter();
    let versions: Vec<Version> = versions.map(|one| one.version.version().clone()).collect();
    Ok(json::Versions {
        schema: json::SCHEMA,
        provider,
        repository: place.to_string(),
        versions,
        ignored: Some(Vec::new()),
    })
}
