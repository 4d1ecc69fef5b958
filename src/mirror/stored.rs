//! What a store has already.

use std::collections::BTreeSet;

use super::{Journey, Source};
use crate::oci::Tag;
use crate::outcome::Problem;
use crate::platform::Platform;
use crate::publish::{Destination, Existing};
use crate::store::WriteStore;
use crate::store::graph::{self, Artifact};
use crate::version::Version;

/// What the store has of a version.
pub(super) struct Stored {
    pub(super) artifact: Artifact,
    pub(super) platforms: BTreeSet<Platform>,
    pub(super) has_evidence: bool,
}

impl<S: Source, D: WriteStore> Journey<'_, S, D> {
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
}
