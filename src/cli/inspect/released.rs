//! Versions at origins and in mirrors.

use tfoci::event::Subject;
use tfoci::examine::{Released, TrustOptions};
use tfoci::outcome::{At, Problem};
use tfoci::platform::Platforms;
use tfoci::source::{AvailableVersion, BadEntries, Source};
use tfoci::version::Version;

use super::Found;
use crate::cli::error::CommandError;
use crate::cli::json;
use crate::cli::session::Session;
use crate::cli::session::place::{Places, StoreOrSource};

/// The newest version of a source that matches, or the one that the argument names.
pub(super) async fn find(
    text: &str,
    from: &str,
    trust: &TrustOptions,
    session: &Session,
) -> Result<Found, CommandError> {
    let selection = session.selection(text)?;
    let StoreOrSource::Source(source) = Places::new(session)?.open(from)? else {
        return Err(CommandError::no_selection(from));
    };
    let provider = &selection.provider;
    let place = source.place(provider);
    let subject = Subject::provider(provider);
    let fail = |problem: Problem| problem.of(subject.clone(), At::Source(place.clone()));
    let rule = trust.rule_at_source(provider).map_err(fail)?;
    let available = source.available_versions(provider, BadEntries::Refused);
    let available = available
        .await
        .map_err(|error| fail(error.into()))?
        .versions;
    let chosen = choose(&selection.constraints, &available).map_err(fail)?;
    let version = chosen.version.version().clone();
    let released = Released::request(&source, provider, chosen, &Platforms::All);
    let about = Subject::version(provider, &version);
    let failed = |problem: Problem| problem.of(about.clone(), At::Source(place.clone()));
    let released = released.await.map_err(failed)?;
    let packages = released.release.packages.iter();
    let packages = packages.map(|package| json::InspectedPackage {
        platform: package.platform.clone(),
        manifest: None,
        // Many origins do not say how large a package is.
        size: Some(package.expected.size).filter(|size| *size > 0),
        zh: package.zh(),
    });
    let (packages, protocols) = (packages.collect(), released.release.protocols.texts());
    let proof = released.verify(&rule, trust.now).await;
    Ok(Found {
        artifact: None,
        protocols: match &source {
            Source::Origin(_) => protocols,
            // Mirrors do not say which they are.
            _ => Vec::new(),
        },
        packages,
        others: match selection.constraints.as_exact() {
            Some(_) => None,
            None => Some(others(&available, &version)),
        },
        proof: proof
            .map(|release| release.authentication().clone())
            .map_err(|problem| failed(problem).into()),
        version,
        source: Some(place.to_string()),
        provider: selection.provider,
    })
}

fn choose<'a>(
    constraints: &tfoci::constraint::VersionConstraints,
    available: &'a [AvailableVersion],
) -> Result<&'a AvailableVersion, Problem> {
    let versions = || available.iter().map(|one| one.version.version());
    let newest = constraints.newest(versions());
    let chosen = newest.and_then(|newest| {
        let mut available = available.iter();
        available.find(|one| one.version.version() == newest)
    });
    chosen.ok_or_else(|| Problem::NoVersion {
        constraints: constraints.clone(),
        available: versions().cloned().collect(),
    })
}

/// The other versions, newest first.
fn others(available: &[AvailableVersion], version: &Version) -> Vec<Version> {
    let versions = available.iter().rev().map(|one| one.version.version());
    versions
        .filter(|other| *other != version)
        .cloned()
        .collect()
}
