//! Prints what became of versions and lock files, as text or JSON.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use similar::TextDiff;

use tfoci::address::ProviderAddr;
use tfoci::authentication::{Anchor, Status};
use tfoci::error::{Category, MANY, listed, printable_path};
use tfoci::event::{Subject, Transfer};
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
use crate::cli::progress::{explained, tone};
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
    files: Vec<File<'a>>,
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
struct File<'a> {
    path: Cow<'a, str>,
    status: FileStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<json::Error>,
    /// Why it counts as different although tfoci would not change it.
    #[serde(skip)]
    flaw: Option<&'static str>,
    #[serde(skip)]
    change: Option<Result<&'a LockChange, &'a CommandError>>,
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

impl Report<'_> {
    /// Prints everything, and returns how the command ends.
    pub(super) fn print(&self) -> Ending {
        let (request, printer) = (self.request, &self.session.printer);
        let locked = &self.results.locked;
        locked.iter().for_each(|one| self.print_locked(one));
        let failed = self.results.failed.iter();
        let failed = failed.map(|(failure, files)| (failure, self.failure(failure, files)));
        let failures: Vec<(&Failure, CommandError)> = failed.collect();
        for (_, error) in &failures {
            printer.failure(error);
        }
        let files: Vec<File<'_>> = (0..self.files.len())
            .filter_map(|file| self.file(file))
            .collect();
        files.iter().for_each(|file| self.print_file(file));
        self.advise(&files);
        let differs = files.iter().any(|file| file.status == FileStatus::Differs);
        if request.installs && !request.dry_run && failures.is_empty() && !differs {
            self.print_next();
        }
        let of_files = files.iter().filter_map(|file| file.change?.err());
        let errors = failures.iter().map(|(_, error)| error);
        let ending = match Ending::of(errors.chain(of_files)) {
            Ending::Done if differs => Ending::Failed(Category::Differs),
            ending => ending,
        };
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
            files,
        });
        ending
    }

    /// Prints what was done with a version.
    pub(super) fn print_locked(&self, locked: &Locked) {
        let (request, printer) = (self.request, &self.session.printer);
        let subject = Subject::version(&locked.provider, &locked.version);
        let names = locked.files.iter().filter_map(|file| self.roots.get(*file));
        let names: Vec<String> = names.map(|root| printable_path(&root.directory)).collect();
        let directories = match self.files.len() {
            1 => String::new(),
            _ => format!(" in {}", names.join(", ")),
        };
        let how = match locked.authentication.anchor {
            Some(Anchor::Lock) if request.installs => "it matches the lock file".to_owned(),
            _ => explained(&locked.authentication),
        };
        let mut packages = locked.packages.iter();
        let are_present = packages.all(|one| one.transfer == Transfer::Present);
        let (verb, more) = match (request.installs, locked.hashes.len()) {
            (true, _) if are_present => ("Present", String::new()),
            (true, _) if request.dry_run => ("Would add", String::new()),
            (true, _) => ("Installed", String::new()),
            (false, count) => {
                let verb = match request.writing {
                    Writing::Real => "Locked",
                    Writing::Locked => "Checked",
                    Writing::DryRun => "Would lock",
                };
                let plural = if count == 1 { "" } else { "es" };
                let comma = if directories.is_empty() { "" } else { "," };
                (verb, format!(", {count} hash{plural}{comma}{directories}"))
            }
        };
        let text = format!("{subject}   {how}{more}");
        printer.line(tone(&locked.authentication), verb, &text);
        for package in &locked.packages {
            printer.result(&package.path.display().to_string());
        }
        if !request.installs || request.writing == Writing::Real {
            self.warn_of_others(&subject, locked);
        }
        self.warn_of_hashes(&subject, locked, &directories);
        printer.warn_of_notes(&subject, &locked.authentication);
    }

    /// Warns that the hashes of only some platforms are known. The lock file may have had those of other platforms before.
    fn warn_of_others(&self, subject: &Subject, locked: &Locked) {
        let Some(only) = &locked.only else {
            return;
        };
        let why = match locked.authentication.status {
            _ if locked.place.is_mirror() => {
                "a mirror has no signatures: `--from STORE --trust FILE` locks every platform, and `--platform all` or `--trust-store` those that the mirror has"
            }
            Status::Signed => {
                "no key is pinned for it: `--trust FILE` or `--key FILE` locks every platform"
            }
            _ => "the release is not signed: `--platform all` downloads and locks the others",
        };
        let only = listed(only, MANY);
        let text = format!("{subject} was hashed for {only} only, because {why}");
        self.session.printer.warning(&text);
    }

    fn warn_of_hashes(&self, subject: &Subject, locked: &Locked, directories: &str) {
        let printer = &self.session.printer;
        let place = &locked.place;
        if !locked.strangers.is_empty() {
            let strangers = listed(&locked.strangers, MANY);
            printer.warning(&format!(
                "{subject}: the lock file{directories} has hashes that match no package of {place}, and clients accept packages with these hashes. Compare the file with its last version, or use `--from origin`: {strangers}"
            ));
        }
        if !locked.uncompared.is_empty() {
            printer.warning(&format!(
                "{subject}: {} `h1` of the lock file{directories} could not be compared, because {place} does not have all packages: {}",
                locked.uncompared.len(),
                listed(&locked.uncompared, MANY)
            ));
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
        let entries = roots.filter_map(|root| root.needed.get(&subject?.provider));
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

    fn file(&self, number: usize) -> Option<File<'_>> {
        let (path, change) = self.files.get(number)?;
        let (flaw, change) = (self.flaw(number), change.as_ref().map(Result::as_ref));
        // `install --locked` compares providers and versions only, as `init -lockfile=readonly` does: it has verified the packages by the
        // hashes in the file.
        let ignores_hashes = self.request.is_locked_install();
        let status = match change {
            _ if flaw.is_some() => FileStatus::Differs,
            Some(Err(error)) if error.category() == Category::Differs => FileStatus::Differs,
            None | Some(Err(_)) => FileStatus::Failed,
            Some(Ok(change)) if change.is_unchanged => FileStatus::Present,
            Some(Ok(change)) if ignores_hashes && change.has_same_versions => FileStatus::Present,
            Some(Ok(_)) => match self.request.writing {
                Writing::Locked => FileStatus::Differs,
                Writing::DryRun => FileStatus::Planned,
                Writing::Real => FileStatus::Written,
            },
        };
        let error = change.and_then(Result::err).filter(|_| flaw.is_none());
        Some(File {
            path: path.to_string_lossy(),
            error: error.map(Into::into),
            status,
            flaw,
            change,
        })
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
            let entry = root.needed.get(&one.provider).filter(|_| is_installed)?;
            let hashes = entry.before.as_ref().map(|(_, hashes)| hashes);
            let mut h1 = one.packages.iter().filter_map(|one| one.h1.as_ref());
            let lacks = |h1: &PackageHash| hashes.is_none_or(|hashes| !hashes.contains(h1));
            h1.any(lacks).then_some("no `h1` in it matches the installed package. Either it lacks this platform, and `tfoci lock --h1` with the same `--platform` adds it, or the package is not the locked one")
        })
    }

    /// Prints whether a file was written, stays as it is, or differs.
    fn print_file(&self, file: &File<'_>) {
        let (request, printer) = (self.request, &self.session.printer);
        let name = printable_path(Path::new(&*file.path));
        let change = match file.change {
            Some(Ok(change)) => change,
            Some(Err(error)) => return printer.failure(error),
            None => {
                let (verb, done) = match (request.is_check(), request.installs) {
                    (true, _) => ("Not checked", "compared"),
                    (_, true) => ("Not written", "installed"),
                    _ => ("Not written", "locked"),
                };
                let text = format!("{name}, because not every provider could be {done}");
                return printer.line(Tone::Warning, verb, &text);
            }
        };
        match (file.status, file.flaw) {
            (_, Some(why)) if change.is_unchanged || request.installs => {
                printer.line(Tone::Warning, "Differs", &format!("{name}: {why}"));
            }
            (FileStatus::Present, _) => {
                let why = match change.is_unchanged && change.before.is_empty() {
                    true => ": no provider is required, so no file is needed",
                    false => "",
                };
                printer.line(Tone::Plain, "Unchanged", &format!("{name}{why}"));
                if !change.is_unchanged {
                    printer.warning(&format!(
                        "{name} does not have all hashes of these packages, and `--locked` leaves it as it is; `tfoci lock --h1` with the same `--platform` adds them"
                    ));
                }
            }
            (FileStatus::Written, _) => printer.line(Tone::Done, "Wrote", &name),
            (FileStatus::Planned, _) => {
                self.print_diff(change, &name);
                printer.line(Tone::Plain, "Would write", &name);
            }
            _ => {
                self.print_diff(change, &name);
                printer.line(Tone::Warning, "Differs", &name);
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
    fn advise(&self, files: &[File<'_>]) {
        let printer = &self.session.printer;
        // Clients accept packages by them alone.
        let unchecked: usize = self.results.locked.iter().map(|one| one.unchecked).sum();
        if unchecked > 0 && self.request.is_strict_check() {
            printer.warning(&format!(
                "{unchecked} `h1` of the lock files were not compared, and clients accept packages by them: `--h1 --platform all` downloads the packages and compares them"
            ));
        }
        if !self.request.is_check() {
            return;
        }
        let differs = |file: &&File<'_>| file.status == FileStatus::Differs;
        let mut stale = files.iter().filter(differs);
        if stale.any(|file| file.flaw.is_none() && matches!(file.change, Some(Ok(_)))) {
            printer.advise("`tfoci lock` with the same options writes it");
        }
        if files.iter().any(|file| file.flaw.is_some()) {
            printer.advise("`tfoci lock` keeps such hashes: compare them with `--from origin`, or delete their lines or the provider's block, and run it");
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
            .filter(|root| are_here && !root.needed.is_empty());
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
