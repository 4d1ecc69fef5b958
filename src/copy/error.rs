//! Why a version is not copied, and in which of the two stores.

use crate::outcome::Problem;
use crate::platform::Platform;
use crate::publish::{self, Undelivered};
use crate::store;

/// Why a version is not copied.
#[derive(Debug)]
pub(super) enum Error {
    /// What the store that is copied from does not give, or gives otherwise than it should.
    From {
        /// The platform, if it is about one package.
        platform: Option<Platform>,
        problem: Problem,
    },
    /// What the store that is copied to refuses, or cannot do.
    To(Problem),
}

impl Error {
    /// A problem with what was read.
    pub(super) fn in_source(problem: impl Into<Problem>) -> Self {
        Self::From {
            platform: None,
            problem: problem.into(),
        }
    }

    /// What the store that is copied from does not give.
    pub(super) fn unread(error: store::Error) -> Self {
        Self::in_source(Problem::Unread(error))
    }

    /// A problem of the store that is copied to.
    pub(super) fn in_destination(problem: impl Into<Problem>) -> Self {
        Self::To(problem.into())
    }
}

impl From<publish::Error> for Error {
    fn from(error: publish::Error) -> Self {
        match error {
            publish::Error::Destination(problem) => Self::To(problem),
            publish::Error::Source(Undelivered {
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
