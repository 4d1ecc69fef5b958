//! Whether what passed is still what the tags of a version refer to.

use std::time::{Duration, Instant};

use crate::digest::Digest;
use crate::examine::StoredProvider;
use crate::oci::Tag;
use crate::outcome::Problem;
use crate::version::Version;

/// What a version's tags referred to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagDigests {
    /// The digest of the index.
    pub index: Digest,
    /// The digest of the evidence manifest, if there is one.
    pub evidence: Option<Digest>,
}

/// The result of comparing tags.
#[derive(Clone, Copy, Debug)]
pub(super) struct TagCheck {
    pub(super) at: Instant,
    /// How long the result is used.
    pub(super) valid: Duration,
    pub(super) state: TagState,
}

/// Whether the tags of a version still refer to what passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TagState {
    /// They do.
    Unchanged,
    /// They do not, or are gone.
    Moved,
    /// The store could not be asked.
    Unknown,
}

impl TagDigests {
    /// The digests as tags have them.
    pub(super) fn in_tags(&self) -> (Option<Digest>, Option<Digest>) {
        (Some(self.index), self.evidence)
    }
}

/// What the tags of a version and of its evidence refer to.
pub(super) async fn tag_digests(
    stored: &StoredProvider,
    version: &Version,
) -> Result<(Option<Digest>, Option<Digest>), Problem> {
    let index = stored.repo.digest(&Tag::of_version(version)?).await?;
    let evidence = stored.repo.digest(&Tag::of_evidence(version)?).await?;
    Ok((index, evidence))
}
