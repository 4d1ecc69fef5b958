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

impl TagDigests {
    /// The digests in the form that [`tag_digests`] returns.
    pub(super) fn as_tags(&self) -> (Option<Digest>, Option<Digest>) {
        (Some(self.index), self.evidence)
    }
}

/// Reads the digests that the tags of a version and of its evidence refer to.
pub(super) async fn tag_digests(
    stored: &StoredProvider,
    version: &Version,
) -> Result<(Option<Digest>, Option<Digest>), Problem> {
    let index = stored.repo.digest(&Tag::of_version(version)?).await?;
    let evidence = stored.repo.digest(&Tag::of_evidence(version)?).await?;
    Ok((index, evidence))
}
