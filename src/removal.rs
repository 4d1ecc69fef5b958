//! Removal: the inverse of publishing.
//!
//! For each version, in this order: what is **attached** to its index, such as signatures; the **index**, with the tag; each **platform manifest** that
//! no other index of the repository names, after what is attached to it; its **evidence last**. So an `evidence-V` without `V` marks a removal that
//! was cut short, and the next run finishes it: a platform manifest is a function of a package's digest, size and name, which the checksum document
//! and the store tell. Registries refuse to delete a manifest that an index still names, so a version without evidence has the same order, and its
//! manifests are named beforehand. A layout forgets the tags, and then deletes what no tag refers to.
//!
//! Nobody else may write into the repository meanwhile: before each version the tags are listed again, and a new one ends the run.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::iter;

use futures_util::future::BoxFuture;
use serde::Serialize;

use crate::digest::Digest;
use crate::event::Reporter;
use crate::examine::{StoredProvider, Versions};
use crate::oci::referrers::subject_of;
use crate::oci::{self, Tag, manifest};
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
}

/// What is attached to a manifest: a list of referrers, or a signature of cosign, with its tag, and then what it names; or what the registry lists.
#[derive(Debug)]
struct Attached {
    tag: Option<Tag>,
    manifests: Vec<Digest>,
}

/// Several of each manifest, by its digest.
type Named<T> = BTreeMap<Digest, Vec<T>>;

impl Removal {
    /// What is left if the removal is cut short, and no later run finds: a version without evidence has left no trace then.
    pub fn may_be_left(&self) -> impl Iterator<Item = &Digest> {
        self.children.iter().filter(|_| self.evidence.is_none())
    }
}

/// What goes of a provider.
#[derive(Debug, Default)]
pub struct Plan {
    /// The versions, the oldest first.
    pub removals: Vec<Removal>,
    /// How many indexes and lists name each manifest.
    names: HashMap<Digest, usize>,
    /// What is attached to each manifest.
    attached: Named<Attached>,
    /// The manifests that were deleted.
    deleted: BTreeSet<Digest>,
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
        let mut others = self.other_tags(from, listed).await?;
        let mut indexes = Vec::new();
        for version in &listed.versions {
            let tag = Tag::of_version(version)?;
            self.tags.insert(tag.to_string());
            let Some(raw) = repo.manifest(At::Tag(&tag)).await? else {
                continue;
            };
            let children = oci::manifests(&raw.bytes).map_err(store::Error::from)?;
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
            } else if removed.contains(version) {
                self.list_attached(repo, index, &children).await?;
            }
            if removed.contains(version) {
                self.removals.push(Removal {
                    version: version.clone(),
                    size: 0,
                    named_by,
                    index: Some(index),
                    children,
                    evidence: repo.digest(&Tag::of_evidence(version)?).await?,
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
    ) -> Result<Named<String>, Problem> {
        let mut others: Named<String> = BTreeMap::new();
        for (subject, entry) in from.repo.untagged().await? {
            self.attach(subject, None, entry.digest.parse().into_iter().collect());
        }
        for (name, _) in &listed.ignored {
            self.tags.insert(name.clone());
            let Ok(tag) = Tag::parse(name) else {
                continue;
            };
            let Some(raw) = from.repo.manifest(At::Tag(&tag)).await? else {
                continue;
            };
            if let Some(subject) = subject_of(name) {
                let below = oci::manifests(&raw.bytes).map_err(store::Error::from)?;
                let manifests = iter::once(raw.expected.digest).chain(below);
                self.attach(subject, Some(tag), manifests.collect());
                continue;
            }
            let version = name.strip_prefix("evidence-");
            let version = version.and_then(|text| text.replace('_', "+").parse().ok());
            match version {
                Some(version) if listed.versions.contains(&version) => {}
                Some(version) => self.cut_short(from, version, &tag).await?,
                None => {
                    self.count(&oci::manifests(&raw.bytes).map_err(store::Error::from)?);
                    let names = others.entry(raw.expected.digest).or_default();
                    names.push(name.clone());
                }
            }
        }
        Ok(others)
    }

    /// Adds what a registry lists as attached to an index, and then to what is below it and attached to it.
    async fn list_attached(
        &mut self,
        repo: &Repo,
        index: Digest,
        children: &BTreeSet<Digest>,
    ) -> Result<(), Problem> {
        let (mut open, mut seen) = (vec![index], BTreeSet::new());
        while let Some(subject) = open.pop() {
            let listed = repo.referrers(&subject).await?.unwrap_or_default();
            let digests = listed.iter().filter_map(|one| one.digest.parse().ok());
            let manifests: Vec<Digest> = digests.collect();
            if manifests.is_empty() {
                continue;
            }
            if subject == index {
                open.extend(children);
            }
            open.extend(manifests.iter().filter(|one| seen.insert(**one)));
            self.attach(subject, None, manifests);
        }
        Ok(())
    }

    fn attach(&mut self, subject: Digest, tag: Option<Tag>, manifests: Vec<Digest>) {
        self.count(&manifests);
        let all = self.attached.entry(subject).or_default();
        all.push(Attached { tag, manifests });
    }

    fn count<'a>(&mut self, children: impl IntoIterator<Item = &'a Digest>) {
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
        let (mut gone, mut forgotten) = (Vec::new(), Vec::new());
        for removal in removals.iter().filter(|one| one.named_by.is_empty()) {
            let tags = to.tags().await?.unwrap_or_default();
            if tags.iter().any(|tag| !self.tags.contains(tag)) {
                return Err(Problem::Contended { attempts: 1 });
            }
            gone.extend([
                Tag::of_version(&removal.version)?,
                Tag::of_evidence(&removal.version)?,
            ]);
            if let Some(index) = removal.index {
                self.detach(to, index, &mut gone).await?;
                to.delete(&index).await?;
            }
            let children = removal.children.iter().copied().collect();
            self.delete(to, children, &mut gone).await?;
            if let Some(evidence) = &removal.evidence {
                to.delete(evidence).await?;
            }
            match to.registry_host() {
                Some(_) => on_removed(removal),
                None => forgotten.push(removal),
            }
        }
        to.untag(&gone, &self.deleted)?;
        to.sweep().await?;
        forgotten.into_iter().for_each(on_removed);
        Ok(())
    }

    /// Deletes the manifests that nothing names any more, each after what is attached to it. `gone` gets the tags.
    async fn delete(
        &mut self,
        to: &RepoMut,
        manifests: Vec<Digest>,
        gone: &mut Vec<Tag>,
    ) -> Result<(), Problem> {
        for manifest in manifests {
            let names = self.names.entry(manifest).or_default();
            *names = names.saturating_sub(1);
            if *names == 0 {
                self.detach(to, manifest, gone).await?;
                to.delete(&manifest).await?;
                self.deleted.insert(manifest);
            }
        }
        Ok(())
    }

    /// Deletes what is attached to a manifest.
    fn detach<'a>(
        &'a mut self,
        to: &'a RepoMut,
        subject: Digest,
        gone: &'a mut Vec<Tag>,
    ) -> BoxFuture<'a, Result<(), Problem>> {
        Box::pin(async move {
            for attached in self.attached.remove(&subject).unwrap_or_default() {
                gone.extend(attached.tag);
                self.delete(to, attached.manifests, gone).await?;
            }
            Ok(())
        })
    }
}
