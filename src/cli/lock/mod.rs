//! `tfoci lock`: writes lock files for every platform.
//!
//! [`roots`] reads what configurations require, [`methods`] decides where each provider is looked up, and [`outcome`] prints the result.
//! Selection, verification and the files are [`tfoci::lock`]'s.

mod methods;
mod outcome;
mod roots;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};

use tfoci::address::ProviderAddr;
use tfoci::event::Reporter;
use tfoci::examine::TrustOptions;
use tfoci::install::{self, DirectoryKind, Form, Installer};
use tfoci::lock::{Locked, Options, Task, Wanted, lock};
use tfoci::lockfile::{Client, LockedProvider};
use tfoci::outcome::Failure;

use super::Ending;
use super::args::ReadTrust;
use super::error::CommandError;
use super::progress::Progress;
use super::session::Session;
use methods::Methods;
use outcome::Outcome;
use roots::Root;

const EXAMPLES: &str = "\
Examples:
  tfoci lock
  tfoci lock --check --trust trust.toml
  tfoci lock --chdir network --chdir cluster --client terraform
  tfoci lock --h1 --platform linux_amd64 --platform darwin_arm64
  tfoci lock --key acme.asc --from 'ghcr.io/acme/providers/${hostname}/${namespace}/${type}'";

/// Lock providers for every platform, mostly without downloading them
///
/// tfoci reads what the configuration in this directory and its modules require, selects versions as `init` does, verifies their
/// signatures, and records the checksums of every package in `.terraform.lock.hcl`, as `providers lock` does for all platforms. The
/// file is replaced in one step, and stays as it is if nothing changes.
///
/// Without `--from`, tfoci uses the installation methods of the CLI configuration of `tofu` or `terraform`, like the client.
///
/// A release that is signed by a pinned key, or by a key that its origin serves, is locked for every platform. From a store, without a
/// pinned key, tfoci downloads the packages of `--platform` and records those; `--trust-store` believes what the store says.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Only these providers, with constraints on their versions [default: those of the configuration]
    ///
    /// In a directory without configuration, the lock file records these constraints.
    #[arg(value_name = "ADDR[@CONSTRAINTS]")]
    providers: Vec<String>,
    /// Where to look: a store, `origin`, network-mirror:URL or filesystem-mirror:DIR [default: as the CLI configuration says]
    #[arg(long, value_name = "STORE", help_heading = "Source")]
    from: Option<String>,
    /// The directory of the configuration; may be repeated [default: this directory]
    #[arg(long, value_name = "DIR", help_heading = "Selection")]
    chdir: Vec<PathBuf>,
    /// Select the newest versions that the configuration admits, even if others are locked
    #[arg(long, help_heading = "Selection")]
    upgrade: bool,
    /// Download for this platform, such as linux_amd64, or `all`; may be repeated [default: this machine's]
    ///
    /// Only packages whose checksums no known signature covers are downloaded, or with `--h1`.
    #[arg(long, value_name = "OS_ARCH", help_heading = "Selection")]
    platform: Vec<String>,
    /// Also record the `h1` of the packages of `--platform`, which are downloaded
    #[arg(long, help_heading = "Lock file")]
    h1: bool,
    /// The client that the lock file is for [default: the one that wrote it, otherwise tofu]
    #[arg(long, value_enum, help_heading = "Lock file")]
    client: Option<ClientName>,
    /// The lock file, if it is not DIR/.terraform.lock.hcl
    #[arg(long, value_name = "FILE", help_heading = "Lock file")]
    lock_file: Option<PathBuf>,
    /// Write nothing; print what would change, and exit with 4 if something would
    #[arg(long, conflicts_with = "dry_run", help_heading = "Lock file")]
    check: bool,
    /// Write nothing, and print what would change
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    trust: ReadTrust,
    /// Accept releases without signature or key; may be repeated
    ///
    /// `*` stands for any namespace or type, as in `example.com/acme/*`.
    #[arg(long, value_name = "PATTERN")]
    allow_unsigned: Vec<String>,
    /// Believe the checksums of the store or mirror where no known signature covers them
    #[arg(long, conflicts_with = "require_pinned")]
    trust_store: bool,
}

/// A client, as users write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ClientName {
    /// OpenTofu
    Tofu,
    /// Terraform
    Terraform,
}

impl From<ClientName> for Client {
    fn from(name: ClientName) -> Self {
        match name {
            ClientName::Tofu => Self::OpenTofu,
            ClientName::Terraform => Self::Terraform,
        }
    }
}

/// What is locked, and installed if there is a directory for packages: the arguments of `lock`, or of `install` without `--into`.
pub(super) struct Request {
    pub(super) providers: Vec<String>,
    pub(super) from: Option<String>,
    pub(super) directories: Vec<PathBuf>,
    pub(super) lock_file: Option<PathBuf>,
    pub(super) client: Option<Client>,
    pub(super) options: Options,
    pub(super) trust: ReadTrust,
    /// Whether the lock file is written.
    pub(super) writing: Writing,
    /// Whether packages are installed.
    pub(super) installs: bool,
}

/// Whether something is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writing {
    /// Everything.
    Real,
    /// Everything but the lock file, which must be up to date.
    Locked,
    /// Nothing; the plan is printed.
    DryRun,
}

pub(super) async fn run(arguments: Arguments, session: &Session) -> Result<Ending, CommandError> {
    let options = Options {
        trust: trust(&arguments.trust, &arguments.allow_unsigned, session)?,
        trust_store: arguments.trust_store,
        h1: arguments.h1,
        platforms: super::install::platforms(&arguments.platform)?,
        upgrade: arguments.upgrade,
        jobs: session.jobs(),
    };
    let request = Request {
        providers: arguments.providers,
        from: arguments.from,
        directories: arguments.chdir,
        lock_file: arguments.lock_file,
        client: arguments.client.map(Client::from),
        options,
        trust: arguments.trust,
        writing: match (arguments.check, arguments.dry_run) {
            (true, _) => Writing::Locked,
            (_, true) => Writing::DryRun,
            _ => Writing::Real,
        },
        installs: false,
    };
    update(request, session).await
}

/// Locks providers, and installs them if the request says so.
pub(super) async fn update(request: Request, session: &Session) -> Result<Ending, CommandError> {
    let roots = roots::read(&request, session)?;
    let providers = roots.iter().flat_map(|root| root.required.keys());
    session.warn_of_unmatched(&request.trust, &request.options.trust, providers);
    let methods = Methods::new(request.from.as_deref(), session)?;
    let tasks = tasks(&roots, &methods)?;
    let progress = Progress::begin(&session.printer, tasks.len(), false);
    let reporter: Arc<dyn Reporter> = Arc::clone(&progress) as _;
    let installation = installation(&request, &roots, session);
    let installer = installation
        .as_ref()
        .map(|installation| Installer::new(installation, &reporter));
    let found = lock(&tasks, &request.options, installer.as_ref(), &reporter).await;
    progress.clear();
    let mut outcome = Outcome::new(&tasks, found);
    for (position, root) in roots.iter().enumerate() {
        let locked = entries(position, root, &roots, &outcome.found);
        let changed = match (locked, request.writing) {
            (None, _) => None,
            (Some(entries), Writing::Real) => Some(root.target.write(&entries, &*reporter).await),
            (Some(entries), _) => Some(root.target.change(&entries)),
        };
        outcome.add_file(root.target.path(), changed);
    }
    Ok(outcome.print(&request, session))
}

/// The installation into the data directory of the working directory; `None` if nothing is installed.
fn installation(request: &Request, roots: &[Root], session: &Session) -> Option<install::Request> {
    let root = roots.first().filter(|_| request.installs)?;
    Some(install::Request {
        into: root
            .directory
            .join(session.data_directory())
            .join("providers"),
        kind: DirectoryKind::Providers(root.target.client()),
        platforms: request.options.platforms.clone(),
        form: Form::Unpacked,
        trust: request.options.trust.clone(),
        dry_run: request.writing == Writing::DryRun,
        jobs: request.options.jobs,
    })
}

/// The trust options. A release without signature is accepted where `--allow-unsigned` says so.
pub(super) fn trust(
    arguments: &ReadTrust,
    allow_unsigned: &[String],
    session: &Session,
) -> Result<TrustOptions, CommandError> {
    let unsigned = session.patterns(allow_unsigned)?;
    let options = session.trust_options(arguments)?;
    Ok(TrustOptions {
        policy: options.policy.with_allow_unsigned(unsigned),
        ..options
    })
}

/// One task for each provider, with what each root needs of it in the order of the roots.
fn tasks(roots: &[Root], methods: &Methods<'_>) -> Result<Vec<Task>, CommandError> {
    let mut wanted: BTreeMap<&ProviderAddr, Vec<Wanted>> = BTreeMap::new();
    for root in roots {
        for (provider, required) in &root.required {
            wanted.entry(provider).or_default().push(Wanted {
                constraints: required.admitted.clone(),
                locked: root.target.locked(provider),
                client: root.target.client(),
            });
        }
    }
    let addresses: Vec<ProviderAddr> = wanted.keys().map(|provider| (*provider).clone()).collect();
    methods.check(&addresses)?;
    let tasks = wanted.into_iter().map(|(provider, wanted)| {
        Ok(Task {
            methods: methods.of(provider)?,
            provider: provider.clone(),
            wanted,
        })
    });
    tasks.collect()
}

type Found = BTreeMap<ProviderAddr, Vec<Result<Locked, Failure>>>;

/// The entries of one root; `None` if one of its providers failed.
fn entries(
    position: usize,
    root: &Root,
    roots: &[Root],
    found: &Found,
) -> Option<BTreeMap<ProviderAddr, LockedProvider>> {
    let entries = root.required.iter().map(|(provider, required)| {
        let before = roots.iter().take(position);
        let place = before
            .filter(|root| root.required.contains_key(provider))
            .count();
        let locked = found.get(provider)?.get(place)?.as_ref().ok()?;
        let entry = LockedProvider {
            version: locked.version.clone(),
            constraints: required.recorded.clone(),
            hashes: locked.hashes.clone(),
        };
        Some((provider.clone(), entry))
    });
    entries.collect()
}
