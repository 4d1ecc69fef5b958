//! `tfoci copy`.

use std::sync::Arc;

use clap::Args;

use tfoci::address::ProviderAddr;
use tfoci::copy::{Copier, Request};
use tfoci::event::{Reporter, Subject};
use tfoci::examine::Platforms;
use tfoci::outcome::{Failure, Problem, Published};
use tfoci::platform::Platform;
use tfoci::publish::Destination;
use tfoci::selection::Selection;
use tfoci::store::{Endpoint, Store};
use tfoci::version::Version;

use super::Ending;
use super::diagnose::Complaint;
use super::json;
use super::options::{Globals, Reading, check, everything, shelf};
use super::printer::{Printer, Tone};
use super::progress::Progress;
use super::push::How;
use super::summary::{COPIED, summarize};

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
/// Evidence is checked on the way, and a version that it does not prove is refused. So is whatever does not live up to --trust,
/// --key and --require-pinned; without them, a version is copied and shown as what it is.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Providers, with constraints on their versions
    #[arg(value_name = "ADDR[@CONSTRAINTS]")]
    providers: Vec<String>,
    #[command(flatten)]
    reading: Reading,
    /// The store to copy to: oci-layout:DIR, or a registry's repository template
    #[arg(long, value_name = "STORE")]
    to: String,
    /// What to do if the version is there and differs
    #[arg(long, value_enum, default_value_t, value_name = "HOW")]
    existing: How,
    /// Only this platform, such as linux_amd64; may be repeated; only with --rebuild-index
    #[arg(long, value_name = "OS_ARCH")]
    platform: Vec<Platform>,
    /// Write each index anew, as `push` would: its digest may change, the zips and what proves them stay
    #[arg(long)]
    rebuild_index: bool,
    /// Verify everything and print the plan, but write nothing
    #[arg(long)]
    dry_run: bool,
}

/// What became of one version; or of one provider, when it did not come to versions.
struct Outcome {
    provider: ProviderAddr,
    version: Option<Version>,
    result: Result<Published, Complaint>,
}

/// Runs the command.
pub(super) async fn run(
    arguments: Arguments,
    globals: &Globals,
    printer: &Printer,
) -> Result<Ending, Complaint> {
    let request = request(&arguments, globals)?;
    let selections: Vec<Selection> = arguments
        .providers
        .iter()
        .map(|text| globals.selection(text))
        .collect::<Result<_, _>>()?;
    let providers: Vec<ProviderAddr> = selections
        .iter()
        .map(|selection| selection.provider.clone())
        .collect();
    // One way to all registries, so that each is asked once who we are.
    let registry = globals.registry(globals.credentials()?)?;
    let (endpoint, store) = arguments
        .reading
        .open_by(registry.clone(), globals, &providers)?;
    let to = globals.endpoint(&arguments.to)?;
    let selections = if selections.is_empty() {
        everything(&endpoint, &store).await?
    } else {
        selections
    };
    let providers: Vec<ProviderAddr> = selections
        .iter()
        .map(|selection| selection.provider.clone())
        .collect();
    check(&to, &providers)?;
    let target = to
        .write(registry)
        .map_err(Problem::from)
        .map_err(Failure::from)?;
    let progress = Arc::new(Progress::new(printer));
    let mut outcomes = Vec::new();
    for selection in &selections {
        let copier = begin((&endpoint, &store), (&to, &target), selection).await;
        let copied = each(copier, selection, &request, &progress, printer).await;
        outcomes.extend(copied);
    }
    report(&outcomes, &progress, printer);
    let failures = outcomes
        .iter()
        .filter_map(|outcome| outcome.result.as_ref().err());
    Ok(Ending::of(failures))
}

fn request(arguments: &Arguments, globals: &Globals) -> Result<Request, Complaint> {
    let rebuild = match (arguments.rebuild_index, arguments.platform.as_slice()) {
        (false, []) => None,
        (false, _) => return Err(Complaint::Filter),
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

async fn begin(
    (endpoint, store): (&Endpoint, &Store),
    (to, target): (&Endpoint, &Store),
    selection: &Selection,
) -> Result<Copier<Store, Store>, Complaint> {
    let from = shelf(endpoint, store, &selection.provider)?;
    let repository = to
        .repository(&selection.provider)
        .map_err(Problem::from)
        .map_err(|problem| problem.of(Subject::provider(&selection.provider), to))?;
    let to = Destination {
        store: target.clone(),
        repository,
    };
    Ok(Copier::begin(from, to).await?)
}

/// Copies every version that is selected; one that fails does not stop the others.
async fn each(
    copier: Result<Copier<Store, Store>, Complaint>,
    selection: &Selection,
    request: &Request,
    progress: &Arc<Progress>,
    printer: &Printer,
) -> Vec<Outcome> {
    let reporter: Arc<dyn Reporter> = progress.clone();
    let selected = copier.and_then(|copier| {
        let versions = copier.select(&selection.constraints)?;
        Ok((copier, versions))
    });
    let outcome = |version, result: Result<Published, Complaint>| {
        if let Err(complaint) = &result {
            progress.clear();
            printer.failure(complaint);
        }
        Outcome {
            provider: selection.provider.clone(),
            version,
            result,
        }
    };
    let (copier, versions) = match selected {
        Ok(selected) => selected,
        Err(complaint) => return vec![outcome(None, Err(complaint))],
    };
    let mut outcomes = Vec::new();
    for version in versions {
        let copied = copier.copy(&version, request, &reporter).await;
        outcomes.push(outcome(Some(version), copied.map_err(Complaint::Journey)));
    }
    outcomes
}

fn report(outcomes: &[Outcome], progress: &Progress, printer: &Printer) {
    let copied: Vec<&Published> = outcomes
        .iter()
        .filter_map(|outcome| outcome.result.as_ref().ok())
        .collect();
    // Of a single failure the error has said everything.
    let is_list = outcomes.len() != 1;
    if is_list || !copied.is_empty() {
        summarize(&copied, COPIED, progress, printer);
    }
    let failed: Vec<String> = outcomes
        .iter()
        .filter(|outcome| outcome.result.is_err())
        .map(Outcome::to_string)
        .collect();
    if is_list && !failed.is_empty() {
        let text = format!(
            "{} of {}: {}",
            failed.len(),
            outcomes.len(),
            failed.join(", ")
        );
        printer.line(Tone::Warning, "Failed", &text);
    }
    for published in &copied {
        printer.result(&published.reference);
    }
    printer.document(&json::Publication {
        schema: json::SCHEMA,
        bytes: copied.iter().map(|published| published.bytes).sum(),
        requests: 0,
        providers: outcomes.iter().map(Outcome::document).collect(),
    });
}

impl Outcome {
    fn document(&self) -> json::Provider<'_> {
        match &self.result {
            Ok(published) => json::Provider::Published(published),
            Err(complaint) => {
                json::Provider::failed(&self.provider, self.version.as_ref(), complaint)
            }
        }
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.provider)?;
        match &self.version {
            Some(version) => write!(f, " {version}"),
            None => Ok(()),
        }
    }
}
