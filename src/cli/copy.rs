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
  tfoci copy 'acme/demo@~> 1.0' --from oci-layout:mirror --to oci-layout:other --dry-run
  tfoci copy --from oci-layout:mirror --to 'registry.internal/tofu/${hostname}/${namespace}/${type}' --trust trust.toml --require-pinned";

/// Copy providers from one store into another, with their evidence
///
/// All bytes are copied unchanged, so digests stay the same. Without constraints, tfoci copies all versions, including pre-releases; with
/// constraints, all versions that satisfy them. Without addresses, it copies every provider, if the store can list them. Content that the
/// destination already has is not transferred again. Tags other than versions and their evidence are not changed.
///
/// tfoci verifies the evidence of each version, and refuses the version if verification fails. It also refuses versions that do not satisfy
/// `--trust`, `--key` and `--require-pinned`; without these options it copies unsigned versions too, and reports their status. Evidence at
/// the destination must satisfy the same options. Weaker evidence replaces stronger evidence only with `--existing replace` and a trust
/// file that has `unsigned = "allow"`. With `--require-pinned`, tfoci refuses a version whose index refers to anything besides packages and
/// evidence, unless `--rebuild-index` leaves that out.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Providers, with constraints on their versions
    #[arg(value_name = "ADDR[@CONSTRAINTS]")]
    providers: Vec<String>,
    /// The source store: oci-layout:DIR, or a registry's repository template
    #[arg(long, value_name = "STORE", help_heading = "Source")]
    from: String,
    /// The destination store, in the same form
    #[arg(long, value_name = "STORE", help_heading = "Destination")]
    to: String,
    /// If the destination has the version with other content
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "HOW",
        help_heading = "Destination"
    )]
    existing: How,
    /// With `--rebuild-index`, copy only this platform; may be repeated
    #[arg(long, value_name = "OS_ARCH", help_heading = "Destination")]
    platform: Vec<Platform>,
    /// Write a new index, as `push` does; its digest may change
    #[arg(long, help_heading = "Destination")]
    rebuild_index: bool,
    /// Print the plan, but write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    trust: ReadTrust,
}

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
    let reporter = report.publishing(COPY, selections.len(), options.dry_run, &http);
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
) -> Result<Task, Failure> {
    let within = |endpoint: &Endpoint, at: fn(String) -> At| {
        let repository = endpoint.repository(&provider).map_err(Problem::from);
        let subject = Subject::provider(&provider);
        repository.map_err(|problem| problem.of(subject, at(endpoint.to_string())))
    };
    let repository = within(endpoint, At::From)?;
    Ok(Task {
        constraints,
        to: RepoMut::new(target.clone(), within(to, At::To)?),
        from: StoredProvider {
            place: endpoint.place(&repository),
            repo: Repo::new(store.clone(), repository),
            provider,
        },
    })
}
