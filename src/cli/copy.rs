//! `tfoci copy`.

use std::sync::Arc;

use clap::Args;

use tfoci::address::ProviderAddr;
use tfoci::copy::{Request, Task, copy};
use tfoci::event::{Reporter, Subject};
use tfoci::examine::{Platforms, Shelf};
use tfoci::outcome::{Failure, Problem};
use tfoci::platform::Platform;
use tfoci::publish::Destination;
use tfoci::selection::Selection;
use tfoci::store::{Endpoint, Store};

use super::Ending;
use super::diagnose::CommandError;
use super::options::{Globals, Reading, check, everything};
use super::printer::Printer;
use super::progress::Progress;
use super::push::How;
use super::summary::{COPIED, Report};

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
    #[command(flatten)]
    reading: Reading,
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
}

/// Runs the command.
pub(super) async fn run(
    arguments: Arguments,
    globals: &Globals,
    printer: &Printer,
) -> Result<Ending, CommandError> {
    let request = request(&arguments, globals)?;
    let selections: Vec<Selection> = arguments
        .providers
        .iter()
        .map(|text| globals.selection(text))
        .collect::<Result<_, _>>()?;
    // One way to all registries, so that each is asked once who we are, and blobs are mounted.
    let http = globals.http(printer)?;
    let registry = globals.registry(globals.credentials(), &http);
    let (endpoint, store) =
        arguments
            .reading
            .open_by(registry.clone(), globals, &providers(&selections))?;
    let to = globals.endpoint(&arguments.to)?;
    let selections = if selections.is_empty() {
        everything(&endpoint, &store).await?
    } else {
        selections
    };
    let named = selections.iter().map(|selection| &selection.provider);
    let reading = &arguments.reading;
    reading.warn_of_silence(&request.belief, named, printer);
    check(&to, &providers(&selections))?;
    let target = to
        .write(registry)
        .map_err(Problem::from)
        .map_err(Failure::from)?;
    let progress = Arc::new(Progress::new(printer));
    let reporter: Arc<dyn Reporter> = progress.clone();
    let report = Report::new(COPIED, &progress, printer).planned_if(request.dry_run);
    let hear = |result| report.hear(result);
    let mut tasks = Vec::new();
    for selection in selections {
        match task((&endpoint, &store), (&to, &target), selection) {
            Ok(task) => tasks.push(task),
            Err(failure) => hear(Err(failure)),
        }
    }
    copy(tasks, &request, &reporter, &hear).await;
    Ok(report.finish(http.requests()))
}

fn providers(selections: &[Selection]) -> Vec<ProviderAddr> {
    let providers = selections.iter().map(|selection| &selection.provider);
    providers.cloned().collect()
}

fn request(arguments: &Arguments, globals: &Globals) -> Result<Request, CommandError> {
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
    Ok(Request {
        existing: arguments.existing.into(),
        rebuild,
        belief: arguments.reading.belief()?,
        dry_run: arguments.dry_run,
        jobs: globals.jobs(),
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
    let within = |endpoint: &Endpoint| {
        let repository = endpoint.repository(&provider).map_err(Problem::from);
        repository.map_err(|problem| problem.of(Subject::provider(&provider), endpoint))
    };
    Ok(Task {
        constraints,
        to: Destination {
            store: target.clone(),
            repository: within(to)?,
        },
        from: Shelf {
            store: store.clone(),
            repository: within(endpoint)?,
            place: endpoint.to_string(),
            provider,
        },
    })
}
