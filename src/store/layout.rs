//! OCI image layouts on disk.
//!
//! ```text
//! DIR/registry.opentofu.org/acme/demo/    one standard layout for each provider
//!     oci-layout  index.json              index.json: the tags and their manifests
//!     blobs/sha256/<hex>                  zips, manifests, evidence
//!     .tfoci.lock                         locked by the process that writes
//! ```
//!
//! Each provider has a layout of its own, which any OCI tool can read. A zip that several providers share is stored once, with hard
//! links, if the file system supports them and no other user can change the file. Blobs are written, synced and renamed before
//! `index.json` is replaced, which makes a version visible.

mod index;
mod listing;
mod writers;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use futures_util::StreamExt as _;

use self::index::LastIndex;
pub use self::writers::LayoutLock;
use self::writers::Writers;
use super::{Error, PutError, StoreBlob};
use crate::blob::{self, BlobInfo, BlobLocation, BlobSource, proven};
use crate::digest::Digest;
use crate::disk::{self, Staged};
use crate::event::Transfer;
use crate::oci::{Descriptor, Part, RawManifest, Repository, Tag};
use crate::release::Expected;

/// The name of the lock file of a layout, which stays in its directory.
const LOCK: &str = ".tfoci.lock";

/// The directory of the blobs in a layout.
const BLOBS: &str = "blobs/sha256";

/// A directory of layouts, or one layout.
#[derive(Clone, Debug)]
pub struct Layout {
    root: Arc<PathBuf>,
    name: Arc<str>,
    last_index: LastIndex,
    writers: Arc<Mutex<HashMap<Repository, Arc<Writers>>>>,
}

impl Layout {
    /// A layout in a directory, which is not opened yet. `name` is the address as the user wrote it.
    pub fn new(root: PathBuf, name: &str) -> Self {
        Self {
            root: Arc::new(root),
            name: name.into(),
            last_index: LastIndex::default(),
            writers: Arc::default(),
        }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    fn directory(&self, repository: &Repository) -> PathBuf {
        match repository.as_str() {
            "" => self.root.to_path_buf(),
            name => self.root.join(name),
        }
    }

    fn blob_path(&self, repository: &Repository, digest: &Digest) -> PathBuf {
        self.directory(repository).join(BLOBS).join(digest.hex())
    }

    /// Hard-links a blob from another file, or from another repository of this layout, if that copy is undamaged.
    async fn link(
        &self,
        repository: &Repository,
        expected: &Expected,
        kept: Option<BlobLocation<'_>>,
    ) -> Result<bool, Error> {
        let target = self.blob_path(repository, &expected.digest);
        let mut paths = Vec::new();
        if let Some(BlobLocation::InFile(path)) = kept {
            paths.push(path.to_owned());
        }
        if !repository.as_str().is_empty() {
            // Without their blobs, this one is copied.
            let others = self.layouts().unwrap_or_default().repositories;
            let others = others.into_iter().filter(|other| other != repository);
            paths.extend(others.map(|other| self.blob_path(&other, &expected.digest)));
        }
        for path in paths {
            let fits = std::fs::metadata(&path).is_ok_and(|found| found.len() == expected.size);
            // If the file system supports no hard link here, the caller copies the blob instead.
            if fits
                && let Some(link) = Staged::link(&path, &target)
                && matches_digest(link.path(), expected)
                    .await
                    .unwrap_or_default()
            {
                link.publish()?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Refuses to write into a repository that a symbolic link leads out of the store. A stranger's link could otherwise have files written and
    /// removed elsewhere. A link that is made between this check and the write is not noticed.
    fn refuse_links(&self, repository: &Repository) -> Result<(), Error> {
        let below = Path::new(repository.as_str()).join(BLOBS);
        Ok(disk::refuse_links(&self.root, &below)?)
    }

    fn create_parent(&self, repository: &Repository, digest: &Digest) -> Result<PathBuf, Error> {
        self.refuse_links(repository)?;
        let path = self.blob_path(repository, digest);
        if let Some(directory) = path.parent() {
            disk::create_directory(directory)?;
        }
        Ok(path)
    }

    /// Every digest that is reachable from entries of `index.json`.
    ///
    /// # Errors
    /// A document cannot be read. Its references are unknown, so no blob may be treated as unused.
    async fn in_use(
        &self,
        repository: &Repository,
        entries: impl Iterator<Item = Descriptor>,
    ) -> Result<HashSet<String>, Error> {
        let mut used = HashSet::new();
        let mut open: Vec<Descriptor> = entries.collect();
        let what = Part::Blob;
        while let Some(descriptor) = open.pop() {
            if !used.insert(descriptor.digest.clone()) || !descriptor.may_refer_to_others() {
                continue;
            }
            let blob = self.blob(repository, descriptor.expected_of(what)?);
            if let Some(raw) = blob.document(&descriptor, what).await? {
                open.extend(raw.children()?);
            }
        }
        Ok(used)
    }

    /// All entries of `index.json`.
    pub(super) fn descriptors(&self, repository: &Repository) -> Result<Vec<Descriptor>, Error> {
        let index = self.index(repository)?.unwrap_or_default();
        Ok(index.descriptors().collect())
    }

    pub(super) fn tags(&self, repository: &Repository) -> Result<Option<Vec<String>>, Error> {
        Ok(self.index(repository)?.map(|tags| tags.names()))
    }

    /// The manifest that a tag refers to.
    pub(super) fn entry(
        &self,
        repository: &Repository,
        tag: &Tag,
    ) -> Result<Option<Descriptor>, Error> {
        let index = self.index(repository)?.unwrap_or_default();
        Ok(index.find(tag))
    }

    pub(super) fn blob(&self, repository: &Repository, expected: Expected) -> StoreBlob {
        StoreBlob::Layout(blob::File {
            is_unverified: false,
            path: self.blob_path(repository, &expected.digest),
            expected,
        })
    }

    pub(super) fn name(&self, repository: &Repository) -> String {
        match repository.as_str() {
            "" => self.name.to_string(),
            name => format!("{}/{name}", self.name),
        }
    }

    pub(super) fn has_blob(&self, repository: &Repository, expected: &Expected) -> bool {
        self.blob_size(repository, expected) == Some(expected.size)
    }

    pub(super) fn blob_size(&self, repository: &Repository, expected: &Expected) -> Option<u64> {
        let found = std::fs::symlink_metadata(self.blob_path(repository, &expected.digest)).ok()?;
        found.is_file().then_some(found.len())
    }

    pub(super) async fn put_blob<B: BlobSource>(
        &self,
        repository: &Repository,
        blob: &B,
    ) -> Result<Transfer, PutError<B::Failure>> {
        let BlobInfo {
            expected, location, ..
        } = blob.info();
        let path = self.create_parent(repository, &expected.digest)?;
        // A check of the size alone would let a new version refer to a damaged blob.
        if self.has_blob(repository, &expected) && matches_digest(&path, &expected).await? {
            return Ok(Transfer::Present);
        }
        if self.link(repository, &expected, location).await? {
            return Ok(Transfer::Mounted);
        }
        let mut staged = Staged::new(&path)?;
        let mut body = proven(blob).await.map_err(PutError::Source)?;
        while let Some(chunk) = body.next().await {
            staged.write(&chunk.map_err(PutError::Source)?)?;
        }
        staged.publish()?;
        Ok(Transfer::Copied)
    }

    pub(super) fn put_manifest(
        &self,
        repository: &Repository,
        manifest: &RawManifest,
    ) -> Result<(), Error> {
        let path = self.create_parent(repository, &manifest.expected.digest)?;
        // Always written, since it is small and an existing file may be truncated.
        let mut staged = Staged::new(&path)?;
        staged.write(&manifest.bytes)?;
        Ok(staged.publish()?)
    }

    pub(super) async fn sweep(&self, repository: &Repository) -> Result<(), Error> {
        let entries = self.descriptors(repository)?;
        let used = self.in_use(repository, entries.into_iter()).await?;
        self.remove_unused(repository, &used)
    }

    fn remove_unused(&self, repository: &Repository, used: &HashSet<String>) -> Result<(), Error> {
        self.refuse_links(repository)?;
        let directory = self.directory(repository).join(BLOBS);
        for name in disk::names(&directory)? {
            if !used.contains(&format!("sha256:{name}")) {
                disk::remove(&directory.join(name))?;
            }
        }
        Ok(())
    }
}

async fn matches_digest(path: &Path, expected: &Expected) -> Result<bool, Error> {
    let blocks = disk::Blocks::open_unlinked(path, 0)?;
    let digest = blocks.digest_in_task();
    Ok(digest.await? == expected.digest)
}
