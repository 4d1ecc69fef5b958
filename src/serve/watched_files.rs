//! Files that are read again when they change: certificates, tokens, signing keys.

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

/// Applies the contents of the files, in order.
type Apply = Box<dyn Fn(&[Zeroizing<Vec<u8>>]) -> Result<(), Error> + Send + Sync>;

/// Files that are read and applied together.
pub(super) struct WatchedFiles {
    paths: Vec<PathBuf>,
    apply: Apply,
    applied: Vec<Digest>,
    /// The last reported error as text. An error is reported once and not after each interval.
    reported: Option<String>,
}

impl WatchedFiles {
    /// Watches files whose contents were applied already.
    pub(super) fn new(
        paths: Vec<PathBuf>,
        contents: &[Zeroizing<Vec<u8>>],
        apply: impl Fn(&[Zeroizing<Vec<u8>>]) -> Result<(), Error> + Send + Sync + 'static,
    ) -> Self {
        Self {
            paths,
            applied: digests(contents),
            reported: None,
            apply: Box::new(apply),
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

    /// Reads the files, and applies them if they changed.
    fn refresh(&mut self, observer: &dyn Observer) {
        let read = self.paths.iter().map(|path| read(path));
        let contents = match read.collect::<Result<Vec<_>, _>>() {
            Ok(contents) => contents,
            Err(error) => return self.refused(&error.into(), observer),
        };
        let digests = digests(&contents);
        if digests == self.applied {
            self.reported = None;
            return;
        }
        match (self.apply)(&contents) {
            Ok(()) => {
                self.applied = digests;
                self.reported = None;
                if let Some(path) = self.paths.first() {
                    observer.notice(&Notice::Reloaded { path });
                }
            }
            Err(error) => self.refused(&error, observer),
        }
    }

    fn refused(&mut self, error: &Error, observer: &dyn Observer) {
        let text = format!("{error:?}");
        if self.reported.as_deref() == Some(&text) {
            return;
        }
        self.reported = Some(text);
        if let Some(path) = self.paths.first() {
            observer.notice(&Notice::NotReloaded { path, error });
        }
    }
}

/// Reads a file.
///
/// # Errors
/// It cannot be read.
pub(super) fn read(path: &Path) -> Result<Zeroizing<Vec<u8>>, disk::Error> {
    disk::read(path, LARGEST).map(Zeroizing::new)
}

/// Reads files again at intervals, and when `now` is notified. Never ends.
pub(super) async fn watch(
    mut files: Vec<WatchedFiles>,
    now: Arc<tokio::sync::Notify>,
    observer: Arc<dyn Observer>,
) {
    loop {
        // The files are read in both cases: after the interval, and after a notification.
        let _elapsed = tokio::time::timeout(INTERVAL, now.notified()).await;
        for files in &mut files {
            files.refresh(observer.as_ref());
        }
    }
}

fn digests(contents: &[Zeroizing<Vec<u8>>]) -> Vec<Digest> {
    contents.iter().map(|content| Digest::of(content)).collect()
}
