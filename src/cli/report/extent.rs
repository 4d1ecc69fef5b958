//! The extent of a run.

/// The extent of a run and of its report.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Extent {
    /// The number of providers.
    pub(in super::super) providers: usize,
    /// Whether nothing is written.
    pub(in super::super) dry_run: bool,
    /// Whether the results leave out versions that needed no changes.
    pub(in super::super) only_changed: bool,
}
