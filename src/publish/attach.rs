//! Attaches manifests to others: in registries that list referrers by themselves, and in the list below a tag for all other stores.

use super::{ATTEMPTS, LOOK_AGAIN};
use crate::digest::Digest;
use crate::oci::{Descriptor, RawManifest, Tag, referrers};
use crate::outcome::Problem;
use crate::store::{self, At, Move, RepoMut, Tagged};

/// What became of an attachment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placed {
    /// It is there already.
    Present,
    /// It was written, or would be.
    Added,
    /// Its tag refers to something else, which stays.
    Other,
}

/// What a tag has to refer to, and what it refers to; no manifest if the registry lists referrers itself.
type Plan = (Option<RawManifest>, Option<Digest>);

/// Attaches a manifest to its subject, unless it is attached already. `below` writes the parts of the manifest. Then the tag that names the subject is
/// moved to it, or to the list that is there with its entry added.
pub(crate) async fn attach<E: From<Problem>>(
    to: &RepoMut,
    (tag, subject): (&Tag, &Digest),
    own: &RawManifest,
    dry_run: bool,
    mut below: impl AsyncFnMut() -> Result<(), E>,
) -> Result<Placed, E> {
    for _ in 0..ATTEMPTS {
        let (root, was) = match plan(to, (tag, subject), own)
            .await
            .map_err(Problem::Store)?
        {
            Ok(plan) => plan,
            Err(settled) => return Ok(settled),
        };
        below().await?;
        let Some(root) = root.filter(|_| !dry_run) else {
            return Ok(Placed::Added);
        };
        let moves = [Move {
            tag,
            to: &root,
            was: was.as_ref(),
        }];
        let nothing = std::future::ready(Ok(()));
        let moved = to.tag(nothing, &moves, Some(LOOK_AGAIN)).await;
        if moved.map_err(Problem::Store)? == Tagged::Moved {
            return Ok(Placed::Added);
        }
    }
    Err(Problem::Contended { attempts: ATTEMPTS }.into())
}

async fn plan(
    to: &RepoMut,
    (tag, subject): (&Tag, &Digest),
    own: &RawManifest,
) -> Result<Result<Plan, Placed>, store::Error> {
    let is_list = *tag == Tag::of_referrers(subject);
    let known = match is_list {
        true => to.referrers(subject).await?,
        false => None,
    };
    if let Some(known) = known {
        let has = |entry: &Descriptor| known.iter().any(|one| one.digest == entry.digest);
        let is_there = own.manifests()?.iter().all(has);
        return Ok(match is_there {
            true => Err(Placed::Present),
            false => Ok((None, None)),
        });
    }
    let Some(there) = to.manifest(At::Tag(tag)).await? else {
        return Ok(Ok((Some(own.clone()), None)));
    };
    let was = there.expected.digest;
    let root = match is_list {
        true => referrers::merged(&there, own)?,
        false => own.clone(),
    };
    Ok(match root.expected.digest == was {
        true => Err(Placed::Present),
        false if !is_list => Err(Placed::Other),
        false => Ok((Some(root), Some(was))),
    })
}
