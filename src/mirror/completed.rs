//! The result of a version in one destination.

use super::target::MirrorTarget;
use crate::outcome::{Failure, OnResult, Published};

/// The result of a version in one destination.
pub(super) struct Completed<'t> {
    pub(super) target: &'t MirrorTarget<'t>,
    pub(super) result: Result<Box<Published>, Failure>,
}

impl<'t> Completed<'t> {
    /// Reports results. Those of a dry run say what a real run would do.
    pub(super) fn report(completed: Vec<Self>, on_result: &OnResult<'_>) {
        for Self { target, result } in completed {
            if let Ok(published) = &result {
                target.report_plan(published);
            }
            on_result(result.map(|published| *published));
        }
    }

    pub(super) fn present(target: &'t MirrorTarget<'t>, published: Published) -> Self {
        Self {
            target,
            result: Ok(Box::new(published)),
        }
    }

    /// A failure on either side, reported for this destination.
    pub(super) fn failed(target: &'t MirrorTarget<'t>, failure: &Failure) -> Self {
        Self {
            target,
            result: Err(failure.to(target.label.as_deref())),
        }
    }
}
