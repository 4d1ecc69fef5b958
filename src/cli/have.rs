//! `tfoci have`: what a store has, as the base of a delta.

use std::path::Path;

use clap::Args;

use tfoci::copy::have;
use tfoci::digest::Digest;
use tfoci::disk;
use tfoci::error::{printable, printable_path};
use tfoci::store::Registry;
use tfoci::store::bundle::contents::FORMAT;
use tfoci::store::bundle::{Contents, LARGEST_LIST};

use super::Ending;
use super::error::CommandError;
use super::session::{Session, WantedVersions};

const EXAMPLES: &str = "\
Examples:
  tfoci have --from oci-layout:mirror > have.json
  tfoci have hashicorp/aws \\
    --from 'registry.internal/tofu/${hostname}/${namespace}/${type}' > have.json";

/// List what a store has, for a bundle that leaves it out
///
/// The list is JSON (`tfoci schema have`): each version with the digests of its index and of its packages. Carry it to the side where the internet
/// is, and name it there: `tfoci copy --to bundle:FILE --base have.json`. Versions that the store has in part only are left out, with a warning.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The providers, with constraints on their versions [default: all that the store lists]
    #[arg(value_name = "ADDR[@CONSTRAINTS]")]
    providers: Vec<String>,
    /// The store: oci-layout:DIR, or a registry's repository template
    #[arg(long, value_name = "STORE")]
    from: Option<String>,
}

pub(super) async fn run(arguments: Arguments, session: &Session) -> Result<Ending, CommandError> {
    let registry = session.registry(&session.http()?);
    let from = session.store_for(arguments.from, &arguments.providers)?;
    let (contents, failed) =
        contents(&arguments.providers, from.as_deref(), &registry, session).await?;
    failed
        .iter()
        .for_each(|error| session.printer.failure(error));
    session.printer.own_text(&pretty(&contents));
    Ok(Ending::of(failed.iter()))
}

/// What a list says that the far side has, or an earlier bundle, and the digest of the list.
pub(super) async fn base(
    path: &Path,
    session: &Session,
) -> Result<(Contents, Digest), CommandError> {
    let unusable = |error| CommandError::file(error, "--base");
    let mut first = disk::Blocks::open(path, 0).map_err(unusable)?.up_to(1);
    let first = first.next_block().map_err(unusable)?;
    if first.is_some_and(|first| *first == *b"{") {
        let bytes = disk::read(path, LARGEST_LIST).map_err(unusable)?;
        let contents = Contents::read(&bytes).map_err(|error| {
            let path = printable_path(path);
            let error = printable(&error.to_string());
            CommandError::usage(format!("{path} is not a list of `tfoci have`\n  {error}"))
        })?;
        return Ok((contents, Digest::of(&bytes)));
    }
    let registry = session.registry(&session.http()?);
    let store = format!("bundle:{}", path.display());
    let (contents, failed) = contents(&[], Some(&store), &registry, session).await?;
    if let Some(error) = failed.into_iter().next() {
        return Err(error);
    }
    let digest = Digest::of(pretty(&contents).as_bytes());
    Ok((contents, digest))
}

/// What a store has, and what cannot be read of it.
async fn contents(
    providers: &[String],
    from: Option<&str>,
    registry: &Registry,
    session: &Session,
) -> Result<(Contents, Vec<CommandError>), CommandError> {
    let wanted = session.wanted(providers, from, registry).await?;
    let read =
        async |WantedVersions { selection, from }| have(&from?, &selection.constraints).await;
    let (read, failed) = wanted.read(read).await;
    let mut versions = Vec::new();
    for (of_provider, damaged) in read {
        versions.extend(of_provider);
        for failure in damaged {
            let error = CommandError::from(failure);
            session.printer.warning(&format!("left out: {error}"));
        }
    }
    versions.sort_by(|one, other| one.address.cmp(&other.address));
    let contents = Contents {
        format: FORMAT,
        versions,
        ..Contents::default()
    };
    Ok((contents, failed))
}

fn pretty(contents: &Contents) -> String {
    // Plain structures can always be written.
    serde_json::to_string_pretty(contents).unwrap_or_default()
}
