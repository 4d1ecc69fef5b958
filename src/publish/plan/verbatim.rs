//! The plan that copies an index of another store byte for byte.

use crate::digest::Digest;
use crate::event::Warning;
use crate::oci::{Tag, TagNames};
use crate::outcome::Problem;
use crate::publish::evidence::Question;
use crate::publish::{
    Blob, BlobSource, ContentGraph, Existing, Journey, Package, Publication, TagUpdate, is_whole,
};
use crate::store;

impl<B: BlobSource> Journey<'_, B> {
    /// Compares an index with the repository; `None` if the tag refers to a different index, so that the two have to be merged.
    pub(super) async fn verbatim(
        &self,
        index: &ContentGraph<Blob<B>>,
        tags: &TagNames,
    ) -> Result<Option<Publication<B>>, Problem> {
        let tag = Tag::of_version(&self.edition.release.version)?;
        let was = self.digest(&tag, tags).await?;
        let is_same = was == Some(index.root.expected.digest);
        match self.options.existing {
            Existing::Fail if was.is_some() => return Err(Problem::Exists),
            Existing::Merge if was.is_some() && !is_same => return Ok(None),
            _ => {}
        }
        let is_there = is_same && is_whole(self.to, &tag).await?;
        // A replacement checks every blob that is already there.
        let delivers = !is_there || self.replaces();
        let (evidence, warning) = self.evidence_beside(is_same, tags).await?;
        Ok(Some(Publication {
            look_again: self.look_again(&[], was.as_ref(), tags)?,
            // If anything below the tag is missing or damaged, the index is written again too.
            moves_index: !is_there || self.moves_both(),
            is_incomplete: !is_there,
            delivers: vec![delivers; self.edition.release.packages.len()],
            index: TagUpdate {
                tag,
                was,
                content: match delivers {
                    true => index.clone(),
                    false => ContentGraph::of(index.root.clone()),
                },
            },
            evidence,
            sweeps: was.is_some() && self.replaces(),
            warning,
        }))
    }

    /// Decides about the evidence: that of the other store is copied, unless the repository's own proves as much.
    async fn evidence_beside(
        &self,
        is_same: bool,
        tags: &TagNames,
    ) -> Result<(Option<TagUpdate<B>>, Option<Warning>), Problem> {
        let (release, to) = (self.edition.release, self.to);
        let tag = Tag::of_evidence(&release.version)?;
        let was = self.digest(&tag, tags).await?;
        let is_needed = match (&self.edition.evidence, was) {
            (ours, None) => ours.is_some() && to.takes_evidence() != Some(false),
            (Some(ours), Some(was)) if ours.root.expected.digest == was => {
                self.moves_both()
                    || !is_whole(to, &tag).await?
                    || self.replaces() && to.evidence(&tag).await.is_err()
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
                return self.plan_evidence(question).await;
            }
        };
        let content = self.edition.evidence.clone().filter(|_| is_needed);
        let target = content.map(|content| TagUpdate { tag, was, content });
        Ok((target, None))
    }

    /// The digest that a tag refers to; `None` if it is not among the listed tags.
    async fn digest(&self, tag: &Tag, tags: &TagNames) -> Result<Option<Digest>, store::Error> {
        match tags.has(tag) {
            true => self.to.digest(tag).await,
            false => Ok(None),
        }
    }
}
