//! `tfoci mirror`.

mod pins;
mod plan;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use clap::Args;

use tfoci::event::Reporter;
use tfoci::mirror::{Options, Shard, mirror};
use tfoci::outcome::{Failure, Problem, Published};
use tfoci::platform::Platform;
use tfoci::publish::{self, Demands, Existing};
use tfoci::source::filesystem_mirror::FilesystemMirror;
use tfoci::source::network_mirror::NetworkMirror;
use tfoci::source::origin::Origin;
use tfoci::source::{Source, SourceAddr};

use pins::Pins;

use super::Ending;
use super::diagnose::CommandError;
use super::options::{Globals, Trust};
use super::printer::Printer;
use super::progress::Progress;
use super::summary::{MIRRORED, Report};

const EXAMPLES: &str = "\
Examples:
  tfoci mirror hashicorp/random --to oci-layout:mirror
  tfoci mirror 'hashicorp/aws@~> 5.80' --newest 3 --to 'ghcr.io/acme/{namespace}/{type}'";

/// Mirror providers from the registries that publish them into a store
///
/// Without constraints the newest release is mirrored, with constraints every release that satisfies them. Signatures are checked before
/// any package is downloaded. What the store has is not asked for again, so a repeated run costs little.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The providers, each with the versions that are wanted
    #[arg(value_name = "ADDR[@CONSTRAINTS]", required_unless_present_any = ["file", "from_lock", "from_config"])]
    providers: Vec<String>,
    /// The store: oci-layout:DIR, or a registry's repository template
    ///
    /// May be repeated.
    #[arg(long, value_name = "STORE")]
    to: Vec<String>,
    /// In place of the origin, network-mirror:URL or filesystem-mirror:DIR
    // As text: the parser of arguments would repeat a password that stands in it.
    #[arg(long, value_name = "SOURCE")]
    from: Option<String>,
    /// Mirror what this file names, in TOML
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Only this platform, such as linux_amd64; may be repeated
    #[arg(long, value_name = "OS_ARCH")]
    platform: Vec<Platform>,
    /// Mirror exactly what this lock file has
    ///
    /// A directory stands for the one in it. May be repeated.
    #[arg(long, value_name = "FILE")]
    from_lock: Vec<PathBuf>,
    /// Mirror what this configuration requires
    ///
    /// Of each provider the newest version that all of its modules admit. May be repeated.
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    from_config: Vec<PathBuf>,
    /// At most this many versions of each provider, the newest
    #[arg(long, value_name = "N", value_parser = count)]
    newest: Option<NonZeroUsize>,
    /// Take pre-releases too
    #[arg(long, hide_short_help = true)]
    prereleases: bool,
    /// Compare what the store has, evidence included, with what the origin has now
    #[arg(long, hide_short_help = true)]
    recheck: bool,
    /// Only the I-th of N equal parts, for jobs that run side by side
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Verify everything and print the plan, but write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    trust: Trust,
    /// Write keys that are seen for the first time into the trust file
    #[arg(long, help_heading = "Trust")]
    pin_new: bool,
    /// Accept releases without signature or key
    ///
    /// They are recorded as `checksum`, and what comes from mirrors as `unverified`. May be repeated.
    #[arg(long, value_name = "PATTERN", help_heading = "Trust")]
    allow_unsigned: Vec<String>,
}

fn count(text: &str) -> Result<NonZeroUsize, &'static str> {
    let count = text.parse();
    count.map_err(|_| "expected a whole number from 1")
}

/// Runs the command.
pub(super) async fn run(
    arguments: Arguments,
    globals: &Globals,
    printer: &Printer,
) -> Result<Ending, CommandError> {
    let from: Option<SourceAddr> = arguments.from.as_deref().map(str::parse).transpose()?;
    let http = globals.http(printer)?;
    let locks = plan::locks(&arguments.from_lock, printer)?;
    let tasks = plan::tasks(&arguments, globals, &locks, (&http, printer))?;
    let options = Options {
        publish: publish::Options {
            existing: Existing::Merge,
            annotations: Default::default(),
            dry_run: arguments.dry_run,
            jobs: globals.jobs(),
            now: SystemTime::now(),
            // Those of each provider are its own.
            demands: Demands::default(),
        },
        recheck: arguments.recheck,
        pins_keys: arguments.pin_new,
    };
    let progress = Arc::new(Progress::new(printer));
    let reporter: Arc<dyn Reporter> = progress.clone();
    let pins = pins::trust_file(&arguments)?.map(|path| Pins::new(path, &tasks, printer));
    let report = Report::new(MIRRORED, &progress, printer).planned_if(arguments.dry_run);
    let hear = |result: Result<Published, Failure>| {
        if let Some(pins) = &pins {
            pins.hear(&result);
        }
        match result {
            Err(failure) => match locks.refusing(&failure) {
                Some(files) => report.fail(CommandError::NotLocked { files, failure }),
                None => report.hear(Err(failure)),
            },
            published => report.hear(published),
        }
    };
    let access = || globals.origin_access(http.clone(), printer);
    let source = match &from {
        None => Ok(Source::Origin(Origin::new(access()?))),
        Some(SourceAddr::NetworkMirror(url)) => {
            NetworkMirror::new(access()?, url).map(Source::NetworkMirror)
        }
        Some(SourceAddr::FilesystemMirror(directory)) => {
            FilesystemMirror::open(directory).map(Source::FilesystemMirror)
        }
    };
    let source = source.map_err(|error| Failure::from(Problem::from(error)))?;
    mirror(tasks, &source, &options, &reporter, &hear).await;
    report.besides(match pins {
        Some(pins) => pins.finish(&*reporter).await,
        None => None,
    });
    Ok(report.finish(http.requests()))
}
