//! What a copy puts into a bundle, before the bundle is written.

use std::collections::{HashMap, HashSet};
use std::iter::once;
use std::sync::Mutex;

use super::referrers::Attached;
use super::whole_version::{WholeVersion, documents_in_memory};
use crate::blob::{BlobSource as _, Memory};
use crate::digest::Digest;
use crate::disk::temp_file::TempFile;
use crate::event::{Subject, Transfer};
use crate::jobs::locked;
use crate::oci::{self, Part, Repository, Tag};
use crate::outcome::{Problem, Published};
use crate::publish::{Blob, ContentGraph};
use crate::release::Expected;
use crate::store::bundle::contents::Contents;
use crate::store::bundle::index_entry;
use crate::store::{Error, Repo, StoreBlob};

/// The versions that were read and verified. The bytes of their packages stay where they are.
pub(super) struct Draft {
    drafts: Mutex<Drafts>,
    /// The address, and the digest of an index or package, of all that the far side has.
    base: HashSet<String>,
    dry_run: bool,
}

pub(super) struct Drafts {
    /// Manifests and documents. There may be too many for the memory.
    kept: TempFile,
    length: u64,
    blobs: HashMap<Expected, Origin>,
    pub(super) versions: Vec<Drafted>,
}

/// A version, and what it consists of.
pub(super) struct Drafted {
    pub(super) published: Published,
    pub(super) repository: Repository,
    pub(super) evidence: Option<Digest>,
    pub(super) manifests: Vec<Expected>,
    pub(super) documents: Vec<Expected>,
    /// The packages, in the order of those that are published, and whether the far side has them.
    pub(super) packages: Vec<(Expected, bool)>,
    /// The tags, and what `index.json` says of them.
    pub(super) tags: Vec<(Tag, String)>,
    /// The store that it comes from.
    pub(super) from: Repo,
}

/// Where a blob comes from.
struct Origin {
    /// The version that it was read for, and which of its packages it is.
    version: usize,
    package: Option<usize>,
    /// Its offset in the temporary file, if its bytes were read.
    kept: Option<u64>,
}

impl Draft {
    /// A draft without versions. `base` is what the far side has.
    pub(super) fn new(base: Option<&Contents>, dry_run: bool) -> Result<Self, Error> {
        let versions = base.into_iter().flat_map(|base| &base.versions);
        let had = versions.flat_map(|version| {
            let packages = version.packages.iter().map(|package| &package.digest);
            let digests = once(&version.index).chain(packages);
            digests.map(|digest| had(&version.address, digest))
        });
        Ok(Self {
            drafts: Mutex::new(Drafts {
                kept: TempFile::new()?,
                length: 0,
                blobs: HashMap::new(),
                versions: Vec::new(),
            }),
            base: had.collect(),
            dry_run,
        })
    }

    /// What was added.
    pub(super) fn finish(self) -> Drafts {
        let drafts = self.drafts.into_inner();
        drafts.unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Adds a version, and what is attached to it.
    pub(super) fn add(
        &self,
        stored: &WholeVersion,
        attached: &[Attached],
        from: &Repo,
        to: &Repo,
    ) -> Result<Published, Problem> {
        let release = &stored.release;
        let tag = Tag::of_version(&release.version)?;
        let digest = stored.index.root.expected.digest;
        let address = to.repository().to_string();
        let is_had = |digest: &Digest| self.base.contains(&had(&address, digest));
        let transfers = release.packages.iter().map(|package| {
            match is_had(&digest) || is_had(&package.expected.digest) {
                true => Transfer::Present,
                false if self.dry_run => Transfer::Planned,
                false => Transfer::Copied,
            }
        });
        let identity = (to.reference(&tag, &digest), digest);
        let mut drafted = Drafted {
            published: Published::of(release, identity, transfers),
            repository: to.repository().clone(),
            evidence: stored.evidence.as_ref().map(|one| one.root.expected.digest),
            manifests: Vec::new(),
            documents: Vec::new(),
            packages: Vec::new(),
            tags: Vec::new(),
            from: from.clone(),
        };
        if self.dry_run {
            drafted.published.status = drafted.published.status.planned();
        }
        let mut drafts = locked(&self.drafts);
        let published = drafted.published.packages.iter();
        for (at, (package, published)) in release.packages.iter().zip(published).enumerate() {
            drafts.add(package.expected, None, Some(at))?;
            let is_had = published.status == Transfer::Present;
            drafted.packages.push((package.expected, is_had));
            drafted.published.bytes += if is_had { 0 } else { package.expected.size };
        }
        let read = documents_in_memory(release);
        let evidence = Tag::of_evidence(&release.version)?;
        let contents = once(&stored.index).chain(&stored.evidence);
        for (content, tag) in contents.zip([tag, evidence]) {
            drafted.contain(content, tag, &read, &mut drafts)?;
        }
        for one in attached {
            drafted.contain(&one.content, one.tag.clone(), &read, &mut drafts)?;
        }
        let published = drafted.published.clone();
        drafts.versions.push(drafted);
        Ok(published)
    }
}

impl Drafts {
    /// A blob to be written, the version that it was read for, and which of its packages it is.
    pub(super) fn blob(
        &self,
        blob: Expected,
    ) -> Result<(&Drafted, Option<usize>, Blob<StoreBlob>), Error> {
        let (what, digest) = (Part::Blob, blob.digest);
        let origin = self
            .blobs
            .get(&blob)
            .ok_or(Error::Missing { what, digest })?;
        let version = self.versions.get(origin.version);
        let version = version.ok_or(Error::Missing { what, digest })?;
        let blob = match origin.kept {
            Some(at) => Blob::new(self.kept.reader(at).up_to(blob.size)?, false),
            None => Blob::Unproven(version.from.blob(blob)),
        };
        Ok((version, origin.package, blob))
    }

    /// Notes a blob, and keeps its bytes if they were read.
    fn add(
        &mut self,
        blob: Expected,
        read: Option<&[u8]>,
        package: Option<usize>,
    ) -> Result<(), Error> {
        if !self.blobs.contains_key(&blob) {
            if let Some(bytes) = read {
                self.kept.write(bytes)?;
            }
            let origin = Origin {
                version: self.versions.len(),
                package,
                kept: read.map(|_| self.length),
            };
            self.length += read.map_or(0, |_| blob.size);
            self.blobs.insert(blob, origin);
        }
        Ok(())
    }
}

impl Drafted {
    /// Adds what is below a tag, besides packages. Documents are in memory already.
    fn contain(
        &mut self,
        content: &ContentGraph<Expected>,
        tag: Tag,
        read: &[Memory],
        drafts: &mut Drafts,
    ) -> Result<(), Error> {
        for manifest in content.manifests.iter().flatten().chain([&content.root]) {
            drafts.add(manifest.expected, Some(&manifest.bytes), None)?;
            self.manifests.push(manifest.expected);
        }
        for blob in &content.blobs {
            let read = read.iter().find(|one| one.expected() == *blob);
            drafts.add(*blob, read.map(Memory::bytes), None)?;
            if self.packages.iter().all(|(package, _)| package != blob) {
                self.documents.push(*blob);
            }
        }
        let entry = index_entry(&self.repository, &tag, content.root.descriptor());
        self.tags.push((tag, entry.map_err(oci::Error::from)?));
        Ok(())
    }

    /// The version, or one of its packages.
    pub(super) fn subject(&self, package: Option<usize>) -> Subject {
        let version = Subject::version(&self.published.provider, &self.published.version);
        match package.and_then(|package| self.published.packages.get(package)) {
            Some(package) => version.platform(&package.platform),
            None => version,
        }
    }
}

fn had(address: &str, digest: &impl std::fmt::Display) -> String {
    format!("{address} {digest}")
}
