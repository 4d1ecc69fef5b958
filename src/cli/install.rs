//! `tfoci install`.

use std::path::PathBuf;

use clap::Args;

use tfoci::event::Subject;
use tfoci::examine::Platforms;
use tfoci::install::{Form, Installed, Request, Task, install};
use tfoci::outcome::Failure;
use tfoci::platform::Platform;

use super::Ending;
use super::args::ReadTrust;
use super::error::CommandError;
use super::report::Scope;
use super::session::{Session, Wanted};

const EXAMPLES: &str = "\
Examples:
  tfoci install acme/demo --from oci-layout:mirror --into providers
  tfoci install acme/demo@1.0.0 --from oci-layout:mirror --into dirs --unpacked
  tfoci install acme/demo --into providers --trust trust.toml --require-pinned \\
    --from 'ghcr.io/acme/providers/${hostname}/${namespace}/${type}'";

/// Install providers from a store into a filesystem mirror
///
/// `tofu` and `terraform` install from the mirror without a network; tfoci prints the block for their CLI configuration. Every package is
/// verified while it is written. tfoci never replaces a package that is already there, and reports an error if it is another one. Without
/// addresses, tfoci installs the newest version of every provider in the store.
///
/// To lock all platforms, install with `--platform all`, and run `tofu providers lock -fs-mirror=DIR` with a `-platform` for each.
///
/// `ADDR@sha256:…` names the version whose index has this digest. A reference, as `push` prints it, also names the store, so it
/// needs no `--from`. If the tag of its version refers to another index, tfoci refuses it.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Providers, with constraints on their versions; or references, as `push` prints them
    #[arg(value_name = "ADDR[@CONSTRAINTS]")]
    providers: Vec<String>,
    /// The store: oci-layout:DIR, or a registry's repository template
    ///
    /// It is needed, unless every argument is a reference.
    #[arg(long, value_name = "STORE", help_heading = "Source")]
    from: Option<String>,
    /// The directory of the filesystem mirror
    #[arg(long, value_name = "DIR", help_heading = "Destination")]
    into: PathBuf,
    /// Only this platform, such as linux_amd64, or `all`; may be repeated [default: this machine's]
    ///
    /// `linux/amd64` means the same.
    #[arg(long, value_name = "OS_ARCH", help_heading = "Source")]
    platform: Vec<String>,
    /// Install zips [default]
    #[arg(long, conflicts_with = "unpacked", help_heading = "Destination")]
    packed: bool,
    /// Install unpacked directories
    #[arg(long, help_heading = "Destination")]
    unpacked: bool,
    /// Verify and print the plan, but write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    trust: ReadTrust,
}

pub(super) async fn run(arguments: Arguments, session: &Session) -> Result<Ending, CommandError> {
    // Otherwise a directory of that name would be made.
    if arguments.into.to_string_lossy().starts_with("oci-layout:") {
        return Err(CommandError::IntoStore {
            into: arguments.into,
        });
    }
    let request = Request {
        into: arguments.into.clone(),
        platforms: platforms(&arguments.platform)?,
        form: match arguments.unpacked {
            true => Form::Unpacked,
            false => Form::Packed,
        },
        trust: session.trust_options(&arguments.trust)?,
        dry_run: arguments.dry_run,
        jobs: session.jobs(),
    };
    let registry = session.registry(&session.http()?);
    let wanted = session.wanted(&arguments.providers, arguments.from.as_deref(), &registry);
    let wanted = wanted.await?;
    let providers = wanted.iter().map(|wanted| &wanted.selection.provider);
    session.warn_of_unmatched(&arguments.trust, &request.trust, providers);
    let report = &session.report;
    let scope = Scope {
        providers: wanted.len(),
        dry_run: arguments.dry_run,
        only_changed: false,
    };
    let reporter = report.installing(arguments.into, scope);
    let mut tasks = Vec::new();
    for Wanted { selection, from } in wanted {
        match from {
            Ok(from) => tasks.push(Task { from, selection }),
            Err(failure) => report.failed(Subject::provider(&selection.provider), failure.into()),
        }
    }
    let on_result = |result: Result<Installed, Failure>| match result {
        Ok(installed) => report.installed(installed),
        Err(failure) => match failure.subject.clone() {
            Some(subject) => {
                let platform = None;
                report.failed(
                    Subject {
                        platform,
                        ..subject
                    },
                    failure.into(),
                );
            }
            None => report.run_failed(failure.into()),
        },
    };
    install(tasks, &request, &reporter, &on_result).await;
    Ok(report.finish())
}

/// The platforms that `--platform` names; without any, that of this machine.
pub(super) fn platforms(texts: &[String]) -> Result<Platforms, CommandError> {
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
