//! Why a version was not copied, and which of the two stores caused the failure.

use crate::outcome::Problem;
use crate::platform::Platform;
use crate::publish::{self, BlobFailure};
use crate::store;

/// Why a version was not copied.
#[derive(Debug)]
pub(super) enum Error {
    /// The source store fails, or what it holds is invalid.
    From {
        /// The platform, if the problem is about one package.
        platform: Option<Platform>,
        problem: Problem,
    },
    /// The destination store refuses the version, or fails.
    To(Problem),
}

impl Error {
    /// A problem with what the source store holds.
    pub(super) fn in_source(problem: impl Into<Problem>) -> Self {
        Self::From {
            platform: None,
            problem: problem.into(),
        }
    }

    /// A read from the source store that failed.
    pub(super) fn unread(error: store::Error) -> Self {
        Self::in_source(Problem::Unread(error))
    }

    /// A problem of the destination store.
    pub(super) fn in_destination(problem: impl Into<Problem>) -> Self {
        Self::To(problem.into())
    }
}

impl From<publish::Error> for Error {
    fn from(error: publish::Error) -> Self {
        match error {
            publish::Error::Destination(problem) => Self::To(problem),
            publish::Error::Source(BlobFailure {
                what,
                package,
                digest,
                source,
            }) => Self::From {
                platform: package.map(|package| package.platform),
                problem: Problem::Unread(store::Error::reading(what, digest, source)),
            },
        }
    }
}
