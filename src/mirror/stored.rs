//! What a store has already.

use std::collections::BTreeSet;

use super::Journey;
use crate::oci::Tag;
use crate::outcome::{Change, Problem, Published, PublishedPackage};
use crate::platform::Platform;
use crate::publish::{Destination, Existing};
use crate::store::WriteStore;
use crate::store::graph::{self, Artifact, StoredPackage};
use crate::trust;
use crate::version::Version;

/// What the store has of a version.
pub(super) struct Stored {
    pub(super) artifact: Artifact,
    pub(super) platforms: BTreeSet<Platform>,
    pub(super) has_evidence: bool,
}

impl<D: WriteStore> Journey<'_, D> {
    /// What the store has of a version; nothing where everything is to be compared, and where it cannot be read: then it is for
    /// [`publish`] to say what that means.
    pub(super) async fn look(
        &self,
        version: &Version,
        tags: &BTreeSet<String>,
    ) -> Result<Option<Stored>, Problem> {
        let Destination { store, repository } = &self.task.destination;
        let tag = Tag::of_version(version)?;
        let everything = self.options.recheck || self.options.publish.existing != Existing::Merge;
        if everything || !tags.contains(tag.as_str()) {
            return Ok(None);
        }
        let artifact = match graph::artifact(store, repository, &tag).await {
            Ok(artifact) => artifact,
            Err(error) if error.is_damage() => None,
            Err(error) => return Err(error.into()),
        };
        let Some(artifact) = artifact else {
            return Ok(None);
        };
        if let Some(problem) = Problem::of_another(&artifact.index, &self.task.provider) {
            return Err(problem);
        }
        let Ok(platforms) = artifact.index.platforms() else {
            return Ok(None);
        };
        Ok(Some(Stored {
            platforms: platforms
                .into_iter()
                .map(|(platform, _)| platform)
                .collect(),
            has_evidence: tags.contains(Tag::of_evidence(version)?.as_str()),
            artifact,
        }))
    }

    /// What there is to fetch. Where evidence is missing, that is everything: it comes with the packages that it proves.
    pub(super) fn lacking(&self, stored: &Stored, wanted: &[Platform]) -> Vec<Platform> {
        let mut lacking = wanted.to_vec();
        if stored.has_evidence || !self.can_prove() {
            lacking.retain(|platform| !stored.platforms.contains(platform));
        }
        lacking
    }

    /// Holds what the store has for these platforms to the lock files, and returns the packages that it read for that: none of a
    /// version that is not locked. The zips are those of the platform manifests.
    pub(super) async fn hold_to_lock(
        &self,
        version: &Version,
        stored: &Stored,
        wanted: &[Platform],
    ) -> Result<Vec<StoredPackage>, Problem> {
        let Some(hashes) = self.task.locked.get(version) else {
            return Ok(Vec::new());
        };
        let Destination { store, repository } = &self.task.destination;
        let is_wanted = |platform: &Platform| wanted.contains(platform);
        let index = &stored.artifact.index;
        let packages = graph::packages(store, repository, index, is_wanted).await?;
        for package in &packages {
            trust::among(hashes, &package.platform, &package.layer.expected.digest)?;
        }
        Ok(packages)
    }

    /// A version that needs nothing. Hashes and sizes are reported of the packages whose manifests were read.
    pub(super) fn present(
        &self,
        version: &Version,
        stored: &Stored,
        read: &[StoredPackage],
    ) -> Published {
        let Destination { store, repository } = &self.task.destination;
        let digest = stored.artifact.raw.expected.digest;
        let reference = Tag::of_version(version)
            .map(|tag| store.reference(repository, &tag, &digest))
            .unwrap_or_default();
        Published {
            provider: self.task.provider.clone(),
            version: version.clone(),
            reference,
            digest,
            status: Change::Present,
            authentication: None,
            packages: PublishedPackage::of_index(&stored.artifact.index, read),
            bytes: 0,
            beside: None,
        }
    }
}
