//! `tfoci inspect`: what a store or a source has of one version, and whether it verifies.
//!
//! A version that does not verify is printed too, and the command then fails. [`tfoci::examine`] reads and verifies. No package is downloaded:
//! `tfoci copy` checks the bytes of packages.

use clap::Args;
use indicatif::HumanBytes;

use serde_json::{Value, json};
use tfoci::attestation::open;
use tfoci::authentication::Authentication;
use tfoci::constraint::VersionConstraints;
use tfoci::digest::Digest;
use tfoci::error::{Category, printable};
use tfoci::event::Subject;
use tfoci::examine::{StoredProvider, TrustOptions};
use tfoci::hash::PackageHash;
use tfoci::outcome::Problem;
use tfoci::platform::Platforms;
use tfoci::prove::prove;
use tfoci::publish::claim;
use tfoci::release::Release;
use tfoci::source::Source;
use tfoci::trust::Verified;
use tfoci::version::Version;

use super::Ending;
use super::arguments::ReadTrust;
use super::error::CommandError;
use super::json::{self, InspectedAttestation, Inspection};
use super::printer::Printer;
use super::session::place::{Places, StoreOrSource, is_source};
use super::session::{Session, WantedVersions};

const EXAMPLES: &str = "\
Examples:
  tfoci inspect example.com/acme/demo --from oci-layout:mirror
  tfoci inspect example.com/acme/demo@1.0.0 --from oci-layout:mirror \\
    --key acme.asc
  tfoci inspect example.com/acme/demo@1.0.0 \\
    --trust trust.toml --require-pinned \\
    --from 'ghcr.io/acme/providers/${hostname}/${namespace}/${type}'";

/// Show a version in a store or at its origin: platforms, sizes, digests, and how it is authenticated
///
/// `tfoci help trust` explains the words of the line `authentication`. tfoci reads manifests and evidence, and no packages: `tfoci verify --deep`
/// reads them. A reference, as `push` prints it, also names the store, so it needs no `--from`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The provider and its version [default: the newest]; or a reference
    #[arg(value_name = "ADDR[@VERSION]")]
    provider: String,
    /// The store: oci-layout:DIR, or a registry's repository template; or `origin`
    ///
    /// network-mirror:URL and filesystem-mirror:DIR are read too; they have no signatures, so their versions are refused (exit code 3), as
    /// `mirror` refuses them. It is needed, unless the argument is a reference.
    #[arg(long, value_name = "STORE")]
    from: Option<String>,
    /// Print the predicate for `cosign attest` instead
    ///
    /// For a mirror whose key is in a KMS, or that signs without one. The version has to be signed by a pinned key. The page docs/trust.md has the command.
    #[arg(long, requires = "attest_id")]
    attestation_predicate: bool,
    /// The URI that names this mirror in the predicate
    #[arg(long, value_name = "URI", requires = "attestation_predicate")]
    attest_id: Option<String>,
    #[command(flatten)]
    trust: ReadTrust,
}

/// A version in a store or at a source, and whether it verifies.
type Found = (Inspection, Result<Authentication, CommandError>);

pub(super) async fn run(
    mut arguments: Arguments,
    session: &Session,
) -> Result<Ending, CommandError> {
    let named = std::slice::from_ref(&arguments.provider);
    arguments.from = session.store_for(arguments.from, named)?;
    let trust = session.trust_options(&arguments.trust, &[])?;
    let found = match arguments.from.as_deref().filter(|from| is_source(from)) {
        Some(from) => Some(released(&arguments.provider, from, &trust, session).await?),
        None => stored(&arguments, &trust, session).await?,
    };
    let Some((mut inspection, proof)) = found else {
        return Ok(Ending::Done);
    };
    let file = session.trust_path(&arguments.trust.trust, None);
    session.warn_of_unmatched(file.as_ref(), &trust.policy, [&inspection.provider]);
    inspection.error = proof.as_ref().err().map(json::Error::from);
    inspection.authentication = proof.as_ref().ok().cloned();
    let printer = &session.printer;
    print(&inspection, printer);
    if let Some(authentication) = &inspection.authentication {
        let subject = Subject::version(&inspection.provider, &inspection.version);
        printer.warn_of_notes(&subject, authentication);
    }
    printer.document(&json::object([json!(inspection)]));
    if let Err(error) = &proof {
        printer.failure(error);
    }
    Ok(Ending::of(proof.as_ref().err().into_iter()))
}

/// A version in a store; `None` if its predicate was printed.
async fn stored(
    arguments: &Arguments,
    trust: &TrustOptions,
    session: &Session,
) -> Result<Option<Found>, CommandError> {
    let registry = session.registry(&session.http()?);
    let texts = std::slice::from_ref(&arguments.provider);
    let wanted = session.wanted(texts, arguments.from.as_deref(), &registry);
    let Some(WantedVersions { selection, from }) = wanted.await?.versions.pop() else {
        return Err(CommandError::no_selection(&arguments.provider));
    };
    let stored = from?;
    let listed = stored.versions().await?;
    let version = stored.select(&listed, &selection)?;
    let other_versions = others(&selection.constraints, listed.versions, &version);
    let examined = stored.examine(&version, &Platforms::All, trust).await?;
    if let Some(warning) = examined.warning(&selection.provider) {
        let subject = Subject::version(&selection.provider, &version);
        session.printer.warning(&format!("{subject}: {warning}"));
    }
    let digest = examined.artifact.raw.expected.digest;
    if let Some(id) = &arguments.attest_id {
        let release = examined.proof;
        let release = release.map_err(|problem| stored.failure(Some(&version), problem))?;
        print_predicate(id, &release, digest, &stored, trust, session)?;
        return Ok(None);
    }
    let has_required = examined.attested.is_some();
    let attestations = attestations(&stored, &version, (digest, has_required), trust).await?;
    let protocols = examined.protocols.map(|protocols| protocols.texts());
    let packages = examined.packages.iter();
    let packages = packages.map(|package| json::InspectedPackage {
        platform: package.platform.clone(),
        manifest: Some(package.entry.digest.clone()),
        size: Some(package.layer.expected.size),
        zh: PackageHash::of_zip(&package.layer.expected.digest),
    });
    let inspection = Inspection {
        reference: Some(stored.repo.reference(&examined.tag, &digest)),
        digest: Some(digest),
        protocols: protocols.unwrap_or_default(),
        packages: packages.collect(),
        other_versions,
        attestations,
        ..Inspection::of(selection.provider, version.clone())
    };
    let proof = match examined.proof {
        Ok(release) => Ok(release.authentication().clone()),
        Err(problem) => Err(stored.failure(Some(&version), problem).into()),
    };
    Ok(Some((inspection, proof)))
}

/// Prints the predicate of a version that this run verified.
fn print_predicate<L>(
    id: &str,
    release: &Verified<Release<L>>,
    index: Digest,
    stored: &StoredProvider,
    trust: &TrustOptions,
    session: &Session,
) -> Result<(), CommandError> {
    let claim = claim(release, index, &stored.repo).ok_or_else(|| {
        let status = release.authentication().without_key();
        let message = format!("{status} proves no more than the store itself says");
        CommandError::plain(Category::Untrusted, message).advising("name the key with `--key FILE`")
    })?;
    let rule = trust.rule_for(&stored.provider)?;
    let predicate = claim.predicate(id, &rule.canonical(), &stored.origin(), trust.now);
    session.printer.result(&format!("{predicate:#}"));
    Ok(())
}

/// What the attestations of a version say. Only those by the required key are checked, and count if the version has all that are required.
async fn attestations(
    stored: &StoredProvider,
    version: &Version,
    (index, has_required): (Digest, bool),
    trust: &TrustOptions,
) -> Result<Vec<InspectedAttestation>, CommandError> {
    let rule = trust.rule_for(&stored.provider)?;
    let required = &rule.attestations;
    let name = format!("{}@{version}", stored.provider);
    let bundles = stored.repo.attestations(&index).await;
    let bundles = bundles.map_err(|error| stored.failure(Some(version), error.into()))?;
    let inspect = |bundle: &Vec<u8>| {
        let statement = open(bundle, None).ok()?;
        let text = |pointer: &str| {
            let text = statement.pointer(pointer).and_then(Value::as_str);
            printable(text.unwrap_or_default())
        };
        let mirror = text("/predicate/verifier/id");
        let own = format!("/predicate/{}#signature", mirror.replace('/', "~1"));
        let mut required = required.iter().filter(|_| has_required);
        let checked = required.find(|one| one.check(bundle, &name, &index, None).is_ok());
        Some(InspectedAttestation {
            time: text("/predicate/timeVerified"),
            origin: text(&format!("{own}/origin")),
            rule: statement
                .pointer(&format!("{own}/rule"))
                .cloned()
                .unwrap_or_else(|| json!({})),
            key: checked.and_then(|one| Some(one.key().ok()?.id())),
            mirror,
        })
    };
    Ok(bundles.iter().filter_map(inspect).collect())
}

/// The newest version of an origin or a mirror that matches, or the one that the argument names.
async fn released(
    text: &str,
    from: &str,
    trust: &TrustOptions,
    session: &Session,
) -> Result<Found, CommandError> {
    let selection = session.selection(text)?;
    let StoreOrSource::Source(source) = Places::new(session)?.open(from)? else {
        return Err(CommandError::no_selection(from));
    };
    let (provider, constraints) = (&selection.provider, &selection.constraints);
    let place = source.place(provider);
    let fail = |problem: Problem| problem.of(Subject::provider(provider), Some(place.clone()));
    let rule = trust.rule_at_source(provider).map_err(fail)?;
    let available = source.available_versions(provider);
    let available = available.await.map_err(|error| fail(error.into()))?;
    let available = available.versions;
    let versions: Vec<Version> = available
        .iter()
        .map(|one| one.version.version().clone())
        .collect();
    let version = constraints.newest(versions.iter()).cloned();
    let chosen = available
        .iter()
        .find(|one| Some(one.version.version()) == version.as_ref());
    let (Some(version), Some(chosen)) = (version, chosen) else {
        return Err(fail(Problem::NoVersion {
            constraints: constraints.clone(),
            available: versions,
        })
        .into());
    };
    let subject = Subject::version(provider, &version);
    let failed = |problem: Problem| problem.of(subject.clone(), Some(place.clone()));
    let whole = source.whole_release(provider, chosen, &Platforms::All, rule.pinned());
    let (release, _) = whole.await.map_err(|error| failed(error.into()))?;
    let packages = release.packages.iter();
    let packages = packages.map(|package| json::InspectedPackage {
        platform: package.platform.clone(),
        manifest: None,
        // Many origins do not say how large a package is.
        size: Some(package.expected.size).filter(|size| *size > 0),
        zh: package.zh(),
    });
    let inspection = Inspection {
        from: Some(place.to_string()),
        protocols: match &source {
            Source::Origin(_) => release.protocols.texts(),
            // Mirrors do not say which they are.
            _ => Vec::new(),
        },
        packages: packages.collect(),
        other_versions: others(constraints, versions, &version),
        ..Inspection::of(provider.clone(), version)
    };
    let proof = match prove(release, &rule, trust.now).await {
        Ok(release) => Ok(release.authentication().clone()),
        Err(error) => Err(failed(error.into()).into()),
    };
    Ok((inspection, proof))
}

/// The other versions, newest first, if the argument names none.
fn others(
    constraints: &VersionConstraints,
    mut versions: Vec<Version>,
    version: &Version,
) -> Option<Vec<Version>> {
    versions.retain(|other| other != version);
    versions.reverse();
    constraints.as_exact().is_none().then_some(versions)
}

fn print(inspection: &Inspection, printer: &Printer) {
    let print = |name: &str, text: &str| {
        if !text.is_empty() {
            printer.result(&format!("{name:14}  {text}"));
        }
    };
    let others = inspection.other_versions.iter().flatten();
    let others: Vec<String> = others.map(Version::to_string).collect();
    let authentication = inspection.authentication.as_ref();
    // The error on stderr says why.
    let authentication = authentication.map_or_else(|| "refused".to_owned(), ToString::to_string);
    let provider = format!("{} {}", inspection.provider, inspection.version);
    print("provider", &provider);
    print(
        "reference",
        inspection.reference.as_deref().unwrap_or_default(),
    );
    print("from", inspection.from.as_deref().unwrap_or_default());
    print("other versions", &others.join(", "));
    print("protocols", &inspection.protocols.join(", "));
    print("authentication", &authentication);
    for one in &inspection.attestations {
        let (mirror, time, origin) = (&one.mirror, &one.time, &one.origin);
        let key = one.key.as_ref();
        let checked = key.map_or_else(|| "not checked".to_owned(), |key| format!("attested {key}"));
        let rule = printable(&one.rule.to_string());
        let text = format!("{checked}: {time} by {mirror}, from {origin}, rule {rule}");
        print("attestation", &text);
    }
    for package in &inspection.packages {
        let platform = package.platform.to_string();
        let size = package.size.map(|size| HumanBytes(size).to_string());
        let (size, zh) = (size.unwrap_or_default(), &package.zh);
        print("package", &format!("{platform:13}  {size:>11}  {zh}"));
    }
}
