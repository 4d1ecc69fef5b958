//! `tfoci inspect`.

use clap::Args;
use indicatif::HumanBytes;

use tfoci::authentication::Authentication;
use tfoci::event::Subject;
use tfoci::examine::{Platforms, StoredProvider};
use tfoci::hash::PackageHash;
use tfoci::store::StoredPackage;
use tfoci::version::Version;

use super::Ending;
use super::args::ReadTrust;
use super::error::CommandError;
use super::json;
use super::printer::Printer;
use super::session::{Session, Wanted};

const EXAMPLES: &str = "\
Examples:
  tfoci inspect acme/demo --from oci-layout:mirror
  tfoci inspect acme/demo@1.0.0 --from oci-layout:mirror --key acme.asc
  tfoci inspect acme/demo@1.0.0 --trust trust.toml --require-pinned \\
    --from 'ghcr.io/acme/providers/${hostname}/${namespace}/${type}'";

/// Show a version in a store: platforms, sizes, digests, and how it is authenticated
///
/// `tfoci help trust` explains the words of the line `authentication`.
///
/// `ADDR@sha256:…` names the version whose index has this digest. A reference, as `push` prints it, also names the store, so it
/// needs no `--from`. If the tag of its version refers to another index, tfoci refuses it.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The provider and its version [default: the newest]; or a reference, as `push` prints it
    #[arg(value_name = "ADDR[@VERSION]")]
    provider: String,
    /// The store: oci-layout:DIR, or a registry's repository template
    ///
    /// It is needed, unless the argument is a reference.
    #[arg(long, value_name = "STORE")]
    from: Option<String>,
    #[command(flatten)]
    trust: ReadTrust,
}

pub(super) async fn run(arguments: Arguments, session: &Session) -> Result<Ending, CommandError> {
    let registry = session.registry(&session.http()?);
    let texts = std::slice::from_ref(&arguments.provider);
    let wanted = session.wanted(texts, arguments.from.as_deref(), &registry);
    let Some(Wanted { selection, from }) = wanted.await?.pop() else {
        return Err(CommandError::NoSelection);
    };
    let stored = from?;
    // If the version does not exist, `choose` fails with a list of the existing ones.
    let (version, _) = stored.choose(&selection).await?;
    let version = &version;
    let others = match selection.constraints.as_exact() {
        Some(_) => None,
        None => Some(others(&stored, version).await?),
    };
    let trust = session.trust_options(&arguments.trust)?;
    session.warn_of_unmatched(&arguments.trust, &trust, [&selection.provider]);
    let examined = stored.examine(version, &Platforms::All, &trust).await?;
    let subject = Subject::version(&selection.provider, version);
    if let Some(warning) = examined.warning(&selection.provider) {
        let line = format!("{subject}: {warning}");
        session.printer.warning(&line);
    }
    let digest = examined.artifact.raw.expected.digest;
    let protocols = examined
        .protocols
        .map(|protocols| protocols.texts())
        .unwrap_or_default();
    let (authentication, error) = match examined.proof {
        Ok(release) => (Some(release.authentication().clone()), None),
        Err(problem) => (
            None,
            Some(CommandError::Journey(
                stored.failure(Some(version), problem),
            )),
        ),
    };
    let packages = examined.packages.iter().map(inspected);
    let inspection = json::Inspection {
        schema: json::SCHEMA,
        provider: &selection.provider,
        version,
        reference: stored.repo.reference(&examined.tag, &digest),
        digest,
        protocols,
        packages: packages.collect(),
        other_versions: others,
        authentication,
        error: error.as_ref().map(json::Error::from),
    };
    let printer = &session.printer;
    print(&inspection, printer);
    let authentication = inspection.authentication.as_ref();
    if let Some(warning) = authentication.and_then(Authentication::warning) {
        printer.warning(&format!("{subject}: {warning}"));
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
        manifest: package.entry.digest.clone(),
        size: package.layer.expected.size,
        zh: PackageHash::of_zip(&package.layer.expected.digest),
    }
}

fn print(inspection: &json::Inspection<'_>, printer: &Printer) {
    printer.result(&format!(
        "provider        {} {}",
        inspection.provider, inspection.version
    ));
    printer.result(&format!("reference       {}", inspection.reference));
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
        let size = HumanBytes(package.size).to_string();
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
