//! `tfoci install`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use indicatif::HumanBytes;

use tfoci::address::ProviderAddr;
use tfoci::event::{Reporter, Transfer};
use tfoci::examine::Platforms;
use tfoci::install::{Form, Installed, Request, newest};
use tfoci::platform::Platform;
use tfoci::selection::Selection;

use super::Ending;
use super::diagnose::CommandError;
use super::json;
use super::options::{Globals, Reading, everything, shelf};
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

/// What became of one provider that was asked for.
type Outcome<'a> = (&'a ProviderAddr, Result<Installed, CommandError>);

/// Runs the command.
pub(super) async fn run(
    arguments: Arguments,
    globals: &Globals,
    printer: &Printer,
) -> Result<Ending, CommandError> {
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
    let providers: Vec<ProviderAddr> = selections
        .iter()
        .map(|selection| selection.provider.clone())
        .collect();
    let (endpoint, store) = arguments.reading.open(globals, printer, &providers)?;
    let selections = if selections.is_empty() {
        everything(&endpoint, &store).await?
    } else {
        selections
    };
    let named = selections.iter().map(|selection| &selection.provider);
    let reading = &arguments.reading;
    reading.warn_of_silence(&request.belief, named, printer);
    let progress = Arc::new(Progress::new(printer));
    let reporter: Arc<dyn Reporter> = progress.clone();
    let mut results = Vec::new();
    for selection in &selections {
        let shelf = shelf(&endpoint, &store, &selection.provider);
        let result = match shelf {
            Ok(shelf) => newest(&shelf, selection, &request, &reporter)
                .await
                .map_err(CommandError::Journey),
            Err(error) => Err(error),
        };
        if let Err(error) = &result {
            progress.clear();
            printer.failure(error);
        }
        results.push((&selection.provider, result));
    }
    report(&results, &arguments, &progress, printer);
    let failures = results
        .iter()
        .filter_map(|(_, result)| result.as_ref().err());
    Ok(Ending::of(failures))
}

fn platforms(texts: &[String]) -> Result<Platforms, CommandError> {
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

fn report(results: &[Outcome<'_>], arguments: &Arguments, progress: &Progress, printer: &Printer) {
    let installed: Vec<&Installed> = results
        .iter()
        .filter_map(|(_, result)| result.as_ref().ok())
        .collect();
    for provider in &installed {
        printer.line(
            Tone::Plain,
            "Hashes",
            &format!("{} {}", provider.provider, provider.version),
        );
        for hash in &provider.hashes {
            printer.say(&format!("           {hash}"));
        }
    }
    // Of one provider that failed the error has said everything.
    let is_list = results.len() != 1;
    if is_list || !installed.is_empty() {
        summarize(&installed, arguments.dry_run, progress, printer);
    }
    let failed: Vec<String> = results
        .iter()
        .filter(|(_, result)| result.is_err())
        .map(|(provider, _)| provider.to_string())
        .collect();
    if is_list && !failed.is_empty() {
        let text = format!(
            "{} of {} providers: {}",
            failed.len(),
            results.len(),
            failed.join(", ")
        );
        printer.line(Tone::Warning, "Failed", &text);
    }
    if !installed.is_empty() {
        show_configuration(&installed, &arguments.into, printer);
    }
    for package in installed.iter().flat_map(|provider| &provider.packages) {
        printer.result(&package.path.display().to_string());
    }
    let providers = results
        .iter()
        .map(|(provider, result)| json::InstalledProvider::of(provider, result));
    printer.document(&json::Installation {
        schema: json::SCHEMA,
        providers: providers.collect(),
    });
}

fn summarize(installed: &[&Installed], dry_run: bool, progress: &Progress, printer: &Printer) {
    let packages = || installed.iter().flat_map(|provider| &provider.packages);
    let count = |transfer| {
        packages()
            .filter(|package| package.transfer == transfer)
            .count()
    };
    let moved = if dry_run {
        Transfer::Planned
    } else {
        Transfer::Copied
    };
    let bytes: u64 = packages()
        .filter(|package| package.transfer == Transfer::Copied)
        .map(|package| package.size)
        .sum();
    let verb = if dry_run {
        "Would install"
    } else {
        "Installed"
    };
    let (moved, present) = (count(moved), count(Transfer::Present));
    let text = match (moved, present) {
        (0, 0) => "nothing".to_owned(),
        (0, _) => format!("nothing: {} already present,", counted(present)),
        (_, 0) => format!("{} ({} copied)", counted(moved), HumanBytes(bytes)),
        _ => format!(
            "{} ({} copied, {present} already present)",
            counted(moved),
            HumanBytes(bytes)
        ),
    };
    printer.line(
        Tone::Done,
        verb,
        &format!("{text} in {}", progress.elapsed()),
    );
}

fn counted(packages: usize) -> String {
    let plural = if packages == 1 { "" } else { "s" };
    format!("{packages} package{plural}")
}

fn show_configuration(installed: &[&Installed], into: &Path, printer: &Printer) {
    let path = std::path::absolute(into).unwrap_or_else(|_| into.to_owned());
    let mut include: Vec<String> = installed
        .iter()
        .map(|provider| provider.provider.to_string())
        .collect();
    include.sort();
    include.dedup();
    let view = FilesystemMirror {
        path: path.display().to_string(),
        include,
    };
    printer.say(&format!(
        "\nFor the client's CLI configuration:\n\n{}",
        view.render().trim_end()
    ));
}
