//! Plans: the changes to a repository that publish a version.
//!
//! | plan | index |
//! | --- | --- |
//! | [`verbatim`] | the index of another store, byte for byte, if the tag is free, already refers to it, or is replaced |
//! | [`merge`] | the release's packages, and the platforms that the repository already has |

use std::borrow::Cow;

use super::{BTreeSet, BlobSource, Edition, Error, Options, Publication, RepoMut, Snapshot};
use crate::store;

mod merge;
mod verbatim;

/// Compares the edition with the repository.
pub(super) async fn make<B: BlobSource>(
    edition: &Edition<'_, B>,
    snapshot: Option<Snapshot<'_>>,
    to: &RepoMut,
    options: &Options,
) -> Result<Publication<B>, Error> {
    let tags = tags(snapshot, to).await?;
    if let Some(index) = &edition.index
        && let Some(publication) = verbatim::plan(edition, index, &tags, to, options).await?
    {
        return Ok(publication);
    }
    let index = snapshot.and_then(|snapshot| snapshot.index);
    Ok(merge::plan(edition, (&*tags, index), to, options).await?)
}

/// The names of a repository's tags.
async fn tags<'a>(
    snapshot: Option<Snapshot<'a>>,
    to: &RepoMut,
) -> Result<Cow<'a, BTreeSet<String>>, store::Error> {
    if let Some(Snapshot { tags, .. }) = snapshot {
        return Ok(Cow::Borrowed(tags));
    }
    let tags = to.tags().await?.unwrap_or_default();
    Ok(Cow::Owned(tags.into_iter().collect()))
}
