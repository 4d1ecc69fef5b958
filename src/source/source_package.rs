//! Packages of a source.

use std::sync::Arc;
use std::task::Poll;

use super::error::Error;
use super::location::PackageLocation;
use super::opened::Opened;
use crate::blob::{self, BlobInfo, BlobSource, Body, File, ReadError};
use crate::disk;
use crate::disk::temp_file::{Permit, TempFile};
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
    type Failure = Error;

    fn info(&self) -> BlobInfo<'_> {
        BlobInfo {
            may_end_early: matches!(self.bytes, PackageBytes::Remote { .. }),
            is_unopened: !matches!(self.bytes, PackageBytes::File(_)),
            ..BlobInfo::of(self.expected)
        }
    }

    async fn open(&self, from: u64) -> blob::Opened<Error> {
        let (location, opened) = match &self.bytes {
            PackageBytes::Remote { location, opened } => (location, opened),
            PackageBytes::File(file) => {
                return Ok(Body::of_file(disk::Blocks::open(&file.path, from)?));
            }
            PackageBytes::TempFile { file, .. } => {
                let mut reader = file.reader(from);
                return Ok(Body::new(futures_util::stream::poll_fn(move |_| {
                    // Blocking, as for other local files.
                    Poll::Ready(reader.next_block().map_err(ReadError::from).transpose())
                })));
            }
        };
        let first = match opened.as_ref().filter(|_| from == 0) {
            Some(opened) => opened.take(&location.access.http).await,
            None => None,
        };
        let answer = match first {
            Some(answer) => answer,
            None => location.ask(from, None).await.map_err(failed)?,
        };
        blob::received(answer, from, Some(self.expected.size))
    }
}

/// A request that failed is passed on as such: it may be transient, and hints are about its host.
fn failed(error: Error) -> ReadError<Error> {
    match error {
        Error::Http(error) => error.into(),
        error => ReadError::Source(error),
    }
}
