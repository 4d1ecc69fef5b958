//! What a copy puts into a bundle, before the bundle is written.

use std::collections::{HashMap, HashSet};
use std::iter::once;
use std::sync::{Arc, Mutex, MutexGuard};

use super::stored_version::{StoredVersion, documents_in_memory};
use crate::blob::{BlobSource as _, Memory};
use crate::digest::Digest;
use crate::disk::temp_file::TempFileWriter;
use crate::event::{Subject, Transfer};
use crate::jobs::locked;
use crate::oci::{self, Repository, Tag};
use crate::outcome::{Problem, Published};
use crate::place::Place;
use crate::publish::{Blob, ContentGraph};
use crate::release::Expected;
use crate::store::bundle::contents::Contents;
use crate::store::bundle::{Key, Member, index_entry, key_of};
use crate::store::{Error, Repo, StoreBlob};

/// The versions that were read and verified. The bytes of their packages stay where they are.
pub(super) struct Draft {
    state: Mutex<State>,
    /// The address, and the digest of an index or package, of all that the far side has.
    base: HashSet<String>,
    dry_run: bool,
}

pub(super) struct State {
    /// Manifests and documents. There may be too many for the memory.
    kept: TempFileWriter,
    length: u64,
    blobs: HashMap<Key, (u64, Origin)>,
    pub(super) versions: Vec<Drafted>,
}

/// A version, and what it consists of.
pub(super) struct Drafted {
    pub(super) published: Published,
    pub(super) repository: Repository,
    pub(super) evidence: Option<Digest>,
    pub(super) manifests: Vec<Key>,
    pub(super) documents: Vec<Key>,
    /// The packages, in the order of those that are published, and whether the far side has them.
    pub(super) packages: Vec<(Key, bool)>,
    /// The tags, and what `index.json` says of them.
    pub(super) tags: Vec<(Tag, String)>,
    /// The store that it comes from.
    pub(super) from: Place,
}

/// Where the bytes of a blob are.
enum Origin {
    /// In the temporary file, at this offset.
    Kept(u64),
    Stored(Arc<Repo>),
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
            state: Mutex::new(State {
                kept: TempFileWriter::new()?,
                length: 0,
                blobs: HashMap::new(),
                versions: Vec::new(),
            }),
            base: had.collect(),
            dry_run,
        })
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    /// Adds a version.
    pub(super) fn add(
        &self,
        stored: &StoredVersion,
        from: &Repo,
        to: &Repo,
    ) -> Result<(), Problem> {
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
            from: from.place(),
        };
        if self.dry_run {
            drafted.published.status = drafted.published.status.planned();
        }
        let (mut state, from) = (self.state(), Arc::new(from.clone()));
        for (package, published) in release.packages.iter().zip(&drafted.published.packages) {
            let key = state.add(package.expected, None, &from)?;
            let is_had = published.status == Transfer::Present;
            drafted.packages.push((key, is_had));
            drafted.published.bytes += if is_had { 0 } else { package.expected.size };
        }
        let read = documents_in_memory(release);
        let evidence = Tag::of_evidence(&release.version)?;
        let contents = once(&stored.index).chain(&stored.evidence);
        for (content, tag) in contents.zip([tag, evidence]) {
            drafted.contain(content, tag, &read, &from, &mut state)?;
        }
        state.versions.push(drafted);
        Ok(())
    }

    /// A blob, to be written.
    pub(super) fn blob(&self, member: &Member) -> Result<Blob<StoreBlob>, Error> {
        let state = self.state();
        Ok(match state.blobs.get(&member.key) {
            Some((size, Origin::Kept(at))) => {
                Blob::new(state.kept.reader(*at).up_to(*size)?, false)
            }
            Some((_, Origin::Stored(repo))) => Blob::Unproven(repo.blob(member.expected())),
            // Every member comes from the draft.
            None => Blob::new(Vec::new(), false),
        })
    }
}

impl State {
    pub(super) fn size(&self, key: &Key) -> u64 {
        self.blobs.get(key).map_or(0, |(size, _)| *size)
    }

    pub(super) fn expected(&self, key: &Key) -> Expected {
        let (digest, size) = (Digest::from_sha256(*key), self.size(key));
        Expected { digest, size }
    }

    /// Notes a blob, and keeps its bytes if they were read.
    fn add(&mut self, blob: Expected, read: Option<&[u8]>, from: &Arc<Repo>) -> Result<Key, Error> {
        let key = key_of(blob)?;
        if !self.blobs.contains_key(&key) {
            let origin = match read {
                None => Origin::Stored(Arc::clone(from)),
                Some(bytes) => {
                    let at = self.length;
                    self.kept.write(bytes)?;
                    self.length += blob.size;
                    Origin::Kept(at)
                }
            };
            self.blobs.insert(key, (blob.size, origin));
        }
        Ok(key)
    }
}

impl Drafted {
    /// Adds what is below a tag, besides packages. Documents are in memory already.
    fn contain(
        &mut self,
        content: &ContentGraph<Expected>,
        tag: Tag,
        read: &[Memory],
        from: &Arc<Repo>,
        state: &mut State,
    ) -> Result<(), Error> {
        for manifest in content.manifests.iter().flatten().chain([&content.root]) {
            let bytes = Some(&*manifest.bytes);
            self.manifests
                .push(state.add(manifest.expected, bytes, from)?);
        }
        for blob in &content.blobs {
            let read = read.iter().find(|one| one.expected() == *blob);
            let key = state.add(*blob, read.map(Memory::bytes), from)?;
            if self.packages.iter().all(|(package, _)| *package != key) {
                self.documents.push(key);
            }
        }
        let entry = index_entry(&self.repository, &tag, content.root.descriptor());
        self.tags.push((tag, entry.map_err(oci::Error::from)?));
        Ok(())
    }

    /// A package, for the progress.
    pub(super) fn subject(&self, package: usize) -> Option<Subject> {
        let version = Subject::version(&self.published.provider, &self.published.version);
        Some(version.platform(&self.published.packages.get(package)?.platform))
    }
}

fn had(address: &str, digest: &impl std::fmt::Display) -> String {
    format!("{address} {digest}")
}
