//! Removal: the inverse of publishing.
//!
//! For each version, in this order: the **signatures** and the like whose fallback tags name its index; the **index**, with the tag; each **platform
//! manifest** that no other index of the repository names; its **evidence last**. So an `evidence-V` without `V` marks a removal that was cut short,
//! and the next run finishes it: a platform manifest is a function of a package's digest, size and name, which the checksum document and the store
//! tell. Where a version has no evidence, its index goes last instead, so that the version is listed until it is gone. A layout forgets the tags, and
//! then deletes what no tag refers to.
//!
//! Nobody else may write into the repository meanwhile: before each version the tags are listed again, and a new one ends the run.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use crate::digest::Digest;
use crate::event::Reporter;
use crate::examine::{StoredProvider, Versions};
use crate::oci::{self, Part, Refusal, Tag, manifest};
use crate::outcome::{Failure, Problem};
use crate::platform::Platform;
use crate::release::Expected;
use crate::store::{self, At, Repo, RepoMut};
use crate::trust::{Checksums, PackageName};
use crate::version::Version;

/// A version that goes.
#[derive(Clone, Debug, Serialize)]
pub struct Removal {
    /// The version.
    pub version: Version,
    /// The bytes of its packages that no version has which stays.
    pub size: u64,
    /// Other tags of its index. If there are any, the version stays.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub named_by: Vec<String>,
    /// Its index; `None` if an earlier removal was cut short after that.
    #[serde(skip)]
    index: Option<Digest>,
    /// The platform manifests below it.
    #[serde(skip)]
    children: BTreeSet<Digest>,
    #[serde(skip)]
    evidence: Option<Digest>,
    /// What is attached to the index by tags that have its digest in their names.
    #[serde(skip)]
    attached: Vec<Attached>,
}

/// A manifest whose tag has the digest of an index in its name: a list of referrers, or a signature of cosign.
#[derive(Clone, Debug)]
struct Attached {
    tag: Tag,
    /// It, and the manifests that it names.
    manifests: BTreeSet<Digest>,
}

/// Several of each index, by its digest.
type Named<T> = BTreeMap<Digest, Vec<T>>;

/// What goes of a provider.
#[derive(Debug, Default)]
pub struct Plan {
    /// The versions, the oldest first.
    pub removals: Vec<Removal>,
    /// How many indexes name each platform manifest.
    names: HashMap<Digest, usize>,
    /// The tags when it was made.
    tags: BTreeSet<String>,
}

impl Plan {
    /// Plans the removal of some of the listed versions, and the end of removals that were cut short. Nothing is written.
    ///
    /// # Errors
    /// The store cannot be read. What an index refers to that cannot be read is not known, so nothing may be deleted.
    pub async fn of(
        from: &StoredProvider,
        listed: &Versions,
        removed: &BTreeSet<Version>,
    ) -> Result<Self, Failure> {
        let mut plan = Self::default();
        let made = plan.make(from, listed, removed).await;
        made.map_err(|problem| from.failure(None, problem))?;
        Ok(plan)
    }

    async fn make(
        &mut self,
        from: &StoredProvider,
        listed: &Versions,
        removed: &BTreeSet<Version>,
    ) -> Result<(), Problem> {
        let repo = &from.repo;
        let (mut others, mut attached) = self.other_tags(from, listed).await?;
        let mut indexes = Vec::new();
        for version in &listed.versions {
            let tag = Tag::of_version(version)?;
            self.tags.insert(tag.to_string());
            let Some(raw) = repo.manifest(At::Tag(&tag)).await? else {
                continue;
            };
            let children = children(&raw.bytes)?;
            self.count(&children);
            if !removed.contains(version) {
                let names = others.entry(raw.expected.digest).or_default();
                names.push(tag.to_string());
            }
            indexes.push((version, raw.expected.digest, children));
        }
        let mut kept = BTreeSet::new();
        for (version, index, children) in indexes {
            let named_by = others.get(&index).cloned().unwrap_or_default();
            if !named_by.is_empty() {
                kept.extend(children.iter().copied());
            }
            if removed.contains(version) {
                self.removals.push(Removal {
                    version: version.clone(),
                    size: 0,
                    named_by,
                    index: Some(index),
                    children,
                    evidence: repo.digest(&Tag::of_evidence(version)?).await?,
                    attached: attached.remove(&index).unwrap_or_default(),
                });
            }
        }
        self.measure(repo, kept).await
    }

    /// Reads what has a tag that is no version: other names of indexes, and what is attached to them.
    async fn other_tags(
        &mut self,
        from: &StoredProvider,
        listed: &Versions,
    ) -> Result<(Named<String>, Named<Attached>), Problem> {
        let mut others: Named<String> = BTreeMap::new();
        let mut attached: Named<Attached> = BTreeMap::new();
        for (name, _) in &listed.ignored {
            self.tags.insert(name.clone());
            let Ok(tag) = Tag::parse(name) else {
                continue;
            };
            let Some(raw) = from.repo.manifest(At::Tag(&tag)).await? else {
                continue;
            };
            if let Some(subject) = subject(name) {
                let mut manifests = children(&raw.bytes)?;
                manifests.insert(raw.expected.digest);
                self.count(&manifests);
                let all = attached.entry(subject).or_default();
                all.push(Attached { tag, manifests });
                continue;
            }
            let version = name.strip_prefix("evidence-");
            let version = version.and_then(|text| text.replace('_', "+").parse().ok());
            match version {
                Some(version) if listed.versions.contains(&version) => {}
                Some(version) => self.cut_short(from, version, &tag).await?,
                None => {
                    self.count(&children(&raw.bytes)?);
                    let names = others.entry(raw.expected.digest).or_default();
                    names.push(name.clone());
                }
            }
        }
        Ok((others, attached))
    }

    fn count(&mut self, children: &BTreeSet<Digest>) {
        for child in children {
            *self.names.entry(*child).or_default() += 1;
        }
    }

    /// Adds a version of which only the evidence is left, and perhaps platform manifests.
    async fn cut_short(
        &mut self,
        from: &StoredProvider,
        version: Version,
        tag: &Tag,
    ) -> Result<(), Problem> {
        let evidence = from.repo.evidence(tag).await?;
        let document = evidence.as_ref().map(|stored| &stored.evidence.checksums);
        let checksums = document
            .and_then(Option::as_ref)
            .map(|bytes| Checksums::parse(bytes));
        let checksums = checksums.transpose()?;
        let mut children = BTreeSet::new();
        for (name, digest) in checksums.iter().flat_map(Checksums::lines) {
            let package = PackageName::parse(name, from.provider.type_name());
            if package.is_none_or(|package| *package.version.version() != version) {
                continue;
            }
            if let Some(size) = from.repo.blob_size(&Expected { digest, size: 0 }).await? {
                let manifest = manifest::build(Expected { digest, size }, name)?;
                children.insert(manifest.expected.digest);
            }
        }
        self.count(&children);
        self.removals.push(Removal {
            version,
            size: 0,
            named_by: Vec::new(),
            index: None,
            children,
            evidence: evidence.map(|stored| stored.raw.expected.digest),
            attached: Vec::new(),
        });
        Ok(())
    }

    /// Sets the bytes that are freed: of packages whose manifests no index names that stays, each once.
    async fn measure(&mut self, repo: &Repo, mut counted: BTreeSet<Digest>) -> Result<(), Problem> {
        for removal in self.removals.iter_mut().filter(|one| one.index.is_some()) {
            let tag = Tag::of_version(&removal.version)?;
            let Some(artifact) = repo.artifact(&tag).await? else {
                continue;
            };
            let entries: Vec<(Platform, _)> = artifact.index.platforms().unwrap_or_default();
            // What has lost a part frees what is left.
            for package in repo.packages(&entries).await.unwrap_or_default() {
                let digest = package.entry.digest.parse();
                if digest.is_ok_and(|digest| counted.insert(digest)) {
                    removal.size = removal.size.saturating_add(package.layer.expected.size);
                }
            }
        }
        Ok(())
    }

    /// Removes the versions, and calls `on_removed` for each. Those that other tags name stay.
    ///
    /// # Errors
    /// The store fails or cannot delete, or another writer has added a tag. Versions that are not done yet stay as they are.
    pub async fn carry_out(
        mut self,
        to: &RepoMut,
        reporter: &dyn Reporter,
        mut on_removed: impl FnMut(&Removal),
    ) -> Result<(), Problem> {
        let _lock = to.lock(true, reporter).await?;
        let removals = std::mem::take(&mut self.removals);
        let mut gone: Vec<Tag> = Vec::new();
        for removal in removals.iter().filter(|one| one.named_by.is_empty()) {
            let tags = to.tags().await?.unwrap_or_default();
            if tags.iter().any(|tag| !self.tags.contains(tag)) {
                return Err(Problem::Contended { attempts: 1 });
            }
            gone.extend([
                Tag::of_version(&removal.version)?,
                Tag::of_evidence(&removal.version)?,
            ]);
            for attached in &removal.attached {
                gone.push(attached.tag.clone());
                self.delete(to, &attached.manifests).await?;
            }
            let (first, last) = match removal.evidence {
                Some(evidence) => (removal.index, Some(evidence)),
                None => (None, removal.index),
            };
            if let Some(index) = first {
                to.delete(&index).await?;
            }
            self.delete(to, &removal.children).await?;
            if let Some(last) = last {
                to.delete(&last).await?;
            }
            on_removed(removal);
        }
        to.untag(&gone).await?;
        Ok(to.sweep().await?)
    }

    /// Deletes the manifests that nothing names any more.
    async fn delete(&mut self, to: &RepoMut, manifests: &BTreeSet<Digest>) -> Result<(), Problem> {
        for manifest in manifests {
            let names = self.names.entry(*manifest).or_default();
            *names = names.saturating_sub(1);
            if *names == 0 {
                to.delete(manifest).await?;
            }
        }
        Ok(())
    }
}

/// The digest in a tag such as `sha256-HEX` or `sha256-HEX.sig`.
fn subject(tag: &str) -> Option<Digest> {
    let hex = tag.strip_prefix("sha256-")?.get(..64)?;
    format!("sha256:{hex}").parse().ok()
}

/// The manifests that an index names.
fn children(bytes: &[u8]) -> Result<BTreeSet<Digest>, Problem> {
    let parts = oci::parts(bytes);
    let parts = parts.map_err(|source| store::Error::from(Refusal::unread(Part::Index, source)))?;
    let manifests = parts.iter().filter(|part| part.may_refer_to_others());
    Ok(manifests
        .filter_map(|part| part.digest.parse().ok())
        .collect())
}
