//! Inventory: what a store has of a provider, version by version.

use std::collections::BTreeSet;

use futures_util::{StreamExt as _, stream};

use crate::authentication::Authentication;
use crate::examine::{StoredProvider, TrustOptions};
use crate::outcome::Failure;
use crate::platform::{Platform, Platforms};
use crate::release::Expected;
use crate::store::CONCURRENT_READS;
use crate::version::Version;

/// A version in a store.
#[derive(Debug)]
pub struct StoredVersion {
    /// The version.
    pub version: Version,
    /// The platforms of its packages, sorted; empty if its index cannot be read.
    pub platforms: Vec<Platform>,
    /// Its packages. Those of several platforms may be equal.
    pub packages: BTreeSet<Expected>,
    /// How far it is proven, or why it cannot be used.
    pub proof: Result<Authentication, Failure>,
}

/// Reads these versions, in their order: the index of each, its platform manifests and its evidence. No package is read.
pub async fn inventory(
    from: &StoredProvider,
    versions: &[Version],
    trust: &TrustOptions,
) -> Vec<StoredVersion> {
    let reads = versions.iter().map(async |version| {
        let examined = from.examine(version, &Platforms::All, trust).await;
        let packages = examined
            .as_ref()
            .map(|examined| examined.packages.as_slice());
        let packages = packages.unwrap_or_default();
        let platforms = packages.iter().map(|one| one.platform.clone()).collect();
        let packages = packages.iter().map(|one| one.layer.expected).collect();
        let proof = examined.and_then(|examined| match examined.proof {
            Ok(release) => Ok(release.authentication().clone()),
            Err(problem) => Err(from.failure(Some(version), problem)),
        });
        StoredVersion {
            version: version.clone(),
            platforms,
            packages,
            proof,
        }
    });
    let reads: Vec<_> = reads.collect();
    let reads = stream::iter(reads).buffered(CONCURRENT_READS);
    reads.collect().await
}
