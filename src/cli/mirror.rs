//! `tfoci mirror`.

use std::sync::Arc;
use std::time::SystemTime;

use clap::Args;
use indicatif::HumanBytes;

use tfoci::event::{Reporter, Transfer};
use tfoci::mirror::{Options, Task, Wish, mirror};
use tfoci::outcome::{Change, Failure, Problem, Published};
use tfoci::platform::Platform;
use tfoci::publish::{self, Destination, Existing};
use tfoci::source::registry::Origin;
use tfoci::store::Store;

use super::Ending;
use super::diagnose::Complaint;
use super::json;
use super::options::{Globals, Trust, check};
use super::printer::{Printer, Tone};
use super::progress::Progress;

const EXAMPLES: &str = "\
Examples:
  tfoci mirror hashicorp/random --to oci-layout:mirror
  tfoci mirror 'hashicorp/aws@~> 5.80' --newest 3 --platform linux_amd64 --to 'ghcr.io/acme/{namespace}/{type}'";

/// Mirror providers from the registries that publish them into a store
///
/// Without constraints the newest release is mirrored, with constraints every release that satisfies them. Signatures are checked before
/// any package is downloaded. What the store has is not asked for again, so a repeated run costs little.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The providers, each with the versions that are wanted
    #[arg(value_name = "ADDR[@CONSTRAINTS]", required = true)]
    providers: Vec<String>,
    /// The store: oci-layout:DIR, or a registry's repository template
    #[arg(long, value_name = "STORE")]
    to: String,
    /// Only this platform, such as linux_amd64; may be repeated
    #[arg(long, value_name = "OS_ARCH")]
    platform: Vec<Platform>,
    /// At most this many versions of each provider, the newest
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    newest: Option<u32>,
    /// Take pre-releases too
    #[arg(long)]
    prereleases: bool,
    /// Compare what the store has with what the origin has now
    #[arg(long)]
    recheck: bool,
    /// Verify everything and print the plan, but write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    trust: Trust,
    /// Accept releases without signature or key, recorded as `checksum`; may be repeated
    #[arg(long, value_name = "PATTERN", help_heading = "Trust")]
    allow_unsigned: Vec<String>,
}

/// Runs the command.
pub(super) async fn run(
    arguments: Arguments,
    globals: &Globals,
    printer: &Printer,
) -> Result<Ending, Complaint> {
    let http = globals.http()?;
    let tasks = tasks(&arguments, globals, &http)?;
    let options = Options {
        publish: publish::Options {
            existing: Existing::Merge,
            annotations: Default::default(),
            dry_run: arguments.dry_run,
            jobs: globals.jobs(),
            now: SystemTime::now(),
        },
        recheck: arguments.recheck,
    };
    let progress = Arc::new(Progress::new(printer));
    let reporter: Arc<dyn Reporter> = progress.clone();
    let results = mirror(tasks, &Origin::new(http), &options, &reporter).await;
    Ok(report(results, &progress, printer))
}

fn tasks(
    arguments: &Arguments,
    globals: &Globals,
    http: &tfoci::http::Http,
) -> Result<Vec<Task<Store>>, Complaint> {
    let endpoint = globals.endpoint(&arguments.to)?;
    let selection = |text: &String| globals.selection(text).map(|selection| selection.provider);
    let providers = arguments.providers.iter().map(selection);
    check(&endpoint, &providers.collect::<Result<Vec<_>, _>>()?)?;
    let store = endpoint
        .write(globals.registry(globals.credentials()?, http))
        .map_err(|error| Failure::from(Problem::from(error)))?;
    let unsigned = arguments
        .allow_unsigned
        .iter()
        .map(|text| globals.pattern(text))
        .collect::<Result<_, _>>()?;
    let policy = arguments.trust.policy()?.with_allow_unsigned(unsigned);
    let task = |text: &String| {
        let selection = globals.selection(text)?;
        let is_any = selection.constraints.is_any();
        let wish = Wish {
            newest: arguments.newest.or(is_any.then_some(1)).map(|n| n as usize),
            versions: selection.constraints,
            prereleases: arguments.prereleases,
            platforms: (!arguments.platform.is_empty()).then(|| arguments.platform.clone()),
        };
        let repository = endpoint.repository(&selection.provider);
        Ok(Task {
            destination: Destination {
                store: store.clone(),
                repository: repository.map_err(|error| Failure::from(Problem::Mapping(error)))?,
            },
            rule: policy.rule_for(&selection.provider).unwrap_or_default(),
            provider: selection.provider,
            wishes: vec![wish],
        })
    };
    arguments.providers.iter().map(task).collect()
}

fn report(
    results: Vec<Result<Published, Failure>>,
    progress: &Progress,
    printer: &Printer,
) -> Ending {
    let mut published = Vec::new();
    let mut complaints = Vec::new();
    for result in results {
        match result {
            Ok(one) => published.push(one),
            Err(failure) => complaints.push(Complaint::Publication(failure)),
        }
    }
    for complaint in &complaints {
        printer.failure(complaint);
    }
    for one in &published {
        printer.result(&one.reference);
    }
    printer.line(
        Tone::Done,
        "Mirrored",
        &summary(&published, complaints.len(), &progress.elapsed()),
    );
    let failed = complaints.iter().filter_map(json::Provider::failed);
    printer.document(&json::Publication {
        schema: json::SCHEMA,
        bytes: published.iter().map(|one| one.bytes).sum(),
        requests: 0,
        providers: published
            .iter()
            .map(json::Provider::Published)
            .chain(failed)
            .collect(),
    });
    let gravest = complaints
        .iter()
        .map(Complaint::category)
        .max_by_key(|category| gravity(*category));
    gravest.map_or(Ending::Done, Ending::Failed)
}

fn gravity(category: tfoci::error::Category) -> u8 {
    match super::exit_code(category) {
        130 => 3,
        3 => 2,
        _ => 1,
    }
}

fn summary(published: &[Published], failed: usize, elapsed: &str) -> String {
    let changed = published
        .iter()
        .filter(|one| one.status != Change::Present)
        .count();
    let packages = published.iter().flat_map(|one| &one.packages);
    let copied = packages
        .filter(|package| package.status != Transfer::Present)
        .count();
    let bytes: u64 = published.iter().map(|one| one.bytes).sum();
    format!(
        "{changed} of {} versions, {copied} packages ({} copied), {failed} failed, in {elapsed}",
        published.len() + failed,
        HumanBytes(bytes),
    )
}
