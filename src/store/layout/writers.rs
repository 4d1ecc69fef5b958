//! The tasks of this process that write to one layout: they share its lock, and move their tags together.
//!
//! Another process waits for the lock of the file system. In this process, several versions are written side by side. `index.json` has an entry for
//! each tag, so writing it once for each of thousands of versions would take longer than copying them. While one task writes the file, further
//! versions become ready. The next write has all of them.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedMutexGuard, oneshot};

use super::index::create_marker;
use super::{LOCK, Layout};
use crate::digest::Digest;
use crate::disk::{self, staged};
use crate::event::Reporter;
use crate::jobs::locked;
use crate::oci::{self, RawManifest, Repository, Tag, Tags};
use crate::store::{Error, Move, Tagged};

/// How long a task waits for further versions before it writes, as a multiple of the time that the last write took. Writing then takes at most a
/// third of the time, however large the file gets.
const PATIENCE: u32 = 2;

/// What the writers of one layout share.
#[derive(Debug, Default)]
pub(super) struct Writers {
    /// The lock of the file, while a task has it.
    lock: Arc<tokio::sync::Mutex<Weak<disk::Lock>>>,
    ready: Mutex<Vec<Ready>>,
    /// How long the last write of `index.json` took. It is locked during a write.
    writing: tokio::sync::Mutex<Duration>,
}

/// A version whose tags are to be moved.
#[derive(Debug)]
struct Ready {
    moves: Vec<(Tag, RawManifest, Option<Digest>)>,
    moved: oneshot::Sender<Tagged>,
}

/// The lock of a layout. The file is unlocked when the last task of this process drops it.
#[derive(Debug)]
pub struct LayoutLock {
    _file: Arc<disk::Lock>,
    /// Keeps other tasks of this process away.
    _alone: Option<OwnedMutexGuard<Weak<disk::Lock>>>,
}

impl Layout {
    fn writers(&self, repository: &Repository) -> Arc<Writers> {
        let mut all = locked(&self.writers);
        Arc::clone(all.entry(repository.clone()).or_default())
    }

    /// Locks a layout. A task that is `alone` waits for all others, and others wait for it.
    pub(in crate::store) async fn lock(
        &self,
        repository: &Repository,
        alone: bool,
        reporter: &dyn Reporter,
    ) -> Result<LayoutLock, Error> {
        let mut known = Arc::clone(&self.writers(repository).lock)
            .lock_owned()
            .await;
        let shared = known.upgrade().filter(|_| !alone);
        let file = match shared {
            Some(file) => file,
            None => Arc::new(self.lock_file(repository, reporter).await?),
        };
        *known = Arc::downgrade(&file);
        Ok(LayoutLock {
            _file: file,
            _alone: alone.then_some(known),
        })
    }

    async fn lock_file(
        &self,
        repository: &Repository,
        reporter: &dyn Reporter,
    ) -> Result<disk::Lock, Error> {
        self.refuse_links(repository)?;
        let directory = self.directory(repository);
        disk::create_durable_directory(&directory)?;
        let lock = disk::Lock::acquire(directory.join(LOCK), reporter).await?;
        disk::sweep(&directory)?;
        disk::sweep(&directory.join("blobs").join("sha256"))?;
        Ok(lock)
    }

    /// Moves the tags of a version, together with the tags of other versions that are ready.
    pub(in crate::store) async fn tag(
        &self,
        repository: &Repository,
        moves: &[Move<'_>],
    ) -> Result<Tagged, Error> {
        self.index(repository)?;
        create_marker(&self.directory(repository))?;
        for Move { to, .. } in moves {
            self.put_manifest(repository, to)?;
        }
        let moves = moves
            .iter()
            .map(|Move { tag, to, was }| (Tag::clone(tag), RawManifest::clone(to), was.copied()))
            .collect();
        let (moved, mut outcome) = oneshot::channel();
        let writers = self.writers(repository);
        let ready = || locked(&writers.ready);
        ready().push(Ready { moves, moved });
        let mut writing = writers.writing.lock().await;
        if let Ok(outcome) = outcome.try_recv() {
            return Ok(outcome);
        }
        tokio::time::sleep(*writing * PATIENCE).await;
        let begun = Instant::now();
        let mut all = std::mem::take(&mut *ready());
        // Nobody waits for a version whose copy was stopped.
        all.retain(|one| !one.moved.is_closed());
        // This version gets the error. The others see a conflict, try again, and get errors of their own.
        let outcomes = self.write_moves(repository, &all)?;
        *writing = begun.elapsed();
        for (Ready { moved, .. }, outcome) in all.into_iter().zip(outcomes) {
            let _received = moved.send(outcome);
        }
        Ok(outcome.try_recv().unwrap_or(Tagged::Conflict))
    }

    /// Forgets tags, and manifests without a tag, and sweeps the layout.
    pub(in crate::store) async fn forget(
        &self,
        repository: &Repository,
        tags: &[Tag],
        manifests: &BTreeSet<Digest>,
    ) -> Result<(), Error> {
        let mut index = Tags::clone(&*self.index(repository)?.unwrap_or_default());
        index.remove(tags, manifests);
        // Before anything is written: it fails if something that stays is damaged.
        let used = self.in_use(repository, index.descriptors()).await?;
        let bytes = index.write().map_err(oci::Error::from)?;
        staged::replace(&self.directory(repository).join("index.json"), &bytes)?;
        self.last_index.written(bytes, index);
        self.remove_unused(repository, &used)
    }

    /// Moves the tags of several versions. Returns the outcome of each.
    fn write_moves(&self, repository: &Repository, all: &[Ready]) -> Result<Vec<Tagged>, Error> {
        let directory = self.directory(repository);
        let path = directory.join("index.json");
        let mut index = Tags::clone(&*self.index(repository)?.unwrap_or_default());
        let mut outcomes = Vec::new();
        for Ready { moves, .. } in all {
            let is_as_before = moves.iter().all(|(tag, _, was)| {
                let now = index.find(tag).map(|entry| entry.digest);
                now == was.map(|was| was.to_string())
            });
            outcomes.push(match is_as_before {
                true => Tagged::Moved,
                false => Tagged::Conflict,
            });
            for (tag, to, _) in moves.iter().filter(|_| is_as_before) {
                index.set(tag, to).map_err(oci::Error::from)?;
            }
        }
        if !outcomes.contains(&Tagged::Moved) {
            return Ok(outcomes);
        }
        let bytes = index.write().map_err(oci::Error::from)?;
        let blobs = directory.join("blobs");
        for algorithm in disk::subdirectories(&blobs)? {
            disk::sync_directory(&blobs.join(algorithm))?;
        }
        disk::sync_directory(&blobs)?;
        staged::replace(&path, &bytes)?;
        self.last_index.written(bytes, index);
        Ok(outcomes)
    }
}
