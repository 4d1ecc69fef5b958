//! The line about a lock file, and its status in JSON.

use std::path::Path;

use serde::Serialize;

use tfoci::error::{Category, printable_path};
use tfoci::lock::target::LockChange;

use super::diff::print_diff;
use super::request::{LockRequest, Writing};
use crate::cli::arguments::Format;
use crate::cli::error::CommandError;
use crate::cli::printer::{Printer, Tone};

/// Why a lock file counts as different although tfoci would not change it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flaw {
    /// It has hashes that no package of the release has.
    Strangers,
    /// It has an `h1` that could not be compared.
    Uncompared,
    /// None of its `h1` is that of a package that was installed.
    NoH1,
}

/// Whether a lock file needs no change. `install --locked` compares providers and versions only, as `init -lockfile=readonly` does: it has
/// verified the packages by the hashes in the file.
pub(super) fn stays(change: &LockChange, request: &LockRequest) -> bool {
    let is_locked = request.is_locked_install();
    change.is_present || is_locked && change.has_same_versions
}

/// Prints whether a file was written, stays as it is, or differs.
pub(super) fn print_file(
    path: &Path,
    changed: Option<&Result<LockChange, CommandError>>,
    flaw: Option<Flaw>,
    request: &LockRequest,
    printer: &Printer,
) {
    let (name, writing) = (printable_path(path), request.writing);
    match changed {
        None => {
            let (verb, done) = match (request.installs, writing) {
                (false, Writing::Locked) => ("Not checked", "compared"),
                (is_installed, _) => {
                    let done = if is_installed { "installed" } else { "locked" };
                    match path.symlink_metadata() {
                        Ok(_) => ("Unchanged", done),
                        Err(_) => ("Not written", done),
                    }
                }
            };
            let text = format!("{name}, because not every provider could be {done}");
            printer.line(Tone::Warning, verb, &text);
        }
        Some(Err(error)) => printer.failure(error),
        Some(Ok(change)) if change.is_present && flaw == Some(Flaw::Strangers) => {
            let text = format!("{name}: it has hashes that match no package");
            printer.line(Tone::Warning, "Differs", &text);
        }
        Some(Ok(change)) if change.is_present && flaw == Some(Flaw::Uncompared) => {
            let text = format!("{name}: it has hashes that could not be compared");
            printer.line(Tone::Warning, "Differs", &text);
        }
        Some(Ok(_)) if flaw == Some(Flaw::NoH1) => {
            let text = format!(
                "{name}: no `h1` in it matches the installed package. Either it lacks this platform, and `tfoci lock --h1` with the same `--platform` adds it, or the package is not the locked one"
            );
            printer.line(Tone::Warning, "Differs", &text);
        }
        Some(Ok(change)) if change.is_present && change.before.is_empty() => {
            let text = format!("{name}: no provider is required, so no file is needed");
            printer.line(Tone::Plain, "Unchanged", &text);
        }
        Some(Ok(change)) if change.is_present => {
            printer.line(Tone::Plain, "Unchanged", &name);
        }
        Some(Ok(change)) if stays(change, request) => {
            printer.line(Tone::Plain, "Unchanged", &name);
            printer.warning(&format!(
                "{name} does not have all hashes of these packages, and `--locked` leaves it as it is; `tfoci lock --h1` with the same `--platform` adds them"
            ));
        }
        Some(Ok(_)) if writing == Writing::Real => printer.line(Tone::Done, "Wrote", &name),
        Some(Ok(change)) => {
            if printer.format == Format::Text {
                print_diff(change, &name, printer);
            }
            let (verb, tone) = match writing {
                Writing::DryRun => ("Would write", Tone::Plain),
                _ => ("Differs", Tone::Warning),
            };
            printer.line(tone, verb, &name);
        }
    }
}

/// What became of a lock file, for JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FileStatus {
    Written,
    Present,
    /// `--check` would write it.
    Differs,
    /// In a dry run.
    Planned,
    /// A provider of it failed, or the file did.
    Failed,
}

/// The status of a file in JSON, and its error.
pub(super) fn status<'a>(
    changed: Option<&'a Result<LockChange, CommandError>>,
    request: &LockRequest,
) -> (FileStatus, Option<&'a CommandError>) {
    match changed {
        None => (FileStatus::Failed, None),
        Some(Err(error)) if error.category() == Category::Differs => {
            (FileStatus::Differs, Some(error))
        }
        Some(Err(error)) => (FileStatus::Failed, Some(error)),
        Some(Ok(change)) if stays(change, request) => (FileStatus::Present, None),
        Some(Ok(_)) => match request.writing {
            Writing::Locked => (FileStatus::Differs, None),
            Writing::DryRun => (FileStatus::Planned, None),
            Writing::Real => (FileStatus::Written, None),
        },
    }
}
