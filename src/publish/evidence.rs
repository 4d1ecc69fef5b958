//! Decides which evidence a version has after publishing.
//!
//! If the store has none, the release's evidence is written; otherwise [`super::existing`] decides.
//!
//! Some registries accept only known media types, and so refuse evidence. tfoci then publishes the provider without it, and
//! warns that readers will see `unverified`.

use super::existing::ExistingEvidence;
use super::{
    Blob, BlobSource, ContentGraph, Digest, Journey, Package, Platform, Problem, Release, Tag,
    TagUpdate, Verified,
};
use crate::authentication::Status;
use crate::error::said;
use crate::event::Warning;
use crate::oci::evidence::KEYS;
use crate::oci::{EMPTY_BYTES, Evidence, TagNames};
use crate::release::Document;
use crate::store::{self, Declined};

/// The repository's tags, and the zips that evidence must prove.
pub(super) struct Question<'a> {
    /// The names of the repository's tags.
    pub(super) tags: &'a TagNames,
    /// The packages to verify existing evidence with.
    pub(super) packages: Vec<Package<()>>,
    /// Further zips that evidence must cover.
    pub(super) zips: Vec<(Platform, Digest)>,
    /// Whether the release's evidence replaces existing evidence of the same status.
    pub(super) is_preferred: bool,
}

impl<B: BlobSource> Journey<'_, B> {
    /// Compares the release's evidence with the repository's. Returns the evidence to write, if any, and a warning for the user.
    pub(super) async fn plan_evidence(
        &self,
        Question {
            tags,
            packages,
            zips,
            is_preferred,
        }: Question<'_>,
    ) -> Result<(Option<TagUpdate<B>>, Option<Warning>), Problem> {
        let (edition, release) = (&self.edition, self.edition.release);
        let tag = Tag::of_evidence(&release.version)?;
        let stored = match tags.has(&tag) {
            false => None,
            true => ExistingEvidence::read(self, packages).await?,
        };
        let was = stored.as_ref().map(|one| one.at);
        let is_intact = stored.as_ref().is_some_and(|one| one.is_intact);
        let (replaces, warning) = match stored {
            Some(stored) => stored.against(self, is_preferred, &zips)?,
            // A release from another store may have no evidence.
            None if release.checksums.is_none() => (false, None),
            None => {
                let covers = release.covers(zips.iter().map(|(platform, zip)| (platform, zip)));
                covers.map_err(|source| Problem::Uncovered { source })?;
                (true, None)
            }
        };
        if !replaces && !self.moves_both() {
            return Ok((None, warning));
        }
        let content = match &edition.evidence {
            Some(content) => content.clone(),
            None => content(release, tags)?,
        };
        // If the store has refused evidence before, do not send it again; one warning is enough.
        let may_stay_away = was.is_none() && self.to.takes_evidence() == Some(false);
        let is_there = is_intact && was == Some(content.root.expected.digest);
        let moves = match is_there {
            true => self.moves_both(),
            false => replaces && !may_stay_away,
        };
        let target = moves.then_some(TagUpdate { tag, was, content });
        Ok((target, warning))
    }

    /// Whether the repository has exactly the evidence that tfoci would write.
    pub(super) async fn has_same_evidence(&self, tags: &TagNames) -> Result<bool, Problem> {
        let ours = match &self.edition.evidence {
            Some(content) => content.root.expected.digest,
            None => content(self.edition.release, tags)?.root.expected.digest,
        };
        let tag = Tag::of_evidence(&self.edition.release.version)?;
        Ok(self.to.digest(&tag).await? == Some(ours))
    }
}

/// The evidence that tfoci writes for a release.
fn content<B>(
    release: &Verified<Release<B>>,
    tags: &TagNames,
) -> Result<ContentGraph<Blob<B>>, Problem> {
    let signed = release.authentication().status == Status::Signed;
    let first = release.signatures.first().filter(|_| !signed);
    let bytes = |document: &Document| document.bytes.clone();
    let evidence = Evidence {
        checksums: release.checksums.as_ref().map(bytes),
        signature: release.signature().or(first).map(bytes),
        keys: release.certificate().map(<[u8]>::to_vec),
        protocols: release.protocols.clone(),
    };
    let has_version = tags.has(&Tag::of_version(&release.version)?);
    let has_shared = has_version || tags.has_evidence();
    let documents = evidence.documents().map(|(media_type, bytes)| {
        let is_likely_there = match media_type {
            // All versions that are signed with the same key share this document.
            KEYS => has_shared,
            _ => has_version,
        };
        Blob::new(bytes.clone(), is_likely_there)
    });
    let config = Blob::new(EMPTY_BYTES, has_shared);
    Ok(ContentGraph {
        root: evidence.manifest()?,
        manifests: Vec::new(),
        blobs: std::iter::once(config).chain(documents).collect(),
    })
}

/// The warning for a registry that does not accept evidence.
pub(super) fn refusal(error: &store::Error) -> Option<Warning> {
    match error {
        store::Error::Declined {
            declined: Declined::MediaType(_),
            url,
            status,
            answer,
        } => {
            let (host, answer) = (url.host(), said(answer));
            Some(Warning::Other(format!(
                "{host} does not take the evidence, and answered {status}{answer}: readers will see `unverified`, unless they have the hashes of the zips pinned"
            )))
        }
        _ => None,
    }
}
