//! The plan of a copy: what of a parcel the destination lacks.

use crate::digest::Digest;
use crate::oci::Tag;
use crate::outcome::{Change, Problem};
use crate::publish::Existing;
use crate::release::Package;
use crate::store::{WriteStore, graph};
use crate::trust::{self, Rule};

use super::parcel::Parcel;
use super::tree::Tree;
use super::{Destination, Request};

/// Where the two tags of a version stand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    pub(super) version: Option<Digest>,
    pub(super) evidence: Option<Digest>,
}

/// What a copy will do.
#[derive(Debug)]
pub(super) struct Plan {
    /// Where the tags stand now.
    pub(super) standing: Standing,
    /// Whether everything below the index is brought.
    pub(super) brings_index: bool,
    /// Whether the version's tag moves.
    pub(super) moves_index: bool,
    /// Whether the evidence is brought, and its tag moves.
    pub(super) brings_evidence: bool,
    /// The outcome as a whole, unless a damaged blob comes to light.
    pub(super) change: Change,
}

impl Standing {
    /// Asks where they stand, as far as `tags` says that they are there.
    pub(super) async fn of<T: WriteStore>(
        to: &Destination<T>,
        tags: &[String],
        (version, evidence): (&Tag, &Tag),
    ) -> Result<Self, Problem> {
        let Destination { store, repository } = to;
        let mut found = [None, None];
        for (tag, found) in [version, evidence].into_iter().zip(&mut found) {
            if tags.iter().any(|name| name == tag.as_str()) {
                *found = store.digest(repository, tag).await?;
            }
        }
        let [version, evidence] = found;
        Ok(Self { version, evidence })
    }
}

/// Compares a parcel with what is there.
pub(super) async fn make<T: WriteStore, B>(
    parcel: &Parcel<B>,
    standing: Standing,
    to: &Destination<T>,
    request: &Request,
) -> Result<Plan, Problem> {
    let Destination { store, repository } = to;
    let replaces = request.existing == Existing::Replace;
    let is_same = standing.version == Some(parcel.tree.root.expected.digest);
    let is_whole = is_same && Tree::is_whole(store, repository, &parcel.tag).await?;
    let brings_evidence = match (&parcel.evidence, standing.evidence) {
        (None, None) => false,
        (None, Some(_)) => {
            if !is_same {
                prove(parcel, to, request).await?;
            }
            false
        }
        (Some(_), None) => true,
        (Some(ours), Some(theirs)) => {
            let is_other = ours.root.expected.digest != theirs;
            is_other && (!is_same || replaces)
                || !Tree::is_whole(store, repository, &parcel.evidence_tag).await?
        }
    };
    let change = match standing.version {
        None => Change::Copied,
        Some(_) if is_whole && !brings_evidence => Change::Present,
        Some(_) => Change::Updated,
    };
    Ok(Plan {
        standing,
        brings_index: !is_whole || replaces,
        // A tag whose document is damaged is written again with it.
        moves_index: !is_whole,
        brings_evidence,
        change,
    })
}

/// Holds what comes without evidence to the evidence that is there: it must prove every zip.
async fn prove<T: WriteStore, B>(
    parcel: &Parcel<B>,
    to: &Destination<T>,
    request: &Request,
) -> Result<(), Problem> {
    let Destination { store, repository } = to;
    let stored = graph::evidence(store, repository, &parcel.evidence_tag).await?;
    let packages = parcel.release.packages.iter().map(|package| Package {
        platform: package.platform.clone(),
        file_name: package.file_name.clone(),
        expected: package.expected,
        location: (),
    });
    let release = graph::release(
        &parcel.release.provider,
        &parcel.release.version,
        packages.collect(),
        stored.map(|stored| stored.evidence),
    );
    let proof = trust::verify(release, &Rule::reading(), request.belief.now);
    proof
        .map(|_| ())
        .map_err(|source| Problem::Uncovered { source })
}
