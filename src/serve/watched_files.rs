//! Files that are read again when they change: certificates, tokens, signing keys, trust files.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use zeroize::Zeroizing;

use super::error::{Error, FileError, PolicyError};
use super::notice::Observer;
use crate::digest::Digest;
use crate::disk;
use crate::error::printable_path;
use crate::text;
use crate::trust::Policy;

/// How often the files are compared with their last content. A container platform replaces files without sending a signal.
const INTERVAL: Duration = Duration::from_secs(5);
/// The largest file in bytes. It has room for the most tokens, with 400 bytes for each, and a wrong path cannot fill the memory.
const LARGEST: u64 = 4 << 20;

/// Reads a file, and notes that it has to be watched.
pub type ReadFile<'a> = &'a mut dyn FnMut(&Path) -> Result<Vec<u8>, disk::Error>;

/// Reads a policy, and each of its files only with the given function.
pub type ReadPolicy = dyn Fn(ReadFile<'_>) -> Result<Policy, PolicyError> + Send + Sync;

/// The files that a policy comes from.
#[derive(Clone)]
pub struct TrustFiles {
    /// The file that messages name; `None` if there are no files.
    pub path: Option<PathBuf>,
    /// Reads the policy.
    pub read: Arc<ReadPolicy>,
}

/// Reads files, and returns what applies their contents.
type Load = Box<dyn Fn(&mut Reader) -> Result<Box<dyn FnOnce()>, Error> + Send + Sync>;

/// Reads files, and notes the digest of the content of each.
#[derive(Default)]
pub(super) struct Reader(Vec<Digest>);

impl Reader {
    /// Reads a regular file. A pipe cannot be read again.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn read(&mut self, path: &Path) -> Result<Zeroizing<Vec<u8>>, disk::Error> {
        let content = disk::read_regular(path, LARGEST)?;
        self.0.push(Digest::of(&content));
        Ok(Zeroizing::new(content))
    }

    /// Reads a file of text.
    ///
    /// # Errors
    /// It cannot be read, or is invalid.
    pub(super) fn parse<T>(
        &mut self,
        path: &Path,
        parse: impl FnOnce(&str) -> Result<T, FileError>,
    ) -> Result<T, Error> {
        let content = self.read(path)?;
        let text = text::decode(&content).map_err(FileError::Text);
        text.and_then(parse).map_err(|error| error.of(path))
    }
}

/// Files that are read and applied together.
pub(super) struct WatchedFiles {
    /// The file that messages name.
    path: PathBuf,
    load: Load,
    /// The digests of the contents that are in use.
    applied: Vec<Digest>,
    /// The last reported error as text. An error is reported once and not after each interval.
    reported: Option<String>,
}

impl WatchedFiles {
    /// Reads and applies files, and watches them. Messages name the file at `path`.
    ///
    /// # Errors
    /// A file cannot be used.
    pub(super) fn start<T: 'static>(
        path: &Path,
        read: impl Fn(&mut Reader) -> Result<T, Error> + Send + Sync + 'static,
        apply: impl Fn(T) + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        let mut reader = Reader::default();
        apply(read(&mut reader)?);
        let apply = Arc::new(apply);
        let load = move |reader: &mut Reader| {
            let (content, apply) = (read(reader)?, apply.clone());
            Ok(Box::new(move || apply(content)) as Box<dyn FnOnce()>)
        };
        Ok(Self {
            path: path.to_owned(),
            load: Box::new(load),
            applied: reader.0,
            reported: None,
        })
    }

    /// Watches the files of a policy; `None` if there are none.
    ///
    /// # Errors
    /// A file cannot be used.
    pub(super) fn of_policy(
        TrustFiles { path, read }: TrustFiles,
        apply: impl Fn(Policy) + Send + Sync + 'static,
    ) -> Result<Option<Self>, Error> {
        let policy = move |reader: &mut Reader| {
            let mut of_file = |path: &Path| reader.read(path).map(|bytes| bytes.to_vec());
            read(&mut of_file).map_err(Error::Policy)
        };
        let path = path.as_deref();
        path.map(|path| Self::start(path, policy, apply))
            .transpose()
    }

    /// Loads the files, and applies them if they changed.
    fn refresh(&mut self, observer: &dyn Observer) {
        let mut reader = Reader::default();
        let path = printable_path(&self.path);
        match (self.load)(&mut reader) {
            Ok(apply) => {
                self.reported = None;
                if reader.0 != self.applied {
                    apply();
                    self.applied = reader.0;
                    observer.tell("reloaded", "Reloaded", path);
                }
            }
            Err(error) => {
                let text = format!("{error:?}");
                if self.reported.as_ref() != Some(&text) {
                    self.reported = Some(text);
                    let text = format!("{path}, which stays in use as it was");
                    observer.fail("not-reloaded", "Refused", text, &error, None);
                }
            }
        }
    }
}

/// Reads files again at intervals, and when `now` is notified. Never ends.
pub(super) async fn watch(
    mut files: Vec<WatchedFiles>,
    now: Arc<tokio::sync::Notify>,
    observer: Arc<dyn Observer>,
) {
    loop {
        // The files are read in both cases: after the interval, and after a notification.
        let _notified = tokio::time::timeout(INTERVAL, now.notified()).await;
        for files in &mut files {
            files.refresh(observer.as_ref());
        }
    }
}

/// The lines of a file that have a meaning, with their numbers: they are not blank, and do not begin with `#`.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = (1..).zip(text.lines().map(str::trim));
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}
