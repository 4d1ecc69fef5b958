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

use crate::constraint::VersionConstraints;
use crate::disk;
use crate::event::{Event, Reporter, Subject, Transfer};
use crate::examine::{Belief, Examined, Platforms, Shelf, Versions};
use crate::hash::PackageHash;
use crate::oci::evidence::EVIDENCE;
use crate::oci::{Index, PACKAGE, PROVIDER, Part, RawManifest, Tag, manifest};
use crate::outcome::{Change, Failure, Problem, Published, PublishedPackage};
use crate::publish::{self, Destination, Existing, publish};
use crate::release::{Expected, Release};
use crate::store::graph::{Artifact, StoredPackage};
use crate::store::{self, At, ReadStore, WriteStore};
use crate::trust::Verified;
use crate::version::Version;

mod carrier;
mod parcel;
mod plan;
mod side;
mod tree;

use carrier::Carrier;
use parcel::Parcel;
use plan::Standing;
use side::{Side, Trouble};
use tree::Tree;

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
pub struct Copier<F, T> {
    from: Shelf<F>,
    to: Destination<T>,
    offered: Versions,
    /// The names of the tags that the destination has.
    there: Vec<String>,
}

impl<F: ReadStore, T: WriteStore> Copier<F, T> {
    /// Looks up in both stores what they have of a provider.
    ///
    /// # Errors
    /// Either store's, or the provider is not in the first.
    pub async fn begin(from: Shelf<F>, to: Destination<T>) -> Result<Self, Failure> {
        let offered = from.versions().await?;
        let there = to.store.tags(&to.repository).await.map_err(|error| {
            let subject = Subject::provider(&from.provider);
            Problem::from(error).of(subject, &to.store.name(&to.repository))
        })?;
        Ok(Self {
            from,
            to,
            offered,
            there: there.unwrap_or_default(),
        })
    }

    /// The versions to copy, ascending. Without constraints these are all that the store has, pre-releases too.
    ///
    /// # Errors
    /// No version is admitted.
    pub fn select(&self, constraints: &VersionConstraints) -> Result<Vec<Version>, Failure> {
        self.from.admitted(&self.offered, constraints)
    }

    /// Copies one version.
    ///
    /// # Errors
    /// Whatever stands against it, on either side. Then the version's tag was not moved.
    pub async fn copy(
        &self,
        version: &Version,
        request: &Request,
        reporter: &Arc<dyn Reporter>,
    ) -> Result<Published, Failure> {
        let copied = match &request.rebuild {
            None => self.verbatim(version, request, reporter).await,
            Some(platforms) => self.rebuild(version, platforms, request, reporter).await,
        };
        copied.map_err(|trouble| self.failure(version, trouble))
    }

    async fn verbatim(
        &self,
        version: &Version,
        request: &Request,
        reporter: &Arc<dyn Reporter>,
    ) -> Result<Published, Trouble> {
        let tag = Tag::of_version(version).map_err(Trouble::source)?;
        let artifact = self.artifact(version, &tag).await?;
        if let Some(published) = self.settled(version, &artifact, request).await? {
            reporter.report(Event::Settled {
                subject: Subject::version(&self.from.provider, version),
            });
            return Ok(published);
        }
        let parcel = self.parcel(version, tag, artifact, request).await?;
        self.announce(&parcel.release, reporter);
        let mut there = self.there.clone();
        for _ in 0..ATTEMPTS {
            let lock = self.lock(request, reporter).await?;
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
                    return self.publish(&parcel.release, request, reporter).await;
                }
                _ => {}
            }
            let plan = plan::make(&parcel, standing, &self.to, request).await;
            let plan = plan.map_err(Trouble::destination)?;
            let carrier = Carrier {
                from: &self.from,
                to: &self.to,
                parcel: &parcel,
                request,
                reporter,
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
    async fn publish(
        &self,
        release: &Verified<Release<F::Blob>>,
        request: &Request,
        reporter: &Arc<dyn Reporter>,
    ) -> Result<Published, Trouble> {
        let options = publish::Options {
            existing: request.existing,
            annotations: Default::default(),
            dry_run: request.dry_run,
            jobs: request.jobs,
            now: request.belief.now,
        };
        let published = publish(release, &self.to, &options, reporter).await;
        published.map_err(|problem| Trouble::on_the_way(problem, Part::Package))
    }

    async fn rebuild(
        &self,
        version: &Version,
        platforms: &Platforms,
        request: &Request,
        reporter: &Arc<dyn Reporter>,
    ) -> Result<Published, Trouble> {
        let examined = self.from.read(version, platforms, &request.belief).await;
        let Examined { proof, .. } = examined.map_err(Trouble::source)?;
        let release = proof.map_err(Trouble::source)?;
        self.announce(&release, reporter);
        self.publish(&release, request, reporter).await
    }

    /// The index of a version, as the destination will have it.
    async fn artifact(&self, version: &Version, tag: &Tag) -> Result<Artifact, Trouble> {
        let Shelf {
            store, repository, ..
        } = &self.from;
        let raw = store.manifest(repository, At::Tag(tag)).await;
        let raw = raw.map_err(Trouble::unread)?.ok_or_else(|| {
            Trouble::source(Problem::NoVersion {
                constraints: Some(version.to_string()),
                available: Vec::new(),
            })
        })?;
        let index = Index::read(&raw).map_err(|refusal| Trouble::unread(refusal.into()))?;
        let raw = tagged(raw, PROVIDER);
        Ok(Artifact { raw, index })
    }

    /// The outcome for a version that the destination has already, as far as can be told without reading what is below the index; `None`
    /// where more has to be looked at.
    async fn settled(
        &self,
        version: &Version,
        Artifact { raw, index }: &Artifact,
        request: &Request,
    ) -> Result<Option<Published>, Trouble> {
        let tag = Tag::of_version(version).map_err(Trouble::source)?;
        let evidence = Tag::of_evidence(version).map_err(Trouble::source)?;
        let Destination { store, repository } = &self.to;
        let digest = raw.expected.digest;
        let has = |tag: &Tag| self.there.iter().any(|name| name == tag.as_str());
        let lacks_evidence = self.offers(&evidence) && !has(&evidence);
        let is_particular = request.belief.is_particular(&self.from.provider);
        if request.existing != Existing::Merge || is_particular || lacks_evidence || !has(&tag) {
            return Ok(None);
        }
        let is_same = store
            .digest(repository, &tag)
            .await
            .map_err(Trouble::destination)?
            == Some(digest);
        let mut is_whole = is_same;
        for tag in [&tag, &evidence].into_iter().filter(|tag| has(tag)) {
            is_whole = is_whole
                && Tree::is_whole(store, repository, tag)
                    .await
                    .map_err(Trouble::destination)?;
        }
        let (true, Ok(platforms)) = (is_whole, index.platforms()) else {
            return Ok(None);
        };
        let packages = platforms.into_iter().map(|(platform, entry)| {
            let zip = entry
                .annotations
                .get(PACKAGE)
                .and_then(|text| text.parse().ok());
            PublishedPackage {
                platform,
                status: Transfer::Present,
                size: None,
                zh: zip.as_ref().and_then(PackageHash::of_zip),
            }
        });
        Ok(Some(Published {
            provider: self.from.provider.clone(),
            version: version.clone(),
            reference: store.reference(repository, &tag, &digest),
            digest,
            status: Change::Present,
            authentication: None,
            packages: packages.collect(),
            bytes: 0,
        }))
    }

    fn offers(&self, tag: &Tag) -> bool {
        let names = self.offered.ignored.iter();
        names.into_iter().any(|(name, _)| name == tag.as_str())
    }

    /// Reads a version down to its last document, and judges it.
    async fn parcel(
        &self,
        version: &Version,
        tag: Tag,
        artifact: Artifact,
        request: &Request,
    ) -> Result<Parcel<F::Blob>, Trouble> {
        let Shelf {
            store, repository, ..
        } = &self.from;
        let evidence_tag = Tag::of_evidence(version).map_err(Trouble::source)?;
        let tree = Tree::read(store, repository, artifact.raw.clone()).await;
        let tree = tree.map_err(Trouble::unread)?;
        let packages = packages(&tree, &artifact.index);
        let packages = packages.map_err(Trouble::unread)?;
        let examined = self
            .from
            .judge(version, artifact, packages, &request.belief);
        let Examined {
            evidence, proof, ..
        } = examined.await.map_err(Trouble::source)?;
        let release = proof.map_err(Trouble::source)?;
        let evidence = match evidence {
            None => None,
            Some(raw) => {
                let tree = Tree::read(store, repository, tagged(raw, EVIDENCE)).await;
                Some(tree.map_err(Trouble::unread)?)
            }
        };
        Ok(Parcel {
            version: version.clone(),
            tag,
            evidence_tag,
            tree,
            evidence,
            release,
        })
    }

    async fn lock(
        &self,
        request: &Request,
        reporter: &Arc<dyn Reporter>,
    ) -> Result<Option<disk::Lock>, Trouble> {
        let Destination { store, repository } = &self.to;
        if request.dry_run {
            return Ok(None);
        }
        let lock = store.lock(repository, &**reporter).await;
        lock.map_err(Trouble::destination)
    }

    fn announce(&self, release: &Verified<Release<F::Blob>>, reporter: &Arc<dyn Reporter>) {
        reporter.report(Event::Verified {
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
        let place = match trouble.side {
            Side::Source => format!("{from}, on the way to {to}"),
            Side::Destination => format!("{to}, on the way from {from}"),
        };
        trouble.problem.of(subject, &place)
    }
}

/// What a tag will stand for: by the digest that registries compute, and with the type that layouts write beside it.
fn tagged(raw: RawManifest, artifact_type: &str) -> RawManifest {
    RawManifest {
        artifact_type: Some(artifact_type.to_owned()),
        expected: Expected::of(&raw.bytes),
        ..raw
    }
}

/// The packages of an index, whose manifests are at hand.
fn packages(tree: &Tree, index: &Index) -> Result<Vec<StoredPackage>, store::Error> {
    let platforms = index.platforms()?.into_iter();
    let packages = platforms.map(|(platform, entry)| {
        let what = Part::Manifest;
        let digest = entry.leads_to(what)?.digest;
        let raw = tree.document(entry);
        let raw = raw.ok_or(store::Error::Missing { what, digest })?;
        Ok(StoredPackage {
            layer: manifest::read(raw, &platform)?,
            entry: entry.clone(),
            platform,
        })
    });
    packages.collect()
}
