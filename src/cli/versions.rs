//! `tfoci versions`.

use std::pin::pin;

use clap::Args;
use futures_util::TryStreamExt as _;

use tfoci::address::ProviderAddr;
use tfoci::error::{Category, counted, printable};
use tfoci::event::Subject;
use tfoci::examine::{StoredProvider, TrustOptions, Versions};
use tfoci::jobs::SideBySide;
use tfoci::oci::Tag;
use tfoci::outcome::{At, Failure, Problem};
use tfoci::platform::Platforms;
use tfoci::shown::Shown;
use tfoci::source::BadEntries;
use tfoci::version::Version;

use super::Ending;
use super::arguments::ReadTrust;
use super::error::CommandError;
use super::json;
use super::printer::{Printer, Tone};
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
/// tfoci lists the versions that clients see, oldest first: the tags that are versions. With `--trust`, `--key` or `--require-pinned`, it
/// also reads and verifies each version of a store, and leaves out those that fail. An origin or a mirror proves nothing by its
/// list, so these options are refused for it.
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
    from: String,
    /// Also list tags and versions that are left out, and why
    ///
    /// tfoci reads the index of each version, and leaves out a tag that leads to no provider, such as that of a container image.
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    trust: ReadTrust,
}

pub(super) async fn run(arguments: Arguments, session: &Session) -> Result<Ending, CommandError> {
    let provider = session.provider(&arguments.provider, "versions")?;
    let listed = match is_source(&arguments.from) {
        true => at_source(&arguments, provider, session).await?,
        false => in_store(&arguments, provider, session).await?,
    };
    let (mut document, error) = listed;
    let printer = &session.printer;
    for version in &document.versions {
        printer.result(&version.to_string());
    }
    document.ignored = document.ignored.filter(|_| arguments.all);
    for json::IgnoredTag { tag, reason } in document.ignored.iter().flatten() {
        printer.result(&format!("{tag}\t{reason}"));
    }
    document.error = error.as_ref().map(json::Error::from);
    printer.document(&document);
    if let Some(error) = &error {
        printer.failure(error);
    }
    Ok(Ending::of(error.iter()))
}

/// The versions, the tags that are left out, and why no version is left.
type Listed = (json::Versions, Option<CommandError>);

/// Lists the versions of a store.
async fn in_store(
    arguments: &Arguments,
    provider: ProviderAddr,
    session: &Session,
) -> Result<Listed, CommandError> {
    let printer = &session.printer;
    let stored = session.open_provider(&arguments.from, &provider)?;
    let Versions { versions, ignored } = stored.versions().await?;
    let (count, others) = (versions.len(), ignored.len());
    let trust = arguments.trust.is_given();
    let trust = trust.then(|| session.trust_options(&arguments.trust));
    let trust = trust.transpose()?;
    if let Some(trust) = &trust {
        session.warn_of_unmatched(&arguments.trust, trust, [&stored.provider]);
    }
    let (versions, doubtful) = match trust.is_some() || arguments.all {
        true => sound(&stored, versions, trust.as_ref(), printer).await?,
        false => (versions, Vec::new()),
    };
    let left_out = trust.map_or(0, |_| doubtful.len());
    let repository = stored.repo.to_string();
    let mut error = None;
    if left_out > 0 && versions.is_empty() {
        let (repository, all) = (printable(&repository), counted(left_out, "version"));
        let message = format!("{provider} ({repository}): none of {all} verified");
        let untrusted = CommandError::plain(Category::Untrusted, message);
        error = Some(match arguments.all {
            true => untrusted,
            false => untrusted.advising("`--all` shows the reasons"),
        });
    } else if left_out > 0 && !arguments.all {
        let text = format!(
            "{left_out} of {count} versions; they did not verify. `--all` shows the reasons"
        );
        printer.line(Tone::Warning, "Left out", &text);
    } else if versions.is_empty() {
        let all = match others > 0 && !arguments.all {
            true => "; `--all` shows its other tags",
            false => "",
        };
        printer.warning(&format!("{provider}: {repository} has no versions{all}"));
    }
    let ignored = ignored.into_iter().map(|(tag, reason)| json::IgnoredTag {
        tag,
        reason: reason.to_string(),
    });
    let document = json::Versions {
        schema: json::SCHEMA,
        provider,
        repository,
        versions,
        ignored: Some(ignored.chain(doubtful).collect()),
        error: None,
    };
    Ok((document, error))
}

/// Lists the versions of an origin or a mirror.
async fn at_source(
    arguments: &Arguments,
    provider: ProviderAddr,
    session: &Session,
) -> Result<Listed, CommandError> {
    if let Some(option) = arguments.trust.given() {
        let from = Shown::from(arguments.from.as_str());
        return Err(CommandError::usage(format!(
            "`{option}` verifies the versions of a store\n  received {from}, whose list of versions proves nothing"
        ))
        .advising(format!("`tfoci inspect ADDR@VERSION --from {from}` verifies one version")));
    }
    let StoreOrSource::Source(source) = Places::new(session)?.open(&arguments.from)? else {
        return Err(CommandError::no_selection(&arguments.from));
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
    if versions.is_empty() {
        session
            .printer
            .warning(&format!("{provider}: {place} has no versions"));
    }
    let document = json::Versions {
        schema: json::SCHEMA,
        provider,
        repository: place.to_string(),
        versions,
        ignored: Some(Vec::new()),
        error: None,
    };
    Ok((document, None))
}

/// The versions that trust options accept, and the versions that they refuse with the reasons. Without trust options, a version is accepted if its
/// tag leads to the index of a provider.
async fn sound(
    stored: &StoredProvider,
    versions: Vec<Version>,
    trust: Option<&TrustOptions>,
    printer: &Printer,
) -> Result<(Vec<Version>, Vec<json::IgnoredTag>), CommandError> {
    let (mut sound, mut doubtful) = (Vec::new(), Vec::new());
    let read = versions.into_iter().map(async |version| {
        // Every version that is listed has a tag.
        let tag = Tag::of_version(&version).map_err(Failure::from)?;
        let reason = match trust {
            Some(trust) => doubt(stored, &version, trust, printer).await?,
            None => match stored.repo.artifact(&tag).await {
                Ok(Some(_)) => None,
                Ok(None) => Some("the tag leads to nothing".to_owned()),
                Err(error) if error.is_about_access() => {
                    return Err(stored.failure(Some(&version), error.into()).into());
                }
                Err(error) => Some(json::sentence(&error)),
            },
        };
        Ok::<_, CommandError>((version, tag, reason))
    });
    let side_by_side = SideBySide::default();
    let mut read = pin!(side_by_side.run(false, read));
    while let Some((version, tag, reason)) = read.try_next().await? {
        let on_one_line = |text: String| text.lines().map(str::trim).collect::<Vec<_>>().join(", ");
        match reason.map(on_one_line) {
            None => sound.push(version),
            Some(reason) => doubtful.push(json::IgnoredTag {
                tag: tag.to_string(),
                reason,
            }),
        }
    }
    Ok((sound, doubtful))
}

/// Why trust options exclude a version; `None` if they accept it.
async fn doubt(
    stored: &StoredProvider,
    version: &Version,
    trust: &TrustOptions,
    printer: &Printer,
) -> Result<Option<String>, CommandError> {
    let examined = match stored.examine(version, &Platforms::All, trust).await {
        Ok(examined) => examined,
        // An error about missing pins is about the options, not about this version.
        Err(failure) if failure.category() == Category::Usage => return Err(failure.into()),
        Err(failure) => return Ok(Some(json::sentence(&*failure.problem))),
    };
    let subject = Subject::version(&stored.provider, version);
    if let Some(warning) = examined.warning(&stored.provider) {
        printer.warning(&format!("{subject}: {warning}"));
    }
    Ok(match examined.proof {
        Ok(release) => {
            printer.warn_of_notes(&subject, release.authentication());
            None
        }
        Err(problem) => Some(json::sentence(&problem)),
    })
}
