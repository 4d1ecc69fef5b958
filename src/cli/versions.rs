//! `tfoci versions`.

use std::pin::pin;

use clap::Args;
use futures_util::TryStreamExt as _;

use tfoci::address::ProviderAddr;
use tfoci::error::{Category, printable};
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
    if is_source(&arguments.from) {
        return at_source(&arguments, &provider, session).await;
    }
    in_store(&arguments, &provider, session).await
}

/// Lists the versions of a store.
async fn in_store(
    arguments: &Arguments,
    provider: &ProviderAddr,
    session: &Session,
) -> Result<Ending, CommandError> {
    let printer = &session.printer;
    let stored = session.open_provider(&arguments.from, provider)?;
    let Versions { versions, ignored } = stored.versions().await?;
    let ignored = ignored.into_iter().map(|(tag, reason)| json::IgnoredTag {
        tag,
        reason: reason.to_string(),
    });
    let mut ignored: Vec<_> = ignored.collect();
    let ignored_count = ignored.len();
    let found_count = versions.len();
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
    ignored.extend(doubtful);
    let failure = (left_out > 0 && versions.is_empty())
        .then(|| nothing_verified(&stored, left_out, arguments.all));
    for version in &versions {
        printer.result(&version.to_string());
    }
    if arguments.all {
        for json::IgnoredTag { tag, reason } in &ignored {
            printer.result(&format!("{tag}\t{reason}"));
        }
    }
    printer.document(&json::Versions {
        schema: json::SCHEMA,
        provider,
        repository: stored.repo.to_string(),
        versions: &versions,
        ignored: arguments.all.then_some(ignored),
        error: failure.as_ref().map(json::Error::from),
    });
    match &failure {
        Some(error) => printer.failure(error),
        None if left_out > 0 && !arguments.all => {
            let text = format!(
                "{left_out} of {found_count} versions; they did not verify. `--all` shows the reasons"
            );
            printer.line(Tone::Warning, "Left out", &text);
        }
        None if versions.is_empty() => {
            warn_of_none(&stored, ignored_count > 0 && !arguments.all, printer);
        }
        None => {}
    }
    Ok(Ending::of(failure.iter()))
}

/// No version satisfies the trust options. `is_listed` tells whether the reasons were printed.
fn nothing_verified(stored: &StoredProvider, left_out: usize, is_listed: bool) -> CommandError {
    let left_out = match left_out {
        1 => "the only version did not verify".to_owned(),
        left_out => format!("none of the {left_out} versions verified"),
    };
    let repository = printable(&stored.repo.to_string());
    let message = format!("{} ({repository}): {left_out}", stored.provider);
    let error = CommandError::plain(Category::Untrusted, message);
    match is_listed {
        true => error,
        false => error.advising("`--all` shows the reasons"),
    }
}

fn warn_of_none(stored: &StoredProvider, has_other_tags: bool, printer: &Printer) {
    let other_tags = match has_other_tags {
        true => "; `--all` shows its other tags",
        false => "",
    };
    let StoredProvider { provider, repo, .. } = stored;
    printer.warning(&format!("{provider}: {repo} has no versions{other_tags}"));
}

/// Lists the versions of an origin or a mirror.
async fn at_source(
    arguments: &Arguments,
    provider: &ProviderAddr,
    session: &Session,
) -> Result<Ending, CommandError> {
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
    let place = source.place(provider);
    let available = source.available_versions(provider, BadEntries::Skipped);
    let failed =
        |error| Problem::from(error).of(Subject::provider(provider), At::Source(place.clone()));
    let available = available.await.map_err(failed)?;
    let printer = &session.printer;
    for warning in &available.warnings {
        printer.warning(&format!("{provider}: {warning}"));
    }
    let versions = available.versions.iter();
    let versions: Vec<Version> = versions.map(|one| one.version.version().clone()).collect();
    if versions.is_empty() {
        printer.warning(&format!("{provider}: {place} has no versions"));
    }
    for version in &versions {
        printer.result(&version.to_string());
    }
    printer.document(&json::Versions {
        schema: json::SCHEMA,
        provider,
        repository: place.to_string(),
        versions: &versions,
        ignored: arguments.all.then(Vec::new),
        error: None,
    });
    Ok(Ending::Done)
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
    let problem = match stored.examine(version, &Platforms::All, trust).await {
        Ok(examined) => {
            let made_for = examined.warning(&stored.provider);
            let subject = Subject::version(&stored.provider, version);
            if let Some(warning) = made_for {
                printer.warning(&format!("{subject}: {warning}"));
            }
            match examined.proof {
                Ok(release) => {
                    printer.warn_of_notes(&subject, release.authentication());
                    None
                }
                Err(problem) => Some(json::sentence(&problem)),
            }
        }
        // An error about missing pins is about the options, not about this version.
        Err(failure) if failure.category() == Category::Usage => return Err(failure.into()),
        Err(failure) => Some(json::sentence(&*failure.problem)),
    };
    Ok(problem)
}
