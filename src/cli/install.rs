//! `tfoci install`.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use indicatif::HumanBytes;

use tfoci::constraint::VersionConstraints;
use tfoci::event::{Event, Reporter, Subject, Transfer};
use tfoci::examine::Platforms;
use tfoci::install::{Form, Installed, Request, install};
use tfoci::outcome::{Failure, Problem};
use tfoci::platform::Platform;
use tfoci::selection::Selection;
use tfoci::store::{Endpoint, Layout};

use super::Ending;
use super::diagnose::Complaint;
use super::json;
use super::options::{Globals, Reading, shelf};
use super::printer::{Printer, Tone};
use super::progress::Progress;
use super::render::FilesystemMirror;

const EXAMPLES: &str = "\
Examples:
  tfoci install acme/demo --from oci-layout:mirror --into providers
  tfoci install 'acme/demo@~> 1.0' --from oci-layout:mirror --into dirs --unpacked";

/// Install providers from a store into a filesystem mirror
///
/// Clients install from it without a network. Every package is verified while it streams; what is there already is kept if it is
/// the same and never replaced. Without addresses, the newest version of every provider in the store.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Providers, with constraints on their versions
    #[arg(value_name = "ADDR[@CONSTRAINTS]")]
    providers: Vec<String>,
    #[command(flatten)]
    reading: Reading,
    /// The directory of the mirror
    #[arg(long, value_name = "DIR")]
    into: PathBuf,
    /// For this platform, such as linux_amd64, or `all`; may be repeated [default: this machine's]
    #[arg(long, value_name = "OS_ARCH")]
    platform: Vec<String>,
    /// As zips [default]
    #[arg(long, conflicts_with = "unpacked")]
    packed: bool,
    /// As directories
    #[arg(long)]
    unpacked: bool,
    /// Verify and print the plan, but write nothing
    #[arg(long)]
    dry_run: bool,
}

/// Runs the command.
pub(super) async fn run(
    arguments: Arguments,
    globals: &Globals,
    printer: &Printer,
) -> Result<Ending, Complaint> {
    let request = Request {
        into: arguments.into.clone(),
        platforms: platforms(&arguments.platform)?,
        form: if arguments.unpacked {
            Form::Unpacked
        } else {
            Form::Packed
        },
        belief: arguments.reading.belief()?,
        dry_run: arguments.dry_run,
        jobs: globals.jobs(),
    };
    let selections: Vec<Selection> = arguments
        .providers
        .iter()
        .map(|text| globals.selection(text))
        .collect::<Result<_, _>>()?;
    let (endpoint, store) = arguments.reading.open(globals)?;
    let selections = if selections.is_empty() {
        everything(&endpoint, &store).await?
    } else {
        selections
    };
    let progress = Arc::new(Progress::new(printer));
    let reporter: Arc<dyn Reporter> = progress.clone();
    let mut installed = Vec::new();
    for selection in &selections {
        let shelf = shelf(&endpoint, &store, &selection.provider)?;
        let (version, matching) = shelf.choose(selection).await?;
        reporter.report(Event::Selected {
            subject: Subject::version(&selection.provider, &version),
            matching,
        });
        installed.push(install(&shelf, &version, &request, &reporter).await?);
    }
    report(&installed, &arguments, &progress, printer);
    Ok(Ending::Done)
}

fn platforms(texts: &[String]) -> Result<Platforms, Complaint> {
    if texts.iter().any(|text| text == "all") {
        return Ok(Platforms::All);
    }
    let mut platforms = texts
        .iter()
        .map(|text| text.parse())
        .collect::<Result<Vec<Platform>, _>>()?;
    if platforms.is_empty() {
        platforms.push(Platform::current());
    }
    platforms.sort();
    platforms.dedup();
    Ok(Platforms::Only(platforms))
}

async fn everything(endpoint: &Endpoint, store: &Layout) -> Result<Vec<Selection>, Complaint> {
    let providers = endpoint
        .providers(store)
        .await
        .map_err(Problem::from)
        .map_err(Failure::from)?;
    let any = |provider| Selection {
        provider,
        constraints: VersionConstraints::any(),
    };
    Ok(providers
        .ok_or(Complaint::NoSelection)?
        .into_iter()
        .map(any)
        .collect())
}

fn report(installed: &[Installed], arguments: &Arguments, progress: &Progress, printer: &Printer) {
    for provider in installed {
        printer.line(
            Tone::Plain,
            "Hashes",
            &format!("{} {}", provider.provider, provider.version),
        );
        for hash in &provider.hashes {
            printer.say(&format!("           {hash}"));
        }
    }
    let packages: Vec<_> = installed
        .iter()
        .flat_map(|provider| &provider.packages)
        .collect();
    let moved = packages
        .iter()
        .filter(|package| package.transfer == Transfer::Copied);
    let bytes: u64 = moved.clone().map(|package| package.size).sum();
    let present = packages
        .iter()
        .filter(|package| package.transfer == Transfer::Present)
        .count();
    let verb = if arguments.dry_run {
        "Would install"
    } else {
        "Installed"
    };
    let text = format!(
        "{} of {} packages ({} copied, {present} already present) in {}",
        packages.len() - present,
        packages.len(),
        HumanBytes(bytes),
        progress.elapsed()
    );
    printer.line(Tone::Done, verb, &text);
    let path = std::path::absolute(&arguments.into).unwrap_or_else(|_| arguments.into.clone());
    let include = installed
        .iter()
        .map(|provider| provider.provider.to_string())
        .collect();
    let view = FilesystemMirror {
        path: path.display().to_string(),
        include,
    };
    printer.say(&format!(
        "\nFor the client's CLI configuration:\n\n{}",
        view.render().trim_end()
    ));
    for package in packages {
        printer.result(&package.path.display().to_string());
    }
    printer.document(&json::Installation {
        schema: json::SCHEMA,
        providers: installed,
    });
}
