//! Publishing: a verified release becomes an artifact in a store.
//!
//! First a **plan** is made from what the store has: which packages are missing, what the index will be, which evidence proves
//! it. A dry run ends here. Then the plan is **carried out**: packages side by side, manifests, evidence, index, and
//! the tags last, so that nothing is visible before all of it is there. If somebody else moved a tag in the meantime, it
//! starts again from what is there now.
//!
//! # Why versions are immutable
//! Lock files pin the digests of zips. A version whose zip changes breaks every one of them, so another zip for a
//! platform is refused unless `replace` is asked for. More platforms for a version are welcome.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::SystemTime;

use futures_util::StreamExt as _;

use crate::blob::{BlobSource, Body, Memory, hold_back};
use crate::digest::Digest;
use crate::event::{Event, Reporter, Subject, Transfer};
use crate::http;
use crate::jobs;
use crate::oci::{EMPTY_BYTES, Evidence, Index, RawManifest, Repository, Tag, manifest};
use crate::outcome::{Change, Problem, Published, PublishedPackage};
use crate::platform::Platform;
use crate::release::{Expected, Package, Release};
use crate::store::graph::{self, Artifact};
use crate::store::{At, Put, Tagged, WriteStore};
use crate::trust::Verified;

mod delivery;
mod evidence;
mod plan;
mod standing;

pub(crate) use delivery::{deliver, deliver_blob};
use plan::Plan;
pub use standing::Demands;
pub(crate) use standing::{Offer, Standing, Verdict};

/// How often a publication starts again because somebody else moved a tag.
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
    pub demands: Demands,
}

/// Where to publish to.
#[derive(Clone, Debug)]
pub struct Destination<S> {
    /// The store.
    pub store: S,
    /// The provider's repository in it.
    pub repository: Repository,
}

/// What is known of a repository to those who have looked already. If it is true no longer by the time that a tag is moved, that
/// shows, and everything is looked at again.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// The names of its tags.
    pub tags: &'a BTreeSet<String>,
    /// What the version's tag stands for, where that was read.
    pub index: Option<&'a RawManifest>,
}

/// Publishes a release. What is known of the repository is not asked for again.
///
/// # Errors
/// What is there forbids it, the store fails, or the bytes of a package are not those that were verified. Then no tag was moved.
pub async fn publish<S: WriteStore, B: BlobSource>(
    release: &Verified<Release<B>>,
    destination: &Destination<S>,
    known: Option<Known<'_>>,
    options: &Options,
    told: &Arc<dyn Reporter>,
) -> Result<Published, Problem> {
    // A version that no tag can spell must not leave so much as a lock file.
    Tag::of_evidence(&release.version)?;
    let _lock = match options.dry_run {
        true => None,
        false => {
            destination
                .store
                .lock(&destination.repository, &**told)
                .await?
        }
    };
    let mut reporter = Arc::clone(told);
    let mut transfers = Vec::new();
    for attempt in 0..ATTEMPTS {
        let known = known.filter(|_| attempt == 0);
        let mut plan = plan::make(release, destination, known, options).await?;
        if let Some(message) = plan.evidence.verdict.warning() {
            let subject = Subject::version(&release.provider, &release.version);
            reporter.report(Event::Warning { subject, message });
        }
        if options.dry_run {
            let transfers = planned(release, destination, &plan).await?;
            return Ok(report(release, destination, &plan, transfers, true));
        }
        probe(destination, &mut plan).await?;
        let brought =
            delivery::carry_out(release, destination, &plan, options.jobs, &reporter).await?;
        transfers = joined(transfers, brought);
        if move_tags(destination, &mut plan).await? == Tagged::Moved {
            conclude(release, destination, &plan, told).await;
            return Ok(report(release, destination, &plan, transfers, false));
        }
        // What was told once is not told again.
        reporter = Arc::new(());
        // Two get along at once; more of them only if they do not all come back at the same time.
        if let Some(earlier) = attempt.checked_sub(1) {
            tokio::time::sleep(http::backoff(earlier)).await;
        }
    }
    Err(Problem::Contended { attempts: ATTEMPTS })
}

/// What became of each package in all attempts together: what is present now may have been brought by an earlier one.
fn joined(earlier: Vec<Transfer>, now: Vec<Transfer>) -> Vec<Transfer> {
    let mut earlier = earlier.into_iter();
    let join = |now| match earlier.next() {
        Some(earlier) if now == Transfer::Present => earlier,
        _ => now,
    };
    now.into_iter().map(join).collect()
}

/// Finds out whether a store takes the evidence that a version there lacks: it may have been refused before, and then its
/// documents need not be sent again. By its digest alone nobody sees it.
async fn probe<S: WriteStore>(
    destination: &Destination<S>,
    plan: &mut Plan,
) -> Result<(), Problem> {
    let Destination { store, repository } = destination;
    let is_lacking = plan.was.is_some() && plan.evidence.was.is_none();
    let Some((_, manifest)) = &plan.evidence.write else {
        return Ok(());
    };
    if !is_lacking || !store.keeps_whole() {
        return Ok(());
    }
    match store.put_manifest(repository, manifest).await {
        Err(error) if error.is_unwelcome() => Ok(plan.evidence.refuse(error)?),
        // Its documents may be missing; whatever else is wrong comes up again.
        _ => Ok(()),
    }
}

/// Moves the tags, the version's last.
async fn move_tags<S: WriteStore>(
    destination: &Destination<S>,
    plan: &mut Plan,
) -> Result<Tagged, Problem> {
    loop {
        let moves = plan.moves();
        if moves.is_empty() {
            return Ok(Tagged::Moved);
        }
        let moved = destination.store.tag(&destination.repository, &moves).await;
        match moved {
            // Nothing was moved yet: the evidence comes first.
            Err(error) if error.is_unwelcome() => plan.evidence.refuse(error)?,
            moved => return Ok(moved?),
        }
    }
}

/// What remains to be done and said once the release is published: no failure can come of it any more.
async fn conclude<S: WriteStore, B>(
    release: &Verified<Release<B>>,
    destination: &Destination<S>,
    plan: &Plan,
    reporter: &Arc<dyn Reporter>,
) {
    let warn = |message| {
        let subject = Subject::version(&release.provider, &release.version);
        reporter.report(Event::Warning { subject, message });
    };
    if let Some(message) = plan.evidence.refusal() {
        warn(message);
    }
    if plan.replaces
        && let Err(error) = destination.store.sweep(&destination.repository).await
    {
        warn(format!("what was replaced is not removed: {error}"));
    }
}

/// What [`delivery`] would do with each package. A zip may have arrived before its index did.
async fn planned<S: WriteStore, B>(
    release: &Release<B>,
    destination: &Destination<S>,
    plan: &Plan,
) -> Result<Vec<Transfer>, Problem> {
    let mut transfers = Vec::new();
    for (package, step) in release.packages.iter().zip(&plan.steps) {
        let Destination { store, repository } = destination;
        let is_there = match store.keeps_whole() {
            _ if !step.missing => true,
            true => store.has_blob(repository, &package.expected).await?,
            false => is_sound(destination, package.expected).await,
        };
        transfers.push(if is_there {
            Transfer::Present
        } else {
            Transfer::Planned
        });
    }
    Ok(transfers)
}

/// Whether a blob can be read from a store and has the right bytes.
async fn is_sound<S: WriteStore>(destination: &Destination<S>, expected: Expected) -> bool {
    let blob = destination.store.blob(&destination.repository, expected);
    let Ok(body) = blob.open(0).await else {
        return false;
    };
    let mut body = hold_back(body, expected);
    while let Some(chunk) = body.next().await {
        if chunk.is_err() {
            return false;
        }
        // A local store never waits; without this the task could not be stopped.
        tokio::task::consume_budget().await;
    }
    true
}

fn report<S: WriteStore, B>(
    release: &Verified<Release<B>>,
    destination: &Destination<S>,
    plan: &Plan,
    transfers: Vec<Transfer>,
    dry_run: bool,
) -> Published {
    let status = match plan.change() {
        Change::Copied | Change::Updated if dry_run => Change::Planned,
        change => change,
    };
    let digest = plan.index.expected.digest;
    let packages = release
        .packages
        .iter()
        .zip(transfers)
        .map(|(package, status)| PublishedPackage {
            platform: package.platform.clone(),
            status,
            size: Some(package.expected.size),
            zh: package.zh(),
        });
    let packages: Vec<_> = packages.collect();
    let copied = packages
        .iter()
        .filter(|package| package.status == Transfer::Copied);
    Published {
        provider: release.provider.clone(),
        version: release.version.clone(),
        reference: destination
            .store
            .reference(&destination.repository, &plan.tag, &digest),
        digest,
        status,
        authentication: Some(release.authentication().clone()),
        bytes: copied.filter_map(|package| package.size).sum(),
        packages,
        beside: None,
    }
}
