//! The state that all steps for one provider share.

use std::sync::Arc;

use super::{Options, Task};
use crate::disk::temp_file::TempFileBudget;
use crate::event::Reporter;
use crate::source::Source;

/// The mirroring of one provider to all of its destinations.
pub(super) struct Journey<'a> {
    pub(super) task: &'a Task,
    pub(super) source: &'a Source,
    pub(super) options: &'a Options,
    pub(super) reporter: &'a Arc<dyn Reporter>,
    /// Limits the temporary files of packages that several destinations read. A version with more packages than the limit takes the whole
    /// budget, and creates one file per package.
    pub(super) shared_files: &'a TempFileBudget,
}
