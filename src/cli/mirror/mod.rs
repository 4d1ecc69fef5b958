//! `tfoci mirror`: copies providers from origins or mirrors into stores.
//!
//! [`plan`] turns arguments, mirror file, lock files and configurations into tasks; [`pins`] writes new keys into the trust file. The
//! copying itself is [`tfoci::mirror`]'s.

mod pins;
mod plan;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clap::Args;

use tfoci::config::MirrorFile;
use tfoci::date::days;
use tfoci::event::Subject;
use tfoci::http::Http;
use tfoci::mirror::{Options, Shard, Task, mirror};
use tfoci::outcome::{Failure, Problem, Published};
use tfoci::platform::Platform;
use tfoci::source::origin::Origin;
use tfoci::source::{Source, SourceAddr};
use tfoci::trust::Policy;

use pins::Pins;

use super::Ending;
use super::arguments::ORIGIN;
use super::arguments::{Attest, Trust};
use super::error::CommandError;
use super::report::{Destination, Extent, MIRROR, Row};
use super::session::{Session, TrustPath, place, requested};

const EXAMPLES: &str = "\
Examples:
  tfoci mirror hashicorp/random --to oci-layout:mirror
  tfoci mirror 'hashicorp/aws@~> 5.80' --newest 3 --trust trust.toml --pin-new \\
    --to 'ghcr.io/acme/providers/${hostname}/${namespace}/${type}'
  tfoci mirror --file mirror.toml --require-pinned --ca-file ca.pem
  tfoci mirror --from-lock .terraform.lock.hcl --to oci-layout:mirror";

/// Mirror providers from their origins into a store
///
/// Without constraints, tfoci mirrors the newest release; with constraints, all releases that satisfy them. It verifies signatures before
/// it downloads packages. Versions that the store has are not requested again, so repeated runs cost little.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The providers, with constraints on their versions
    #[arg(value_name = "ADDR[@CONSTRAINTS]")]
    providers: Vec<String>,
    /// network-mirror:URL or filesystem-mirror:DIR [default: the origins]
    // A string, because clap's parser errors would repeat a password in the URL.
    #[arg(long, value_name = "SOURCE", help_heading = "Source")]
    from: Option<String>,
    /// Mirror the providers in this mirror file (`tfoci help mirror-file`)
    #[arg(long, value_name = "FILE", help_heading = "Source")]
    file: Option<PathBuf>,
    /// Mirror the versions in this lock file
    ///
    /// In a directory, tfoci reads its `.terraform.lock.hcl`. May be repeated.
    #[arg(long, value_name = "FILE", help_heading = "Source")]
    from_lock: Vec<PathBuf>,
    /// Mirror the providers that this configuration requires
    ///
    /// Of each provider, tfoci mirrors the newest version that satisfies all modules. May be repeated.
    #[arg(long, value_name = "DIR", help_heading = "Source")]
    from_config: Vec<PathBuf>,
    /// Only this platform, such as linux_amd64; may be repeated
    ///
    /// `linux/amd64` means the same.
    #[arg(long, value_name = "OS_ARCH", help_heading = "Selection")]
    platform: Vec<Platform>,
    /// At most this many versions of each provider, newest first
    #[arg(long, value_name = "N", help_heading = "Selection")]
    newest: Option<NonZeroUsize>,
    /// Hold back versions younger than this, such as 7d
    ///
    /// A version's date is the later of the time in its signature and the Last-Modified of its checksum document. This does not stop an
    /// author and a host that backdate together. A version that an argument or a lock file names is mirrored however young it is.
    #[arg(long, value_name = "DAYS", value_parser = days, help_heading = "Selection")]
    min_age: Option<Duration>,
    /// Include pre-releases
    #[arg(long, help_heading = "Selection")]
    prereleases: bool,
    /// Not these providers, such as `example.com/acme/*`; may be repeated
    ///
    /// Lock files and configurations may require providers that have no origin.
    #[arg(long, value_name = "PATTERN", help_heading = "Selection")]
    exclude: Vec<String>,
    /// Only part I of N of the providers, for jobs that run concurrently
    #[arg(long, value_name = "I/N", help_heading = "Selection")]
    shard: Option<Shard>,
    /// The store: oci-layout:DIR, or a registry's repository template
    ///
    /// May be repeated.
    #[arg(long, value_name = "STORE", help_heading = "Destination")]
    to: Vec<String>,
    /// Compare what the store has, evidence too, with what the origin offers now
    ///
    /// In a layout, tfoci also reads the packages, and writes damaged ones again. In a registry, it reads no package: `tfoci verify --deep`
    /// does.
    #[arg(long, help_heading = "Destination")]
    recheck: bool,
    /// Verify everything and print the plan, but write nothing
    #[arg(long)]
    dry_run: bool,
    /// Leave out of the results what is already present
    ///
    /// Warnings about platforms that a version does not have are left out, too, once the version is present.
    #[arg(long)]
    changed: bool,
    /// Write what changed and what failed into this file, too, in Markdown
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Exit with 4 if there is anything to mirror
    #[arg(long, requires = "dry_run")]
    exit_code: bool,
    #[command(flatten)]
    trust: Trust,
    /// Pin the keys of new providers in the trust file
    ///
    /// Each provider has an entry of its own. Compare its keys with those that its author publishes, and commit the file and the directory `keys`
    /// beside it. With --dry-run, tfoci only prints the keys.
    #[arg(long, conflicts_with = "key")]
    pin_new: bool,
    /// Accept releases without signature or key
    ///
    /// Their status is `checksum`, or `unverified` if they come from a network or filesystem mirror. May be repeated.
    ///
    /// `*` stands for any namespace or type, as in `example.com/acme/*`.
    #[arg(long, value_name = "PATTERN")]
    allow_unsigned: Vec<String>,
    /// Refuse providers without pinned keys
    ///
    /// A lock file of `--from-lock` that lists the version counts as a pin.
    ///
    /// Versions that the store has already are not verified. `--recheck` verifies them too.
    #[arg(long, conflicts_with = "pin_new")]
    require_pinned: bool,
    #[command(flatten)]
    attest: Attest,
}

pub(super) async fn run(arguments: Arguments, session: &Session) -> Result<Ending, CommandError> {
    let file = mirror_file(&arguments, session)?;
    let elsewhere = arguments.from.as_deref().filter(|from| *from != ORIGIN);
    let from: Option<SourceAddr> = elsewhere.map(str::parse).transpose()?;
    let http = session.http()?;
    let locks = requested::locks(&arguments.from_lock, &session.printer)?;
    let trust = session.trust_path(&arguments.trust, file.as_ref());
    let pinning = match arguments.pin_new {
        true => Some(pins::trust_file(trust.clone())?),
        false => None,
    };
    let policy = policy(&arguments, trust.as_ref(), session)?;
    let options = Options {
        rechecks: arguments.recheck,
        dry_run: arguments.dry_run,
        jobs: session.jobs(),
        now: SystemTime::now(),
        pins_keys: arguments.pin_new,
        attester: session.attester(&arguments.attest, file.as_ref())?,
    };
    let tasks = plan::tasks(&arguments, file, &policy, session, &locks, &http)?;
    let known = trust.filter(|_| pinning.is_none());
    let providers = tasks.iter().map(|task| &task.provider);
    session.warn_of_unmatched(known.as_ref(), &policy, providers);
    let is_strict =
        |task: &Task| !arguments.require_pinned || task.rule.pinned() || task.is_locked();
    let (tasks, unpinned): (Vec<_>, Vec<_>) = tasks.into_iter().partition(is_strict);
    let extent = Extent {
        dry_run: arguments.dry_run,
        only_changed: arguments.changed,
    };
    let reporter = session
        .report
        .begin(MIRROR, extent, Destination::Store(http.clone()));
    if let Some(path) = &arguments.report {
        session.report.to_file(path)?;
    }
    let results = Results {
        session,
        pins: pinning.map(|file| Pins::new(file, &tasks, session, arguments.dry_run)),
    };
    for Task { provider, .. } in unpinned {
        let subject = Subject::provider(&provider);
        results.add(Err(Problem::NoPin.of(subject, None)));
    }
    let source = source(from, &tasks, &http, session)?;
    let on_result = |result| results.add(result);
    mirror(tasks, &source, &options, &reporter, &on_result).await;
    if let Some(pins) = results.pins
        && let Err(error) = pins.finish(&*reporter).await
    {
        session.report.failed(error);
    }
    Ok(session.report.finish_telling(arguments.exit_code))
}

/// The mirror file that `--file` names; if nothing is named, that of the settings.
fn mirror_file(
    arguments: &Arguments,
    session: &Session,
) -> Result<Option<MirrorFile>, CommandError> {
    if let Some(path) = &arguments.file {
        return requested::mirror_file(path, "--file").map(Some);
    }
    let named = [&arguments.from_lock, &arguments.from_config];
    if !arguments.providers.is_empty() || named.iter().any(|paths| !paths.is_empty()) {
        return Ok(None);
    }
    let file = session.set_mirror_file()?;
    file.map(Some).ok_or_else(|| {
        CommandError::usage("no provider is named")
            .advising("name providers, such as `hashicorp/random`")
    })
}

/// The policy of the trust file, which need not exist yet with `--pin-new`, and of the options.
fn policy(
    arguments: &Arguments,
    trust: Option<&TrustPath>,
    session: &Session,
) -> Result<Policy, CommandError> {
    let trust = trust.filter(|trust| !arguments.pin_new || trust.path.exists());
    let policy = session.policy(&arguments.trust, trust)?;
    Ok(policy.with_allow_unsigned(session.patterns(&arguments.allow_unsigned)?))
}

/// The source that `--from` names, or the origins. Only they give the dates for a minimum age.
fn source(
    from: Option<SourceAddr>,
    tasks: &[Task],
    http: &Http,
    session: &Session,
) -> Result<Source, CommandError> {
    let mut filters = tasks.iter().flat_map(|task| &task.filters);
    if from.is_some() && filters.any(|one| !one.min_age.is_zero()) {
        let error = CommandError::usage("a minimum age needs the dates that only origins give");
        return Err(error.advising("leave out `--from`, or use `--min-age 0d`"));
    }
    let access = session.origin_access(http.clone())?;
    match from {
        None => Ok(Source::Origin(Origin::new(access))),
        Some(addr) => place::mirror(&addr, access),
    }
}

/// Receives the results of a run.
struct Results<'a> {
    session: &'a Session,
    pins: Option<Pins<'a>>,
}

impl Results<'_> {
    /// Reports a version, and pins its key.
    fn add(&self, result: Result<Published, Failure>) {
        let report = &self.session.report;
        match result {
            Ok(published) => {
                self.pins.iter().for_each(|pins| pins.record(&published));
                report.published(published);
            }
            Err(failure) => match (&*failure.problem, &failure.subject) {
                (Problem::Held { until }, Some(subject)) => {
                    report.add(Row::held(subject.clone(), *until));
                }
                _ => report.failed(failure.into()),
            },
        }
    }
}
