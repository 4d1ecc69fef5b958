//! Packages of a source.

use super::error::Error;
use super::location::RemoteMetadata;
use crate::blob::{self, BlobInfo, BlobSource, Body, File, ReadError};
use crate::disk;
use crate::release::Expected;

/// A package of a source. Until it is [complete](super::complete), its size is 0 if the source does not tell it.
#[derive(Clone, Debug)]
pub struct SourcePackage {
    pub(super) bytes: PackageBytes,
    pub(super) expected: Expected,
}

#[derive(Clone, Debug)]
pub(super) enum PackageBytes {
    /// A package of an origin or a network mirror.
    Remote(Box<RemoteMetadata>),
    /// A file of a filesystem mirror.
    File(File),
}

impl SourcePackage {
    /// A package at a URL.
    pub(super) fn remote(metadata: RemoteMetadata, expected: Expected) -> Self {
        let bytes = PackageBytes::Remote(Box::new(metadata));
        Self { bytes, expected }
    }

    /// Where it is, unless it is on this machine.
    pub(super) fn metadata(&self) -> Option<&RemoteMetadata> {
        match &self.bytes {
            PackageBytes::Remote(metadata) => Some(metadata),
            PackageBytes::File(_) => None,
        }
    }
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
            is_unopened: !matches!(self.bytes, PackageBytes::File(_)),
            ..BlobInfo::of(self.expected)
        }
    }

    async fn open(&self, from: u64) -> blob::Opened<Error> {
        match &self.bytes {
            PackageBytes::Remote(metadata) => {
                let answer = metadata.ask(from).await.map_err(failed)?;
                blob::received(answer, from, Some(self.expected.size))
            }
            PackageBytes::File(file) => Ok(Body::of_file(disk::Blocks::open(&file.path, from)?)),
        }
    }
}

/// A request that failed is passed on as such: it may be transient, and hints are about its host.
fn failed(error: Error) -> ReadError<Error> {
    match error {
        Error::Http(error) => error.into(),
        error => ReadError::Source(error),
    }
}
