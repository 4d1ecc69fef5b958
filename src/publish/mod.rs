//! Publishing: a verified release becomes an artifact in a repository.
//!
//! This is the only code that uploads, moves tags, sweeps, counts and reports, whatever the release comes from:
//!
//! 1. A **plan** is made from what the repository has. It gives a `Publication`: the packages to deliver, the documents
//!    and manifests below the index and the evidence, and the tags to move. A release is merged into what is there; a version that
//!    another store has is taken over byte for byte where its tag is free. A dry run ends here.
//! 2. It is **carried out**: packages and other blobs come side by side, then manifests, children first.
//! 3. The **tags** move last, so that nothing is visible before all of it is there. If another writer moved one in the meantime, a
//!    new plan is made from what is there now. What earlier attempts brought is neither sent again nor forgotten in the report.
//!
//! # Why versions are immutable
//! Lock files pin the digests of zips. A version whose zip changes breaks every one of them, so another zip for a
//! platform is refused unless `replace` is asked for. More platforms for a version are welcome.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::SystemTime;

use crate::blob::BlobSource;
use crate::digest::Digest;
use crate::event::{Event, Reporter, Subject, Transfer};
use crate::oci::{EMPTY_BYTES, RawManifest, Tag};
use crate::outcome::{Beside, Change, Problem, Published, PublishedPackage};
use crate::platform::Platform;
use crate::release::{Expected, Package, Release};
use crate::store::{RepoMut, Tagged, WriteStore};
use crate::trust::Verified;
use crate::{http, store};

mod content;
mod error;
mod evidence;
mod existing;
mod plan;
mod publication;
mod transfer;
mod watched;

pub(crate) use content::{Blob, Content, is_whole};
pub use error::{Error, PackageName, Undelivered};
pub use existing::EvidencePolicy;
use publication::{Publication, Target};
use transfer::Brought;

/// How often a publication is planned again because another writer moved a tag.
const ATTEMPTS: u32 = 8;

/// What to do about a version that is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// Add what is missing; refuse another zip for a platform.
    #[default]
    Merge,
    /// Refuse.
    Fail,
    /// Put this release in its place, and write again whatever has other bytes than it should.
    Replace,
}

/// How to publish.
#[derive(Clone, Debug)]
pub struct Options {
    /// What to do about a version that is there.
    pub existing: Existing,
    /// Further annotations of an index that is written.
    pub annotations: BTreeMap<String, String>,
    /// Whether to stop after the plan.
    pub dry_run: bool,
    /// How many packages are transferred at once.
    pub jobs: usize,
    /// The time by which keys are judged, those of evidence in the store too.
    pub now: SystemTime,
    /// What evidence in the store must show.
    pub evidence_policy: EvidencePolicy,
}

/// What was read of a repository before. If it is no longer true when a tag is moved, the tag does not move, and everything is
/// read again.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot<'a> {
    /// The names of its tags.
    pub tags: &'a BTreeSet<String>,
    /// What the version's tag stands for, if that was read.
    pub index: Option<&'a RawManifest>,
}

/// What is published.
pub struct Edition<'a, B> {
    release: &'a Verified<Release<B>>,
    /// The index of another store, with everything below it but packages. Where the tag is free it is taken over as it is.
    index: Option<Content<Blob<B>>>,
    /// The evidence of another store. If any is written, it is this.
    evidence: Option<Content<Blob<B>>>,
    snapshot: Option<Snapshot<'a>>,
}

impl<'a, B> Edition<'a, B> {
    /// A release whose index and evidence are written here.
    pub fn of(release: &'a Verified<Release<B>>) -> Self {
        Self {
            release,
            index: None,
            evidence: None,
            snapshot: None,
        }
    }

    /// With what was read of the repository before.
    #[must_use]
    pub fn with_snapshot(mut self, snapshot: Snapshot<'a>) -> Self {
        self.snapshot = Some(snapshot);
        self
    }

    /// With the documents by which another store has it.
    #[must_use]
    pub(crate) fn with_originals(
        mut self,
        index: Option<Content<Blob<B>>>,
        evidence: Option<Content<Blob<B>>>,
    ) -> Self {
        (self.index, self.evidence) = (index, evidence);
        self
    }

    fn subject(&self) -> Subject {
        Subject::version(&self.release.provider, &self.release.version)
    }
}

/// Publishes a release. What a snapshot of the repository tells is not asked for again.
///
/// # Errors
/// What is there forbids it, the store fails, or the bytes of a package are not those that were verified. Then no tag was moved.
pub async fn publish<S: WriteStore, B: BlobSource>(
    edition: &Edition<'_, B>,
    to: &RepoMut<S>,
    options: &Options,
    reporter: &Arc<dyn Reporter>,
) -> Result<Published, Error> {
    // A version that no tag can spell must not leave so much as a lock file.
    Tag::of_evidence(&edition.release.version)?;
    let _lock = match options.dry_run {
        true => None,
        false => to.lock(&**reporter).await?,
    };
    let warn = |message| {
        let subject = edition.subject();
        reporter.report(Event::Warning { subject, message });
    };
    let mut events = Arc::clone(reporter);
    let mut brought = Brought::default();
    let mut refused = None;
    for attempt in 0..ATTEMPTS {
        let snapshot = edition.snapshot.filter(|_| attempt == 0);
        let mut publication = plan::make(edition, snapshot, to, options).await?;
        if attempt == 0
            && let Some(message) = publication.warning.take()
        {
            warn(message);
        }
        if options.dry_run {
            brought.foresee(edition, &publication, to, reporter).await?;
            return Ok(report(edition, &publication, to, brought, options));
        }
        refused = refused.or(probe(&mut publication, to).await?);
        brought
            .bring(edition, &publication, to, options.jobs, &events)
            .await?;
        let (tagged, refusal) = move_tags(&mut publication, to).await?;
        refused = refused.or(refusal);
        if tagged == Tagged::Moved {
            if let Some(message) = refused.as_ref().and_then(evidence::refusal) {
                warn(message);
            }
            if publication.sweeps
                && let Err(error) = to.sweep().await
            {
                // The version is published by then.
                warn(format!("what was replaced is not removed: {error}"));
            }
            return Ok(report(edition, &publication, to, brought, options));
        }
        // What was told once is not told again.
        events = Arc::new(());
        // Two writers get along at once; more of them only if they do not all come back at the same time.
        if let Some(earlier) = attempt.checked_sub(1) {
            tokio::time::sleep(http::backoff(earlier)).await;
        }
    }
    Err(Problem::Contended { attempts: ATTEMPTS }.into())
}

/// Finds out whether a store takes the evidence that a version there lacks: it may have been refused before, and then its
/// documents need not be sent again. Written by its digest alone it is not visible.
async fn probe<S: WriteStore, B>(
    publication: &mut Publication<B>,
    to: &RepoMut<S>,
) -> Result<Option<store::Error>, Error> {
    let Some(evidence) = &publication.evidence else {
        return Ok(None);
    };
    let is_lacking = publication.index.was.is_some() && evidence.was.is_none();
    if !is_lacking || !to.keeps_whole() {
        return Ok(None);
    }
    match to.put_manifest(&evidence.content.root).await {
        Err(error) if error.is_unwelcome() => Ok(Some(evidence::leave_out(publication, error)?)),
        // Its documents may be missing; whatever else is wrong comes up again.
        _ => Ok(None),
    }
}

/// Moves the tags, the version's last. Evidence that the store does not take is left out and given back as its refusal.
async fn move_tags<S: WriteStore, B>(
    publication: &mut Publication<B>,
    to: &RepoMut<S>,
) -> Result<(Tagged, Option<store::Error>), Error> {
    let mut refused = None;
    loop {
        let moves = publication.moves();
        if moves.is_empty() {
            return Ok((Tagged::Moved, refused));
        }
        let moved = to.tag(&moves).await;
        match moved {
            // Nothing was moved yet: the evidence comes first.
            Err(error) if error.is_unwelcome() => {
                refused = Some(evidence::leave_out(publication, error)?);
            }
            moved => return Ok((moved?, refused)),
        }
    }
}

fn report<S: WriteStore, B>(
    edition: &Edition<'_, B>,
    publication: &Publication<B>,
    to: &RepoMut<S>,
    brought: Brought,
    options: &Options,
) -> Published {
    let Target { tag, content, .. } = &publication.index;
    let digest = content.root.expected.digest;
    let status = match publication.change() {
        // A package that seemed to be there was damaged.
        Change::Present if brought.is_anything() => Change::Updated,
        change => change,
    };
    let status = match status {
        Change::Copied | Change::Updated if options.dry_run => Change::Planned,
        status => status,
    };
    let release = edition.release;
    let bytes = match options.dry_run {
        true => 0,
        false => brought.bytes(release),
    };
    let beside = brought.beside();
    let packages = release.packages.iter().zip(brought.packages);
    let packages = packages.map(|(package, status)| PublishedPackage {
        platform: package.platform.clone(),
        status,
        size: Some(package.expected.size),
        zh: package.zh(),
    });
    Published {
        provider: release.provider.clone(),
        version: release.version.clone(),
        reference: to.reference(tag, &digest),
        digest,
        status,
        authentication: Some(release.authentication().clone()),
        packages: packages.collect(),
        bytes,
        beside,
    }
}
