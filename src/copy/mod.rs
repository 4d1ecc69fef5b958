//! Copy: from one store into another, byte for byte, evidence included.
//!
//! 1. The versions that are asked for are looked up in both stores. One that has the same index in both, and its evidence, needs
//!    nothing more.
//! 2. Of any other, every document is **read**, down to the last; what is missing or damaged stops here, before anything is written.
//! 3. The packages and the evidence become a release, which is **verified** as on every way out of a store.
//! 4. What the destination lacks is **brought**: blobs side by side, documents after what they lead to, the tags last.
//!
//! # Why a version that differs is published, and not copied
//! An index whose bytes stay as they are can only take a free tag, or the place of what is there. To add platforms to a version, its
//! index has to be written anew; so does one for fewer platforms. That is what [`crate::publish`] does, by the same rules as for
//! `push`: the zips and what proves them stay the same, the digest of the index does not.

use std::sync::Arc;

use futures_util::{StreamExt as _, future, stream};

use crate::constraint::VersionConstraints;
use crate::digest::Digest;
use crate::disk;
use crate::event::{Event, Reporter, Subject, Transfer};
use crate::examine::{Belief, Examined, Platforms, Shelf, Versions};
use crate::oci::{Part, RawManifest, Tag};
use crate::outcome::{At, Beside, Change, Failure, OnResult, Problem, Published, PublishedPackage};
use crate::publish::{self, Destination, Existing, publish};
use crate::release::Release;
use crate::store::graph::Artifact;
use crate::store::{self, Move, ReadStore, WriteStore};
use crate::trust::Verified;
use crate::version::Version;

mod carrier;
mod parcel;
mod plan;
mod side;
mod tree;

use carrier::{Carrier, Ferry};
use parcel::Parcel;
use plan::Standing;
use side::{Side, Trouble};
use tree::Tree;

/// How many versions of a provider are looked up at once.
const LOOKS: usize = 4;
/// How often a copy starts again because somebody else moved a tag.
const ATTEMPTS: u32 = 8;

/// How to copy.
#[derive(Clone, Debug)]
pub struct Request {
    /// What to do about a version that is there.
    pub existing: Existing,
    /// Write an index of these platforms anew, instead of copying the one that is there.
    pub rebuild: Option<Platforms>,
    /// Whom to believe.
    pub belief: Belief,
    /// Whether to stop before anything is written.
    pub dry_run: bool,
    /// How many packages are transferred at once.
    pub jobs: usize,
}

/// A provider in one store, to be copied into another.
#[derive(Clone, Debug)]
pub struct Task<F, T> {
    /// The provider in the store that is copied from.
    pub from: Shelf<F>,
    /// Which versions of it. Without constraints these are all of them, pre-releases too.
    pub constraints: VersionConstraints,
    /// Its repository in the store that is copied to.
    pub to: Destination<T>,
}

/// Copies providers, several at once, of each the oldest version first, and gives the result of each version to `on_result` as soon as it
/// is done. What fails for one version fails for that version only: then its tag was not moved.
pub async fn copy<F: ReadStore, T: WriteStore>(
    tasks: Vec<Task<F, T>>,
    request: &Request,
    reporter: &Arc<dyn Reporter>,
    on_result: &OnResult<'_>,
) {
    let copying = stream::iter(tasks).for_each_concurrent(request.jobs, async |task| {
        match Journey::begin(task, request, reporter).await {
            Ok((journey, versions)) => journey.copy(&versions, on_result).await,
            Err(failure) => on_result(Err(failure)),
        }
    });
    copying.await;
}

/// One provider on its way.
struct Journey<'a, F, T> {
    from: Shelf<F>,
    to: Destination<T>,
    /// The names of the tags in the two stores.
    offered: Versions,
    there: Vec<String>,
    request: &'a Request,
    reporter: &'a Arc<dyn Reporter>,
}

impl<'a, F: ReadStore, T: WriteStore> Journey<'a, F, T> {
    /// Asks both stores what they have, and chooses.
    async fn begin(
        task: Task<F, T>,
        request: &'a Request,
        reporter: &'a Arc<dyn Reporter>,
    ) -> Result<(Self, Vec<Version>), Failure> {
        let Task {
            from,
            constraints,
            to,
        } = task;
        // What no version could pass is said once.
        let rule = request.belief.rule_for(&from.provider);
        rule.map_err(|problem| from.failure(None, problem))?;
        let there = async {
            let tags = to.store.tags(&to.repository).await;
            let subject = Subject::provider(&from.provider);
            tags.map_err(|error| {
                Problem::from(error).of(subject, At::To(to.store.name(&to.repository)))
            })
        };
        let (offered, there) = future::try_join(from.versions(), there).await?;
        let versions = from.admitted(&offered, &constraints)?;
        let journey = Self {
            from,
            to,
            offered,
            there: there.unwrap_or_default(),
            request,
            reporter,
        };
        Ok((journey, versions))
    }

    async fn copy(&self, versions: &[Version], on_result: &OnResult<'_>) {
        let looks = versions.iter().map(|version| self.settled(version));
        let settled: Vec<_> = stream::iter(looks).buffered(LOOKS).collect().await;
        for (version, settled) in versions.iter().zip(settled) {
            let copied = match (settled, &self.request.rebuild) {
                (Ok(Some(published)), _) => Ok(published),
                (Ok(None), None) => self.verbatim(version).await,
                (Ok(None), Some(platforms)) => self.rebuild(version, platforms).await,
                (Err(trouble), _) => Err(trouble),
            };
            on_result(copied.map_err(|trouble| self.failure(version, trouble)));
        }
    }

    async fn verbatim(&self, version: &Version) -> Result<Published, Trouble> {
        let request = self.request;
        let parcel = Parcel::read(&self.from, version, &request.belief).await?;
        self.announce(&parcel.release);
        if let Some(problem) = parcel.unproven().filter(|_| request.belief.require_pinned) {
            return Err(Trouble::source(problem));
        }
        let mut there = self.there.clone();
        for attempt in 0..ATTEMPTS {
            let lock = self.lock().await?;
            let tags = (&parcel.tag, &parcel.evidence_tag);
            let standing = Standing::of(&self.to, &there, tags).await;
            let standing = standing.map_err(Trouble::destination)?;
            let is_other = |digest| digest != parcel.tree.root.expected.digest;
            match request.existing {
                Existing::Fail if standing.version.is_some() => {
                    return Err(Trouble::destination(Problem::Exists));
                }
                Existing::Merge if standing.version.is_some_and(is_other) => {
                    drop(lock);
                    return self.publish(&parcel.release).await;
                }
                _ => {}
            }
            let plan = plan::make(&parcel, standing, &self.to, request).await;
            let mut plan = plan.map_err(Trouble::destination)?;
            if let Some(message) = plan.warning.take().filter(|_| attempt == 0) {
                let subject = Subject::version(&self.from.provider, version);
                self.reporter.report(Event::Warning { subject, message });
            }
            let carrier = Carrier {
                from: &self.from,
                to: &self.to,
                parcel: &parcel,
                request,
                reporter: self.reporter,
                _lock: lock,
            };
            if let Some(published) = carrier.carry_out(&plan).await? {
                return Ok(published);
            }
            let tags = self.to.store.tags(&self.to.repository).await;
            there = tags.map_err(Trouble::destination)?.unwrap_or_default();
        }
        Err(Trouble::destination(Problem::Contended {
            attempts: ATTEMPTS,
        }))
    }

    /// Publishes what was read, with an index of its own: more platforms for what is there, or fewer than there were.
    async fn publish(&self, release: &Verified<Release<F::Blob>>) -> Result<Published, Trouble> {
        let demands = self.request.belief.demands_on(&self.from.provider);
        let options = publish::Options {
            existing: self.request.existing,
            annotations: Default::default(),
            dry_run: self.request.dry_run,
            jobs: self.request.jobs,
            now: self.request.belief.now,
            demands: demands.map_err(Trouble::source)?,
        };
        let published = publish(release, &self.to, None, &options, self.reporter).await;
        let published = published.map_err(|problem| Trouble::on_the_way(problem, Part::Package))?;
        if self.request.dry_run {
            let packages = published.packages.iter();
            let transfers: Vec<Transfer> = packages.map(|package| package.status).collect();
            carrier::tell(release, &transfers, self.reporter);
        }
        Ok(published)
    }

    async fn rebuild(
        &self,
        version: &Version,
        platforms: &Platforms,
    ) -> Result<Published, Trouble> {
        let belief = &self.request.belief;
        let examined = self.from.read(version, platforms, belief).await;
        let Examined {
            evidence, proof, ..
        } = examined.map_err(Trouble::source)?;
        let release = proof.map_err(Trouble::source)?;
        self.announce(&release);
        let mut beside = Beside::default();
        if let Some(raw) = evidence {
            self.keep_evidence(&release, raw, &mut beside).await?;
        }
        let mut published = self.publish(&release).await?;
        published.beside = beside.if_any();
        published.bytes += beside.moved;
        Ok(published)
    }

    /// Copies the evidence of a version that is new to the destination, byte for byte: where it is there, a publication keeps it. Where
    /// nothing may come along that no signature is about, and the evidence has such a thing, a publication writes it anew.
    async fn keep_evidence(
        &self,
        release: &Verified<Release<F::Blob>>,
        raw: RawManifest,
        beside: &mut Beside,
    ) -> Result<(), Trouble> {
        let [version, tag] = parcel::tags(&release.version)?;
        if self.request.dry_run || self.has(&version) || self.has(&tag) {
            return Ok(());
        }
        let tree = parcel::evidence(&self.from, raw).await?;
        let is_more = !parcel::unproven(&tree, release).is_empty() || !tree.documents.is_empty();
        if self.request.belief.require_pinned && is_more {
            return Ok(());
        }
        let _lock = self.lock().await?;
        let ferry = Ferry {
            from: &self.from,
            to: &self.to,
            dry_run: false,
            reporter: self.reporter,
        };
        ferry.bring(&tree, release, Part::Evidence, beside).await?;
        let moves = [Move {
            tag: &tag,
            to: &tree.root,
            was: None,
        }];
        let Destination { store, repository } = &self.to;
        // If somebody else was faster, the publication judges what is there.
        let moved = store.tag(repository, &moves).await;
        moved.map(|_| ()).map_err(Trouble::destination)
    }

    /// The outcome for a version that the destination has already, as far as can be told without reading what is below the index; `None`
    /// where more has to be looked at.
    async fn settled(&self, version: &Version) -> Result<Option<Published>, Trouble> {
        let [tag, evidence] = parcel::tags(version)?;
        let is_particular = self.request.belief.is_particular(&self.from.provider);
        let is_plain = self.request.existing == Existing::Merge && self.request.rebuild.is_none();
        let lacks_evidence = self.offers(&evidence) && !self.has(&evidence);
        if !is_plain || is_particular || lacks_evidence || !self.has(&tag) {
            return Ok(None);
        }
        let Artifact { raw, index } = parcel::artifact(&self.from, version, &tag).await?;
        let digest = raw.expected.digest;
        let tags = [&tag, &evidence];
        let tags: Vec<&Tag> = tags.into_iter().filter(|tag| self.has(tag)).collect();
        let is_there = self.is_there(&tags, &digest).await;
        if !is_there.map_err(Trouble::destination)? || index.platforms().is_err() {
            return Ok(None);
        }
        self.reporter.report(Event::Settled {
            subject: Subject::version(&self.from.provider, version),
        });
        let Destination { store, repository } = &self.to;
        Ok(Some(Published {
            provider: self.from.provider.clone(),
            version: version.clone(),
            reference: store.reference(repository, &tag, &digest),
            digest,
            status: Change::Present,
            authentication: None,
            packages: PublishedPackage::of_index(&index, &[]),
            bytes: 0,
            beside: None,
        }))
    }

    /// Whether the first of these tags stands for an index, and nothing is missing below any of them.
    async fn is_there(&self, tags: &[&Tag], index: &Digest) -> Result<bool, store::Error> {
        let Destination { store, repository } = &self.to;
        let Some(tag) = tags.first() else {
            return Ok(false);
        };
        if store.digest(repository, tag).await?.as_ref() != Some(index) {
            return Ok(false);
        }
        for tag in tags {
            if !Tree::is_whole(store, repository, tag).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn offers(&self, tag: &Tag) -> bool {
        let names = self.offered.ignored.iter();
        names.into_iter().any(|(name, _)| name == tag.as_str())
    }

    fn has(&self, tag: &Tag) -> bool {
        self.there.iter().any(|name| name == tag.as_str())
    }

    async fn lock(&self) -> Result<Option<disk::Lock>, Trouble> {
        let Destination { store, repository } = &self.to;
        if self.request.dry_run {
            return Ok(None);
        }
        let lock = store.lock(repository, &**self.reporter).await;
        lock.map_err(Trouble::destination)
    }

    fn announce(&self, release: &Verified<Release<F::Blob>>) {
        self.reporter.report(Event::Verified {
            subject: Subject::version(&release.provider, &release.version),
            authentication: release.authentication().clone(),
        });
    }

    /// A failure that names both stores, the one where it happened first.
    fn failure(&self, version: &Version, trouble: Trouble) -> Failure {
        let subject = Subject {
            platform: trouble.platform,
            ..Subject::version(&self.from.provider, version)
        };
        let from = self.from.store.name(&self.from.repository);
        let to = self.to.store.name(&self.to.repository);
        let at = match trouble.side {
            Side::Source => At::From(format!("{from}, on the way to {to}")),
            Side::Destination => At::To(format!("{to}, on the way from {from}")),
        };
        trouble.problem.of(subject, at)
    }
}
