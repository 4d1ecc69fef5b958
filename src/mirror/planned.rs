//! The plan for a version: the destinations that need nothing, and the packages that the others lack.

use super::target::{MirrorTarget, Missing};
use crate::outcome::{Failure, Published};
use crate::release::Release;
use crate::source::PackageMetadata;
use crate::trust::Verified;
use crate::version::Version;

/// The plan for a version.
pub(super) struct Planned<'t> {
    /// Destinations that are complete, and those that failed.
    pub(super) completed: Vec<Completed<'t>>,
    pub(super) copying: Option<PlannedCopy<'t>>,
}

/// A version that needs no copying in one destination.
pub(super) struct Completed<'t> {
    pub(super) target: &'t MirrorTarget<'t>,
    pub(super) result: Result<Box<Published>, Failure>,
}

/// The verified release, and what the other destinations lack of it.
pub(super) struct PlannedCopy<'t> {
    pub(super) release: Verified<Release<PackageMetadata>>,
    pub(super) missing: Vec<Missing<'t>>,
}

impl<'t> Planned<'t> {
    /// The plan for a version of which nothing is copied.
    pub(super) fn without_copy(completed: Vec<Completed<'t>>) -> Self {
        Self {
            completed,
            copying: None,
        }
    }
}

impl<'t> Completed<'t> {
    pub(super) fn present(target: &'t MirrorTarget<'t>, published: Published) -> Self {
        Self {
            target,
            result: Ok(Box::new(published)),
        }
    }

    /// A release that does not verify. The destination may have the version all the same.
    pub(super) fn unproven(
        target: &'t MirrorTarget<'t>,
        version: &Version,
        failure: &Failure,
    ) -> Self {
        let failure = Failure {
            is_stored: target.has(version),
            ..failure.clone()
        };
        Self::failed(target, &failure)
    }

    /// A failure on either side, reported for this destination.
    pub(super) fn failed(target: &'t MirrorTarget<'t>, failure: &Failure) -> Self {
        Self {
            target,
            result: Err(failure.to(target.label.as_deref())),
        }
    }
}
