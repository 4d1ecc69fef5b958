//! The plan of a copy: what of a parcel the destination lacks.

use crate::digest::Digest;
use crate::oci::Tag;
use crate::outcome::{Change, Problem};
use crate::publish::{Existing, Offer, Standing as Evidence, Verdict};
use crate::release::Package;
use crate::store::WriteStore;

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
    /// What the user should know about that.
    pub(super) warning: Option<String>,
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
    let ours = parcel.evidence.as_ref().map(|tree| tree.root.expected);
    let (brings_evidence, warning) = match (ours, standing.evidence) {
        (ours, None) => (ours.is_some(), None),
        (Some(ours), Some(theirs)) if ours.digest == theirs => {
            let is_whole = Tree::is_whole(store, repository, &parcel.evidence_tag).await?;
            (!is_whole, None)
        }
        _ => {
            let verdict = compare(parcel, to, request, !is_same).await?;
            (verdict != Verdict::Keep, verdict.warning())
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
        warning,
        change,
    })
}

/// Compares the evidence that is there with the parcel's: it must prove every package, to the same demands.
async fn compare<T: WriteStore, B>(
    parcel: &Parcel<B>,
    to: &Destination<T>,
    request: &Request,
    is_new: bool,
) -> Result<Verdict, Problem> {
    let Request {
        existing, belief, ..
    } = request;
    let release = &parcel.release;
    let demands = belief.demands_on(&release.provider)?;
    let packages = release.packages.iter().map(|package| Package {
        platform: package.platform.clone(),
        file_name: package.file_name.clone(),
        expected: package.expected,
        location: (),
    });
    let subject = (&release.provider, &release.version);
    let standing = Evidence::read(to, subject, packages.collect(), &demands, belief.now).await?;
    let offer = parcel.evidence.as_ref().map(|_| Offer {
        authentication: release.authentication(),
        covers: Ok(()),
        is_preferred: is_new,
    });
    match standing {
        // Somebody has just removed it.
        None if offer.is_none() => Ok(Verdict::Keep),
        None => Ok(Verdict::Replace),
        // That it covers the packages is part of its proof.
        Some(standing) => standing.against(offer, &[], *existing, &demands),
    }
}
