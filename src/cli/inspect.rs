//! `tfoci inspect`: what a store or a source has of one version, and whether it verifies.
//!
//! A version that does not verify is printed too, and the command then fails. [`tfoci::examine`] reads and verifies. No package is downloaded:
//! `tfoci copy` checks the bytes of packages.

use clap::Args;
use indicatif::HumanBytes;

use tfoci::authentication::Authentication;
use tfoci::constraint::VersionConstraints;
use tfoci::event::Subject;
use tfoci::examine::{Released, TrustOptions};
use tfoci::hash::PackageHash;
use tfoci::outcome::{At, Problem};
use tfoci::platform::Platforms;
use tfoci::source::{BadEntries, Source};
use tfoci::version::Version;

use super::Ending;
use super::arguments::ReadTrust;
use super::error::CommandError;
use super::json::{self, Inspection};
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
    let trust = session.trust_options(&arguments.trust)?;
    let found = match arguments.from.as_deref().filter(|from| is_source(from)) {
        Some(from) => released(&arguments.provider, from, &trust, session).await?,
        None => stored(&arguments, &trust, session).await?,
    };
    let (mut inspection, proof) = found;
    session.warn_of_unmatched(&arguments.trust, &trust, [&inspection.provider]);
    inspection.error = proof.as_ref().err().map(json::Error::from);
    inspection.authentication = proof.as_ref().ok().cloned();
    let printer = &session.printer;
    print(&inspection, printer);
    if let Some(authentication) = &inspection.authentication {
        let subject = Subject::version(&inspection.provider, &inspection.version);
        printer.warn_of_notes(&subject, authentication);
    }
    printer.document(&inspection);
    if let Err(error) = &proof {
        printer.failure(error);
    }
    Ok(Ending::of(proof.as_ref().err().into_iter()))
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
    let other_versions = match selection.constraints.as_exact() {
        Some(_) => None,
        None => {
            let versions = stored.versions().await?.versions;
            others(&selection.constraints, versions, &version)
        }
    };
    let examined = stored.examine(&version, &Platforms::All, trust).await?;
    if let Some(warning) = examined.warning(&selection.provider) {
        let subject = Subject::version(&selection.provider, &version);
        session.printer.warning(&format!("{subject}: {warning}"));
    }
    let digest = examined.artifact.raw.expected.digest;
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
        ..Inspection::of(selection.provider, version.clone())
    };
    let proof = match examined.proof {
        Ok(release) => Ok(release.authentication().clone()),
        Err(problem) => Err(stored.failure(Some(&version), problem).into()),
    };
    Ok((inspection, proof))
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
    let fail =
        |problem: Problem| problem.of(Subject::provider(provider), At::Source(place.clone()));
    let rule = trust.rule_at_source(provider).map_err(fail)?;
    let available = source.available_versions(provider, BadEntries::Refused);
    let available = available.await.map_err(|error| fail(error.into()))?;
    let versions = available.versions.iter();
    let versions: Vec<Version> = versions.map(|one| one.version.version().clone()).collect();
    let newest = constraints.newest(versions.iter());
    let mut chosen = available.versions.iter();
    let chosen = chosen.find(|one| Some(one.version.version()) == newest);
    let Some(chosen) = chosen else {
        return Err(fail(Problem::NoVersion {
            constraints: constraints.clone(),
            available: versions,
        })
        .into());
    };
    let version = chosen.version.version().clone();
    let subject = Subject::version(provider, &version);
    let failed = |problem: Problem| problem.of(subject.clone(), At::Source(place.clone()));
    let released = Released::request(&source, provider, chosen, &Platforms::All, rule.pinned());
    let released = released.await.map_err(failed)?;
    let packages = released.release.packages.iter();
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
            Source::Origin(_) => released.release.protocols.texts(),
            // Mirrors do not say which they are.
            _ => Vec::new(),
        },
        packages: packages.collect(),
        other_versions: others(constraints, versions, &version),
        ..Inspection::of(provider.clone(), version)
    };
    let proof = match released.verify(&rule, trust.now).await {
        Ok(release) => Ok(release.authentication().clone()),
        Err(problem) => Err(failed(problem).into()),
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
    let others = inspection.other_versions.iter().flatten();
    let others: Vec<String> = others.map(Version::to_string).collect();
    let authentication = inspection.authentication.as_ref();
    // The error on stderr says why.
    let authentication = authentication.map_or_else(|| "refused".to_owned(), ToString::to_string);
    for (name, text) in [
        (
            "provider",
            format!("{} {}", inspection.provider, inspection.version),
        ),
        (
            "reference",
            inspection.reference.clone().unwrap_or_default(),
        ),
        ("from", inspection.from.clone().unwrap_or_default()),
        ("other versions", others.join(", ")),
        ("protocols", inspection.protocols.join(", ")),
        ("authentication", authentication),
    ] {
        if !text.is_empty() {
            printer.result(&format!("{name:14}  {text}"));
        }
    }
    let platforms = inspection
        .packages
        .iter()
        .map(|one| one.platform.to_string());
    let width = platforms.map(|one| one.len()).max().unwrap_or(0);
    for package in &inspection.packages {
        let platform = package.platform.to_string();
        let size = package.size.map(|size| HumanBytes(size).to_string());
        let zh = package.zh.as_ref().map(PackageHash::to_string);
        let (size, zh) = (size.unwrap_or_default(), zh.unwrap_or_default());
        printer.result(&format!(
            "package         {platform:width$}  {size:>11}  {zh}"
        ));
    }
}
