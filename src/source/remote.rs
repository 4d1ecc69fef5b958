//! Packages as sources have them.

use std::sync::Arc;
use std::task::Poll;

use super::error::Error;
use super::location::PackageLocation;
use crate::blob::{self, BlobSource, Body};
use crate::disk::temp_file::{Permit, TempFile};
use crate::release::Expected;

/// A package of a source.
#[derive(Clone, Debug)]
pub struct RemotePackage {
    pub(super) bytes: PackageBytes,
    pub(super) expected: Expected,
}

#[derive(Clone, Debug)]
pub(super) enum PackageBytes {
    Remote(Box<PackageLocation>),
    /// Nobody says what it is, so it was fetched beforehand.
    TempFile {
        file: TempFile,
        /// The room that the file takes as long as anybody has it.
        _permit: Arc<Permit>,
    },
}

impl RemotePackage {
    /// What the package must turn out to be.
    pub(super) fn promised(&self) -> Expected {
        self.expected
    }
}

impl BlobSource for RemotePackage {
    fn expected(&self) -> Expected {
        self.expected
    }

    fn can_be_cut(&self) -> bool {
        matches!(self.bytes, PackageBytes::Remote(_))
    }

    fn is_unopened(&self) -> bool {
        true
    }

    async fn open(&self, from: u64) -> Result<Body, blob::Error> {
        let location = match &self.bytes {
            PackageBytes::Remote(location) => location,
            PackageBytes::TempFile { file, .. } => {
                let mut reader = file.reader(from);
                return Ok(Body::new(futures_util::stream::poll_fn(move |_| {
                    // As of other local files.
                    Poll::Ready(reader.next_block().map_err(blob::Error::Disk).transpose())
                })));
            }
        };
        let answer = location
            .ask(from, None)
            .await
            .map_err(|error| match error {
                Error::Http(error) => blob::Error::Http(error),
                error => blob::Error::NotGiven {
                    category: error.category(),
                    source: Box::new(error),
                },
            })?;
        blob::promised(answer, from, self.expected.size)
    }
}
