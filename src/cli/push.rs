//! `tfoci push`, and `oci-push`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;

use clap::Args;

use tfoci::attestation::Attesting;
use tfoci::disk::staged::Staged;
use tfoci::error::printable;
use tfoci::event::Subject;
use tfoci::oci::{TITLE, VERSION};
use tfoci::outcome::Problem;
use tfoci::platform::Platform;
use tfoci::publish::{EvidencePolicy, Existing, Options};
use tfoci::push::{Request, push};
use tfoci::trust::Rule;

use super::Ending;
use super::arguments::{Attest, DESTINATION, Trust};
use super::error::CommandError;
use super::report::{Destination, Extent, PUSH};
use super::session::Session;

const EXAMPLES: &str = "\
Examples:
  tfoci push dist --provider example.com/acme/demo --key acme.asc \\
    --to oci-layout:mirror
  tfoci login ghcr.io --username acme-bot
  tfoci push dist --provider example.com/acme/demo --trust trust.toml \\
    --to 'ghcr.io/acme/providers/${hostname}/${namespace}/${type}'";

/// Push a release folder into a store
///
/// The folder has the zips of a version, terraform-provider-TYPE_VERSION_SHA256SUMS and its signature (.sig), as goreleaser leaves them. tfoci
/// verifies the signature before it writes anything, and each zip on its way. It writes the tag of the version last, so clients never see a part
/// of a version. The reference of the version goes to stdout.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The release folder
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// The provider, and the version if the folder has several
    #[arg(long, value_name = "ADDR[@VERSION]", help_heading = "Source")]
    provider: String,
    /// The store: oci-layout:DIR, or a registry's repository template
    #[arg(long, value_name = "STORE", help_heading = DESTINATION)]
    to: Option<String>,
    /// Only this platform, such as linux_amd64; may be repeated
    ///
    /// `linux/amd64` means the same.
    ///
    /// Jobs that push one platform each may run at once. A push of a part of a version, or into a version that exists, looks again after two
    /// seconds whether another job moved a tag. A job that was held up for longer may still undo what another one added. A last job without
    /// --platform adds what is missing, and uploads nothing else.
    #[arg(long, value_name = "OS_ARCH", help_heading = "Source")]
    platform: Vec<Platform>,
    /// What to do if the store has the version
    #[arg(long, value_enum, default_value_t, value_name = "HOW", help_heading = DESTINATION)]
    existing: Existing,
    /// Annotation to add to the index; may be repeated
    #[arg(long, value_name = "KEY=VALUE", help_heading = DESTINATION)]
    annotation: Vec<String>,
    /// Write the index digest to this file
    #[arg(long, value_name = "FILE")]
    digest_file: Option<PathBuf>,
    /// Verify everything and print the plan, but write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    trust: Trust,
    /// Accept an unsigned release (status `checksum`); may be repeated
    ///
    /// `*` stands for any namespace or type, as in `example.com/acme/*`.
    #[arg(long, value_name = "PATTERN")]
    allow_unsigned: Vec<String>,
    /// Refuse a provider without pinned keys
    ///
    /// The release in the folder then needs a signature by one of them. tfoci does not verify the platforms that the version has already.
    #[arg(long)]
    require_pinned: bool,
    #[command(flatten)]
    attest: Attest,
}

pub(super) async fn run(arguments: Arguments, session: &Session) -> Result<Ending, CommandError> {
    let request = request(&arguments, session)?;
    if arguments.require_pinned && !request.rule.pinned() {
        let subject = Subject::provider(&request.provider);
        return Err(Problem::NoPin.of(subject, None).into());
    }
    let options = options(&arguments, session, &request.rule)?;
    let endpoint = session.endpoint(&session.store(arguments.to.clone(), "--to")?)?;
    endpoint.check(std::slice::from_ref(&request.provider))?;
    let failed = |problem: Problem| {
        let subject = Subject::provider(&request.provider);
        problem.of(subject, Some(endpoint.whole()))
    };
    let http = session.http()?;
    let store = endpoint
        .write(session.registry(&http))
        .map_err(|error| failed(error.into()))?;
    let to = endpoint.repo_mut(&store, &request.provider)?;
    let report = &session.report;
    let extent = Extent {
        dry_run: arguments.dry_run,
        only_changed: false,
    };
    let reporter = report.begin(PUSH, extent, Destination::Store(http.clone()));
    // If this file cannot be written, nothing is pushed.
    let digest_file = arguments.digest_file.as_deref();
    let digest_file = digest_file.map(Staged::new).transpose();
    let digest_file = digest_file.map_err(|error| CommandError::file(error, "--digest-file"))?;
    // A dry run only checks that the file can be written.
    let digest_file = digest_file.filter(|_| !arguments.dry_run);
    match push(&request, &to, &options, &reporter).await {
        Ok(published) => {
            let digest = format!("{}\n", published.digest);
            let written = digest_file.map(|mut file| {
                file.write(digest.as_bytes())?;
                file.publish()
            });
            // The version is published already, so report it even if writing the digest file fails.
            if let Some(Err(error)) = written {
                report.failed(error.into());
            }
            report.published(published);
        }
        Err(failure) => {
            let subject = failure.subject.as_ref();
            if subject.is_none_or(|subject| subject.version.is_none()) {
                return Err(failure.into());
            }
            report.failed(failure.into());
        }
    }
    Ok(report.finish())
}

fn request(arguments: &Arguments, session: &Session) -> Result<Request, CommandError> {
    let selection = session.selection(&arguments.provider)?;
    let version = selection.constraints.as_exact().cloned();
    if version.is_none() && !selection.constraints.is_any() {
        return Err(CommandError::usage(format!(
            "`{}` does not name one version\n  expected ADDR@VERSION",
            printable(&arguments.provider)
        )));
    }
    let unsigned = session.patterns(&arguments.allow_unsigned)?;
    let file = session.trust_path(&arguments.trust, None);
    let policy = session.policy(&arguments.trust, file.as_ref())?;
    let policy = policy.with_allow_unsigned(unsigned);
    session.warn_of_unmatched(file.as_ref(), &policy, [&selection.provider]);
    Ok(Request {
        directory: arguments.directory.clone(),
        rule: policy.rule_for(&selection.provider).unwrap_or_default(),
        denied: policy.denied,
        provider: selection.provider,
        version,
        platforms: arguments.platform.clone(),
    })
}

fn options(arguments: &Arguments, session: &Session, rule: &Rule) -> Result<Options, CommandError> {
    let mut annotations = BTreeMap::new();
    for text in &arguments.annotation {
        let is_own = |key: &str| key == TITLE || key == VERSION || key.starts_with("org.tfoci.");
        let annotation = text.split_once('=');
        let annotation = annotation.filter(|(key, _)| !key.trim().is_empty() && !is_own(key));
        let Some((key, value)) = annotation else {
            return Err(CommandError::usage(format!(
                "`{}` is not an annotation that can be set\n  expected KEY=VALUE, with a key that is not tfoci's own",
                printable(text)
            )));
        };
        annotations.insert(key.to_owned(), value.to_owned());
    }
    let attester = session.attester(&arguments.attest, None)?;
    Ok(Options {
        existing: arguments.existing,
        annotations,
        dry_run: arguments.dry_run,
        jobs: session.jobs(),
        now: SystemTime::now(),
        // A release may be pushed again with the key or the provider manifest that was missing.
        rechecks: false,
        is_matrix_job: true,
        evidence_policy: EvidencePolicy {
            always: true,
            ..EvidencePolicy::of_writing(rule)
        },
        attesting: attester.map(|attester| Attesting {
            attester,
            rule: rule.canonical(),
            origin: "release folder".to_owned(),
        }),
    })
}
