//! `tfoci prune`.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clap::Args;
use indicatif::HumanBytes;
use serde::Serialize;
use serde_json::json;

use tfoci::address::ProviderAddr;
use tfoci::config::MirrorFile;
use tfoci::date::days;
use tfoci::error::counted;
use tfoci::examine::{StoredProvider, TrustOptions};
use tfoci::inventory::inventory;
use tfoci::mirror::Locks;
use tfoci::outcome::Failure;
use tfoci::prune::{Removal, RemovalPlan};
use tfoci::store::RepoMut;
use tfoci::trust::Policy;
use tfoci::version::Version;

use super::Ending;
use super::error::CommandError;
use super::json::SCHEMA;
use super::printer::Tone;
use super::session::{Session, WantedVersions, requested};

const EXAMPLES: &str = "\
Examples:
  tfoci prune --from oci-layout:mirror --keep-newest 3
  tfoci prune --from oci-layout:mirror --keep-newest 3 --keep-younger 90d --yes
  tfoci prune example.com/acme/demo@1.0.0 --from oci-layout:mirror --yes";

/// Delete versions that nobody needs from a store
///
/// A version stays if one of the `--keep` options names it. Without such an option, the constraints of the arguments say which versions go. The
/// newest version of a provider stays, unless an argument names the provider. tfoci prints what goes and how many bytes that frees, and does it only with `--yes`.
///
/// Nobody else may write into the store meanwhile. A layout gives the space back at once, and a registry when its garbage collector runs. Some
/// registries do not delete: ghcr.io has a page for it, and docker-registry needs REGISTRY_STORAGE_DELETE_ENABLED=true. The next run finishes one that
/// was killed.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Only these providers, or with constraints these versions [default: all that the store lists]
    #[arg(value_name = "ADDR[@CONSTRAINTS]")]
    providers: Vec<String>,
    /// The store: oci-layout:DIR, or a registry's repository template
    #[arg(long, value_name = "STORE")]
    from: Option<String>,
    /// Keep the newest releases of each provider
    #[arg(long, value_name = "NUMBER")]
    keep_newest: Option<NonZeroUsize>,
    /// Keep what this mirror file selects
    #[arg(long, value_name = "FILE")]
    keep: Option<PathBuf>,
    /// Keep what lock files at and below it name, except in hidden directories or behind links; may be repeated
    #[arg(long, value_name = "DIR")]
    keep_locked: Vec<PathBuf>,
    /// Keep what was signed within this time, such as 90d, or is not signed
    #[arg(long, value_name = "DAYS", value_parser = days)]
    keep_younger: Option<Duration>,
    /// Delete, and do not only print what would go
    #[arg(long)]
    yes: bool,
}

#[derive(Serialize)]
struct Removed {
    provider: ProviderAddr,
    #[serde(flatten)]
    removal: Removal,
}

/// What stays.
struct Keep {
    newest: Option<NonZeroUsize>,
    file: Option<MirrorFile>,
    locks: Locks,
    younger: Option<Duration>,
    /// Whether any of these rules is given.
    is_any: bool,
    /// Whether arguments name the providers, so that the newest version may go.
    are_named: bool,
}

pub(super) async fn run(arguments: Arguments, session: &Session) -> Result<Ending, CommandError> {
    let keep = Keep::read(&arguments, session)?;
    let registry = session.registry(&session.http()?);
    let from = session.store_for(arguments.from, &arguments.providers)?;
    let wanted = session
        .wanted(&arguments.providers, from.as_deref(), &registry)
        .await?;
    let mut selections = wanted.versions.iter().map(|one| &one.selection);
    if !keep.is_any && selections.any(|one| one.constraints.is_any()) {
        return Err(CommandError::usage("nothing says which versions stay")
            .advising("name what stays, as with `--keep-newest 3`"));
    }
    // All is planned before anything goes.
    let plan =
        async |WantedVersions { selection, from }| plan(from, &selection.constraints, &keep).await;
    let (plans, mut failed) = wanted.read(plan).await;
    let mut removed = Vec::new();
    for Planned { from, to, plan } in plans {
        let mut tell = |removal: &Removal| {
            removed.push(print(&from, removal, arguments.yes, session));
        };
        let stays = |removal: &&Removal| !removal.named_by.is_empty();
        plan.removals.iter().filter(stays).for_each(&mut tell);
        if !arguments.yes {
            let goes = |removal: &&Removal| !stays(removal);
            plan.removals.iter().filter(goes).for_each(tell);
        } else if let Err(problem) = plan.carry_out(&to, &(), tell).await {
            failed.push(from.failure(None, problem).into());
        }
    }
    let printer = &session.printer;
    failed.iter().for_each(|error| printer.failure(error));
    let size = summarize(&removed, arguments.yes, session);
    session.printer.document(&json!({
        "schema": SCHEMA,
        "done": arguments.yes,
        "removed": removed,
        "size": size,
    }));
    Ok(Ending::of(failed.iter()))
}

/// Prints the sum, and returns its bytes.
fn summarize(removed: &[Removed], done: bool, session: &Session) -> u64 {
    let gone = removed.iter().filter(|one| one.removal.named_by.is_empty());
    let size = gone.clone().map(|one| one.removal.size).sum();
    let versions = counted(gone.count(), "version");
    let (verb, rest) = match done {
        true => ("Deleted", ""),
        false => ("Would delete", "; `--yes` does it"),
    };
    let text = format!("{versions}, {}{rest}", HumanBytes(size));
    session.printer.line(Tone::Done, verb, &text);
    size
}

/// What goes of a provider, and where.
struct Planned {
    from: StoredProvider,
    to: RepoMut,
    plan: RemovalPlan,
}

/// What goes of a provider.
async fn plan(
    from: Result<StoredProvider, Failure>,
    constraints: &tfoci::constraint::VersionConstraints,
    keep: &Keep,
) -> Result<Planned, Failure> {
    let from = from?;
    let listed = from.versions().await?;
    let mut removed: BTreeSet<Version> = listed.versions.iter().cloned().collect();
    removed.retain(|version| constraints.selects(version));
    if keep.is_any {
        for version in keep.versions(&from, &listed.versions).await {
            removed.remove(&version);
        }
    }
    if let Some(newest) = listed.versions.last().filter(|_| !keep.are_named) {
        removed.remove(newest);
    }
    let plan = RemovalPlan::of(&from, &listed, &removed).await;
    let plan = plan.map_err(|problem| from.failure(None, problem))?;
    let to = RepoMut::of(from.repo.clone());
    let to = to.map_err(|source| from.failure(None, source.into()))?;
    Ok(Planned { from, to, plan })
}

impl Keep {
    fn read(arguments: &Arguments, session: &Session) -> Result<Self, CommandError> {
        let locked = &arguments.keep_locked;
        Ok(Self {
            newest: arguments.keep_newest,
            file: requested::mirror_file_if(arguments.keep.as_deref(), "--keep")?,
            locks: requested::locks_below(locked, "--keep-locked", &session.printer)?,
            younger: arguments.keep_younger,
            is_any: arguments.keep_newest.is_some()
                || arguments.keep.is_some()
                || !locked.is_empty()
                || arguments.keep_younger.is_some(),
            are_named: !arguments.providers.is_empty(),
        })
    }

    /// The versions that one of the rules keeps.
    async fn versions(&self, from: &StoredProvider, listed: &[Version]) -> BTreeSet<Version> {
        let releases = listed
            .iter()
            .rev()
            .filter(|version| !version.is_prerelease());
        let newest = releases.take(self.newest.map_or(0, NonZeroUsize::get));
        let mut kept: BTreeSet<Version> = newest.cloned().collect();
        kept.extend(self.locks.hashes_of(&from.provider).into_keys());
        let entries = self.file.iter().flat_map(|file| &file.providers);
        for entry in entries.filter(|entry| entry.provider == from.provider) {
            kept.extend(requested::filter(entry).matching(listed).cloned());
        }
        if let Some(younger) = self.younger {
            let now = SystemTime::now();
            let trust = TrustOptions {
                policy: Policy::default(),
                require_pinned: false,
                attestation: None,
                now,
            };
            for stored in inventory(from, listed, &trust).await {
                let signed = stored.proof.ok().and_then(|proof| proof.signed_at);
                let age = signed.and_then(|signed| now.duration_since(signed).ok());
                if age.is_none_or(|age| age <= younger) {
                    kept.insert(stored.version);
                }
            }
        }
        kept
    }
}

fn print(from: &StoredProvider, removal: &Removal, done: bool, session: &Session) -> Removed {
    let provider = from.provider.clone();
    let size = HumanBytes(removal.size);
    let (tone, verb, rest) = match (removal.named_by.first(), done) {
        (Some(tag), _) => {
            let rest = format!(": the tag {tag} leads to its index");
            (Tone::Warning, "Kept", rest)
        }
        (None, true) => (Tone::Plain, "Deleted", format!("   {size}")),
        (None, false) => (Tone::Plain, "Would delete", format!("   {size}")),
    };
    let text = format!("{provider} {}{rest}", removal.version);
    session.printer.line(tone, verb, &text);
    let removal = removal.clone();
    Removed { provider, removal }
}
