//! What becomes of the evidence when a release is published.
//!
//! | in the store | outcome |
//! | --- | --- |
//! | none | the release's evidence is written |
//! | it proves every zip of the index by the rule for the provider, no less firmly than the release's, and by the same key | it is kept |
//! | it proves every zip, but only by checksums or by another key, and the release is signed | the release's, if that covers every zip too |
//! | it does not prove every zip, or not by the rule, or cannot be read | the release's, if that does and is not weaker; else refused |
//!
//! Weaker evidence is written only by `--existing replace` where the policy accepts it, and that is said; see [`super::existing`].
//!
//! Some registries take only what they know, and evidence is not among it. That never stops the provider: it is published
//! without, and its user is told that readers will see `unverified`.

use super::existing::{Candidate, Decision, ExistingEvidence};
use super::{
    BTreeSet, Blob, BlobSource, Content, Digest, EMPTY_BYTES, Edition, Options, Package, Platform,
    Problem, Publication, Release, RepoMut, Tag, Target, Verified, WriteStore,
};
use crate::authentication::Status;
use crate::oci::evidence::KEYS;
use crate::oci::{Evidence, Part};
use crate::release::Document;
use crate::store;

/// What evidence must prove, and where.
pub(super) struct Question<'a> {
    /// The names of the repository's tags.
    pub(super) tags: &'a BTreeSet<String>,
    /// The packages with which existing evidence is read: it is evidence of these, or of nothing.
    pub(super) packages: Vec<Package<()>>,
    /// The zips that evidence must cover besides.
    pub(super) zips: Vec<(Platform, Digest)>,
    /// Whether the release's evidence is preferred to that of the same firmness.
    pub(super) is_preferred: bool,
}

/// Compares the release's evidence with that which the repository has. Gives what to write, if anything, and what the user should
/// know.
pub(super) async fn plan<S: WriteStore, B: BlobSource>(
    edition: &Edition<'_, B>,
    question: Question<'_>,
    to: &RepoMut<S>,
    options: &Options,
) -> Result<(Option<Target<B>>, Option<String>), Problem> {
    let Options {
        existing,
        evidence_policy,
        now,
        ..
    } = options;
    let Question {
        tags,
        packages,
        zips,
        is_preferred,
    } = question;
    let release = edition.release;
    let tag = Tag::of_evidence(&release.version)?;
    let subject = (&release.provider, &release.version);
    let existing_evidence = match tags.contains(tag.as_str()) {
        false => None,
        true => ExistingEvidence::read(to, subject, packages, evidence_policy, *now).await?,
    };
    let was = existing_evidence.as_ref().map(|one| one.at);
    let intact = existing_evidence.as_ref().filter(|one| one.is_intact);
    let intact = intact.map(|one| one.at);
    // What comes from another store may be bare, and must not stand beside evidence that does not cover it.
    let candidate = release.checksums.is_some().then(|| Candidate {
        authentication: release.authentication(),
        covers: release.covers(zips.iter().map(|(platform, zip)| (platform, zip))),
        is_preferred,
    });
    let decision = match (existing_evidence, candidate) {
        (Some(existing_evidence), candidate) => {
            existing_evidence.against(candidate, &zips, *existing, evidence_policy)?
        }
        (None, None) => Decision::Keep,
        (None, Some(candidate)) => {
            let covers = candidate.covers;
            covers.map_err(|source| Problem::Uncovered { source })?;
            Decision::Replace
        }
    };
    if decision == Decision::Keep {
        return Ok((None, None));
    }
    let content = match &edition.evidence {
        Some(content) => content.clone(),
        None => content(release, tags)?,
    };
    // A store that refuses evidence need not be sent any again; to say so once is enough.
    let may_stay_away = was.is_none() && !to.takes_evidence();
    let is_there = intact == Some(content.root.expected.digest);
    let target = (!is_there && !may_stay_away).then_some(Target { tag, was, content });
    Ok((target, decision.warning()))
}

/// The evidence of a release, as it is written here.
fn content<B>(
    release: &Verified<Release<B>>,
    tags: &BTreeSet<String>,
) -> Result<Content<Blob<B>>, Problem> {
    let signed = release.authentication().status == Status::Signed;
    let first = release.signatures.first().filter(|_| !signed);
    let bytes = |document: &Document| document.bytes.clone();
    let evidence = Evidence {
        checksums: release.checksums.as_ref().map(bytes),
        signature: release.signature().or(first).map(bytes),
        keys: release.certificate().map(<[u8]>::to_vec),
        protocols: release.protocols.clone(),
    };
    let has_version = tags.contains(Tag::of_version(&release.version)?.as_str());
    let has_shared = has_version || has_evidence(tags);
    let documents = evidence.documents().map(|(media_type, bytes)| {
        let is_likely_there = match media_type {
            // Every version by the same author has the same.
            KEYS => has_shared,
            _ => has_version,
        };
        Blob::new(bytes.clone(), is_likely_there)
    });
    let config = Blob::new(EMPTY_BYTES, has_shared);
    Ok(Content {
        root: evidence.manifest()?,
        manifests: Vec::new(),
        blobs: std::iter::once(config).chain(documents).collect(),
    })
}

/// Whether there are versions with evidence: then what all of them share is there too.
pub(super) fn has_evidence(tags: &BTreeSet<String>) -> bool {
    let is_evidence = |name: &String| Tag::parse(name).is_ok_and(|tag| tag.is_evidence());
    tags.iter().any(is_evidence)
}

/// Leaves out evidence if it is the kind of thing that the store does not take, and gives the refusal back. Where there is other
/// evidence, that would be left to prove something else.
///
/// # Errors
/// The store's, if it cannot be left out.
pub(super) fn leave_out<B>(
    publication: &mut Publication<B>,
    error: store::Error,
) -> Result<store::Error, store::Error> {
    let is_unwelcome = matches!(
        error,
        store::Error::Unwelcome {
            what: Part::Evidence,
            ..
        }
    );
    match publication.evidence.take() {
        Some(Target { was: None, .. }) if is_unwelcome => Ok(error),
        _ => Err(error),
    }
}

/// What the user should know about a registry that does not take evidence.
pub(super) fn refusal(error: &store::Error) -> Option<String> {
    let store::Error::Unwelcome {
        host,
        status,
        answer,
        ..
    } = error
    else {
        return None;
    };
    let said = match answer.as_str() {
        "" => String::new(),
        answer => format!(" ({answer})"),
    };
    Some(format!(
        "{host} does not take the evidence, and answered {status}{said}: readers will see `unverified`, unless they have the \
         hashes of the zips pinned"
    ))
}
