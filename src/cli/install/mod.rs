//! `tfoci install`: puts packages into a working directory, or into a filesystem mirror with `--into`.
//!
//! A working directory has a lock file, so [`lock`](super::lock) does that half of the work: this file only translates the arguments. For a
//! filesystem mirror, this file finds the versions in the store, and [`tfoci::install`] downloads, verifies and writes them.
//! [`report`](super::report) prints the results and the block for the clients' CLI configuration.

use std::path::PathBuf;

use clap::Args;

use tfoci::install::{DirectoryKind, Form, Installed, Request, install};
use tfoci::outcome::Failure;

use super::Ending;
use super::arguments::{DESTINATION, SELECTION};
use super::error::CommandError;
use super::lock::{self, LockOptions};
use super::render::Mirror;
use super::report::{Destination, Extent, INSTALL};
use super::session::place::{into_store, is_store};
use super::session::{Session, Wanted, requested};

const EXAMPLES: &str = "\
Examples:
  tfoci install --from oci-layout:mirror --trust trust.toml
  tfoci install example.com/acme/demo --from oci-layout:mirror --into providers
  tfoci install example.com/acme/demo --into providers \\
    --trust trust.toml --require-pinned \\
    --from 'ghcr.io/acme/providers/${hostname}/${namespace}/${type}'";

/// Install providers into a working directory, or into a filesystem mirror
///
/// Without `--into`, tfoci installs what the configuration requires into `.terraform/providers` and updates the lock file, as `init` does. `plan`
/// and `apply` then work without `init`, unless it has to set up a backend or modules. With `--into`, tfoci makes a filesystem mirror from which
/// clients install without a network. Every package is verified while it is written, and tfoci replaces none that is there.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Providers with version constraints, or references as of `push`
    ///
    /// With `--into`, tfoci installs the newest version that satisfies the constraints of each argument. Name a provider twice for two versions.
    #[arg(value_name = "ADDR[@CONSTRAINTS]")]
    providers: Vec<String>,
    /// The store: oci-layout:DIR, or a registry's repository template
    ///
    /// With `--into` it is needed, unless every argument is a reference. Without, it may also be `origin`, network-mirror:URL or
    /// filesystem-mirror:DIR.
    #[arg(long, value_name = "STORE", help_heading = "Source")]
    from: Option<String>,
    /// The directory of the filesystem mirror
    #[arg(long, value_name = "DIR", conflicts_with_all = ["upgrade", "client", "trust_store"], help_heading = DESTINATION)]
    pub(super) into: Option<PathBuf>,
    /// The directory of the configuration [default: this directory]
    #[arg(long, value_name = "DIR", conflicts_with = "into", help_heading = SELECTION)]
    chdir: Option<PathBuf>,
    /// Leave the lock file alone; exit with 4 if its versions do not fit
    ///
    /// It differs if providers or versions differ, or if an installed package has no `h1`. Clients check installed packages only by `h1`;
    /// `tfoci lock --h1` adds it.
    #[arg(long, conflicts_with_all = ["into", "upgrade"], help_heading = "Lock file")]
    locked: bool,
    /// Only this platform, or `all`; may be repeated [default: this machine's]
    ///
    /// `linux/amd64` means the same.
    #[arg(long, value_name = "OS_ARCH", help_heading = "Source")]
    platform: Vec<String>,
    /// Install zips [default]
    #[arg(long, conflicts_with = "unpacked", requires = "into", help_heading = DESTINATION)]
    packed: bool,
    /// Install unpacked directories
    #[arg(long, requires = "into", help_heading = DESTINATION)]
    unpacked: bool,
    /// Verify and print the plan, but write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    lock: LockOptions,
}

pub(super) async fn run(arguments: Arguments, session: &Session) -> Result<Ending, CommandError> {
    match arguments.into.clone() {
        Some(into) => into_mirror(arguments, into, session).await,
        None => lock::update(into_working_directory(arguments, session)?, session).await,
    }
}

/// What to install into a working directory, and to lock.
fn into_working_directory(
    arguments: Arguments,
    session: &Session,
) -> Result<lock::LockRequest, CommandError> {
    let lock = arguments.lock;
    Ok(lock::LockRequest {
        options: lock.options(true, &arguments.platform, session)?,
        providers: arguments.providers,
        from: arguments.from,
        directories: arguments.chdir.into_iter().collect(),
        lock_file: None,
        lock,
        locked: arguments.locked,
        dry_run: arguments.dry_run,
        installs: true,
    })
}

async fn into_mirror(
    arguments: Arguments,
    into: PathBuf,
    session: &Session,
) -> Result<Ending, CommandError> {
    if is_store(&into) {
        let expected = "the directory of a filesystem mirror, for `--into`";
        return Err(into_store(&into, expected));
    }
    let request = Request {
        into: into.clone(),
        kind: DirectoryKind::Mirror,
        platforms: requested::platforms(&arguments.platform)?,
        form: match arguments.unpacked {
            true => Form::Unpacked,
            false => Form::Packed,
        },
        trust: session.trust_options(&arguments.lock.trust, &arguments.lock.allow_unsigned)?,
        dry_run: arguments.dry_run,
        jobs: session.jobs(),
    };
    let registry = session.registry(&session.http()?);
    let wanted = session.wanted(&arguments.providers, arguments.from.as_deref(), &registry);
    let Wanted {
        versions: wanted,
        everything,
    } = wanted.await?;
    let providers = wanted.iter().map(|wanted| &wanted.selection.provider);
    let file = session.trust_path(&arguments.lock.trust.trust, None);
    session.warn_of_unmatched(file.as_ref(), &request.trust.policy, providers);
    let report = &session.report;
    let extent = Extent {
        dry_run: arguments.dry_run,
        only_changed: false,
    };
    let reporter = report.begin(
        INSTALL,
        extent,
        Destination::Directory(Some(Mirror::directory(&into))),
    );
    if let Some(error) = everything.and_then(|everything| everything.failure()) {
        report.failed(error);
    }
    let tasks = session.tasks(wanted);
    let on_result = |result: Result<Installed, Failure>| match result {
        Ok(installed) => report.installed(installed),
        Err(failure) => report.failed(failure.into()),
    };
    install(tasks, &request, &reporter, &on_result).await;
    Ok(report.finish())
}
