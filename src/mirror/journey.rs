//! What all steps of one provider share.

use std::sync::Arc;

use super::{Options, Task};
use crate::disk::temp_file::TempFileBudget;
use crate::event::Reporter;
use crate::source::Source;

/// One provider on its way to all of its destinations.
pub(super) struct Journey<'a, D> {
    pub(super) task: &'a Task<D>,
    pub(super) source: &'a Source,
    pub(super) options: &'a Options,
    pub(super) reporter: &'a Arc<dyn Reporter>,
    /// The files of packages that several destinations read. A version that has more packages than that takes the whole budget, and has as
    /// many files as it has packages.
    pub(super) shared_files: &'a TempFileBudget,
}
