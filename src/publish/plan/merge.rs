//! The plan that merges a release into the version that the repository has.
//!
//! | the repository has | the plan |
//! | --- | --- |
//! | no such version | writes the packages, the evidence and the index |
//! | some of the packages | adds the others to its index |
//! | all of the packages | writes what the registry has lost below the index, which is nothing as a rule |
//! | another zip for a platform | is refused, or replaces the version ([`Existing::Replace`]) |
//! | a damaged index | is refused, unless the release alone gives the same index, or replaces the version |

use std::collections::BTreeSet;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use crate::blob::verify;
use crate::error::Category;
use crate::event::Warning;
use crate::oci::{
    self, Descriptor, EMPTY_BYTES, Index, Part, RawManifest, Tag, TagNames, manifest,
};
use crate::outcome::Problem;
use crate::publish::evidence::Question;
use crate::publish::{
    Blob, BlobSource, ContentGraph, Digest, Existing, Expected, Journey, Package, Platform,
    Publication, Release, TagUpdate,
};
use crate::store::{self, Artifact, At, CONCURRENT_READS};

/// The changes for one package.
struct PackageStep {
    /// Whether the index lacked the platform.
    is_added: bool,
    /// The manifest to write; `None` if the repository has another tool's manifest for the same zip.
    manifest: Option<RawManifest>,
    /// Whether the package or its manifest is not in the repository.
    is_missing: bool,
    /// Whether to deliver the package. Packages may be equal, as for a script that runs on several platforms: one is delivered.
    delivers: bool,
}

impl<B: BlobSource> Journey<'_, B> {
    /// Compares a release with the repository. `stored` is the index that the version's tag refers to, if it was already read.
    pub(super) async fn merge(
        &self,
        tags: &TagNames,
        stored: Option<&RawManifest>,
    ) -> Result<Publication<B>, Problem> {
        let release = self.edition.release;
        let tag = Tag::of_version(&release.version)?;
        let (existing, was, damage) = self.find(&tag, tags, stored).await?;
        if was.is_some() && self.options.existing == Existing::Fail {
            return Err(Problem::Exists);
        }
        let replaces = was.is_some() && self.replaces();
        let existing = existing.map(|index| self.to_compare(index));
        let existing = existing.transpose()?.flatten();
        let (root, steps) = self.steps(existing.as_ref()).await?;
        let is_other = was != Some(root.expected.digest);
        let moves_index = is_other || damage.is_some() || self.moves_both();
        // tfoci cannot merge into a damaged index. If the release alone gives that same index, it is written again.
        if let Some(error) = damage.filter(|_| is_other && !replaces) {
            return Err(error.into());
        }
        let adds = existing.is_none() || steps.iter().any(|step| step.is_added);
        let others = others(existing.as_ref(), release);
        let (evidence, warning) = match adds || replaces {
            false if self.is_settled(tags).await? => (None, None),
            _ => self.evidence_of_all(tags, &others).await?,
        };
        let has_ours = steps.iter().any(|step| step.manifest.is_some());
        let is_incomplete = moves_index
            || steps.iter().any(|step| step.is_missing)
            // Clients ignore the empty config, to which all manifests by tfoci refer; tools that copy the artifact read it.
            || has_ours && self.lacks(&Expected::of(EMPTY_BYTES), Part::Blob).await?;
        let has_config = was.is_some() || tags.has_evidence();
        let config = is_incomplete.then(|| Blob::new(EMPTY_BYTES, has_config));
        let delivers = steps.iter().map(|step| step.delivers).collect();
        let missing = steps.into_iter().filter(|step| step.is_missing);
        Ok(Publication {
            look_again: self.look_again(&others, was.as_ref(), tags)?,
            moves_index,
            is_incomplete,
            delivers,
            index: TagUpdate {
                tag,
                was,
                content: ContentGraph {
                    root,
                    manifests: vec![missing.filter_map(|step| step.manifest).collect()],
                    blobs: config.into_iter().collect(),
                },
            },
            evidence,
            sweeps: replaces,
            warning,
        })
    }

    /// Whether the evidence of a version stays as it is, if the version gets no other packages.
    async fn is_settled(&self, tags: &TagNames) -> Result<bool, Problem> {
        let tag = Tag::of_evidence(&self.edition.release.version)?;
        let is_trusted = self.to.refuses_incomplete() && tags.has(&tag);
        if !is_trusted || !self.options.evidence_policy.always {
            return Ok(is_trusted);
        }
        let is_there = self.has_same_evidence(tags).await?;
        Ok(is_there && (!self.reads_everything() || self.to.evidence(&tag).await.is_ok()))
    }

    /// The evidence for all zips of the index to write, and a warning about it. [`Journey::step`] has compared the release's zips with the stored
    /// index; of the other platforms in it, this reads the manifests.
    async fn evidence_of_all(
        &self,
        tags: &TagNames,
        others: &[(Platform, &Descriptor)],
    ) -> Result<(Option<TagUpdate<B>>, Option<Warning>), Problem> {
        let ours = self.edition.release.packages.iter();
        let mut zips: Vec<(Platform, Digest)> = ours
            .map(|package| (package.platform.clone(), package.expected.digest))
            .collect();
        let others = self.to.packages(others).await?.into_iter();
        zips.extend(others.map(|other| (other.platform, other.layer.expected.digest)));
        zips.sort_by(|a, b| a.0.cmp(&b.0));
        let question = Question {
            tags,
            packages: Vec::new(),
            zips,
            is_preferred: false,
        };
        self.plan_evidence(question).await
    }

    /// The index that includes the release, and the changes for each of its packages.
    async fn steps(
        &self,
        existing: Option<&Artifact>,
    ) -> Result<(RawManifest, Vec<PackageStep>), Problem> {
        let release = self.edition.release;
        let mut index = existing.map_or_else(Index::default, |artifact| artifact.index.clone());
        let steps = release.packages.iter();
        let steps: Vec<_> = steps.map(|package| self.step(package, existing)).collect();
        let steps = stream::iter(steps).buffered(CONCURRENT_READS);
        let mut steps: Vec<PackageStep> = steps.try_collect().await?;
        let mut delivered = BTreeSet::new();
        for (package, step) in release.packages.iter().zip(&mut steps) {
            if let Some(ours) = step.manifest.as_ref().filter(|_| step.is_added) {
                index.insert(&package.platform, ours, &package.expected.digest)?;
            }
            step.delivers = step.is_missing && delivered.insert(package.expected.digest);
        }
        let root = match existing {
            // The stored bytes, even if tfoci would serialize the index differently.
            Some(artifact) if !steps.iter().any(|step| step.is_added) => artifact.raw.clone(),
            _ => self.finish(index)?,
        };
        Ok((root, steps))
    }

    /// Reads the index that a tag refers to, unless it was already read. Also returns its digest, and why it cannot be read although the tag exists.
    async fn find(
        &self,
        tag: &Tag,
        tags: &TagNames,
        stored: Option<&RawManifest>,
    ) -> Result<(Option<RawManifest>, Option<Digest>, Option<store::Error>), Problem> {
        let read = match stored {
            Some(index) => Ok(Some(index.clone())),
            None if tags.has(tag) => self.to.manifest(At::Tag(tag)).await,
            None => Ok(None),
        };
        match read {
            Ok(stored) => {
                let was = stored.as_ref().map(|index| index.expected.digest);
                Ok((stored, was, None))
            }
            Err(error) if error.is_damage() => Ok((None, self.to.digest(tag).await?, Some(error))),
            Err(error) => Err(error.into()),
        }
    }

    /// The index to compare the release with; `None` if the release replaces it.
    fn to_compare(&self, raw: RawManifest) -> Result<Option<Artifact>, Problem> {
        if self.replaces() && raw.bytes != self.alone()?.bytes {
            return Ok(None);
        }
        let index = readable(&raw)?;
        match Problem::of_another(&index, &self.edition.release.provider) {
            Some(problem) => Err(problem),
            None => Ok(Some(Artifact { index, raw })),
        }
    }

    /// The index that contains only this release.
    fn alone(&self) -> Result<RawManifest, Problem> {
        let mut index = Index::default();
        for package in &self.edition.release.packages {
            let manifest = manifest::build(package.expected, &package.file_name)?;
            index.insert(&package.platform, &manifest, &package.expected.digest)?;
        }
        self.finish(index)
    }

    fn finish(&self, mut index: Index) -> Result<RawManifest, Problem> {
        let Release {
            provider, version, ..
        } = &**self.edition.release;
        index.annotate(provider, version, &self.options.annotations);
        index.check_count().map_err(store::Error::from)?;
        Ok(index.write()?)
    }

    /// Compares one package with the index.
    ///
    /// Where others write the version too, a registry may lack our manifest although the index lists it: zot deletes it when another writer moves the
    /// tag to an index without it, and accepts a later index that lists it again.
    async fn step(
        &self,
        package: &Package<B>,
        existing: Option<&Artifact>,
    ) -> Result<PackageStep, Problem> {
        let to = self.to;
        let ours = manifest::build(package.expected, &package.file_name)?;
        let entry = existing.and_then(|artifact| artifact.entry(&package.platform).ok());
        let Some(entry) = entry else {
            return Ok(PackageStep {
                is_added: true,
                manifest: Some(ours),
                is_missing: true,
                delivers: true,
            });
        };
        let is_ours = entry.digest == ours.expected.digest.to_string();
        let is_missing = if is_ours {
            // `mirror` and `copy` trust the index until they meet another writer.
            let is_checked =
                !to.refuses_incomplete() || self.reads_everything() || self.has_company();
            is_checked
                && (!self.has_manifest(entry).await?
                    || self.lacks(&package.expected, Part::Package).await?)
        } else {
            let theirs = to.package(&package.platform, entry).await?;
            let (stored, offered) = (theirs.layer.expected.digest, package.expected.digest);
            if stored != offered {
                return Err(Problem::OtherPackage {
                    platform: package.platform.clone(),
                    stored,
                    offered,
                });
            }
            self.lacks(&package.expected, Part::Package).await?
        };
        Ok(PackageStep {
            is_added: false,
            // Either the same zip under another name or another tool's manifest: tfoci leaves it unchanged.
            manifest: is_ours.then_some(ours),
            is_missing,
            delivers: is_missing,
        })
    }

    /// Whether a manifest that the index lists can be read.
    async fn has_manifest(&self, entry: &Descriptor) -> Result<bool, store::Error> {
        match self.to.manifest(At::Entry(entry)).await {
            Ok(manifest) => Ok(manifest.is_some()),
            Err(error) if error.is_damage() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Whether a blob must be written. A blob of the right size counts as present. If the version is replaced, its bytes are checked too, and in a
    /// directory also if it is checked again.
    ///
    /// # Errors
    /// The store fails, or it is a registry that has other bytes: it would keep them if the right ones were uploaded.
    async fn lacks(&self, expected: &Expected, what: Part) -> Result<bool, Problem> {
        let is_registry = self.to.refuses_incomplete();
        if is_registry && !self.replaces() {
            return Ok(false);
        }
        if !self.to.has_blob(expected).await? {
            return Ok(true);
        }
        if !self.reads_everything() {
            return Ok(false);
        }
        match verify(&self.to.blob(*expected)).await {
            Ok(()) => Ok(false),
            Err(_) if !is_registry => Ok(true),
            Err(source) => Err(store::Error::reading(what, expected.digest, source).into()),
        }
    }
}

/// The index of a provider that tfoci can merge with others.
fn readable(raw: &RawManifest) -> Result<Index, Problem> {
    let taken = |source: oci::Refusal| match source {
        // This may be a provider's index, but its readers do not agree on what it says.
        source if source.category() == Category::Untrusted => Problem::Store(source.into()),
        source => Problem::Taken { source },
    };
    let index = Index::read(raw).map_err(taken)?;
    // Merging does not repair an index that clients refuse as a whole.
    match index.platforms() {
        Ok(_) | Err(oci::Refusal::NoProviders { .. }) => Ok(index),
        Err(source) => Err(Problem::Taken { source }),
    }
}

/// The entries of the stored index for platforms that the release does not have.
fn others<'a, L>(
    existing: Option<&'a Artifact>,
    release: &Release<L>,
) -> Vec<(Platform, &'a Descriptor)> {
    // Without entries of providers, the list of platforms is an error.
    let stored = existing.and_then(|artifact| artifact.index.platforms().ok());
    let mut others = stored.unwrap_or_default();
    others.retain(|(platform, _)| !release.has(platform));
    others
}
