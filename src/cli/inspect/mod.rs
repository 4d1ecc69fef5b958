//! `tfoci inspect`: what a store or a source has of one version, and whether it verifies.
//!
//! This file finds the version in a store and prints the result; [`released`] finds it at an origin or in a mirror. Both give a `Found`. A
//! version that does not verify is printed too, and the command then fails. [`tfoci::examine`] reads and verifies. No package is
//! downloaded: `tfoci copy` checks the bytes of packages.

mod released;

use clap::Args;
use indicatif::HumanBytes;

use tfoci::address::ProviderAddr;
use tfoci::authentication::Authentication;
use tfoci::digest::Digest;
use tfoci::event::Subject;
use tfoci::examine::{StoredProvider, TrustOptions};
use tfoci::hash::PackageHash;
use tfoci::platform::Platforms;
use tfoci::store::StoredPackage;
use tfoci::version::Version;

use super::Ending;
use super::arguments::ReadTrust;
use super::error::CommandError;
use super::json;
use super::printer::Printer;
use super::session::place::is_source;
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
/// `tfoci help trust` explains the words of the line `authentication`. tfoci reads manifests and evidence, and no packages: `tfoci copy`
/// into an empty directory checks all bytes of a store.
///
/// `ADDR@sha256:…` names the version whose index has this digest. A reference, as `push` prints it, also names the store, so it
/// needs no `--from`. If the tag of its version refers to another index, tfoci refuses it.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The provider and its version [default: the newest]; or a reference, as `push` prints it
    #[arg(value_name = "ADDR[@VERSION]")]
    provider: String,
    /// The store: oci-layout:DIR, or a registry's repository template; or `origin`
    ///
    /// network-mirror:URL and filesystem-mirror:DIR are read too; they have no signatures, so their versions are refused (exit code 3), as
    /// `mirror` refuses them. It is needed, unless the argument is a reference.
    #[arg(long, value_name = "STORE")]
    from: Option<String>,
    #[command(flatten)]
    trust: ReadTrust,
}

/// A version in a store or at a source, and whether it verifies.
struct Found {
    provider: ProviderAddr,
    version: Version,
    /// The reference and digest of the index, in a store.
    artifact: Option<(String, Digest)>,
    /// The name of the source, otherwise.
    source: Option<String>,
    protocols: Vec<String>,
    packages: Vec<json::InspectedPackage>,
    /// If the argument names no version: the others, newest first.
    others: Option<Vec<Version>>,
    proof: Result<Authentication, CommandError>,
}

pub(super) async fn run(arguments: Arguments, session: &Session) -> Result<Ending, CommandError> {
    let trust = session.trust_options(&arguments.trust)?;
    let found = match arguments.from.as_deref().filter(|from| is_source(from)) {
        Some(from) => released::find(&arguments.provider, from, &trust, session).await?,
        None => stored(&arguments, &trust, session).await?,
    };
    session.warn_of_unmatched(&arguments.trust, &trust, [&found.provider]);
    let (authentication, error) = match found.proof {
        Ok(authentication) => (Some(authentication), None),
        Err(error) => (None, Some(error)),
    };
    let (reference, digest) = found.artifact.unzip();
    let inspection = json::Inspection {
        schema: json::SCHEMA,
        provider: &found.provider,
        version: &found.version,
        reference,
        digest,
        from: found.source,
        protocols: found.protocols,
        packages: found.packages,
        other_versions: found.others,
        authentication,
        error: error.as_ref().map(json::Error::from),
    };
    let printer = &session.printer;
    print(&inspection, printer);
    if let Some(authentication) = &inspection.authentication {
        let subject = Subject::version(&found.provider, &found.version);
        printer.warn_of_notes(&subject, authentication);
    }
    printer.document(&inspection);
    Ok(match error {
        None => Ending::Done,
        Some(error) => {
            printer.failure(&error);
            Ending::Failed(error.category())
        }
    })
}

/// A version in a store.
async fn stored(
    arguments: &Arguments,
    trust: &TrustOptions,
    session: &Session,
) -> Result<Found, CommandError> {
    let registry = session.registry(&session.http()?);
    let texts = std::slice::from_ref(&arguments.provider);
    let wanted = session.wanted(texts, arguments.from.as_deref(), &registry);
    let Some(WantedVersions { selection, from }) = wanted.await?.versions.pop() else {
        return Err(CommandError::no_selection(&arguments.provider));
    };
    let stored = from?;
    // If the version does not exist, `choose` fails with a list of the existing ones.
    let (version, _) = stored.choose(&selection).await?;
    let others = match selection.constraints.as_exact() {
        Some(_) => None,
        None => Some(others(&stored, &version).await?),
    };
    let examined = stored.examine(&version, &Platforms::All, trust).await?;
    if let Some(warning) = examined.warning(&selection.provider) {
        let subject = Subject::version(&selection.provider, &version);
        session.printer.warning(&format!("{subject}: {warning}"));
    }
    let digest = examined.artifact.raw.expected.digest;
    let protocols = examined.protocols.map(|protocols| protocols.texts());
    let proof = examined
        .proof
        .map(|release| release.authentication().clone());
    let failed = |problem| CommandError::from(stored.failure(Some(&version), problem));
    Ok(Found {
        artifact: Some((stored.repo.reference(&examined.tag, &digest), digest)),
        source: None,
        protocols: protocols.unwrap_or_default(),
        packages: examined.packages.iter().map(inspected).collect(),
        others,
        proof: proof.map_err(failed),
        provider: selection.provider,
        version,
    })
}

/// The other versions of the provider, newest first.
async fn others(stored: &StoredProvider, version: &Version) -> Result<Vec<Version>, CommandError> {
    let mut versions = stored.versions().await?.versions;
    versions.retain(|other| other != version);
    versions.reverse();
    Ok(versions)
}

fn inspected(package: &StoredPackage) -> json::InspectedPackage {
    json::InspectedPackage {
        platform: package.platform.clone(),
        manifest: Some(package.entry.digest.clone()),
        size: Some(package.layer.expected.size),
        zh: PackageHash::of_zip(&package.layer.expected.digest),
    }
}

fn print(inspection: &json::Inspection<'_>, printer: &Printer) {
    printer.result(&format!(
        "provider        {} {}",
        inspection.provider, inspection.version
    ));
    if let Some(reference) = &inspection.reference {
        printer.result(&format!("reference       {reference}"));
    }
    if let Some(source) = &inspection.from {
        printer.result(&format!("from            {source}"));
    }
    let others = inspection.other_versions.iter().flatten();
    let others = others
        .map(Version::to_string)
        .collect::<Vec<_>>()
        .join(", ");
    if !others.is_empty() {
        printer.result(&format!("other versions  {others}"));
    }
    if !inspection.protocols.is_empty() {
        printer.result(&format!(
            "protocols       {}",
            inspection.protocols.join(", ")
        ));
    }
    match (&inspection.authentication, &inspection.error) {
        (Some(authentication), _) => {
            printer.result(&format!("authentication  {authentication}"));
        }
        // The error on stderr says why.
        (None, Some(_)) => printer.result("authentication  refused"),
        (None, None) => {}
    }
    let width = inspection
        .packages
        .iter()
        .map(|package| package.platform.to_string().len())
        .max()
        .unwrap_or(0);
    for package in &inspection.packages {
        let size = package.size.map(|size| HumanBytes(size).to_string());
        let size = size.unwrap_or_default();
        let zh = package
            .zh
            .as_ref()
            .map(PackageHash::to_string)
            .unwrap_or_default();
        printer.result(&format!(
            "package         {:width$}  {size:>11}  {zh}",
            package.platform.to_string()
        ));
    }
}
