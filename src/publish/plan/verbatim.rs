//! The plan that copies an index of another store byte for byte.

use crate::digest::Digest;
use crate::event::Warning;
use crate::oci::{Tag, TagNames};
use crate::outcome::Problem;
use crate::publish::evidence::{self, Question};
use crate::publish::{
    Blob, BlobSource, ContentGraph, Edition, Existing, Options, Package, Publication, RepoMut,
    TagUpdate, is_whole,
};
use crate::store;

/// Compares an index with the repository; `None` if the tag refers to a different index, so that the two have to be merged.
pub(super) async fn plan<B: BlobSource>(
    edition: &Edition<'_, B>,
    index: &ContentGraph<Blob<B>>,
    tags: &TagNames,
    to: &RepoMut,
    options: &Options,
) -> Result<Option<Publication<B>>, Problem> {
    let tag = Tag::of_version(&edition.release.version)?;
    let was = digest(&tag, tags, to).await?;
    let is_same = was == Some(index.root.expected.digest);
    match options.existing {
        Existing::Fail if was.is_some() => return Err(Problem::Exists),
        Existing::Merge if was.is_some() && !is_same => return Ok(None),
        _ => {}
    }
    let is_there = is_same && is_whole(to, &tag).await?;
    let replaces = options.existing == Existing::Replace;
    // A replacement checks every blob that is already there.
    let delivers = !is_there || replaces;
    let (evidence, warning) = evidence(edition, is_same, tags, to, options).await?;
    Ok(Some(Publication {
        look_again: super::look_again(edition, &[], was.as_ref(), tags, options)?,
        // If anything below the tag is missing or damaged, the index is written again too.
        moves_index: !is_there || edition.moves_both(options),
        is_incomplete: !is_there,
        delivers: vec![delivers; edition.release.packages.len()],
        index: TagUpdate {
            tag,
            was,
            content: match delivers {
                true => index.clone(),
                false => ContentGraph::of(index.root.clone()),
            },
        },
        evidence,
        sweeps: was.is_some() && replaces,
        warning,
    }))
}

/// Decides about the evidence: that of the other store is copied, unless the repository's own proves as much.
async fn evidence<B: BlobSource>(
    edition: &Edition<'_, B>,
    is_same: bool,
    tags: &TagNames,
    to: &RepoMut,
    options: &Options,
) -> Result<(Option<TagUpdate<B>>, Option<Warning>), Problem> {
    let release = edition.release;
    let tag = Tag::of_evidence(&release.version)?;
    let was = digest(&tag, tags, to).await?;
    let is_needed = match (&edition.evidence, was) {
        (ours, None) => ours.is_some() && to.takes_evidence() != Some(false),
        (Some(ours), Some(was)) if ours.root.expected.digest == was => {
            let replaces = options.existing == Existing::Replace;
            edition.moves_both(options)
                || !is_whole(to, &tag).await?
                || replaces && to.evidence(&tag).await.is_err()
        }
        _ => {
            let packages = release.packages.iter().map(|package| Package {
                platform: package.platform.clone(),
                file_name: package.file_name.clone(),
                expected: package.expected,
                location: (),
            });
            let question = Question {
                tags,
                packages: packages.collect(),
                // Verifying `packages` already checks every zip.
                zips: Vec::new(),
                is_preferred: !is_same,
            };
            return evidence::plan(edition, question, to, options).await;
        }
    };
    let content = edition.evidence.clone().filter(|_| is_needed);
    let target = content.map(|content| TagUpdate { tag, was, content });
    Ok((target, None))
}

/// The digest that a tag refers to; `None` if it is not among the listed tags.
async fn digest(tag: &Tag, tags: &TagNames, to: &RepoMut) -> Result<Option<Digest>, store::Error> {
    match tags.has(tag) {
        true => to.digest(tag).await,
        false => Ok(None),
    }
}
