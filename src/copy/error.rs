//! Why a version was not copied, and which of the two stores caused the failure.

use crate::outcome::Problem;
use crate::platform::Platform;
use crate::publish::{self, BlobFailure};
use crate::store;

/// Why a version was not copied.
#[derive(Debug)]
pub(super) enum Error {
    /// The store that is read fails, or has something invalid.
    From {
        /// The platform, if the problem is about one package.
        platform: Option<Platform>,
        problem: Problem,
    },
    /// The destination store refuses the version, or fails.
    To(Problem),
}

impl Error {
    /// A problem with a version in the store that is read.
    pub(super) fn in_read_store(problem: impl Into<Problem>) -> Self {
        Self::From {
            platform: None,
            problem: problem.into(),
        }
    }

    /// A problem of the destination store.
    pub(super) fn in_destination(problem: impl Into<Problem>) -> Self {
        Self::To(problem.into())
    }
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Self::To(problem)
    }
}

impl From<publish::Error<store::Error>> for Error {
    fn from(error: publish::Error<store::Error>) -> Self {
        match error {
            publish::Error::Destination(problem) => Self::To(problem),
            publish::Error::Source(BlobFailure {
                what,
                package,
                digest,
                source,
            }) => Self::From {
                platform: package.map(|package| package.platform),
                problem: Problem::Store(store::Error::reading(what, digest, source)),
            },
        }
    }
}
