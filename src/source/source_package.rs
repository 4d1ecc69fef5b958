//! Packages of a source.
//!
//! # Open responses
//! A manifest contains the size of a package, but most provider registries do not list it. tfoci therefore sends the request for the
//! package when it needs the size, takes the size from the headers, and reads the body when the upload begins. Until then the server waits,
//! because the TCP window is full.
//!
//! # Why this cannot deadlock
//! A waiting response holds a permit of [`OpenAnswers`] and no download permit of its host. A version acquires all of its permits at once,
//! and holds none while it waits for others. An upload that reads a package waits only for a download permit, and only packages that are
//! being read hold those.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::error::Error;
use super::location::PackageLocation;
use crate::blob::{self, BlobInfo, BlobSource, Body, File};
use crate::disk::temp_file::{Permit, TempFile};
use crate::http::{Answer, Http};
use crate::release::Expected;

/// A package of a source, of known size and digest.
#[derive(Clone, Debug)]
pub struct SourcePackage {
    pub(super) bytes: PackageBytes,
    pub(super) expected: Expected,
}

#[derive(Clone, Debug)]
pub(super) enum PackageBytes {
    /// A package of an origin or a network mirror.
    Remote {
        location: Box<PackageLocation>,
        /// The open response from whose headers the size comes.
        opened: Option<Opened>,
    },
    /// Already downloaded, because its size or digest was unknown.
    TempFile {
        file: TempFile,
        /// Held as long as the file exists.
        _permit: Arc<Permit>,
    },
    /// A file of a filesystem mirror.
    File(File),
}

impl From<File> for SourcePackage {
    fn from(file: File) -> Self {
        Self {
            expected: file.expected,
            bytes: PackageBytes::File(file),
        }
    }
}

impl BlobSource for SourcePackage {
    fn info(&self) -> BlobInfo<'_> {
        BlobInfo {
            may_end_early: matches!(self.bytes, PackageBytes::Remote { .. }),
            is_unopened: !matches!(self.bytes, PackageBytes::File(_)),
            ..BlobInfo::of(self.expected)
        }
    }

    async fn open(&self, from: u64) -> Result<Body, blob::Error> {
        let (location, opened) = match &self.bytes {
            PackageBytes::Remote { location, opened } => (location, opened),
            PackageBytes::File(file) => return file.open(from).await,
            PackageBytes::TempFile { file, .. } => {
                let mut reader = file.reader(from);
                return Ok(Body::new(futures_util::stream::poll_fn(move |_| {
                    // Blocking, as for other local files.
                    Poll::Ready(reader.next_block().map_err(blob::Error::Disk).transpose())
                })));
            }
        };
        let first = match opened.as_ref().filter(|_| from == 0) {
            Some(opened) => opened.take(&location.access.http).await,
            None => None,
        };
        let answer = match first {
            Some(answer) => answer,
            None => location.ask(from, None).await.map_err(unread)?,
        };
        blob::promised(answer, from, self.expected.size)
    }
}

fn unread(error: Error) -> blob::Error {
    match error {
        Error::Http(error) => blob::Error::Http(error),
        error => blob::Error::NotGiven(blob::Unread {
            category: error.category(),
            source: Box::new(error),
        }),
    }
}

/// Limits the number of open responses.
#[derive(Clone, Debug)]
pub struct OpenAnswers {
    permits: Arc<Semaphore>,
    limit: usize,
}

impl OpenAnswers {
    /// Allows `limit` open responses, at least one.
    pub fn new(limit: usize) -> Self {
        let limit = limit.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            permits: Arc::new(Semaphore::new(limit)),
            limit,
        }
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Waits for `wanted` permits and acquires them all at once. If `wanted` exceeds the limit, it acquires as many as the limit allows.
    pub(super) async fn permits(&self, wanted: usize) -> Vec<OwnedSemaphorePermit> {
        let count = u32::try_from(wanted.min(self.limit)).unwrap_or(u32::MAX);
        // The semaphore is never closed.
        let Ok(mut all) = Arc::clone(&self.permits).acquire_many_owned(count).await else {
            return Vec::new();
        };
        let mut permits = Vec::new();
        while let Some(one) = all.split(1) {
            permits.push(one);
        }
        permits
    }
}

/// A response whose body has not been read. Clones share it, and the first caller of `take` gets it.
#[derive(Clone, Debug)]
pub(super) struct Opened(Arc<Mutex<Option<(Answer, OwnedSemaphorePermit)>>>);

impl Opened {
    pub(super) fn new(mut answer: Answer, permit: OwnedSemaphorePermit) -> Self {
        answer.set_permit(None);
        Self(Arc::new(Mutex::new(Some((answer, permit)))))
    }

    /// Waits for a download permit and returns the response; `None` if it was already taken.
    pub(super) async fn take(&self, http: &Http) -> Option<Answer> {
        let waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (mut answer, _permit) = waiting?;
        answer.set_permit(Some(http.download_permit(answer.url()).await));
        Some(answer)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn permits_are_taken_all_at_once_and_returned_one_by_one() {
        let answers = OpenAnswers::new(3);
        let take = |wanted| answers.permits(wanted).now_or_never();
        let mut two = take(2).unwrap();
        assert_eq!(two.len(), 2);
        // One permit is free, but two are needed.
        assert!(take(2).is_none());
        two.pop();
        let more = take(2).unwrap();
        assert_eq!(more.len(), 2);
        drop((two, more));
        assert_eq!(take(7).unwrap().len(), 3);
    }
}
