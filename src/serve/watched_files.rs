//! WatchedFiles that are read again when they change: certificates, tokens, keys of links.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use zeroize::Zeroizing;

use super::notice::{Notice, Observer};
use crate::digest::Digest;
use crate::disk;

/// How often files are compared with what was read. A container platform replaces files without any signal.
const INTERVAL: Duration = Duration::from_secs(5);
/// The largest file in bytes.
const LARGEST: u64 = 4 << 20;

/// Applies the contents of files, in order; `Err` says what is wrong with them.
type Apply = Box<dyn Fn(&[Zeroizing<Vec<u8>>]) -> Result<(), String> + Send + Sync>;

/// WatchedFiles that are used together.
pub(super) struct WatchedFiles {
    paths: Vec<PathBuf>,
    apply: Apply,
    last: Vec<Digest>,
    /// What was last wrong, which is said once.
    refused: Option<String>,
}

impl WatchedFiles {
    /// WatchedFiles whose contents were applied already.
    pub(super) fn new(
        paths: Vec<PathBuf>,
        contents: &[Zeroizing<Vec<u8>>],
        apply: impl Fn(&[Zeroizing<Vec<u8>>]) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            paths,
            last: digests(contents),
            refused: None,
            apply: Box::new(apply),
        }
    }

    /// Reads the files, and applies them if they changed.
    fn refresh(&mut self, observer: &dyn Observer) {
        let read = self.paths.iter().map(|path| read(path));
        let contents = match read.collect::<Result<Vec<_>, _>>() {
            Ok(contents) => contents,
            Err(error) => return self.refused(&error.to_string(), observer),
        };
        let digests = digests(&contents);
        if digests == self.last {
            self.refused = None;
            return;
        }
        match (self.apply)(&contents) {
            Ok(()) => {
                self.last = digests;
                self.refused = None;
                if let Some(path) = self.paths.first() {
                    observer.notice(&Notice::Reloaded { path });
                }
            }
            Err(reason) => self.refused(&reason, observer),
        }
    }

    fn refused(&mut self, reason: &str, observer: &dyn Observer) {
        if self.refused.as_deref() == Some(reason) {
            return;
        }
        self.refused = Some(reason.to_owned());
        if let Some(path) = self.paths.first() {
            observer.notice(&Notice::NotReloaded { path, reason });
        }
    }
}

/// Reads a file.
///
/// # Errors
/// It cannot be read.
pub(super) fn read(path: &std::path::Path) -> Result<Zeroizing<Vec<u8>>, disk::Error> {
    disk::read(path, LARGEST).map(Zeroizing::new)
}

/// Reads files again at intervals, and whenever `now` is notified. Never ends.
pub(super) async fn watch(
    mut files: Vec<WatchedFiles>,
    now: Arc<tokio::sync::Notify>,
    observer: Arc<dyn Observer>,
) {
    loop {
        // Both lead to the same: look at the files.
        let _elapsed = tokio::time::timeout(INTERVAL, now.notified()).await;
        for files in &mut files {
            files.refresh(observer.as_ref());
        }
    }
}

fn digests(contents: &[Zeroizing<Vec<u8>>]) -> Vec<Digest> {
    contents.iter().map(|content| Digest::of(content)).collect()
}
