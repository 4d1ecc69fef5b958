//! OCI image layouts on disk.
//!
//! ```text
//! DIR/registry.opentofu.org/acme/demo/    one standard layout for each provider
//!     oci-layout  index.json              index.json: which tag stands for what
//!     blobs/sha256/<hex>                  zips, manifests, evidence
//!     .tfoci.lock                         held by whoever writes
//! ```
//!
//! Each is a layout of its own, so that any OCI tool reads it. Zips that several providers share are hard links where the file
//! system can. Blobs are written, synced and renamed before `index.json`, in which alone things become visible, is replaced.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::StreamExt as _;

use super::{At, Error, Listing, Move, Put, ReadStore, Tagged, WriteStore};
use crate::blob::{self, BlobSource, hold_back};
use crate::digest::{Digest, Hasher};
use crate::disk::{self, Staged, if_exists, staged};
use crate::event::Reporter;
use crate::oci::tags::LAYOUT;
use crate::oci::{Descriptor, LARGEST_READ, RawManifest, Repository, Tag, Tags};
use crate::release::Expected;

/// The largest `index.json` that is read: some hundred thousand tags.
const LARGEST_INDEX: u64 = 64 << 20;

/// A directory of layouts, or one layout.
#[derive(Clone, Debug)]
pub struct Layout {
    root: Arc<PathBuf>,
    name: Arc<str>,
}

impl Layout {
    /// Names a directory; nothing is opened. `name` is how the user wrote it.
    pub fn new(root: PathBuf, name: &str) -> Self {
        Self {
            root: Arc::new(root),
            name: name.into(),
        }
    }

    fn directory(&self, repository: &Repository) -> PathBuf {
        if repository.as_str().is_empty() {
            self.root.to_path_buf()
        } else {
            self.root.join(repository.as_str())
        }
    }

    fn blob_path(&self, repository: &Repository, digest: &Digest) -> PathBuf {
        self.directory(repository)
            .join("blobs")
            .join(digest.algorithm().as_str())
            .join(digest.hex())
    }

    fn index(&self, repository: &Repository) -> Result<Option<Tags>, Error> {
        let path = self.directory(repository).join("index.json");
        let Some(bytes) = if_exists(disk::read(&path, LARGEST_INDEX))? else {
            return Ok(None);
        };
        Tags::read(&bytes)
            .map(Some)
            .map_err(|source| Error::LayoutIndex { path, source })
    }

    /// Reads a document whole and checks it against what points at it.
    fn document(
        &self,
        repository: &Repository,
        entry: &Descriptor,
    ) -> Result<Option<RawManifest>, Error> {
        const WHAT: &str = "manifest";
        let expected = entry
            .expected()
            .map_err(|source| crate::oci::Refusal::Descriptor { what: WHAT, source })?;
        if expected.size > LARGEST_READ {
            return Err(crate::oci::Refusal::TooLarge {
                size: expected.size,
            }
            .into());
        }
        let path = self.blob_path(repository, &expected.digest);
        let Some(bytes) = if_exists(disk::read(&path, LARGEST_READ))? else {
            return Ok(None);
        };
        let mut hasher = Hasher::new(expected.digest.algorithm());
        hasher.update(&bytes);
        let digest = hasher.finish();
        let size = bytes.len() as u64;
        let problem = if digest != expected.digest {
            Some(blob::Error::Digest {
                expected: expected.digest,
                received: digest,
            })
        } else if size < expected.size {
            Some(blob::Error::Shorter {
                expected: expected.size,
                received: size,
            })
        } else if size > expected.size {
            Some(blob::Error::Longer {
                expected: expected.size,
            })
        } else {
            None
        };
        if let Some(source) = problem {
            return Err(Error::Blob {
                what: WHAT,
                digest: expected.digest,
                source,
            });
        }
        let (media_type, artifact_type) = (entry.media_type.clone(), entry.artifact_type.clone());
        Ok(Some(RawManifest {
            media_type,
            artifact_type,
            bytes: bytes.into(),
            expected,
        }))
    }

    fn listing(&self) -> Result<Vec<Repository>, Error> {
        let mut found = Vec::new();
        for host in subdirectories(&self.root)? {
            for namespace in subdirectories(&self.root.join(&host))? {
                for type_name in subdirectories(&self.root.join(&host).join(&namespace))? {
                    let relative = format!("{host}/{namespace}/{type_name}");
                    let visible = self.root.join(&relative).join("index.json").exists();
                    found.extend(Repository::of_directory(&relative).filter(|_| visible));
                }
            }
        }
        Ok(found)
    }

    /// Shares a blob that another repository of this layout has, if it is sound there.
    fn link(&self, repository: &Repository, expected: &Expected) -> Result<bool, Error> {
        if repository.as_str().is_empty() {
            return Ok(false);
        }
        let target = self.blob_path(repository, &expected.digest);
        for other in self.listing()?.iter().filter(|other| *other != repository) {
            let path = self.blob_path(other, &expected.digest);
            let fits = std::fs::metadata(&path).is_ok_and(|found| found.len() == expected.size);
            // A file system without hard links, or one with too many of them, only costs a copy.
            if fits && is_sound(&path, expected)? && std::fs::hard_link(&path, &target).is_ok() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn make_room(&self, repository: &Repository, digest: &Digest) -> Result<PathBuf, Error> {
        let path = self.blob_path(repository, digest);
        if let Some(directory) = path.parent() {
            disk::create_dir(directory)?;
        }
        Ok(path)
    }

    /// Every digest that some tag, or some descriptor of a stranger, leads to.
    ///
    /// # Errors
    /// A document that cannot be read: what it leads to is not known, so nothing may be called unused.
    fn in_use(&self, repository: &Repository) -> Result<HashSet<String>, Error> {
        let mut used = HashSet::new();
        let mut open: Vec<Descriptor> = self
            .index(repository)?
            .unwrap_or_default()
            .descriptors()
            .cloned()
            .collect();
        while let Some(descriptor) = open.pop() {
            if used.insert(descriptor.digest.clone()) && descriptor.media_type.ends_with("json") {
                let raw = self.document(repository, &descriptor)?;
                open.extend(raw.iter().flat_map(|raw| crate::oci::children(&raw.bytes)));
            }
        }
        Ok(used)
    }
}

impl ReadStore for Layout {
    type Blob = blob::File;

    async fn repositories(&self) -> Result<Listing, Error> {
        self.listing().map(Listing::Listed)
    }

    async fn tags(&self, repository: &Repository) -> Result<Option<Vec<Tag>>, Error> {
        Ok(self.index(repository)?.map(|index| index.tags()))
    }

    async fn manifest(
        &self,
        repository: &Repository,
        at: At<'_>,
    ) -> Result<Option<RawManifest>, Error> {
        match at {
            At::Entry(entry) => self.document(repository, entry),
            At::Tag(tag) => {
                let index = self.index(repository)?.unwrap_or_default();
                let Some(entry) = index.find(tag) else {
                    return Ok(None);
                };
                let missing = || Error::Missing {
                    what: "manifest of a tag",
                    digest: entry.digest.clone(),
                };
                self.document(repository, entry)?
                    .ok_or_else(missing)
                    .map(Some)
            }
        }
    }

    async fn digest(&self, repository: &Repository, tag: &Tag) -> Result<Option<Digest>, Error> {
        let index = self.index(repository)?.unwrap_or_default();
        let expected = index.find(tag).map(Descriptor::expected).transpose();
        let unusable = |source| crate::oci::Refusal::Descriptor {
            what: "manifest",
            source,
        };
        Ok(expected.map_err(unusable)?.map(|expected| expected.digest))
    }

    fn blob(&self, repository: &Repository, expected: Expected) -> blob::File {
        blob::File {
            path: self.blob_path(repository, &expected.digest),
            expected,
        }
    }

    fn name(&self, repository: &Repository) -> String {
        let separator = if repository.as_str().is_empty() {
            ""
        } else {
            "/"
        };
        format!("{}{separator}{repository}", self.name)
    }
}

impl WriteStore for Layout {
    async fn lock(
        &self,
        repository: &Repository,
        reporter: &dyn Reporter,
    ) -> Result<Option<disk::Lock>, Error> {
        let directory = self.directory(repository);
        disk::create_dir(&directory)?;
        let lock = disk::Lock::acquire(directory.join(".tfoci.lock"), reporter).await?;
        disk::sweep(&directory)?;
        disk::sweep(&directory.join("blobs").join("sha256"))?;
        Ok(Some(lock))
    }

    async fn has_blob(&self, repository: &Repository, expected: &Expected) -> Result<bool, Error> {
        let found = std::fs::metadata(self.blob_path(repository, &expected.digest));
        Ok(found.is_ok_and(|found| found.is_file() && found.len() == expected.size))
    }

    async fn put_blob<B: BlobSource>(
        &self,
        repository: &Repository,
        blob: &B,
    ) -> Result<Put, Error> {
        let expected = blob.expected();
        let path = self.make_room(repository, &expected.digest)?;
        // Its size alone would let a damaged blob become part of something new.
        if self.has_blob(repository, &expected).await? && is_sound(&path, &expected)? {
            return Ok(Put::Present);
        }
        if self.link(repository, &expected)? {
            return Ok(Put::Mounted);
        }
        let unusable = |source| Error::Blob {
            what: "blob",
            digest: expected.digest,
            source,
        };
        let mut staged = Staged::new(&path)?;
        let mut body = hold_back(blob.open(0).await.map_err(unusable)?, expected);
        while let Some(chunk) = body.next().await {
            staged.write(&chunk.map_err(unusable)?)?;
            // A local file never waits; without this the task could not be stopped.
            tokio::task::consume_budget().await;
        }
        staged.publish()?;
        Ok(Put::Stored)
    }

    async fn put_manifest(
        &self,
        repository: &Repository,
        manifest: &RawManifest,
    ) -> Result<(), Error> {
        let path = self.make_room(repository, &manifest.expected.digest)?;
        // Written again even when a file is there: it is small, and it may be the half of an older tool's.
        let mut staged = Staged::new(&path)?;
        staged.write(&manifest.bytes)?;
        Ok(staged.publish()?)
    }

    async fn tag(&self, repository: &Repository, moves: &[Move<'_>]) -> Result<Tagged, Error> {
        let directory = self.directory(repository);
        let mut index = self.index(repository)?.unwrap_or_default();
        let path = directory.join("index.json");
        for Move { tag, to, was } in moves {
            let now = index.find(tag).map(|entry| entry.digest.clone());
            if now != was.map(Digest::to_string) {
                return Ok(Tagged::Conflict);
            }
            index.set(tag, to).map_err(|source| Error::LayoutIndex {
                path: path.clone(),
                source,
            })?;
        }
        let bytes = index.write().map_err(|source| Error::LayoutIndex {
            path: path.clone(),
            source,
        })?;
        disk::sync_dir(&directory.join("blobs").join("sha256"))?;
        let marker = directory.join("oci-layout");
        if !marker.exists() {
            staged::replace(&marker, LAYOUT)?;
        }
        staged::replace(&path, &bytes)?;
        Ok(Tagged::Moved)
    }

    async fn sweep(&self, repository: &Repository) -> Result<(), Error> {
        let used = self.in_use(repository)?;
        let directory = self.directory(repository).join("blobs").join("sha256");
        for name in disk::names(&directory)? {
            if !used.contains(&format!("sha256:{name}")) {
                disk::remove(&directory.join(name))?;
            }
        }
        Ok(())
    }
}

fn subdirectories(path: &Path) -> Result<Vec<String>, Error> {
    let names = if_exists(disk::names(path))?.unwrap_or_default();
    Ok(names
        .into_iter()
        .filter(|name| !name.starts_with('.') && path.join(name).is_dir())
        .collect())
}

fn is_sound(path: &Path, expected: &Expected) -> Result<bool, Error> {
    let mut blocks = disk::Blocks::open(path, 0)?;
    let mut hasher = Hasher::new(expected.digest.algorithm());
    while let Some(block) = blocks.next_block()? {
        hasher.update(&block);
    }
    Ok(hasher.finish() == expected.digest)
}
