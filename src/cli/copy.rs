//! `tfoci copy`.

use clap::Args;

use tfoci::address::ProviderAddr;
use tfoci::copy::{Options, Task, copy};
use tfoci::event::Subject;
use tfoci::examine::{Platforms, StoredProvider};
use tfoci::outcome::{At, Failure, Problem};
use tfoci::platform::Platform;
use tfoci::selection::Selection;
use tfoci::store::{Endpoint, Repo, RepoMut, Store};

use super::Ending;
use super::args::ReadTrust;
use super::error::CommandError;
use super::push::How;
use super::report::COPY;
use super::session::{Session, check, everything, trust_options};

const EXAMPLES: &str = "\
Examples:
  tfoci copy acme/demo --from oci-layout:mirror --to oci-layout:disk
  tfoci copy 'acme/demo@~> 1.0' --from oci-layout:mirror --to oci-layout:other --dry-run";

/// Copy providers from one store into another, evidence included
///
/// Every byte stays as it is, so digests are the same at both ends. Without constraints every version is copied, pre-releases
/// too; with them, every version that they admit. Without addresses, everything in the store, if it can list what it has.
/// What the destination has is neither read nor written again; other tags than versions and their evidence are left alone.
///
/// Evidence is checked on the way, and a version that it does not prove is refused. So is whatever does not live up to `--trust`,
/// `--key` and `--require-pinned`; without them, a version is copied and shown as what it is. Evidence that is there already is held
/// to the same, and never replaced by weaker evidence, but by `--existing replace` where a trust file has `unsigned = "allow"`. With
/// `--require-pinned`, a version that leads to more than packages and evidence is refused, unless `--rebuild-index` leaves that out.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Providers, with constraints on their versions
    #[arg(value_name = "ADDR[@CONSTRAINTS]")]
    providers: Vec<String>,
    /// The store: oci-layout:DIR, or a registry's repository template
    #[arg(long, value_name = "STORE")]
    from: String,
    /// The store to copy to, of the same forms
    #[arg(long, value_name = "STORE")]
    to: String,
    /// What to do if the version is there and differs
    #[arg(long, value_enum, default_value_t, value_name = "HOW")]
    existing: How,
    /// With `--rebuild-index`, only this platform; may be repeated
    #[arg(long, value_name = "OS_ARCH")]
    platform: Vec<Platform>,
    /// Write each index anew, as `push` would; its digest may change
    #[arg(long)]
    rebuild_index: bool,
    /// Print the plan, but write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    trust: ReadTrust,
}

/// Runs the command.
pub(super) async fn run(arguments: Arguments, session: &Session) -> Result<Ending, CommandError> {
    let options = options(&arguments, session)?;
    let selections = session.selections(&arguments.providers)?;
    let http = session.http()?;
    let registry = session.registry(&http);
    let (from, source) =
        session.open(&arguments.from, registry.clone(), &providers(&selections))?;
    let to = session.endpoint(&arguments.to)?;
    let selections = match selections.is_empty() {
        true => everything(&from, &source).await?,
        false => selections,
    };
    let providers = providers(&selections);
    session.warn_of_unmatched(&arguments.trust, &options.trust, &providers);
    check(&to, &providers)?;
    let target = to.write(registry);
    let target = target.map_err(Problem::from).map_err(Failure::from)?;
    let report = &session.report;
    let reporter = report.publishing(COPY, options.dry_run, &http);
    let on_result = |result| match result {
        Ok(published) => report.published(published),
        Err(failure) => report.journey_failed(CommandError::Journey, failure),
    };
    let mut tasks = Vec::new();
    for selection in selections {
        match task((&from, &source), (&to, &target), selection) {
            Ok(task) => tasks.push(task),
            Err(failure) => on_result(Err(failure)),
        }
    }
    copy(tasks, &options, &reporter, &on_result).await;
    Ok(report.finish())
}

fn providers(selections: &[Selection]) -> Vec<ProviderAddr> {
    let providers = selections.iter().map(|selection| &selection.provider);
    providers.cloned().collect()
}

fn options(arguments: &Arguments, session: &Session) -> Result<Options, CommandError> {
    let rebuild = match (arguments.rebuild_index, arguments.platform.as_slice()) {
        (false, []) => None,
        (false, _) => return Err(CommandError::Filter),
        (true, []) => Some(Platforms::All),
        (true, platforms) => {
            let mut platforms = platforms.to_vec();
            platforms.sort();
            platforms.dedup();
            Some(Platforms::Only(platforms))
        }
    };
    Ok(Options {
        existing: arguments.existing.into(),
        rebuild,
        trust: trust_options(&arguments.trust)?,
        dry_run: arguments.dry_run,
        jobs: session.jobs(),
    })
}

fn task(
    (endpoint, store): (&Endpoint, &Store),
    (to, target): (&Endpoint, &Store),
    Selection {
        provider,
        constraints,
    }: Selection,
) -> Result<Task<Store, Store>, Failure> {
    let within = |endpoint: &Endpoint, at: fn(String) -> At| {
        let repository = endpoint.repository(&provider).map_err(Problem::from);
        let subject = Subject::provider(&provider);
        repository.map_err(|problem| problem.of(subject, at(endpoint.to_string())))
    };
    Ok(Task {
        constraints,
        to: RepoMut::new(target.clone(), within(to, At::To)?),
        from: StoredProvider {
            repo: Repo {
                store: store.clone(),
                name: within(endpoint, At::From)?,
            },
            place: endpoint.to_string(),
            provider,
        },
    })
}
