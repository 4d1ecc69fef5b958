//! The difference between a lock file and the one that would replace it.

use std::time::Duration;

use similar::TextDiff;
use tfoci::lock::target::LockChange;

use crate::cli::printer::Printer;

/// The time after which the comparison of lines becomes coarse. Its cost grows with the square of the lines that differ; files of some hundred
/// lines take milliseconds.
const LONGEST_DIFF: Duration = Duration::from_secs(1);

/// The largest lock file of which the changed lines are printed, in bytes. The diff of a larger one is too long to read.
const LARGEST: usize = 1 << 20;

/// Prints the lines that change.
pub(super) fn print_diff(change: &LockChange, name: &str, printer: &Printer) {
    if change.before.len() > LARGEST {
        return;
    }
    let mut config = TextDiff::configure();
    let config = config.timeout(LONGEST_DIFF);
    let diff = config.diff_lines(&change.before, &change.after);
    let diff = diff.unified_diff().header(name, name).to_string();
    for line in diff.lines() {
        printer.result(line);
    }
}
