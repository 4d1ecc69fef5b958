//! What a store has: the base of a delta.

use futures_util::{StreamExt as _, stream};

use crate::constraint::VersionConstraints;
use crate::error::Category;
use crate::examine::StoredProvider;
use crate::oci::{Part, Repository, Tag};
use crate::outcome::{Failure, Problem};
use crate::release::Expected;
use crate::store::bundle::contents::{BundledVersion, ListedBlob};
use crate::store::endpoint::MappingError;
use crate::store::{self, CONCURRENT_READS};
use crate::version::Version;

/// The versions of a provider that a store has, and the packages of each, with the failures of those that it has in part only: a delta must not
/// rely on them.
///
/// # Errors
/// The store cannot be read.
pub async fn have(
    from: &StoredProvider,
    constraints: &VersionConstraints,
) -> Result<(Vec<BundledVersion>, Vec<Failure>), Failure> {
    let available = from.versions().await?;
    let is_wanted = |version: &&Version| constraints.selects(version);
    let wanted = available.versions.iter().filter(is_wanted);
    let reads = wanted.map(async |version| {
        let read = version_of(from, version).await;
        read.map_err(|problem| from.failure(Some(version), problem))
    });
    let reads: Vec<_> = reads.collect();
    let (mut versions, mut failures) = (Vec::new(), Vec::new());
    let mut reads = stream::iter(reads).buffered(CONCURRENT_READS);
    while let Some(read) = reads.next().await {
        match read {
            Ok(version) => versions.push(version),
            // What is not there is no part of a base.
            Err(failure) if failure.category() == Category::NotFound => failures.push(failure),
            Err(failure) => return Err(failure),
        }
    }
    Ok((versions, failures))
}

async fn version_of(from: &StoredProvider, version: &Version) -> Result<BundledVersion, Problem> {
    let repo = &from.repo;
    let (tag, evidence) = (Tag::of_version(version)?, Tag::of_evidence(version)?);
    let artifact = repo.artifact(&tag).await?;
    let artifact = artifact.ok_or_else(|| Problem::no_version(version))?;
    let entries = artifact.index.platforms().map_err(store::Error::from)?;
    let mut packages = Vec::new();
    for package in repo.packages(&entries).await? {
        let Expected { digest, size } = package.layer.expected;
        if !repo.omits(&digest) && repo.blob_size(&package.layer.expected).await? != Some(size) {
            let what = Part::Package;
            return Err(store::Error::Missing { what, digest }.into());
        }
        packages.push(ListedBlob::new(package.layer.expected));
    }
    packages.sort();
    packages.dedup();
    let directory = Repository::of_provider(&from.provider).map_err(MappingError::from)?;
    let evidence = repo.digest(&evidence).await?;
    let platforms = entries.iter().map(|(platform, _)| platform.to_string());
    Ok(BundledVersion {
        address: directory.to_string(),
        version: version.to_string(),
        index: artifact.raw.expected.digest.to_string(),
        platforms: platforms.collect(),
        evidence: evidence.map(|digest| digest.to_string()),
        packages,
    })
}
