//! Files that are read again when they change: certificates, tokens, signing keys, trust files.

use std::error::Error as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use zeroize::Zeroizing;

use super::error::Error;
use super::notice::{Notice, Observer};
use crate::digest::Digest;
use crate::disk;
use crate::error::printable_path;

/// How often the files are compared with their last content. A container platform replaces files without sending a signal.
const INTERVAL: Duration = Duration::from_secs(5);
/// The largest file in bytes. It has room for the most tokens, with 400 bytes for each, and a wrong path cannot fill the memory.
const LARGEST: u64 = 4 << 20;

/// Reads files, and applies their contents if they have changed.
type Load = Box<dyn Fn(&mut Reader) -> Result<(), Error> + Send + Sync>;

/// Reads files, and notes their contents.
#[derive(Default)]
pub(super) struct Reader {
    /// The digests of the contents that are in use.
    applied: Vec<Digest>,
    /// One digest for each file that was read.
    digests: Vec<Digest>,
    /// Whether a file may be a pipe, which is read to its end. A pipe in the place of a file that was read before could keep this thread waiting.
    may_be_pipe: bool,
    pipe: Option<PathBuf>,
}

impl Reader {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn read(&mut self, path: &Path) -> Result<Zeroizing<Vec<u8>>, disk::Error> {
        if !path.is_file() {
            self.pipe.get_or_insert_with(|| path.to_owned());
        }
        let content = match self.may_be_pipe {
            true => disk::read(path, LARGEST)?,
            false => disk::read_regular(path, LARGEST)?,
        };
        self.digests.push(Digest::of(&content));
        Ok(Zeroizing::new(content))
    }

    /// Whether the contents that were read are in use already.
    pub(super) fn is_unchanged(&self) -> bool {
        self.digests == self.applied
    }
}

/// Files that are read and applied together.
pub(super) struct WatchedFiles {
    /// The file that messages name.
    path: PathBuf,
    load: Load,
    /// The one that is no regular file: a pipe, such as `<(program)`, was read to its end. The others are not read again either, because contents
    /// that belong together, such as certificate and key, would no longer match.
    pipe: Option<PathBuf>,
    applied: Vec<Digest>,
    /// The last reported error as text. An error is reported once and not after each interval.
    reported: Option<String>,
}

impl WatchedFiles {
    /// Loads files, and watches them. Messages name the file at `path`. With `was_read`, the caller has read them before: if one is no regular
    /// file, nothing is applied, since it cannot be read again.
    ///
    /// # Errors
    /// A file cannot be used.
    pub(super) fn start(
        path: PathBuf,
        was_read: bool,
        load: impl Fn(&mut Reader) -> Result<(), Error> + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        let mut reader = Reader {
            may_be_pipe: !was_read,
            ..Reader::default()
        };
        match load(&mut reader) {
            Err(_) if was_read && reader.pipe.is_some() => {}
            loaded => loaded?,
        }
        Ok(Self {
            path,
            load: Box::new(load),
            pipe: reader.pipe,
            applied: reader.digests,
            reported: None,
        })
    }

    /// Loads the files, and applies them if they changed. Returns whether they are as they were.
    fn refresh(&mut self, observer: &dyn Observer) -> bool {
        if self.pipe.is_some() {
            return true;
        }
        let mut reader = Reader {
            applied: self.applied.clone(),
            ..Reader::default()
        };
        match (self.load)(&mut reader) {
            Ok(()) => {
                let is_changed = !reader.is_unchanged();
                self.applied = reader.digests;
                // The error was reported, so its end is too.
                let is_reported = self.reported.take().is_some();
                if is_changed || is_reported {
                    let path = printable_path(&self.path);
                    observer.notice(Notice::new("reloaded", "Reloaded", path));
                }
                !is_changed && !is_reported
            }
            Err(error) => {
                let text = format!("{error:?}");
                if self.reported.as_ref() != Some(&text) {
                    self.reported = Some(text);
                    let path = printable_path(&self.path);
                    let text = format!("{path}, which stays in use as it was");
                    let notice = Notice::warning("not-reloaded", "Refused", text);
                    let reason = match &error {
                        // It may name another file, such as the key of the certificate.
                        Error::Disk(_) | Error::Policy(_) => &error,
                        error => error.source().unwrap_or(error),
                    };
                    observer.notice(notice.because(reason));
                }
                false
            }
        }
    }
}

/// Reads files again at intervals, and when `now` is notified. Reports those that it does not read, at once and after each notification, since
/// an operator may expect it. Never ends.
pub(super) async fn watch(
    mut files: Vec<WatchedFiles>,
    now: Arc<tokio::sync::Notify>,
    observer: Arc<dyn Observer>,
) {
    let report_once = |files: &[WatchedFiles]| {
        for WatchedFiles { path, pipe, .. } in files {
            if let Some(pipe) = pipe {
                let (path, pipe) = (printable_path(path), printable_path(pipe));
                let text = format!(
                    "{path} until a restart: {pipe} is no regular file, and is read only at the start"
                );
                observer.notice(Notice::warning("read-once", "Keeping", text));
            }
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
            let text = "nothing: no file has changed".to_owned();
            observer.notice(Notice::new("unchanged", "Reloaded", text));
        }
    }
}
