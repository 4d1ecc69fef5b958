//! Failures of operations.

use std::error::Error;
use std::fmt;

use tfoci::outcome::Failure;

use super::CommandError;

/// An operation that failed. Hints differ by operation: an author who pushes can sign or build a provider again, a user of `mirror` cannot, and
/// a user of `lock` has a lock file to change.
#[derive(Clone, Debug)]
pub(in crate::cli) struct JourneyFailure {
    pub(in crate::cli) failure: Failure,
    pub(in crate::cli) of: Journey,
}

/// An operation, as far as hints tell it apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Journey {
    Any,
    /// To open a store whose providers are all listed or served, so that the command takes no single repository.
    OpeningAll,
    Pushing,
    Mirroring,
    /// As `Mirroring`, of a provider that an argument names.
    MirroringNamed,
    /// To mirror a version that a client of `serve --fill` requests.
    Filling,
    /// To verify a version of a source, without writing anything.
    Inspecting,
    Locking,
}

impl Journey {
    /// The error for a failure of this operation.
    pub(in crate::cli) fn failed(self, failure: Failure) -> CommandError {
        CommandError::Journey(JourneyFailure { failure, of: self })
    }
}

impl From<Failure> for CommandError {
    fn from(failure: Failure) -> Self {
        Journey::Any.failed(failure)
    }
}

impl fmt::Display for JourneyFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.failure.fmt(f)
    }
}

impl Error for JourneyFailure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.failure.source()
    }
}
