//! The lock of the mirror's directory.

use std::sync::Weak;

use super::{Arc, DirectoryKind, Problem, Reporter, Request, disk};

/// The lock of the directory, which providers share that are installed at the same time.
#[derive(Default)]
pub(super) struct SharedLock(tokio::sync::Mutex<Weak<disk::Lock>>);

impl SharedLock {
    /// Creates and locks the directory, unless another provider holds the lock.
    pub(super) async fn acquire(
        &self,
        request: &Request,
        reporter: &Arc<dyn Reporter>,
    ) -> Result<Arc<disk::Lock>, Problem> {
        let mut shared = self.0.lock().await;
        if let Some(lock) = shared.upgrade() {
            return Ok(lock);
        }
        let into = &request.into;
        disk::create_directory(into)?;
        let lock = match request.kind {
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
