//! Publishing: writes a verified release to a repository.
//!
//! This is the only code that uploads, moves tags, sweeps, counts and reports, whichever command the release comes from:
//!
//! 1. tfoci compares the release with the repository and makes a **plan**, the `Publication`: the packages to deliver, the documents
//!    and manifests below the index and the evidence, and the tags to move. A release is merged into the existing version; a version
//!    of another store is copied byte for byte if its tag is free. A dry run ends here.
//! 2. The plan is **carried out**: packages and other blobs are written concurrently, then manifests, children first.
//! 3. The version is **attested**, if the user wants it.
//! 4. The **tags** move last, so that a version becomes visible only when it is complete. If another writer moved one of them in
//!    the meantime, tfoci plans again from the new state. What earlier attempts delivered is not sent again, and stays in the report.
//!
//! # Why versions are immutable
//! Lock files pin the digests of zips. Changing a zip of a version breaks every one of them, so publishing another zip for the
//! same platform is an error without `replace`. Adding platforms to a version is allowed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::attestation::Attesting;
use crate::blob::BlobSource;
use crate::digest::Digest;
use crate::event::{Reporter, Subject, Transfer, Warning};
use crate::http::Retry;
use crate::jobs::Jobs;
use crate::oci::{RawManifest, Tag, TagNames};
use crate::outcome::{AttachedBlobs, Change, Problem, Published};
use crate::platform::Platform;
use crate::release::{Expected, Package, Release};
use crate::store::{RepoMut, Tagged};
use crate::trust::Verified;

mod attach;
mod attest;
mod content;
mod error;
mod evidence;
mod existing;
mod plan;
mod publication;
mod read_back;
mod replacement;
mod reported_blob;
mod transfer;

pub(crate) use attach::{Placed, attach};
pub use attest::claim;
pub(crate) use attest::is_attested;
pub(crate) use content::{Blob, ContentGraph, is_whole};
pub(crate) use error::mismatch;
pub use error::{BlobFailure, Error, FailedPackage, PackageBlob};
pub use existing::EvidencePolicy;
use publication::{Publication, TagUpdate};
use read_back::read_back_roots;
pub(crate) use reported_blob::ReportedBlob;
use transfer::TransferOutcomes;
pub(crate) use transfer::carried;

/// The most times that a publication is planned, and that something is added to a list of attachments. An attempt only fails if another writer moved a
/// tag meanwhile, so eight concurrent writers all succeed.
const ATTEMPTS: u32 = 8;

/// The least time until a moved tag is read again, if others may write the version: two processes of one machine take turns of some milliseconds.
/// `mirror` waits for each version.
const LOOK_AGAIN: Duration = Duration::from_millis(25);
/// The least time if others probably write the version just now. A registry that is busy with them holds up a single request for a second. A job of
/// a matrix waits once.
const LOOK_AGAIN_IN_COMPANY: Duration = Duration::from_secs(2);

/// What to do if the destination has the version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Existing {
    /// Add missing platforms and a new signature; refuse different zips
    #[default]
    Merge,
    /// Refuse the version, even if it is the same
    Fail,
    /// Replace the version, and remove its other platforms
    Replace,
}

/// How to publish.
#[derive(Clone, Debug)]
pub struct Options {
    /// The treatment of a version that the repository already has.
    pub existing: Existing,
    /// Whether a version that the repository has is compared with the source again, although its tag is there. In a directory, its packages are
    /// read too; a registry would take too long, and keeps its bytes.
    pub rechecks: bool,
    /// Whether this is one of several jobs that probably write parts of one version just now.
    pub is_matrix_job: bool,
    /// Additional annotations for the index, if one is written.
    pub annotations: BTreeMap<String, String>,
    /// Whether to stop after the plan.
    pub dry_run: bool,
    /// How many packages are transferred at once.
    pub jobs: Jobs,
    /// The time used to decide whether a key has expired, for stored evidence too.
    pub now: SystemTime,
    /// What stored evidence must prove.
    pub evidence_policy: EvidencePolicy,
    /// Who attests that this run verified the version.
    pub attesting: Option<Attesting>,
}

/// The state of the repository that an earlier step read. If it is out of date when a tag is moved, the tag does not move, and everything
/// is read again.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot<'a> {
    /// The names of the tags.
    pub tags: &'a TagNames,
    /// The index that the version's tag refers to, if it was read.
    pub index: Option<&'a RawManifest>,
}

/// The release to publish, with the documents that another store has for it.
pub struct Edition<'a, B> {
    pub(crate) release: &'a Verified<Release<B>>,
    /// The version of the release, in reports.
    pub(crate) subject: Subject,
    /// The index of another store and everything below it except packages. It is copied unchanged if the tag is free.
    pub(crate) index: Option<ContentGraph<Blob<B>>>,
    /// The evidence of another store. If evidence is written, it is this.
    pub(crate) evidence: Option<ContentGraph<Blob<B>>>,
    /// What was already read of the repository.
    pub(crate) snapshot: Option<Snapshot<'a>>,
}

impl<'a, B> Edition<'a, B> {
    /// A release for which tfoci writes the index and the evidence itself.
    pub fn of(release: &'a Verified<Release<B>>) -> Self {
        Self {
            release,
            subject: Subject::version(&release.provider, &release.version),
            index: None,
            evidence: None,
            snapshot: None,
        }
    }
}

/// The publication of one edition.
struct Journey<'a, B> {
    edition: Edition<'a, B>,
    to: &'a RepoMut,
    options: &'a Options,
    /// Whether another writer has moved a tag of the version since this one has begun.
    has_met_others: bool,
    reporter: Arc<dyn Reporter>,
}

/// Publishes a release. Content of the edition's snapshot is not requested again.
///
/// # Errors
/// The existing version forbids it, the store fails, or the bytes of a package are not those that were verified. The version's tag
/// has then not moved; the tag of its evidence may have.
pub async fn publish<B: PackageBlob>(
    edition: Edition<'_, B>,
    to: &RepoMut,
    options: &Options,
    reporter: &Arc<dyn Reporter>,
) -> Result<Published, Error> {
    // A version that cannot be written as a tag must not create anything, not even a lock file.
    Tag::of_evidence(&edition.release.version)?;
    let journey = Journey {
        edition,
        to,
        options,
        has_met_others: false,
        reporter: Arc::clone(reporter),
    };
    let _lock = match options.dry_run {
        true => None,
        false => to.lock(journey.replaces(), &**reporter).await?,
    };
    journey.run().await
}

impl<B> Journey<'_, B> {
    /// Whether the version is replaced if the repository has it.
    fn replaces(&self) -> bool {
        self.options.existing == Existing::Replace
    }

    /// Whether what the repository has is read, and not only looked up.
    fn reads_everything(&self) -> bool {
        self.replaces() || self.options.rechecks
    }

    /// Whether to move both tags, even one that is right just now: another writer replaces the version too, and the tags of two releases must
    /// not be mixed.
    fn moves_both(&self) -> bool {
        self.replaces() && self.has_met_others
    }

    /// Whether others probably write the version just now.
    fn has_company(&self) -> bool {
        self.options.is_matrix_job || self.has_met_others
    }

    fn warn(&self, reporter: &Arc<dyn Reporter>, warning: Warning) {
        reporter.warn(self.edition.subject.clone(), warning);
    }
}

impl<B: PackageBlob> Journey<'_, B> {
    async fn run(mut self) -> Result<Published, Error> {
        let (to, reporter) = (self.to, Arc::clone(&self.reporter));
        let mut outcomes = TransferOutcomes::new(self.edition.release.packages.len());
        let (mut refused, mut attests) = (None, false);
        let mut retry = Retry::new(ATTEMPTS - 1);
        loop {
            let mut publication = self.plan().await?;
            if let Some(warning) = publication.warning.take() {
                self.warn(&self.reporter, warning);
            }
            let changes = match self.replaces() {
                true => replacement::changes(self.edition.release, &publication, to).await,
                false => Vec::new(),
            };
            if self.options.dry_run {
                attests = self.attest(&publication).await?;
                outcomes.predict(&self, &publication).await?;
                let published = self.report(&publication, &outcomes, attests);
                return Ok(Published {
                    status: published.status.planned(),
                    changes,
                    ..published
                });
            }
            outcomes.transfer_all(&self, &publication).await?;
            let reads_back = self.reads_everything() && to.refuses_incomplete();
            if reads_back {
                publication.put_manifests(to).await?;
                self.read_back(&publication).await?;
            }
            attests |= self.attest(&publication).await?;
            let (tagged, refusal) = publication.move_tags(to, reads_back).await?;
            refused = refused.or(refusal);
            if tagged == Tagged::Moved {
                if reads_back {
                    read_back_roots(&publication, to).await?;
                }
                let refused = refused.as_ref().and_then(evidence::refusal);
                for warning in refused.into_iter().chain(publication.sweep(to).await) {
                    self.warn(&reporter, warning);
                }
                return Ok(Published {
                    bytes: outcomes.bytes(self.edition.release),
                    changes,
                    ..self.report(&publication, &outcomes, attests)
                });
            }
            // Do not report the same transfers and warnings again.
            self.reporter = Arc::new(());
            (self.edition.snapshot, self.has_met_others) = (None, true);
            if !retry.wait_quietly().await {
                return Err(Problem::Contended { attempts: ATTEMPTS }.into());
            }
        }
    }

    fn report(
        &self,
        publication: &Publication<B>,
        outcomes: &TransferOutcomes,
        attests: bool,
    ) -> Published {
        let TagUpdate { tag, content, .. } = &publication.index;
        let digest = content.root.expected.digest;
        let is_written = |transfer: Transfer| transfer != Transfer::Present;
        let status = match publication.change() {
            // A package that seemed to be present was damaged and was written again.
            Change::Present if attests || outcomes.packages().any(is_written) => Change::Updated,
            change => change,
        };
        let identity = (self.to.reference(tag, &digest), digest);
        Published {
            status,
            beside: outcomes.beside(),
            ..Published::of(self.edition.release, identity, outcomes.packages())
        }
    }
}
