//! Packages of origins and network mirrors.

use std::sync::Arc;
use std::task::Poll;

use super::error::Error;
use super::location::PackageLocation;
use super::opened::Opened;
use crate::blob::{self, BlobSource, Body};
use crate::disk::temp_file::{Permit, TempFile};
use crate::release::Expected;

/// A package at a URL, of known size and digest.
#[derive(Clone, Debug)]
pub struct RemotePackage {
    pub(super) bytes: PackageBytes,
    pub(super) expected: Expected,
}

#[derive(Clone, Debug)]
pub(super) enum PackageBytes {
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
}

impl BlobSource for RemotePackage {
    fn expected(&self) -> Expected {
        self.expected
    }

    fn may_end_early(&self) -> bool {
        matches!(self.bytes, PackageBytes::Remote { .. })
    }

    fn is_unopened(&self) -> bool {
        true
    }

    async fn open(&self, from: u64) -> Result<Body, blob::Error> {
        let (location, opened) = match &self.bytes {
            PackageBytes::Remote { location, opened } => (location, opened),
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
