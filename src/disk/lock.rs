//! A lock that other processes respect.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Error;
use crate::event::{Event, Reporter};

/// How often a held lock is tried again.
const PATIENCE: Duration = Duration::from_millis(50);
/// After how many tries somebody is told that we are waiting: a second.
const TRIES_IN_SILENCE: u32 = 20;

/// An exclusive lock on a file, held until dropped; the system lets go of it when its holder dies.
///
/// The file stays: removing it would let two processes each hold a lock on a file of that name.
#[derive(Debug)]
pub struct Lock {
    _file: std::fs::File,
}

impl Lock {
    /// Waits for the lock. After a second the reporter is told, once.
    ///
    /// # Errors
    /// What the system says.
    pub async fn acquire(path: PathBuf, reporter: &dyn Reporter) -> Result<Self, Error> {
        let mut tries = 0;
        loop {
            // Polled, so that Ctrl-C ends the wait: a blocking lock could not be cancelled.
            if let Some(lock) = Self::attempt(&path)? {
                return Ok(lock);
            }
            tries += 1;
            if tries == TRIES_IN_SILENCE {
                reporter.report(Event::Waiting { path: path.clone() });
            }
            tokio::time::sleep(PATIENCE).await;
        }
    }

    fn attempt(path: &Path) -> Result<Option<Self>, Error> {
        let error = |source| Error::at("lock", path, source);
        let file = std::fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(error)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(std::fs::TryLockError::WouldBlock) => Ok(None),
            Err(std::fs::TryLockError::Error(source)) => Err(error(source)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holder_at_a_time() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let held = Lock::attempt(&path).unwrap();
        assert!(held.is_some());
        assert!(Lock::attempt(&path).unwrap().is_none());
        drop(held);
        assert!(Lock::attempt(&path).unwrap().is_some());
    }
}
