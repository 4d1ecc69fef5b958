//! Phrases of error messages.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tfoci::error::{printable, printable_path};
use tfoci::trust;

pub(super) fn repositories(others: usize, example: Option<&str>) -> String {
    let received = match (others, example.map(printable)) {
        (1, Some(example)) => format!("one repository, {example}"),
        (others, Some(example)) => format!("{others} repositories, such as {example}"),
        (_, None) => "no repository".to_owned(),
    };
    format!("\n  received {received}")
}

pub(super) fn locked_by(files: &BTreeSet<PathBuf>) -> String {
    let line = |file: &PathBuf| format!("\n  locked by {}", printable_path(file));
    files.iter().map(line).collect()
}

pub(super) fn required_by(stated: &[String]) -> String {
    let line = |one: &String| format!("\n  required by {one}");
    stated.iter().map(line).collect()
}

pub(super) fn beside(file: &Option<PathBuf>) -> String {
    let line = |file: &PathBuf| {
        let file = printable_path(file);
        format!("\n  the `to` of {file} is for the providers of that file only")
    };
    file.as_ref().map(line).unwrap_or_default()
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
