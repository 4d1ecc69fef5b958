//! The plan of a publication: what the store lacks, and what it will hold.

use std::borrow::Cow;

use super::evidence::{self, EvidencePlan};
use super::{
    Artifact, At, BTreeSet, BlobSource, Change, Destination, Digest, EMPTY_BYTES, Existing,
    Expected, Index, Known, Options, Package, Platform, Problem, RawManifest, Release, Tag,
    Verified, WriteStore, graph, is_sound, manifest,
};
use crate::oci;
use crate::store::{self, Move};

/// What a publication will do.
#[derive(Debug)]
pub(super) struct Plan {
    /// The version's tag.
    pub(super) tag: Tag,
    /// Where it stands now.
    pub(super) was: Option<Digest>,
    /// What it will stand for.
    pub(super) index: RawManifest,
    /// Whether that differs from now.
    pub(super) index_is_new: bool,
    /// One for each package of the release, in its order.
    pub(super) steps: Vec<Step>,
    /// What becomes of the evidence.
    pub(super) evidence: EvidencePlan,
    /// Whether the config is missing that our manifests share.
    lacks_config: bool,
    /// Whether there are versions with evidence: then what those have in common is there too.
    pub(super) is_familiar: bool,
    /// Whether to remove what nothing leads to: after a replacement, and after one that was killed before it came to this.
    pub(super) replaces: bool,
}

impl Plan {
    /// The tags that move, the version's last.
    pub(super) fn moves(&self) -> Vec<Move<'_>> {
        let evidence = self.evidence.write.as_ref().map(|(_, manifest)| Move {
            tag: &self.evidence.tag,
            to: manifest,
            was: self.evidence.was.as_ref(),
        });
        let index = self.index_is_new.then_some(Move {
            tag: &self.tag,
            to: &self.index,
            was: self.was.as_ref(),
        });
        evidence.into_iter().chain(index).collect()
    }

    /// What carrying it out comes to.
    pub(super) fn change(&self) -> Change {
        let is_incomplete = self.index_is_new
            || self.lacks_config
            || self.evidence.write.is_some()
            || self.steps.iter().any(|step| step.missing);
        match self.was {
            None => Change::Copied,
            Some(_) if is_incomplete => Change::Updated,
            Some(_) => Change::Present,
        }
    }
}

/// What becomes of one package.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// The manifest that the store shall have; `None` where it has another tool's for the same zip.
    pub(super) manifest: Option<RawManifest>,
    /// Whether the store lacks it, or a part of it.
    pub(super) missing: bool,
}

/// Compares a release with what the store has.
pub(super) async fn make<S: WriteStore, B: BlobSource>(
    release: &Verified<Release<B>>,
    destination: &Destination<S>,
    known: Option<Known<'_>>,
    options: &Options,
) -> Result<Plan, Problem> {
    let tag = Tag::of_version(&release.version)?;
    let tags = tags(destination, known).await?;
    let Found {
        stored,
        was,
        damage,
    } = match known.and_then(|known| known.index) {
        Some(index) => Found::read(index.clone()),
        None => find(destination, &tag, &tags).await?,
    };
    if was.is_some() && options.existing == Existing::Fail {
        return Err(Problem::Exists);
    }
    let replaces = was.is_some() && options.existing == Existing::Replace;
    let existing = to_compare(stored, release, options)?;
    let existing = existing.as_ref();
    let mut index = match existing {
        Some(artifact) => artifact.index.clone(),
        None => Index::new(&release.provider, &release.version),
    };
    let mut steps = Vec::new();
    let mut changed = existing.is_none();
    for package in &release.packages {
        let (step, added) = step(package, destination, existing, &mut index, options).await?;
        changed |= added;
        steps.push(step);
    }
    let index = finish(index, release, existing.filter(|_| !changed), options)?;
    let is_other = was != Some(index.expected.digest);
    let index_is_new = is_other || damage.is_some();
    // What cannot be read cannot be merged into; but if this release would have made it, it is made again.
    if let Some(error) = damage.filter(|_| is_other && !replaces) {
        return Err(error.into());
    }
    let has_evidence = tags.contains(Tag::of_evidence(&release.version)?.as_str());
    let is_settled = destination.store.keeps_whole()
        && !(changed || replaces || options.demands.always)
        && has_evidence;
    let evidence = match is_settled {
        true => EvidencePlan::kept(Tag::of_evidence(&release.version)?, None),
        false => {
            let zips = zips(release, destination, &index).await?;
            evidence::plan(release, destination, &zips, has_evidence, options).await?
        }
    };
    Ok(Plan {
        tag,
        index,
        index_is_new,
        lacks_config: lacks_config(&steps, destination, options).await?,
        is_familiar: was.is_some() || tags.iter().any(|name| is_evidence(name)),
        steps,
        was,
        replaces,
        evidence,
    })
}

/// The names of a repository's tags.
async fn tags<'a, S: WriteStore>(
    Destination { store, repository }: &Destination<S>,
    known: Option<Known<'a>>,
) -> Result<Cow<'a, BTreeSet<String>>, Problem> {
    if let Some(Known { tags, .. }) = known {
        return Ok(Cow::Borrowed(tags));
    }
    let tags = store.tags(repository).await?.unwrap_or_default();
    Ok(Cow::Owned(tags.into_iter().collect()))
}

fn is_evidence(name: &str) -> bool {
    Tag::parse(name).is_ok_and(|tag| tag.is_evidence())
}

/// What a tag stands for.
struct Found {
    stored: Option<RawManifest>,
    was: Option<Digest>,
    /// Why it cannot be read, although the tag stands.
    damage: Option<store::Error>,
}

impl Found {
    fn read(stored: RawManifest) -> Self {
        Self {
            was: Some(stored.expected.digest),
            stored: Some(stored),
            damage: None,
        }
    }
}

async fn find<S: WriteStore>(
    destination: &Destination<S>,
    tag: &Tag,
    tags: &BTreeSet<String>,
) -> Result<Found, Problem> {
    let Destination { store, repository } = destination;
    let nothing = Found {
        stored: None,
        was: None,
        damage: None,
    };
    if !tags.contains(tag.as_str()) {
        return Ok(nothing);
    }
    Ok(match store.manifest(repository, At::Tag(tag)).await {
        Ok(stored) => stored.map_or(nothing, Found::read),
        Err(error) if !error.is_damage() => return Err(error.into()),
        Err(error) => Found {
            stored: None,
            was: store.digest(repository, tag).await?,
            damage: Some(error),
        },
    })
}

/// What the release is compared with: nothing, if it takes the place of what is there.
fn to_compare<L>(
    stored: Option<RawManifest>,
    release: &Release<L>,
    options: &Options,
) -> Result<Option<Artifact>, Problem> {
    let Some(raw) = stored else { return Ok(None) };
    if options.existing == Existing::Replace && raw.bytes != alone(release, options)?.bytes {
        return Ok(None);
    }
    let index = readable(&raw)?;
    match Problem::of_another(&index, &release.provider) {
        Some(problem) => Err(problem),
        None => Ok(Some(Artifact { index, raw })),
    }
}

/// The index of the release by itself.
fn alone<L>(release: &Release<L>, options: &Options) -> Result<RawManifest, Problem> {
    let mut index = Index::new(&release.provider, &release.version);
    for package in &release.packages {
        let manifest = manifest::build(package.expected, &package.file_name)?;
        index.insert(&package.platform, &manifest, &package.expected.digest)?;
    }
    finish(index, release, None, options)
}

fn readable(raw: &RawManifest) -> Result<Index, Problem> {
    let taken = |source| match source {
        // It may well be a provider's; what it says is not the same for all of its readers.
        oci::Refusal::Repeated { .. } => Problem::Store(source.into()),
        source => Problem::Taken { source },
    };
    let index = Index::read(raw).map_err(taken)?;
    // An index that clients refuse as a whole stays refused after a merge.
    match index.platforms() {
        Ok(_) | Err(oci::Refusal::NoProviders { .. }) => Ok(index),
        Err(source) => Err(Problem::Taken { source }),
    }
}

/// Decides about one package, and puts it into the index if it is not there. The second value says whether it was put.
async fn step<S: WriteStore, L>(
    package: &Package<L>,
    destination: &Destination<S>,
    existing: Option<&Artifact>,
    index: &mut Index,
    options: &Options,
) -> Result<(Step, bool), Problem> {
    let Destination { store, repository } = destination;
    let ours = manifest::build(package.expected, &package.file_name)?;
    let entry = existing.and_then(|artifact| artifact.entry(&package.platform).ok());
    let Some(entry) = entry else {
        index.insert(&package.platform, &ours, &package.expected.digest)?;
        return Ok((
            Step {
                manifest: Some(ours),
                missing: true,
            },
            true,
        ));
    };
    if entry.digest == ours.expected.digest.to_string() {
        let missing = !store.keeps_whole() && {
            let manifest = store.manifest(repository, At::Entry(entry)).await;
            !matches!(manifest, Ok(Some(_)))
                || lacks(destination, &package.expected, options).await?
        };
        return Ok((
            Step {
                manifest: Some(ours),
                missing,
            },
            false,
        ));
    }
    // The same zip under another name, or another tool's manifest: it stays as it is.
    let theirs = graph::package(store, repository, &package.platform, entry).await?;
    let (stored, offered) = (theirs.layer.expected.digest, package.expected.digest);
    if stored != offered {
        return Err(Problem::OtherPackage {
            platform: package.platform.clone(),
            stored,
            offered,
        });
    }
    let missing = lacks(destination, &package.expected, options).await?;
    Ok((
        Step {
            manifest: None,
            missing,
        },
        false,
    ))
}

/// Whether a blob must be written. Its size tells, unless the version is replaced: then every byte counts.
async fn lacks<S: WriteStore>(
    destination: &Destination<S>,
    expected: &Expected,
    options: &Options,
) -> Result<bool, Problem> {
    let Destination { store, repository } = destination;
    if store.keeps_whole() && options.existing != Existing::Replace {
        return Ok(false);
    }
    let there = store.has_blob(repository, expected).await?;
    Ok(!there || options.existing == Existing::Replace && !is_sound(destination, *expected).await)
}

/// Whether the config is missing that all of our manifests share. Clients never look at it; tools that copy the artifact do.
async fn lacks_config<S: WriteStore>(
    steps: &[Step],
    destination: &Destination<S>,
    options: &Options,
) -> Result<bool, Problem> {
    let ours = steps.iter().any(|step| step.manifest.is_some());
    Ok(ours && lacks(destination, &Expected::of(EMPTY_BYTES), options).await?)
}

/// The index to be: the stored bytes where nothing is added, however they are written.
fn finish<L>(
    mut index: Index,
    release: &Release<L>,
    unchanged: Option<&Artifact>,
    options: &Options,
) -> Result<RawManifest, Problem> {
    if let Some(artifact) = unchanged {
        return Ok(artifact.raw.clone());
    }
    index.describe(&release.provider, &release.version);
    for (key, value) in &options.annotations {
        index.annotate(key, value);
    }
    Ok(index.write()?)
}

/// Every zip of the index to be. Those of the release are known: [`step`] compared the index with them. Of any other platform the
/// manifest is read.
async fn zips<S: WriteStore, L>(
    release: &Release<L>,
    Destination { store, repository }: &Destination<S>,
    index: &RawManifest,
) -> Result<Vec<(Platform, Digest)>, Problem> {
    let index = Index::read(index).map_err(store::Error::from)?;
    let ours = release.packages.iter();
    let mut zips: Vec<(Platform, Digest)> = ours
        .map(|package| (package.platform.clone(), package.expected.digest))
        .collect();
    let is_other = |platform: &Platform| !zips.iter().any(|(ours, _)| ours == platform);
    let others = graph::packages(store, repository, &index, is_other).await?;
    let others = others.into_iter();
    zips.extend(others.map(|other| (other.platform, other.layer.expected.digest)));
    zips.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(zips)
}
