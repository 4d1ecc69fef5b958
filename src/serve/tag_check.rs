//! Detects tags that moved after a version was verified.

use std::time::{Duration, Instant};

use crate::digest::Digest;
use crate::examine::StoredProvider;
use crate::oci::Tag;
use crate::outcome::Problem;
use crate::version::Version;

/// The digests that a version's tags referred to when it was verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagDigests {
    /// Of the tag that is the version.
    pub index: Digest,
    /// The digest of the evidence manifest, if there is one.
    pub evidence: Option<Digest>,
}

/// The last comparison of a version's tags.
#[derive(Clone, Copy, Debug)]
pub(super) struct TagCheck {
    pub(super) at: Instant,
    /// How long the result is used.
    pub(super) valid: Duration,
    pub(super) state: TagState,
}

/// The result of a comparison of tags with the verified digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TagState {
    /// The tags still refer to the verified digests.
    Unchanged,
    /// A tag refers to another digest, or was deleted.
    Moved,
    /// The store did not answer.
    Unknown,
}

impl TagCheck {
    /// Whether the comparison is more recent than `within`, and its result still counts.
    pub(super) fn is_recent(&self, within: Duration) -> bool {
        self.at.elapsed() < self.valid.min(within)
    }
}

impl TagDigests {
    /// Reads the digests of a version; `None` if the store does not have its tag.
    pub(super) async fn read(
        stored: &StoredProvider,
        version: &Version,
    ) -> Result<Option<Self>, Problem> {
        let index = stored.repo.digest(&Tag::of_version(version)?).await?;
        let evidence = stored.repo.digest(&Tag::of_evidence(version)?).await?;
        Ok(index.map(|index| Self { index, evidence }))
    }
}
