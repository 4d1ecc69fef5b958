//! Prints what became of versions and lock files, as text or JSON.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use similar::TextDiff;

use tfoci::address::ProviderAddr;
use tfoci::error::{Category, printable_path};
use tfoci::hash::PackageHash;
use tfoci::install::InstalledPackage;
use tfoci::lock::target::LockChange;
use tfoci::lock::{Locked, Results};
use tfoci::outcome::Failure;
use tfoci::platform::Platform;
use tfoci::version::Version;

use super::roots::Root;
use super::{LockRequest, Writing};
use crate::cli::Ending;
use crate::cli::arguments::Format;
use crate::cli::error::CommandError;
use crate::cli::json;
use crate::cli::printer::Tone;
use crate::cli::session::{Session, data_directory};

/// The time after which the comparison of lines becomes coarse. Its cost grows with the square of the lines that differ; files of some hundred
/// lines take milliseconds.
const LONGEST_DIFF: Duration = Duration::from_secs(1);

/// A run, after its lock files were written or compared.
pub(super) struct Report<'a> {
    pub(super) request: &'a LockRequest,
    pub(super) session: &'a Session,
    pub(super) roots: &'a [Root],
    pub(super) results: Results,
    /// The lock files of the roots, then those of directories that could not be read.
    pub(super) files: Vec<(PathBuf, FileResult)>,
}

/// The change of a lock file; `None` if one of its providers failed.
pub(super) type FileResult = Option<Result<LockChange, CommandError>>;

/// The result in JSON.
#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    providers: Vec<Provider<'a>>,
    files: Vec<LockFile<'a>>,
}

/// A provider version that lock files record, or the reason why they do not.
#[derive(Serialize)]
#[serde(untagged)]
enum Provider<'a> {
    Locked(&'a Locked),
    Failed {
        provider: &'a ProviderAddr,
        #[serde(skip_serializing_if = "Option::is_none")]
        version: Option<&'a Version>,
        hashes: [(); 0],
        error: json::Error,
    },
}

/// What became of a lock file.
#[derive(Serialize)]
struct LockFile<'a> {
    path: Cow<'a, str>,
    status: FileStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<json::Error>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum FileStatus {
    Written,
    Present,
    /// `--check` would write it.
    Differs,
    /// In a dry run.
    Planned,
    /// A provider of it failed, or the file did.
    Failed,
}

/// What became of a lock file, and why it counts as different although tfoci would not change it.
type Found = (FileStatus, Option<&'static str>);

impl Report<'_> {
    /// Prints everything, and returns how the command ends.
    pub(super) fn print(&self) -> Ending {
        let (request, printer) = (self.request, &self.session.printer);
        let locked = &self.results.locked;
        for one in locked {
            self.print_locked(one);
        }
        let failed = self.results.failed.iter();
        let failed = failed.map(|(failure, files)| (failure, self.failure(failure, files)));
        let failures: Vec<(&Failure, CommandError)> = failed.collect();
        for (_, error) in &failures {
            printer.failure(error);
        }
        let numbers = 0..self.files.len();
        let found: Vec<Found> = numbers.map(|file| self.found(file)).collect();
        let files = || self.files.iter().zip(&found);
        for ((path, change), found) in files() {
            self.print_file(path, change.as_ref(), *found);
        }
        self.advise(&found);
        let differs = found
            .iter()
            .any(|(status, _)| *status == FileStatus::Differs);
        if request.installs && !request.dry_run && failures.is_empty() && !differs {
            self.print_next();
        }
        let failed = failures.iter().filter_map(|(failure, error)| {
            let subject = failure.subject.as_ref()?;
            Some(Provider::Failed {
                provider: &subject.provider,
                version: subject.version.as_ref(),
                hashes: [],
                error: error.into(),
            })
        });
        printer.document(&Document {
            schema: json::SCHEMA,
            providers: locked.iter().map(Provider::Locked).chain(failed).collect(),
            files: files()
                .map(|((path, change), (status, flaw))| LockFile {
                    path: path.to_string_lossy(),
                    status: *status,
                    error: match change {
                        Some(Err(error)) if flaw.is_none() => Some(error.into()),
                        _ => None,
                    },
                })
                .collect(),
        });
        let errors = failures.iter().map(|(_, error)| error);
        let of_files = self.files.iter();
        let of_files = of_files.filter_map(|(_, change)| change.as_ref()?.as_ref().err());
        match Ending::of(errors.chain(of_files)) {
            Ending::Done if differs => Ending::Failed(Category::Differs),
            ending => ending,
        }
    }

    /// The error of a provider. If no version satisfies its constraints, or the source does not have it, the error names the lines that
    /// state the constraints.
    fn failure(&self, failure: &Failure, files: &BTreeSet<usize>) -> CommandError {
        // These lines and the rest of the message fit on a screen.
        const MOST: usize = 10;
        let of_constraints = matches!(failure.category(), Category::NotFound | Category::Differs);
        let subject = failure.subject.as_ref().filter(|_| of_constraints);
        let roots = files.iter().filter_map(|file| self.roots.get(*file));
        let entries = roots.filter_map(|root| root.entries.get(&subject?.provider));
        let stated = entries.flat_map(|entry| &entry.stated);
        let mut stated: Vec<String> = stated.cloned().collect();
        if stated.is_empty() {
            return failure.clone().into();
        }
        let more = stated.len().saturating_sub(MOST);
        stated.truncate(MOST);
        stated.extend((more > 0).then(|| format!("{more} more statements")));
        CommandError::NotSelected {
            failure: failure.clone(),
            stated,
        }
    }

    /// Whether a lock file needs no change. `install --locked` compares providers and versions only, as `init -lockfile=readonly` does: it has
    /// verified the packages by the hashes in the file.
    fn stays(&self, change: &LockChange) -> bool {
        change.is_present || self.request.is_locked_install() && change.has_same_versions
    }

    fn found(&self, file: usize) -> Found {
        let flaw = self.flaw(file);
        let change = self.files.get(file).and_then(|(_, change)| change.as_ref());
        let status = match change {
            _ if flaw.is_some() => FileStatus::Differs,
            Some(Err(error)) if error.category() == Category::Differs => FileStatus::Differs,
            None | Some(Err(_)) => FileStatus::Failed,
            Some(Ok(change)) if self.stays(change) => FileStatus::Present,
            Some(Ok(_)) => match self.request.writing {
                Writing::Locked => FileStatus::Differs,
                Writing::DryRun => FileStatus::Planned,
                Writing::Real => FileStatus::Written,
            },
        };
        (status, flaw)
    }

    /// Why a lock file counts as different although tfoci would not change it.
    fn flaw(&self, file: usize) -> Option<&'static str> {
        let is_installed = self.request.is_locked_install() && !self.request.dry_run;
        let root = self.roots.get(file)?;
        let mut locked = self.results.locked.iter();
        locked.find_map(|one| {
            one.files.get(&file)?;
            // Clients keep hashes that match no package, so only a strict check stops at them.
            let has_others = !one.strangers.is_empty() || !one.uncompared.is_empty();
            if self.request.is_strict_check() && has_others {
                return Some("it has hashes that match no package, or could not be compared");
            }
            // Clients check unpacked packages by their `h1` alone, so they refuse a lock file that `--locked` leaves without it.
            let entry = root.entries.get(&one.provider).filter(|_| is_installed)?;
            let hashes = entry.locked.as_ref().map(|(_, hashes)| hashes);
            let mut h1 = one.packages.iter().filter_map(|one| one.h1.as_ref());
            let lacks = |h1: &PackageHash| hashes.is_none_or(|hashes| !hashes.contains(h1));
            h1.any(lacks).then_some("no `h1` in it matches the installed package. Either it lacks this platform, and `tfoci lock --h1` with the same `--platform` adds it, or the package is not the locked one")
        })
    }

    /// Prints whether a file was written, stays as it is, or differs.
    fn print_file(
        &self,
        path: &Path,
        change: Option<&Result<LockChange, CommandError>>,
        (status, flaw): Found,
    ) {
        let (request, printer) = (self.request, &self.session.printer);
        let name = printable_path(path);
        let change = match change {
            Some(Ok(change)) => change,
            Some(Err(error)) => return printer.failure(error),
            None => {
                let (verb, done) = match path.symlink_metadata() {
                    _ if request.is_check() => ("Not checked", "compared"),
                    Ok(_) => ("Unchanged", "locked"),
                    Err(_) => ("Not written", "locked"),
                };
                let done = if request.installs { "installed" } else { done };
                let text = format!("{name}, because not every provider could be {done}");
                return printer.line(Tone::Warning, verb, &text);
            }
        };
        match (status, flaw) {
            (_, Some(why)) if change.is_present || request.installs => {
                printer.line(Tone::Warning, "Differs", &format!("{name}: {why}"));
            }
            (FileStatus::Present, _) => {
                let why = match change.is_present && change.before.is_empty() {
                    true => ": no provider is required, so no file is needed",
                    false => "",
                };
                printer.line(Tone::Plain, "Unchanged", &format!("{name}{why}"));
                if !change.is_present {
                    printer.warning(&format!(
                        "{name} does not have all hashes of these packages, and `--locked` leaves it as it is; `tfoci lock --h1` with the same `--platform` adds them"
                    ));
                }
            }
            (FileStatus::Written, _) => printer.line(Tone::Done, "Wrote", &name),
            (status, _) => {
                self.print_diff(change, &name);
                match status {
                    FileStatus::Planned => printer.line(Tone::Plain, "Would write", &name),
                    _ => printer.line(Tone::Warning, "Differs", &name),
                }
            }
        }
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
    fn advise(&self, found: &[Found]) {
        let printer = &self.session.printer;
        // Clients accept packages by them alone.
        let unchecked: usize = self.results.locked.iter().map(|one| one.unchecked).sum();
        if unchecked > 0 && self.request.is_strict_check() {
            printer.warning(&format!(
                "{unchecked} `h1` of the lock files were not compared, and clients accept packages by them: `--h1 --platform all` downloads the packages and compares them"
            ));
        }
        if self.request.is_check() {
            let mut files = self.files.iter().zip(found);
            let stale = (FileStatus::Differs, None);
            if files.any(|((_, change), found)| matches!(change, Some(Ok(_))) && *found == stale) {
                printer.advise("`tfoci lock` with the same options writes it");
            }
            if found.iter().any(|(_, flaw)| flaw.is_some()) {
                printer.advise("`tfoci lock` keeps such hashes: compare them with `--from origin`, or delete their lines or the provider's block, and run it");
            }
        }
    }

    /// Prints which commands of the client work now, if each version was installed for this machine.
    fn print_next(&self) {
        let mut locked = self.results.locked.iter();
        let is_here = |one: &InstalledPackage| one.platform == Platform::current();
        let are_here = locked.all(|one| one.packages.iter().any(is_here));
        let root = self
            .roots
            .first()
            .filter(|root| are_here && !root.entries.is_empty());
        let Some(client) = root.map(|root| root.target.client().program()) else {
            return;
        };
        let chdir = match self.request.directories.as_slice() {
            [directory] => format!(" -chdir={}", printable_path(directory)),
            _ => String::new(),
        };
        let directory = printable_path(&data_directory().join("providers"));
        self.session.printer.say(&format!(
            "\n`{client}{chdir} plan` and `{client}{chdir} apply` work now, unless the configuration has a backend or calls modules. That needs first:\n\n  {client}{chdir} init -plugin-dir={directory}"
        ));
    }
}
