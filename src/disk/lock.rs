//! A file lock that excludes other processes.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Error;
use super::files::{non_blocking, unlinked};
use crate::event::{Event, Reporter};

/// The pause between two attempts to acquire a lock, which is too short to be noticed.
const PAUSE: Duration = Duration::from_millis(50);
/// The number of attempts before the wait is reported, after one second.
const TRIES_IN_SILENCE: u32 = 20;

/// An exclusive lock on a file, held until dropped. The system releases it when the process ends.
///
/// The file is never removed: otherwise two processes could each hold a lock on a file of that name.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Waits for the lock, and reports the wait once after a second. It follows no symbolic link, and does not wait for a pipe.
    ///
    /// # Errors
    /// The system reported an error, or [`Error::Special`].
    pub async fn acquire(path: PathBuf, reporter: &dyn Reporter) -> Result<Self, Error> {
        Self::wait(&path, Kind::File, reporter).await
    }

    /// Waits for the lock on an existing directory. It creates no file there, except on Windows, which only locks files.
    ///
    /// # Errors
    /// The system reported an error.
    pub async fn of_directory(path: &Path, reporter: &dyn Reporter) -> Result<Self, Error> {
        let (path, kind) = locked_for(path);
        Self::wait(&path, kind, reporter).await
    }

    /// Tries to lock an existing directory; `None` if another process holds the lock.
    ///
    /// # Errors
    /// The system reported an error.
    pub fn of_directory_now(path: &Path) -> Result<Option<Self>, Error> {
        let (path, kind) = locked_for(path);
        Self::attempt(&path, kind)
    }

    async fn wait(path: &Path, kind: Kind, reporter: &dyn Reporter) -> Result<Self, Error> {
        let mut tries = 0;
        loop {
            // Polls, because Ctrl-C could not cancel a blocking wait.
            if let Some(lock) = Self::attempt(path, kind)? {
                return Ok(lock);
            }
            tries += 1;
            if tries == TRIES_IN_SILENCE {
                let path = path.to_owned();
                reporter.report(Event::Waiting { path });
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    fn attempt(path: &Path, kind: Kind) -> Result<Option<Self>, Error> {
        let error = |source| Error::at("lock", path, source);
        let mut options = OpenOptions::new();
        match kind {
            Kind::Directory => non_blocking(options.read(true)),
            Kind::File => unlinked(options.write(true).create(true).truncate(false)),
        };
        let file = options.open(path).map_err(error)?;
        let found = file.metadata().map_err(error)?;
        if !found.is_file() && !found.is_dir() {
            return Err(Error::special(path));
        }
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(error(source)),
        }
    }
}

/// What is locked.
#[derive(Clone, Copy)]
enum Kind {
    File,
    Directory,
}

/// What is locked in place of a directory.
fn locked_for(directory: &Path) -> (PathBuf, Kind) {
    match cfg!(windows) {
        true => (directory.join(".tfoci.lock"), Kind::File),
        false => (directory.to_owned(), Kind::Directory),
    }
}

#[cfg(test)]
mod tests;
