//! Prints what became of lock files, after the [report](crate::cli::report) of their versions.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use similar::TextDiff;

use tfoci::error::{Category, MANY, listed, printable_path};
use tfoci::event::Subject;
use tfoci::hash::PackageHash;
use tfoci::lock::target::LockChange;
use tfoci::lock::{Locked, Results};
use tfoci::outcome::Failure;

use super::LockRequest;
use super::roots::Root;
use crate::cli::Ending;
use crate::cli::arguments::Format;
use crate::cli::error::{CommandError, required_by};
use crate::cli::json::{self, LockFileStatus, object};
use crate::cli::printer::Tone;
use crate::cli::report::Row;
use crate::cli::session::Session;

/// The time after which the comparison of lines becomes coarse. Its cost grows with the square of the lines that differ; files of some hundred
/// lines take milliseconds.
const LONGEST_DIFF: Duration = Duration::from_secs(1);

/// A run, after its lock files were written or compared.
pub(super) struct Outcome<'a> {
    pub(super) request: &'a LockRequest,
    pub(super) session: &'a Session,
    pub(super) roots: &'a [Root],
    pub(super) results: Results,
    /// The lock files of the roots, then the lock files of directories that could not be read.
    pub(super) files: Vec<(PathBuf, FileResult)>,
}

/// The change of a lock file; `None` if one of its providers failed.
pub(super) type FileResult = Option<Result<LockChange, CommandError>>;

/// What became of a lock file.
struct File<'a> {
    path: &'a Path,
    status: LockFileStatus,
    /// Why it counts as different although tfoci would not change it.
    flaw: Option<&'static str>,
    result: Option<Result<&'a LockChange, &'a CommandError>>,
}

impl File<'_> {
    fn document(&self) -> Value {
        let error = self.result.and_then(Result::err);
        let error = error.filter(|_| self.flaw.is_none()).map(json::Error::from);
        let path = self.path.to_string_lossy();
        object([json!({"path": path, "status": self.status, "error": error})])
    }

    fn category(&self) -> Option<Category> {
        match self.result {
            Some(Err(error)) => Some(error.category()),
            _ => (self.status == LockFileStatus::Differs).then_some(Category::Differs),
        }
    }
}

impl Outcome<'_> {
    /// Prints everything, and returns how the command ends.
    pub(super) fn print(&self) -> Ending {
        let report = &self.session.report;
        for locked in &self.results.locked {
            self.print_locked(locked);
        }
        for (failure, files) in &self.results.failed {
            report.failed(self.failure(failure, files));
        }
        let files = self.files.iter().enumerate();
        let files: Vec<File<'_>> = files
            .map(|(number, (path, result))| self.file(number, path, result.as_ref()))
            .collect();
        report.lock_files(files.iter().map(File::document).collect());
        let ending = report.finish();
        files.iter().for_each(|file| self.print_file(file));
        self.advise(&files);
        ending.and(files.iter().filter_map(File::category))
    }

    /// Prints what was done with a version, and warns of what its lock files do not have or should not have.
    fn print_locked(&self, locked: &Locked) {
        let roots = locked.files.iter().filter_map(|file| self.roots.get(*file));
        let names = roots.clone().map(|root| printable_path(&root.directory));
        let names = names.collect::<Vec<String>>().join(", ");
        let directories = (self.files.len() > 1).then_some(names);
        let mut entries = roots.filter_map(|root| root.needed.get(&locked.provider));
        let is_new = entries.any(|entry| {
            let known = entry.locked_hashes(&locked.version);
            known.is_none_or(|known| !locked.hashes.is_subset(known))
        });
        let verb = match self.request.locked {
            true => "Differs",
            false if self.request.dry_run => "Would lock",
            false => "Locked",
        };
        let version = Subject::version(&locked.provider, &locked.version);
        let subject = Subject {
            destination: directories.clone(),
            ..version.clone()
        };
        let format = self.session.printer.format;
        let row = Row::locked(subject, locked, is_new.then_some(verb), format);
        self.session.report.add(row);
        if !self.request.installs || self.request.writes() {
            self.warn_of_others(&version, locked);
        }
        let directories = directories.map(|names| format!(" in {names}"));
        self.warn_of_hashes(&version, locked, &directories.unwrap_or_default());
    }

    /// Warns that the hashes of only some platforms are known. The lock file may have had hashes of other platforms before.
    fn warn_of_others(&self, version: &Subject, locked: &Locked) {
        let Some(only) = &locked.only else {
            return;
        };
        let only = listed(only, MANY);
        self.session.printer.warning(&format!(
            "{version} was hashed for {only} only: no trusted signature covers the other platforms. `--platform all` downloads and locks them"
        ));
    }

    fn warn_of_hashes(&self, version: &Subject, locked: &Locked, directories: &str) {
        let printer = &self.session.printer;
        let place = &locked.place;
        if !locked.unknown.is_empty() {
            let unknown = listed(&locked.unknown, MANY);
            printer.warning(&format!(
                "{version}: the lock file{directories} has hashes that match no package of {place}. Clients accept packages with these hashes, so compare the file with its last version: {unknown}"
            ));
        }
        if !locked.uncompared.is_empty() {
            printer.warning(&format!(
                "{version}: {place} does not have all packages, so {} `h1` of the lock file{directories} could not be compared: {}",
                locked.uncompared.len(),
                listed(&locked.uncompared, MANY)
            ));
        }
    }

    /// The error of a provider. If no version satisfies its constraints, or the source does not have it, the error names the lines that
    /// state the constraints.
    fn failure(&self, failure: &Failure, files: &BTreeSet<usize>) -> CommandError {
        let of_constraints = matches!(failure.category(), Category::NotFound | Category::Differs);
        let subject = failure.subject.as_ref().filter(|_| of_constraints);
        let roots = files.iter().filter_map(|file| self.roots.get(*file));
        let entries = roots.filter_map(|root| root.needed.get(&subject?.provider));
        let stated = entries.flat_map(|entry| &entry.stated);
        // These lines and the rest of the message fit on a screen.
        const MOST: usize = 10;
        let mut stated: Vec<String> = stated.cloned().collect();
        if stated.is_empty() {
            return failure.clone().into();
        }
        let more = stated.len().saturating_sub(MOST);
        stated.truncate(MOST);
        stated.extend((more > 0).then(|| format!("{more} more statements")));
        CommandError::from(failure.clone()).with(&required_by(&stated))
    }

    fn file<'f>(
        &self,
        number: usize,
        path: &'f Path,
        result: Option<&'f Result<LockChange, CommandError>>,
    ) -> File<'f> {
        let (flaw, result) = (self.flaw(number), result.map(Result::as_ref));
        // `install --locked` compares providers and versions only, as `init -lockfile=readonly` does: it has verified the packages by the
        // hashes in the file.
        let ignores_hashes = self.request.is_locked_install();
        let status = match result {
            _ if flaw.is_some() => LockFileStatus::Differs,
            Some(Err(error)) if error.category() == Category::Differs => LockFileStatus::Differs,
            None | Some(Err(_)) => LockFileStatus::Failed,
            Some(Ok(change)) if change.is_unchanged => LockFileStatus::Present,
            Some(Ok(change)) if ignores_hashes && change.has_same_versions => {
                LockFileStatus::Present
            }
            Some(Ok(_)) if self.request.locked => LockFileStatus::Differs,
            Some(Ok(_)) if self.request.dry_run => LockFileStatus::Planned,
            Some(Ok(_)) => LockFileStatus::Written,
        };
        File {
            path,
            status,
            flaw,
            result,
        }
    }

    /// Why a lock file counts as different although tfoci would not change it.
    fn flaw(&self, file: usize) -> Option<&'static str> {
        let is_installed = self.request.is_locked_install() && !self.request.dry_run;
        let root = self.roots.get(file)?;
        let mut locked = self.results.locked.iter();
        locked.find_map(|one| {
            one.files.get(&file)?;
            // Clients keep hashes that match no package, so only a strict check stops at them.
            let has_others = !one.unknown.is_empty() || !one.uncompared.is_empty();
            if self.request.is_strict_check() && has_others {
                return Some("it has hashes that match no package, or could not be compared. `tfoci lock` keeps such hashes: compare them with `--from origin`, or delete their lines or the provider's block, and run it");
            }
            // Clients check unpacked packages by their `h1` alone, so they refuse a lock file that `--locked` leaves without it.
            let entry = root.needed.get(&one.provider).filter(|_| is_installed)?;
            let hashes = entry.before.as_ref().map(|(_, hashes)| hashes);
            let mut h1 = one.packages.iter().filter_map(|one| one.h1.as_ref());
            let lacks = |h1: &PackageHash| hashes.is_none_or(|hashes| !hashes.contains(h1));
            h1.any(lacks).then_some("no `h1` in it matches the installed package. Either it does not have this platform, and `tfoci lock --h1` with the same `--platform` adds it, or the package is not the locked one")
        })
    }

    /// Prints whether a file was written, stays as it is, or differs.
    fn print_file(&self, file: &File<'_>) {
        let (request, printer) = (self.request, &self.session.printer);
        let name = printable_path(file.path);
        let change = match file.result {
            Some(Ok(change)) => change,
            Some(Err(error)) => return printer.failure(error),
            None => {
                let verb = match request.is_check() {
                    true => "Not checked",
                    false => "Not written",
                };
                let text = format!("{name}, because not every provider could be locked");
                return printer.line(Tone::Warning, verb, &text);
            }
        };
        let why = match (file.status, file.flaw) {
            (_, Some(why)) if change.is_unchanged || request.installs => why,
            (LockFileStatus::Planned | LockFileStatus::Differs, _) => {
                self.print_diff(change, &name);
                ""
            }
            _ => "",
        };
        let (tone, verb) = match file.status {
            LockFileStatus::Written => (Tone::Done, "Wrote"),
            LockFileStatus::Present => (Tone::Plain, "Unchanged"),
            LockFileStatus::Planned => (Tone::Plain, "Would write"),
            LockFileStatus::Differs | LockFileStatus::Failed => (Tone::Warning, "Differs"),
        };
        let colon = if why.is_empty() { "" } else { ": " };
        printer.line(tone, verb, &format!("{name}{colon}{why}"));
    }

    fn print_diff(&self, change: &LockChange, name: &str) {
        let printer = &self.session.printer;
        if printer.format != Format::Text {
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

    /// Says what to do about what a check has found.
    fn advise(&self, files: &[File<'_>]) {
        let printer = &self.session.printer;
        // Clients accept packages by them alone.
        let unchecked: usize = self.results.locked.iter().map(|one| one.unchecked).sum();
        if unchecked > 0 && self.request.is_strict_check() {
            printer.warning(&format!(
                "{unchecked} `h1` of the lock files were not compared, and clients accept packages by them: `--h1 --platform all` downloads the packages and compares them"
            ));
        }
        let is_stale = |file: &File<'_>| {
            let differs = file.status == LockFileStatus::Differs && file.flaw.is_none();
            differs && matches!(file.result, Some(Ok(_)))
        };
        if self.request.is_check() && files.iter().any(is_stale) {
            printer.advise("`tfoci lock` with the same options writes it");
        }
    }
}
