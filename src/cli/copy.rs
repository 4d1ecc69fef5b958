//! `tfoci copy`.

mod bundle;
mod plan;

use std::path::PathBuf;

use clap::Args;

use tfoci::copy::{Options, copy};
use tfoci::oci::Referrers;
use tfoci::outcome::{Failure, Published};
use tfoci::platform::{Platform, Platforms};
use tfoci::publish::Existing;

use plan::Plan;

use super::Ending;
use super::arguments::{Attest, DESTINATION, ReadTrust};
use super::error::CommandError;
use super::report::{COPY, Destination, Extent};
use super::session::{Session, TrustPath, requested};

const EXAMPLES: &str = "\
Examples:
  tfoci copy 'example.com/acme/demo@~> 1.0' --from oci-layout:mirror \\
    --to bundle:demo.tar
  tfoci copy --file mirror.toml --to oci-layout:disk \\
    --from 'ghcr.io/acme/providers/${hostname}/${namespace}/${type}'
  tfoci copy --from oci-layout:mirror --trust trust.toml --require-pinned \\
    --to 'registry.internal/tofu/${hostname}/${namespace}/${type}' \\
    --ca-file ca.pem";

/// Copy providers from one store into another, with their evidence
///
/// All bytes are copied unchanged, so digests stay the same. Without constraints, tfoci copies all versions; without addresses, every provider,
/// if the store can list them. What the destination has is not transferred again.
///
/// tfoci verifies the evidence of each version, and refuses what fails or does not satisfy `--trust`, `--key` and `--require-pinned`. Without
/// these options it copies unsigned versions too, and says so.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Providers with version constraints, or references as of `push`
    #[arg(value_name = "ADDR[@CONSTRAINTS]")]
    providers: Vec<String>,
    /// The store to copy from: oci-layout:DIR, bundle:FILE, or a repository template
    ///
    /// It is needed, unless every argument is a reference.
    #[arg(long, value_name = "STORE", help_heading = "Source")]
    from: Option<String>,
    /// Copy the providers in this mirror file (`tfoci help mirror-file`)
    #[arg(long, value_name = "FILE", help_heading = "Source")]
    file: Option<PathBuf>,
    /// Copy the versions in this lock file
    ///
    /// In a directory, tfoci reads its `.terraform.lock.hcl`. May be repeated.
    #[arg(long, value_name = "FILE", help_heading = "Source")]
    from_lock: Vec<PathBuf>,
    /// Not these providers, or with `@CONSTRAINTS` not these versions
    ///
    /// May be repeated. `*` stands for any namespace or type.
    ///
    /// tfoci does not read the tags of excluded versions, so a tag that leads to no provider does not fail the copy.
    #[arg(long, value_name = "PATTERN", help_heading = "Source")]
    exclude: Vec<String>,
    /// The store to copy to, in the same form; bundle:FILE is one tar for a disk
    ///
    /// tfoci writes `FILE.part`, renames it at the end, and writes `FILE.sha256` beside it. After an interruption, the same command goes on where
    /// it stopped. `bundle:-` is a pipe. `tfoci help air-gap` shows both sides.
    #[arg(long, value_name = "STORE", help_heading = DESTINATION)]
    to: String,
    /// What to do if the destination has the version
    #[arg(long, value_enum, default_value_t, value_name = "HOW", help_heading = DESTINATION)]
    existing: Existing,
    /// Which signatures, SBOMs and attestations of other tools come along
    ///
    /// `known` means what cosign, Sigstore and notation attach, and SBOMs in SPDX or CycloneDX. tfoci does not interpret them.
    #[arg(long, value_enum, default_value_t, value_name = "WHICH", help_heading = DESTINATION)]
    referrers: Referrers,
    /// With `--rebuild-index`, copy only this platform; may be repeated
    #[arg(long, value_name = "OS_ARCH", requires = "rebuild_index", help_heading = DESTINATION)]
    platform: Vec<Platform>,
    /// Write a new index, as `push` does; its digest may change
    #[arg(long, help_heading = DESTINATION)]
    rebuild_index: bool,
    /// Print the plan, but write nothing
    ///
    /// tfoci verifies the evidence, and checks that the file of each package of a layout is there in its full length. It reads no package, and does
    /// not look for packages in a registry. With `--to` for a directory that does not exist, it prints how many versions and packages the `--from` store
    /// has. The copy itself reads every package before it tags the version, except for those that it shares within one registry.
    #[arg(long)]
    dry_run: bool,
    /// Leave out of the results what is already present
    #[arg(long)]
    changed: bool,
    #[command(flatten)]
    bundle: bundle::BundleArguments,
    #[command(flatten)]
    trust: ReadTrust,
    #[command(flatten)]
    attest: Attest,
}

pub(super) async fn run(arguments: Arguments, session: &Session) -> Result<Ending, CommandError> {
    let file = requested::mirror_file_if(arguments.file.as_deref(), "--file")?;
    let trust = session.trust_path(&arguments.trust.trust, file.as_ref());
    let options = options(&arguments, trust.as_ref(), session)?;
    let locks = requested::locks(&arguments.from_lock, &session.printer)?;
    let http = session.http()?;
    let registry = session.registry(&http);
    let to = session.endpoint(&arguments.to)?;
    let mut plan = Plan::of(&arguments, file, &locks, session, &registry).await?;
    // The tags of providers that are excluded as a whole are not read.
    plan.copying.retain(|copying| {
        let provider = &copying.wanted.selection.provider;
        !options.exclude.iter().any(|one| one.is_whole(provider))
    });
    let providers = plan.providers();
    session.warn_of_unmatched(trust.as_ref(), &options.trust.policy, &providers);
    to.check(&providers)?;
    let bundle = bundle::begin(&arguments, &to, session).await?;
    let target = match &bundle {
        Some((store, _)) => Ok(store.clone()),
        None => to.write(registry),
    }?;
    let report = &session.report;
    let extent = Extent {
        dry_run: options.dry_run,
        only_changed: arguments.changed,
    };
    let reporter = report.begin(COPY, extent, Destination::Store(http.clone()));
    if let Some(error) = plan.incomplete.take() {
        report.failed(error);
    }
    let on_result = |result: Result<Published, Failure>| match result {
        Ok(published) => report.published(published),
        Err(failure) => report.failed(failure.into()),
    };
    let mut tasks = Vec::new();
    for task in plan.tasks(&to, &target, &locks) {
        match task {
            Ok(task) => tasks.push(task),
            Err(failure) => on_result(Err(failure)),
        }
    }
    let output = bundle.as_ref().map(|(_, output)| output);
    match copy(tasks, &options, output, &reporter, &on_result).await {
        Ok(files) => files.into_iter().for_each(|file| report.bundled(file)),
        Err(failure) => report.failed(failure.into()),
    }
    Ok(report.finish())
}

fn options(
    arguments: &Arguments,
    trust: Option<&TrustPath>,
    session: &Session,
) -> Result<Options, CommandError> {
    let platforms = match arguments.platform.as_slice() {
        [] => Platforms::All,
        platforms => Platforms::only(platforms.iter().cloned()),
    };
    let exclude = arguments.exclude.iter();
    let exclude = exclude.map(|text| session.exclusion(text));
    Ok(Options {
        exclude: exclude.collect::<Result<_, _>>()?,
        existing: arguments.existing,
        rebuild: arguments.rebuild_index.then_some(platforms),
        referrers: arguments.referrers,
        trust: session.trust_options_of(&arguments.trust, trust)?,
        dry_run: arguments.dry_run,
        jobs: session.jobs(),
        attester: session.attester(&arguments.attest, None)?,
    })
}
