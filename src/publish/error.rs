//! Why a version is not published, and on which side.

use crate::blob;
use crate::digest::Digest;
use crate::oci::Part;
use crate::outcome::Problem;
use crate::platform::Platform;
use crate::store::{self, PutError};

/// Why a version is not published.
#[derive(Debug)]
pub enum Error {
    /// What the repository holds forbids it, or its store fails.
    Destination(Problem),
    /// The source of a package, or of another blob, does not give the right bytes.
    Source(Undelivered),
}

/// A blob that its source does not give as it was promised.
#[derive(Debug)]
pub struct Undelivered {
    /// What the blob is.
    pub what: Part,
    /// The package, if it is one.
    pub package: Option<PackageName>,
    /// What the blob should be.
    pub digest: Digest,
    /// What is wrong.
    pub source: blob::Error,
}

/// What a package is called.
#[derive(Clone, Debug)]
pub struct PackageName {
    /// What it is built for.
    pub platform: Platform,
    /// Its file name.
    pub file_name: String,
}

impl<P: Into<Problem>> From<P> for Error {
    fn from(problem: P) -> Self {
        Self::Destination(problem.into())
    }
}

impl Error {
    /// Why a blob did not get into a store.
    pub(super) fn of_blob(
        error: PutError,
        undelivered: impl Fn(blob::Error) -> Undelivered,
    ) -> Self {
        match error {
            PutError::Store(error) => Self::Destination(error.into()),
            PutError::Source(source) => Self::Source(undelivered(source)),
        }
    }
}

impl Undelivered {
    /// The problem that this is for the source of a package.
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
            (Some(package), blob::Error::NotGiven { category, source }) => Problem::Package {
                platform: package.platform,
                category,
                source,
            },
            (Some(package), blob::Error::Http(error)) => Problem::Package {
                platform: package.platform,
                category: error.category(),
                source: Box::new(error),
            },
            (Some(package), source) if source.fault().is_some() => Problem::Package {
                platform: package.platform,
                category: source.category(),
                source: Box::new(source),
            },
            (_, source) => store::Error::reading(Part::Blob, digest, source).into(),
        }
    }
}
