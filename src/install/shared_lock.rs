//! The locks of the directories that packages are installed into.

use std::path::Path;
use std::sync::Arc;

use std::sync::Weak;

use super::{DirectoryKind, Held, Problem, Reporter, Request, disk};

/// The locks of an installation.
#[derive(Default)]
pub(super) struct Locks {
    into: SharedLock,
    cache: SharedLock,
}

impl Locks {
    /// Locks the directories of a request; none in a dry run.
    pub(super) async fn acquire(
        &self,
        request: &Request,
        reporter: &Arc<dyn Reporter>,
    ) -> Result<Held, Problem> {
        let Request {
            into, kind, cache, ..
        } = request;
        let mut held = Vec::new();
        if request.dry_run {
            return Ok(held);
        }
        held.push(self.into.acquire(into, *kind, reporter).await?);
        if let Some(cache) = cache {
            held.push(self.cache.acquire(cache, *kind, reporter).await?);
        }
        Ok(held)
    }
}

/// The lock of a directory, which providers share that are installed at the same time.
#[derive(Default)]
struct SharedLock(tokio::sync::Mutex<Weak<disk::Lock>>);

impl SharedLock {
    /// Creates and locks the directory, unless another provider holds the lock.
    async fn acquire(
        &self,
        into: &Path,
        kind: DirectoryKind,
        reporter: &Arc<dyn Reporter>,
    ) -> Result<Arc<disk::Lock>, Problem> {
        let mut shared = self.0.lock().await;
        if let Some(lock) = shared.upgrade() {
            return Ok(lock);
        }
        disk::create_directory(into)?;
        let lock = match kind {
            DirectoryKind::Mirror => {
                disk::Lock::acquire(into.join(".tfoci.lock"), &**reporter).await?
            }
            // Clients would not expect a file there.
            DirectoryKind::Providers(_) => disk::Lock::of_directory(into, &**reporter).await?,
        };
        disk::sweep(into)?;
        let lock = Arc::new(lock);
        *shared = Arc::downgrade(&lock);
        Ok(lock)
    }
}
