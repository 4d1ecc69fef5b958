//! `tfoci verify`: whether a store is whole, accepted by clients, authentic and current.
//!
//! [`tfoci::verify`] looks for faults, and [`findings`](super::findings) prints them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;

use clap::Args;

use tfoci::address::ProviderAddr;
use tfoci::attestation::RequiredAttestation;
use tfoci::config::{MirrorEntry, MirrorFile};
use tfoci::error::counted;
use tfoci::event::Subject;
use tfoci::finding::{Code, Finding};
use tfoci::jobs::locked;
use tfoci::mirror::VersionFilter;
use tfoci::outcome::Failure;
use tfoci::selection::Selection;
use tfoci::source::Source;
use tfoci::source::origin::Origin;
use tfoci::store::Store;
use tfoci::verify::{Checked, ClientVersion, Options, Task, verify};

use super::Ending;
use super::arguments::ReadTrust;
use super::error::CommandError;
use super::findings::{self, FailOn, Findings, shell};
use super::progress::Progress;
use super::session::{Session, TrustPath, WantedVersions, read_mirror_key, requested};

const EXAMPLES: &str = "\
Examples:
  tfoci verify --from oci-layout:mirror
  tfoci verify 'hashicorp/aws@~> 5.80' --deep --trust trust.toml \\
    --from 'ghcr.io/acme/providers/${hostname}/${namespace}/${type}'
  tfoci verify --file mirror.toml --require-pinned --against-origin";

/// Check that a store is whole, that clients accept it, and that its evidence proves it
///
/// tfoci reads the tags, manifests and evidence of each version, and asks for the size of each package. It writes nothing, and prints only what is
/// wrong, with what repairs it. `tfoci help findings` explains the codes.
///
/// The exit code is 3 if something does not verify, 1 if something is missing or cannot be read, and 4 if only the origin has something else.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The providers, with constraints on their versions [default: all that the store lists]
    #[arg(value_name = "ADDR[@CONSTRAINTS]")]
    providers: Vec<String>,
    /// The store: oci-layout:DIR, or a registry's repository template
    ///
    /// A mirror file names its stores itself.
    #[arg(long, value_name = "STORE", help_heading = "Source")]
    from: Option<String>,
    /// Check all versions of the providers in this mirror file
    #[arg(long, value_name = "FILE", help_heading = "Source")]
    file: Option<PathBuf>,
    /// Check the versions in this lock file
    ///
    /// In a directory, tfoci reads its `.terraform.lock.hcl`. May be repeated.
    #[arg(long, value_name = "FILE", help_heading = "Source")]
    from_lock: Vec<PathBuf>,
    /// Compare with what the origins have now
    ///
    /// Without constraints, the store should have the newest version; with a mirror file, those that it names.
    #[arg(long)]
    against_origin: bool,
    /// Read every package, as an installation does
    #[arg(long)]
    deep: bool,
    /// Only what this client needs: tofu-1.12, tofu-1.13 or terraform [default: all of them]
    #[arg(long, value_name = "CLIENT", value_parser = client)]
    client: Option<ClientVersion>,
    /// Which findings fail the command
    #[arg(long, value_enum, default_value_t, value_name = "FINDINGS")]
    fail_on: FailOn,
    #[command(flatten)]
    trust: ReadTrust,
    /// Refuse versions that this mirror has not attested: its public key (PEM)
    ///
    /// It is required besides everything else. `tfoci help trust` says what an attestation proves.
    #[arg(long, value_name = "PUB", allow_hyphen_values = true)]
    attestation_key: Option<PathBuf>,
    /// The URI of that mirror, if its key attests for others, too
    #[arg(long, value_name = "URI", requires = "attestation_key")]
    attestation_id: Option<String>,
}

fn client(text: &str) -> Result<ClientVersion, &'static str> {
    match text {
        "tofu-1.12" => Ok(ClientVersion::Tofu112),
        "tofu-1.13" => Ok(ClientVersion::Tofu113),
        "terraform" => Ok(ClientVersion::Terraform),
        _ => Err("expected tofu-1.12, tofu-1.13 or terraform"),
    }
}

pub(super) async fn run(arguments: Arguments, session: &Session) -> Result<Ending, CommandError> {
    let file = requested::mirror_file_if(arguments.file.as_deref(), "--file")?;
    let trust = session.trust_path(&arguments.trust.trust, file.as_ref());
    let options = options(&arguments, trust.as_ref(), session)?;
    let mut found = Vec::new();
    let (tasks, whole) = tasks(&arguments, file, trust.as_ref(), session, &mut found).await?;
    let providers = tasks.iter().map(|task| task.from.provider.clone());
    let providers: Vec<_> = providers.collect();
    session.warn_of_unmatched(trust.as_ref(), &options.trust.policy, &providers);
    let progress = Progress::begin(&session.printer, false);
    let found = Mutex::new((found, 0, Vec::new()));
    let on_checked = |checked: Checked| {
        progress.complete(&checked.subject, checked.platforms.len());
        let mut found = locked(&found);
        found.0.extend(checked.findings);
        found.1 += usize::from(checked.subject.version.is_some());
        let attested = checked.attested.map(|key| (checked.subject, key));
        found.2.extend(attested);
    };
    let reporter = progress.clone();
    verify(tasks, &options, &(reporter as _), &on_checked).await;
    let (mut found, versions, attested) = std::mem::take(&mut *locked(&found));
    for store in whole {
        let rest = match store.bundle() {
            Some(bundle) => bundle.read_rest().await,
            None => Ok(()),
        };
        found.extend(
            rest.err()
                .map(|error| Finding::of(Code::BytesDiffer, &error)),
        );
    }
    progress.clear();
    let extent = [(versions, "version"), (providers.len(), "provider")];
    let extent = extent.map(|(count, noun)| counted(count, noun));
    let findings = Findings {
        command: "verify",
        extent: extent.join(" of "),
        lines: None,
        checked: findings::Scope {
            providers,
            versions,
            attested,
        },
        found,
        fail_on: arguments.fail_on,
    };
    Ok(findings.print(&session.printer))
}

/// The providers to verify, and the stores that are verified as a whole. Providers that a store cannot have are `found`.
async fn tasks(
    arguments: &Arguments,
    file: Option<MirrorFile>,
    trust: Option<&TrustPath>,
    session: &Session,
    found: &mut Vec<Finding>,
) -> Result<(Vec<Task>, Vec<Store>), CommandError> {
    let (texts, filters) = texts(arguments, file, session)?;
    let registry = session.registry(&session.http()?);
    let (mut tasks, mut whole) = (Vec::<Task>::new(), Vec::new());
    for (store, texts) in texts {
        let store = session.store_for(store, &texts)?;
        let wanted = session.wanted(&texts, store.as_deref(), &registry).await?;
        if let Some(everything) = wanted.everything {
            let incomplete = everything.failure();
            found.extend(incomplete.map(|error| Finding::of(Code::Unreadable, &error)));
            whole.push(everything.store);
        }
        let mirror = store.map(|store| mirror_options(&store, trust, arguments, session));
        for WantedVersions { selection, from } in wanted.versions {
            let Selection {
                provider,
                constraints,
            } = selection;
            let unreadable = |failure: Failure| {
                let finding = Finding::of(Code::Unreadable, &failure.problem);
                found.push(finding.about(&Subject::provider(&provider)));
            };
            let Ok(from) = from.map_err(unreadable) else {
                continue;
            };
            let is_same = |task: &&mut Task| task.from.repo.to_string() == from.repo.to_string();
            if let Some(known) = tasks.iter_mut().find(is_same) {
                known.constraints.push(constraints);
                continue;
            }
            let of_file = filters.get(&provider).cloned();
            let own = || requested::filter(&MirrorEntry::of(provider, constraints.clone()));
            tasks.push(Task {
                wanted: of_file.unwrap_or_else(|| vec![own()]),
                constraints: vec![constraints],
                mirror: mirror.clone(),
                from,
            });
        }
    }
    Ok((tasks, whole))
}

/// What to verify in each store, and what a mirror file wants of each provider.
type Texts = (
    BTreeMap<Option<String>, Vec<String>>,
    BTreeMap<ProviderAddr, Vec<VersionFilter>>,
);

fn texts(
    arguments: &Arguments,
    file: Option<MirrorFile>,
    session: &Session,
) -> Result<Texts, CommandError> {
    let locks = requested::locks(&arguments.from_lock, &session.printer)?;
    let is_selective = file.is_some() || !arguments.from_lock.is_empty();
    let mut texts: BTreeMap<Option<String>, Vec<String>> = BTreeMap::new();
    if !arguments.providers.is_empty() || !is_selective {
        texts.insert(arguments.from.clone(), arguments.providers.clone());
    }
    // `--from` overrides the stores of a mirror file.
    let mut filters: BTreeMap<ProviderAddr, Vec<VersionFilter>> = BTreeMap::new();
    for entry in file.into_iter().flat_map(|file| file.providers) {
        let filter = requested::filter(&entry);
        let stores = match (&arguments.from, entry.to.as_slice()) {
            (Some(_), _) | (None, []) => vec![arguments.from.clone()],
            (None, stores) => stores.iter().cloned().map(Some).collect(),
        };
        for store in stores {
            texts
                .entry(store)
                .or_default()
                .push(entry.provider.to_string());
        }
        filters.entry(entry.provider).or_default().push(filter);
    }
    for (provider, version) in locks.versions() {
        let text = format!("{provider}@{version}");
        texts.entry(arguments.from.clone()).or_default().push(text);
    }
    Ok((texts, filters))
}

/// The options of `tfoci mirror` that name the store and the keys.
fn mirror_options(
    store: &str,
    trust: Option<&TrustPath>,
    arguments: &Arguments,
    session: &Session,
) -> String {
    let mut options = format!("--to {}", shell(store));
    if session.is_exact() {
        options.push_str(" --exact-repository");
    }
    let trust = trust.map(|trust| ("--trust", &trust.path));
    let keys = arguments.trust.trust.key.iter().map(|key| ("--key", key));
    for (option, path) in trust.into_iter().chain(keys) {
        options.push_str(&format!(" {option} {}", shell(&path.to_string_lossy())));
    }
    options
}

fn options(
    arguments: &Arguments,
    trust: Option<&TrustPath>,
    session: &Session,
) -> Result<Options, CommandError> {
    if arguments.trust.require_pinned && trust.is_none() && arguments.trust.trust.key.is_empty() {
        return Err(CommandError::no_pins());
    }
    let mut trust = session.trust_options_of(&arguments.trust, trust)?;
    if let Some(path) = &arguments.attestation_key {
        trust.attestation = Some(RequiredAttestation {
            pem: read_mirror_key(path)?,
            id: arguments.attestation_id.clone(),
        });
    }
    let origin = arguments.against_origin;
    let origin = origin.then(|| session.origin_access(session.http()?));
    Ok(Options {
        trust,
        client: arguments.client,
        origin: (origin.transpose()?).map(|access| Source::Origin(Origin::new(access))),
        deep: arguments.deep,
        jobs: session.jobs(),
    })
}
