//! Why a version was not published, and whether the source or the destination caused it.

use crate::blob;
use crate::digest::Digest;
use crate::oci::Part;
use crate::outcome::{PackageError, Problem};
use crate::platform::Platform;
use crate::store::{self, PutError};

/// Why a version was not published.
#[derive(Debug)]
pub enum Error {
    /// The repository's content forbids it, or its store fails.
    Destination(Problem),
    /// The source of a package or another blob fails, or gives wrong bytes.
    Source(BlobFailure),
}

/// A blob whose source fails or gives wrong bytes.
#[derive(Debug)]
pub struct BlobFailure {
    /// The part of the artifact that the blob is.
    pub what: Part,
    /// The package, if the blob is one.
    pub package: Option<FailedPackage>,
    /// The expected digest.
    pub digest: Digest,
    /// What went wrong when it was read.
    pub source: blob::Error,
}

/// The name of a package in messages.
#[derive(Clone, Debug)]
pub struct FailedPackage {
    /// The platform that it is built for.
    pub platform: Platform,
    /// The name of its zip in the checksum document.
    pub file_name: String,
}

impl<P: Into<Problem>> From<P> for Error {
    fn from(problem: P) -> Self {
        Self::Destination(problem.into())
    }
}

impl Error {
    /// Converts the failure of writing a blob.
    pub(super) fn of_blob(
        error: PutError,
        blob_failure: impl Fn(blob::Error) -> BlobFailure,
    ) -> Self {
        match error {
            PutError::Store(error) => Self::Destination(error.into()),
            PutError::Source(source) => Self::Source(blob_failure(source)),
        }
    }
}

impl BlobFailure {
    /// The problem to report for the source of the blob.
    pub(crate) fn into_problem(self) -> Problem {
        let Self {
            package,
            digest,
            source,
            ..
        } = self;
        match (package, source) {
            (Some(package), blob::Error::Archive(source)) => Problem::Archive {
                file: package.file_name,
                source,
            },
            (Some(package), blob::Error::NotGiven(unread)) => package.failed(unread.into()),
            (Some(package), blob::Error::Http(error)) => package.failed(error.into()),
            (Some(package), source) if source.fault().is_some() => package.failed(source.into()),
            (_, source) => store::Error::reading(Part::Blob, digest, source).into(),
        }
    }
}

impl FailedPackage {
    fn failed(self, source: PackageError) -> Problem {
        Problem::Package {
            platform: self.platform,
            source: Box::new(source),
        }
    }
}
