//! Phrases of error messages.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tfoci::error::printable_path;
use tfoci::trust;

pub(super) fn locked_by(files: &BTreeSet<PathBuf>) -> String {
    let line = |file: &PathBuf| format!("\n  locked by {}", printable_path(file));
    files.iter().map(line).collect()
}

pub(super) fn required_by(stated: &[String]) -> String {
    let line = |one: &String| format!("\n  required by {one}");
    stated.iter().map(line).collect()
}

/// The causes of an error, one per line.
pub(super) fn causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| (*cause).source());
    causes.map(|cause| format!("\n  {cause}")).collect()
}

/// The line of a trust file that names a key file.
pub(in crate::cli) fn named_by(trust: &Path, key: &trust::KeyFile) -> String {
    format!("`keys` in {}, line {}", printable_path(trust), key.line)
}
