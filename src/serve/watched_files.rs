//! Files that are read again when they change: certificates, tokens, signing keys, trust files.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use zeroize::Zeroizing;

use super::error::Error;
use super::notice::{Notice, Observer};
use crate::digest::Digest;
use crate::disk;

/// How often the files are compared with their last content. A container platform replaces files without sending a signal.
const INTERVAL: Duration = Duration::from_secs(5);
/// The largest file in bytes. It has room for the most tokens, with 400 bytes for each, and a wrong path cannot fill the memory.
const LARGEST: u64 = 4 << 20;

/// The contents of files.
pub(super) struct LoadedFiles {
    /// One digest for each file. The contents are applied if any differs from the last time.
    pub(super) digests: Vec<Digest>,
    pub(super) apply: Box<dyn FnOnce() -> Result<(), Error>>,
}

type Load = Box<dyn Fn() -> Result<LoadedFiles, Error> + Send + Sync>;

enum Reading {
    /// The files are read again, and compared with what was applied.
    Again(Load),
    /// This one is no regular file: a pipe, such as `<(program)`, was read to its end. The others are not read again either, because contents
    /// that belong together, such as certificate and key, would no longer match.
    Once(PathBuf),
}

/// Files that are read and applied together.
pub(super) struct WatchedFiles {
    /// The file that messages name.
    path: PathBuf,
    reading: Reading,
    applied: Vec<Digest>,
    /// The last reported error as text. An error is reported once and not after each interval.
    reported: Option<String>,
}

impl WatchedFiles {
    /// Watches files whose contents were applied already. Messages name the first.
    pub(super) fn new(
        paths: Vec<PathBuf>,
        contents: &[Zeroizing<Vec<u8>>],
        apply: impl Fn(&[Zeroizing<Vec<u8>>]) -> Result<(), Error> + Send + Sync + 'static,
    ) -> Self {
        let apply = Arc::new(apply);
        let path = paths.first().cloned().unwrap_or_default();
        if let Some(pipe) = paths.iter().find(|path| !path.is_file()) {
            return Self::once(path, pipe.clone());
        }
        let load = move || {
            let contents = paths.iter().map(|path| read_again(path));
            let contents = contents.collect::<Result<Vec<_>, _>>()?;
            let apply = apply.clone();
            Ok(LoadedFiles {
                digests: digests(&contents),
                apply: Box::new(move || apply(&contents)),
            })
        };
        Self {
            path,
            reading: Reading::Again(Box::new(load)),
            applied: digests(contents),
            reported: None,
        }
    }

    /// Files that stay as they were read at the start, because `pipe` cannot be read again.
    fn once(path: PathBuf, pipe: PathBuf) -> Self {
        Self {
            path,
            reading: Reading::Once(pipe),
            applied: Vec::new(),
            reported: None,
        }
    }

    /// Watches one file whose content was applied already.
    pub(super) fn single(
        path: PathBuf,
        content: Zeroizing<Vec<u8>>,
        apply: impl Fn(&Zeroizing<Vec<u8>>) -> Result<(), Error> + Send + Sync + 'static,
    ) -> Self {
        Self::new(vec![path], &[content], move |contents| {
            contents.iter().try_for_each(&apply)
        })
    }

    /// Loads files, applies their contents, and watches them. Messages name the file at `path`. If one of them is no regular file, nothing is
    /// applied: what the caller has read of it cannot be read again.
    ///
    /// # Errors
    /// A file cannot be used.
    pub(super) fn loaded(
        path: PathBuf,
        load: impl Fn() -> Result<LoadedFiles, Error> + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        let LoadedFiles { digests, apply } = match load() {
            Err(Error::Disk(disk::Error::Special { path: pipe, .. })) => {
                return Ok(Self::once(path, pipe));
            }
            loaded => loaded?,
        };
        apply()?;
        Ok(Self {
            path,
            reading: Reading::Again(Box::new(load)),
            applied: digests,
            reported: None,
        })
    }

    /// Loads the files, and applies them if they changed. Returns whether they are as they were.
    fn refresh(&mut self, observer: &dyn Observer) -> bool {
        let Reading::Again(load) = &self.reading else {
            return true;
        };
        let loaded = load().and_then(|LoadedFiles { digests, apply }| {
            let is_changed = digests != self.applied;
            if is_changed {
                apply()?;
                self.applied = digests;
            }
            Ok(is_changed)
        });
        match loaded {
            Ok(is_changed) => {
                // The error was reported, so its end is too.
                let is_reported = self.reported.take().is_some();
                if is_changed || is_reported {
                    observer.notice(&Notice::Reloaded { path: &self.path });
                }
                !is_changed && !is_reported
            }
            Err(error) => {
                self.refused(&error, observer);
                false
            }
        }
    }

    /// Reports files that are not read again.
    fn report_once(&self, observer: &dyn Observer) {
        if let Reading::Once(pipe) = &self.reading {
            let path = &self.path;
            observer.notice(&Notice::ReadOnce { path, pipe });
        }
    }

    fn refused(&mut self, error: &Error, observer: &dyn Observer) {
        let text = format!("{error:?}");
        if self.reported.as_deref() == Some(&text) {
            return;
        }
        self.reported = Some(text);
        let path = &self.path;
        observer.notice(&Notice::NotReloaded { path, error });
    }
}

/// Reads a file.
///
/// # Errors
/// It cannot be read.
pub(super) fn read(path: &Path) -> Result<Zeroizing<Vec<u8>>, disk::Error> {
    disk::read(path, LARGEST).map(Zeroizing::new)
}

/// Reads a file that was read before, or that has to be a regular one. A pipe in its place could keep this thread waiting.
///
/// # Errors
/// It cannot be read, or is no regular file.
pub(super) fn read_again(path: &Path) -> Result<Zeroizing<Vec<u8>>, disk::Error> {
    disk::read_regular(path, LARGEST).map(Zeroizing::new)
}

/// Reads files again at intervals, and when `now` is notified. Reports those that it does not read, at once and after each notification, since
/// an operator may expect it. Never ends.
pub(super) async fn watch(
    mut files: Vec<WatchedFiles>,
    now: Arc<tokio::sync::Notify>,
    observer: Arc<dyn Observer>,
) {
    let report_once = |files: &[WatchedFiles]| {
        for files in files {
            files.report_once(observer.as_ref());
        }
    };
    report_once(&files);
    loop {
        // The files are read in both cases: after the interval, and after a notification.
        let notified = tokio::time::timeout(INTERVAL, now.notified()).await;
        if notified.is_ok() {
            report_once(&files);
        }
        let mut is_unchanged = true;
        for files in &mut files {
            is_unchanged &= files.refresh(observer.as_ref());
        }
        if is_unchanged && notified.is_ok() {
            observer.notice(&Notice::Unchanged);
        }
    }
}

fn digests(contents: &[Zeroizing<Vec<u8>>]) -> Vec<Digest> {
    contents.iter().map(|content| Digest::of(content)).collect()
}
