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

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use futures_util::StreamExt as _;

use crate::blob::{BlobSource, Body, Kept, Memory, hold_back};
use crate::digest::Digest;
use crate::event::{Event, Reporter, Subject, Transfer};
use crate::jobs;
use crate::oci::{EMPTY_BYTES, Evidence, Index, PACKAGE, RawManifest, Repository, Tag, manifest};
use crate::outcome::{Change, Problem, Published, PublishedPackage};
use crate::platform::Platform;
use crate::release::{Expected, Package, Release};
use crate::store::graph::{self, Artifact, StoredEvidence};
use crate::store::{At, Move, Put, Tagged, WriteStore};
use crate::trust::Verified;

mod evidence;
mod plan;

use plan::Plan;

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
}

/// Where to publish to.
#[derive(Clone, Debug)]
pub struct Destination<S> {
    /// The store.
    pub store: S,
    /// The provider's repository in it.
    pub repository: Repository,
}

/// Publishes a release.
///
/// # Errors
/// What is there forbids it, the store fails, or the bytes of a package are not those that were verified. Then no tag was moved.
pub async fn publish<S: WriteStore, B: BlobSource>(
    release: &Verified<Release<B>>,
    destination: &Destination<S>,
    options: &Options,
    reporter: &Arc<dyn Reporter>,
) -> Result<Published, Problem> {
    // A version that no tag can spell must not leave so much as a lock file.
    Tag::of_evidence(&release.version)?;
    let _lock = match options.dry_run {
        true => None,
        false => {
            destination
                .store
                .lock(&destination.repository, &**reporter)
                .await?
        }
    };
    for _ in 0..ATTEMPTS {
        let mut plan = plan::make(release, destination, options).await?;
        if options.dry_run {
            if plan.change != Change::Present {
                plan.change = Change::Planned;
            }
            let transfers = planned(release, destination, &plan).await;
            return Ok(report(release, destination, &plan, transfers));
        }
        let transfers = carry_out(release, destination, &plan, options.jobs, reporter).await?;
        if move_tags(destination, &plan).await? == Tagged::Moved {
            if plan.replaces {
                sweep(release, destination, reporter).await;
            }
            return Ok(report(release, destination, &plan, transfers));
        }
    }
    Err(Problem::Contended { attempts: ATTEMPTS })
}

/// Brings everything below the tags into the store.
async fn carry_out<S: WriteStore, B: BlobSource>(
    release: &Verified<Release<B>>,
    destination: &Destination<S>,
    plan: &Plan,
    limit: usize,
    reporter: &Arc<dyn Reporter>,
) -> Result<Vec<Transfer>, Problem> {
    let Destination { store, repository } = destination;
    if plan.change == Change::Present {
        announce_present(release, reporter);
        return Ok(vec![Transfer::Present; release.packages.len()]);
    }
    let subject = Subject::version(&release.provider, &release.version);
    let work = release
        .packages
        .iter()
        .zip(&plan.steps)
        .map(|(package, step)| {
            (
                package.clone(),
                step.clone(),
                subject.platform(&package.platform),
            )
        });
    let authentication = release.authentication().clone();
    let transfers = jobs::run(limit, work, |(package, step, subject)| {
        let (destination, reporter) = (destination.clone(), Arc::clone(reporter));
        let authentication = authentication.clone();
        async move {
            let transfer = match step.missing {
                true => deliver(&package, &destination, &subject, &reporter).await?,
                false => Transfer::Present,
            };
            let size = package.expected.size;
            reporter.report(Event::Finished {
                subject,
                size,
                transfer,
                authentication,
            });
            Ok::<_, Problem>(transfer)
        }
    })
    .await?;
    store
        .put_blob(repository, &Memory::new(EMPTY_BYTES))
        .await?;
    let missing = plan.steps.iter().filter(|step| step.missing);
    for manifest in missing.filter_map(|step| step.manifest.as_ref()) {
        store.put_manifest(repository, manifest).await?;
    }
    if let Some((evidence, _)) = &plan.evidence.write {
        for (_, document) in evidence.documents() {
            store
                .put_blob(repository, &Memory::new(document.clone()))
                .await?;
        }
    }
    Ok(transfers)
}

/// Brings one package into a store, and tells how it goes.
pub(crate) async fn deliver<S: WriteStore, B: BlobSource>(
    package: &Package<B>,
    destination: &Destination<S>,
    subject: &Subject,
    reporter: &Arc<dyn Reporter>,
) -> Result<Transfer, Problem> {
    let size = package.expected.size;
    reporter.report(Event::Started {
        subject: subject.clone(),
        size,
    });
    let watched = Watched {
        blob: package.location.clone(),
        subject: subject.clone(),
        reporter: Arc::clone(reporter),
    };
    Ok(
        match destination
            .store
            .put_blob(&destination.repository, &watched)
            .await?
        {
            Put::Stored => Transfer::Copied,
            Put::Mounted => Transfer::Mounted,
            Put::Present => Transfer::Present,
        },
    )
}

async fn move_tags<S: WriteStore>(
    destination: &Destination<S>,
    plan: &Plan,
) -> Result<Tagged, Problem> {
    let mut moves = Vec::new();
    if let Some((_, manifest)) = &plan.evidence.write {
        moves.push(Move {
            tag: &plan.evidence.tag,
            to: manifest,
            was: plan.evidence.was.as_ref(),
        });
    }
    if plan.index_is_new {
        moves.push(Move {
            tag: &plan.tag,
            to: &plan.index,
            was: plan.was.as_ref(),
        });
    }
    if moves.is_empty() {
        return Ok(Tagged::Moved);
    }
    Ok(destination
        .store
        .tag(&destination.repository, &moves)
        .await?)
}

/// Removes what was replaced. The release is published by then: what cannot be removed is no failure.
async fn sweep<S: WriteStore, B>(
    release: &Verified<Release<B>>,
    destination: &Destination<S>,
    reporter: &Arc<dyn Reporter>,
) {
    if let Err(error) = destination.store.sweep(&destination.repository).await {
        reporter.report(Event::Warning {
            subject: Subject::version(&release.provider, &release.version),
            message: format!("what was replaced is not removed: {error}"),
        });
    }
}

fn announce_present<B>(release: &Verified<Release<B>>, reporter: &Arc<dyn Reporter>) {
    let subject = Subject::version(&release.provider, &release.version);
    for package in &release.packages {
        reporter.report(Event::Finished {
            subject: subject.platform(&package.platform),
            size: package.expected.size,
            transfer: Transfer::Present,
            authentication: release.authentication().clone(),
        });
    }
}

/// What [`carry_out`] would do with each package. A zip may have arrived before its index did.
async fn planned<S: WriteStore, B>(
    release: &Release<B>,
    destination: &Destination<S>,
    plan: &Plan,
) -> Vec<Transfer> {
    let mut transfers = Vec::new();
    for (package, step) in release.packages.iter().zip(&plan.steps) {
        let there = !step.missing || is_sound(destination, package.expected).await;
        transfers.push(if there {
            Transfer::Present
        } else {
            Transfer::Planned
        });
    }
    transfers
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
) -> Published {
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
        status: plan.change,
        authentication: Some(release.authentication().clone()),
        bytes: copied.filter_map(|package| package.size).sum(),
        packages,
    }
}

/// A blob whose progress somebody watches.
#[derive(Clone)]
struct Watched<B> {
    blob: B,
    subject: Subject,
    reporter: Arc<dyn Reporter>,
}

impl<B: BlobSource> BlobSource for Watched<B> {
    fn expected(&self) -> Expected {
        self.blob.expected()
    }

    fn can_be_cut(&self) -> bool {
        self.blob.can_be_cut()
    }

    fn kept(&self) -> Option<Kept<'_>> {
        self.blob.kept()
    }

    async fn open(&self, from: u64) -> Result<Body, crate::blob::Error> {
        let body = self.blob.open(from).await?;
        let (subject, reporter) = (self.subject.clone(), Arc::clone(&self.reporter));
        Ok(Body::new(body.inspect(move |chunk| {
            if let Ok(chunk) = chunk {
                reporter.report(Event::Advanced {
                    subject: subject.clone(),
                    bytes: chunk.len() as u64,
                });
            }
        })))
    }
}
