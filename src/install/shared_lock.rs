//! The lock of the mirror's directory.

use std::sync::Weak;

use super::{Arc, Path, Problem, Reporter, disk};

/// The lock of the directory, which providers share that are installed at the same time.
#[derive(Default)]
pub(super) struct SharedLock(tokio::sync::Mutex<Weak<disk::Lock>>);

impl SharedLock {
    /// Creates and locks the directory, unless another provider holds the lock.
    pub(super) async fn acquire(
        &self,
        into: &Path,
        reporter: &Arc<dyn Reporter>,
    ) -> Result<Arc<disk::Lock>, Problem> {
        let mut shared = self.0.lock().await;
        if let Some(lock) = shared.upgrade() {
            return Ok(lock);
        }
        disk::create_directory(into)?;
        let lock = disk::Lock::acquire(into.join(".tfoci.lock"), &**reporter).await?;
        disk::sweep(into)?;
        let lock = Arc::new(lock);
        *shared = Arc::downgrade(&lock);
        Ok(lock)
    }
}
