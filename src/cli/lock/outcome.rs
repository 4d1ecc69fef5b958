//! The result of `lock`: providers and files, as text or JSON.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use similar::TextDiff;

use tfoci::authentication::Anchor;
use tfoci::error::{Category, printable_path};
use tfoci::event::{Subject, Transfer};
use tfoci::install::InstalledPackage;
use tfoci::lock::target::{self, LockChange};
use tfoci::lock::{LockResult, Locked};
use tfoci::lockfile::Client;

use super::request::{Request, Writing};
use crate::cli::Ending;
use crate::cli::args::Format;
use crate::cli::error::CommandError;
use crate::cli::json;
use crate::cli::printer::{Printer, Tone};
use crate::cli::session::Session;

/// The time after which a diff is finished roughly.
const LONGEST_DIFF: Duration = Duration::from_secs(1);

/// The providers and files of a run.
pub(super) struct Outcome {
    pub(super) found: Vec<LockResult>,
    files: Vec<(PathBuf, FileResult)>,
}

/// The versions that were locked, and the failures.
type Providers<'a> = (Vec<(Subject, &'a Locked)>, Vec<(Subject, CommandError)>);

/// The change of a lock file; `None` if one of its providers failed.
type FileResult = Option<Result<LockChange, CommandError>>;

impl Outcome {
    pub(super) fn new(found: Vec<LockResult>) -> Self {
        Self {
            found,
            files: Vec::new(),
        }
    }

    pub(super) fn add_file(
        &mut self,
        path: &Path,
        changed: Option<Result<LockChange, target::Error>>,
    ) {
        let changed = changed.map(|changed| changed.map_err(CommandError::from));
        self.files.push((path.to_owned(), changed));
    }

    /// Prints everything.
    pub(super) fn print(self, request: &Request, session: &Session) -> Ending {
        let printer = &session.printer;
        let (locked, failures) = self.providers();
        for (subject, one) in &locked {
            print_locked(subject, one, request, printer);
        }
        for (_, failure) in &failures {
            printer.failure(failure);
        }
        for (path, changed) in &self.files {
            print_file(path, changed.as_ref(), request.writing, printer);
        }
        let is_complete = failures.is_empty() && request.writing != Writing::DryRun;
        if request.installs && is_complete && !locked.is_empty() {
            print_next(request, session);
        }
        let differs = self
            .files
            .iter()
            .any(|(_, changed)| matches!(changed, Some(Ok(change)) if !change.is_present));
        let errors = failures.iter().map(|(_, error)| error);
        let of_files = self.files.iter().filter_map(|(_, changed)| match changed {
            Some(Err(error)) => Some(error),
            _ => None,
        });
        let ending = Ending::of(errors.chain(of_files));
        let documents = locked
            .iter()
            .map(|(subject, one)| json::Locked::of(subject, one));
        let failed = failures
            .iter()
            .map(|(subject, error)| json::Locked::failed(subject, error));
        let files = self.files.iter().map(|(path, changed)| {
            let (status, error) = status(changed.as_ref(), request.writing);
            json::LockedFile {
                path: path.to_string_lossy(),
                status,
                error: error.map(json::Error::from),
            }
        });
        printer.document(&json::Locking {
            schema: json::SCHEMA,
            providers: documents.chain(failed).collect(),
            files: files.collect(),
        });
        match ending {
            Ending::Done if differs && request.writing == Writing::Locked => {
                Ending::Failed(Category::Differs)
            }
            ending => ending,
        }
    }

    /// The versions that were locked, and the failures. What several lock files have in common is there once.
    fn providers(&self) -> Providers<'_> {
        let (mut locked, mut failures): Providers<'_> = (Vec::new(), Vec::new());
        let mut seen = BTreeSet::new();
        for LockResult {
            provider,
            locked: result,
            ..
        } in &self.found
        {
            match result {
                Ok(one) => {
                    let is_same = |(subject, other): &(Subject, &Locked)| {
                        subject.provider == *provider
                            && other.version == one.version
                            && other.hashes == one.hashes
                    };
                    if !locked.iter().any(is_same) {
                        locked.push((Subject::version(provider, &one.version), one));
                    }
                }
                Err(failure) => {
                    if seen.insert(Arc::as_ptr(&failure.problem)) {
                        let subject = failure.subject.clone();
                        let subject = subject.unwrap_or_else(|| Subject::provider(provider));
                        failures.push((subject, CommandError::Locking(failure.clone())));
                    }
                }
            }
        }
        (locked, failures)
    }
}

fn print_locked(subject: &Subject, locked: &Locked, request: &Request, printer: &Printer) {
    if request.installs {
        let is_present = |package: &InstalledPackage| package.transfer == Transfer::Present;
        let is_linked = |package: &InstalledPackage| package.transfer == Transfer::Mounted;
        let all = &locked.installed;
        let verb = match all.iter().all(is_present) {
            true => "Present",
            false if request.writing == Writing::DryRun => "Would add",
            false if all.iter().all(|one| is_present(one) || is_linked(one)) => "Linked",
            false => "Installed",
        };
        let how = match locked.authentication.anchor {
            Some(Anchor::Lock) => "it matches the lock file".to_owned(),
            _ => locked.authentication.to_string(),
        };
        printer.line(Tone::Done, verb, &format!("{subject}   {how}"));
        for package in &locked.installed {
            printer.result(&package.path.display().to_string());
        }
        return warn(subject, locked, printer);
    }
    let hashes = match locked.hashes.len() {
        1 => "1 hash".to_owned(),
        count => format!("{count} hashes"),
    };
    let verb = match request.writing {
        Writing::Real => "Locked",
        Writing::Locked => "Checked",
        Writing::DryRun => "Would lock",
    };
    let text = format!("{subject}   {}, {hashes}", locked.authentication);
    printer.line(Tone::Done, verb, &text);
    if let Some(only) = &locked.only {
        let only: Vec<String> = only.iter().map(ToString::to_string).collect();
        let text = format!(
            "{subject} is locked for {} only, because no key is pinned for it: `--trust FILE` or `--key FILE` locks every platform",
            only.join(", ")
        );
        printer.warning(&text);
    }
    warn(subject, locked, printer);
}

/// What to do with the installed providers.
fn print_next(request: &Request, session: &Session) {
    let client = request.client.unwrap_or(Client::OpenTofu).program();
    let data = session.data_directory();
    let directory = printable_path(&data.join("providers"));
    session.printer.say(&format!(
        "\n`{client} plan` and `{client} apply` work now. Where a backend or modules need `init`:\n\n  {client} init -plugin-dir={directory}"
    ));
}

fn warn(subject: &Subject, locked: &Locked, printer: &Printer) {
    if let Some(warning) = locked.authentication.warning() {
        printer.warning(&format!("{subject}: {warning}"));
    }
}

fn print_file(
    path: &Path,
    changed: Option<&Result<LockChange, CommandError>>,
    writing: Writing,
    printer: &Printer,
) {
    let name = printable_path(path);
    match changed {
        None => printer.line(
            Tone::Warning,
            "Unchanged",
            &format!("{name}: not every provider could be locked"),
        ),
        Some(Err(error)) => printer.failure(error),
        Some(Ok(change)) if change.is_present => {
            printer.line(Tone::Plain, "Unchanged", &name);
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

fn print_diff(change: &LockChange, name: &str, printer: &Printer) {
    // Comparing costs the square of the lines, and nobody reads more.
    const LARGEST: usize = 1 << 20;
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

/// The status of a file in JSON, and its error.
fn status(
    changed: Option<&Result<LockChange, CommandError>>,
    writing: Writing,
) -> (&'static str, Option<&CommandError>) {
    match changed {
        None => ("failed", None),
        Some(Err(error)) => ("failed", Some(error)),
        Some(Ok(change)) if change.is_present => ("present", None),
        Some(Ok(_)) => match writing {
            Writing::Locked => ("differs", None),
            Writing::DryRun => ("planned", None),
            Writing::Real => ("written", None),
        },
    }
}
