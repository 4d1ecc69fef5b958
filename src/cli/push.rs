//! `tfoci push`, and `oci-push`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use clap::{Args, ValueEnum};

use tfoci::disk;
use tfoci::event::{Reporter, Subject};
use tfoci::oci::{TITLE, VERSION};
use tfoci::outcome::{Failure, Problem, Published};
use tfoci::platform::Platform;
use tfoci::publish::{Demands, Destination, Existing, Options};
use tfoci::push::{Request, push};
use tfoci::trust::Rule;

use super::Ending;
use super::diagnose::CommandError;
use super::json;
use super::options::{Globals, Trust, check};
use super::printer::Printer;
use super::progress::Progress;
use super::summary::{PUSHED, Tally, summarize};

const EXAMPLES: &str = "\
Examples:
  tfoci push dist --provider acme/demo --key acme.asc --to oci-layout:mirror
  tfoci push dist --provider acme/demo@1.0.0 --key acme.asc --to oci-layout:mirror --dry-run";

/// Push the folder that a provider's release process makes into a store
///
/// The folder holds terraform-provider-TYPE_VERSION_OS_ARCH.zip files, their SHA256SUMS and its signature. All of it is
/// verified before anything is written, and the version becomes visible last.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The folder
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Whose release it is, and which version if there are several
    #[arg(long, value_name = "ADDR[@VERSION]")]
    provider: String,
    /// The store: oci-layout:DIR, or a registry's repository template
    #[arg(long, value_name = "STORE")]
    to: String,
    /// Only this platform, such as linux_amd64; may be repeated
    #[arg(long, value_name = "OS_ARCH")]
    platform: Vec<Platform>,
    /// What to do if the version is there
    #[arg(long, value_enum, default_value_t, value_name = "HOW")]
    existing: How,
    /// Further annotation of the index; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    annotation: Vec<String>,
    /// Write the digest of the index to this file
    #[arg(long, value_name = "FILE")]
    digest_file: Option<PathBuf>,
    /// Verify everything and print the plan, but write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    trust: Trust,
    /// Accept a release without signature or key, recorded as `checksum`; may be repeated
    #[arg(long, value_name = "PATTERN", help_heading = "Trust")]
    allow_unsigned: Vec<String>,
}

/// What to do about a version that is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum How {
    /// Add missing platforms; refuse another zip
    #[default]
    Merge,
    /// Refuse
    Fail,
    /// Put this release in its place
    Replace,
}

impl From<How> for Existing {
    fn from(how: How) -> Self {
        match how {
            How::Merge => Self::Merge,
            How::Fail => Self::Fail,
            How::Replace => Self::Replace,
        }
    }
}

/// Runs the command.
pub(super) async fn run(
    arguments: Arguments,
    globals: &Globals,
    printer: &Printer,
) -> Result<Ending, CommandError> {
    let request = request(&arguments, globals)?;
    let options = options(&arguments, globals, &request.rule)?;
    let endpoint = globals.endpoint(&arguments.to)?;
    check(&endpoint, std::slice::from_ref(&request.provider))?;
    let failed = |problem: Problem| problem.of(Subject::provider(&request.provider), &endpoint);
    let unnameable = |error| Failure::from(Problem::Mapping(error));
    let http = globals.http(printer)?;
    let destination = Destination {
        repository: endpoint.repository(&request.provider).map_err(unnameable)?,
        store: endpoint
            .write(globals.registry(globals.credentials(), &http))
            .map_err(|error| failed(error.into()))?,
    };
    let progress = Arc::new(Progress::new(printer));
    let reporter: Arc<dyn Reporter> = progress.clone();
    let published = push(&request, &destination, &options, &reporter).await;
    let requests = http.requests();
    let published = match published {
        Ok(published) => published,
        Err(failure) => {
            let error = CommandError::Publication(failure);
            printer.failure(&error);
            printer.document(&json::Failed::after(&error, requests));
            return Ok(Ending::Failed(error.category()));
        }
    };
    let tally = Tally::of(&published, arguments.dry_run);
    summarize(&tally, PUSHED, &progress, printer);
    printer.result(&published.reference);
    printer.document(&json::Publication {
        schema: json::SCHEMA,
        bytes: published.bytes,
        requests,
        providers: vec![json::Provider::Published(&published)],
        error: None,
    });
    let digest_file = arguments.digest_file.filter(|_| !arguments.dry_run);
    Ok(
        match digest_file.map(|path| write_digest(&path, &published)) {
            None | Some(Ok(())) => Ending::Done,
            // The version is published all the same, and its reference was printed.
            Some(Err(error)) => {
                printer.failure(&error);
                Ending::Failed(error.category())
            }
        },
    )
}

fn write_digest(path: &Path, published: &Published) -> Result<(), CommandError> {
    let digest = format!("{}\n", published.digest);
    let written = disk::staged::replace(path, digest.as_bytes());
    Ok(written.map_err(Problem::from).map_err(Failure::from)?)
}

fn request(arguments: &Arguments, globals: &Globals) -> Result<Request, CommandError> {
    let selection = globals.selection(&arguments.provider)?;
    let one = || CommandError::OneVersion {
        text: arguments.provider.clone(),
    };
    let version = match selection.constraints.as_exact() {
        Some(version) => Some(version.clone()),
        None if selection.constraints.is_any() => None,
        None => return Err(one()),
    };
    let unsigned = arguments
        .allow_unsigned
        .iter()
        .map(|text| globals.pattern(text))
        .collect::<Result<_, _>>()?;
    let policy = arguments.trust.policy()?.with_allow_unsigned(unsigned);
    Ok(Request {
        directory: arguments.directory.clone(),
        rule: policy.rule_for(&selection.provider).unwrap_or_default(),
        provider: selection.provider,
        version,
        platforms: arguments.platform.clone(),
    })
}

fn options(arguments: &Arguments, globals: &Globals, rule: &Rule) -> Result<Options, CommandError> {
    let mut annotations = BTreeMap::new();
    for text in &arguments.annotation {
        let (key, value) = text
            .split_once('=')
            .filter(|(key, _)| !key.trim().is_empty())
            .ok_or_else(|| CommandError::Annotation { text: text.clone() })?;
        if key == TITLE || key == VERSION || key.starts_with("org.tfoci.") {
            return Err(CommandError::OwnAnnotation {
                key: key.to_owned(),
            });
        }
        annotations.insert(key.to_owned(), value.to_owned());
    }
    Ok(Options {
        existing: arguments.existing.into(),
        annotations,
        dry_run: arguments.dry_run,
        jobs: globals.jobs(),
        now: SystemTime::now(),
        demands: Demands::of_writing(rule),
    })
}
