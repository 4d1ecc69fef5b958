//! The report of `push`, `mirror`, `copy` and `install`: the outcome of each provider version.
//!
//! The report collects results during the run and prints them at its end, even if it is interrupted: a summary on stderr, and references,
//! paths or one JSON document on stdout.

mod alike;
mod extent;
mod installed;
mod job_summary;
mod outcome;
mod site;
mod tally;
mod verb;
mod version_line;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tfoci::error::{Category, printable_path};
use tfoci::event::{Reporter, Subject};
use tfoci::http::Http;
use tfoci::install::Installed;
use tfoci::outcome::{Change, Failure, Published};

use super::Ending;
use super::arguments::Format;
use super::error::CommandError;
use super::hints::interruption;
use super::json;
use super::printer::{Printer, Tone};
use super::progress::{PresentVersions, Progress};
use super::render::Mirror;
use alike::Alike;
pub(super) use extent::Extent;
use outcome::Outcome;
use tally::{Tally, counted};
pub(super) use verb::{COPY, MIRROR, PUSH};
use verb::{INSTALL, Verb};

/// The destination of a run.
enum Destination {
    /// Stores. The HTTP client counts the requests.
    Store(Http),
    /// A directory, and the mirror that the CLI configuration of clients names for it.
    Directory(Option<Mirror>),
}

/// Collects results and prints them at the end of the run.
pub(super) struct Report {
    printer: Printer,
    state: Mutex<State>,
}

enum State {
    /// No run has started.
    Idle,
    Running(Box<Run>),
    /// The report is printed.
    Finished,
}

/// A run and its results so far.
struct Run {
    verb: Verb,
    progress: Arc<Progress>,
    destination: Destination,
    tally: Tally,
    only_changed: bool,
    outcomes: Vec<Outcome>,
    /// The number of outcomes that are left out.
    left_out: usize,
    /// The keys that were pinned, or would be.
    pins: Vec<json::Pin>,
    /// The versions that were deleted, or would be.
    deleted: Vec<json::Deleted>,
    /// The published versions that the store no longer has.
    withdrawn: Vec<String>,
    /// An error that is not about a version.
    error: Option<CommandError>,
    /// The failures of hosts, of which the first is printed.
    alike: Alike,
}

impl Report {
    pub(super) fn new(printer: Printer) -> Self {
        Self {
            printer,
            state: Mutex::new(State::Idle),
        }
    }

    /// Starts the report of a run that publishes versions, and returns the reporter of its events.
    pub(super) fn publishing(&self, verb: Verb, extent: Extent, http: &Http) -> Arc<dyn Reporter> {
        self.begin(verb, extent, Destination::Store(http.clone()))
    }

    /// Starts the report of a run that installs packages into a directory.
    pub(super) fn installing(&self, into: PathBuf, extent: Extent) -> Arc<dyn Reporter> {
        let mirror = Mirror::directory(&into);
        self.begin(INSTALL, extent, Destination::Directory(Some(mirror)))
    }

    fn begin(&self, verb: Verb, extent: Extent, destination: Destination) -> Arc<dyn Reporter> {
        let present = match extent.only_changed {
            true => PresentVersions::LeftOut,
            false => PresentVersions::Printed,
        };
        let progress = Progress::begin(&self.printer, extent.providers, present);
        *self.state() = State::Running(Box::new(Run {
            verb,
            progress: progress.clone(),
            destination,
            tally: Tally::new(extent.dry_run),
            only_changed: extent.only_changed,
            outcomes: Vec::new(),
            left_out: 0,
            pins: Vec::new(),
            deleted: Vec::new(),
            withdrawn: Vec::new(),
            error: None,
            alike: Alike::default(),
        }));
        progress
    }

    /// Adds a published version.
    pub(super) fn published(&self, mut published: Published) {
        self.change(|run| {
            run.tally.add_published(&published);
            let version = version_line::subject(&published);
            run.progress.complete(&version, published.packages.len());
            if run.only_changed && published.status == Change::Present {
                run.left_out += 1;
                self.printer.drop_group(&version);
                return;
            }
            run.progress.print_held(&version);
            version_line::published(&self.printer, &published);
            published
                .packages
                .sort_by(|a, b| a.platform.cmp(&b.platform));
            // Only JSON and job summaries list packages. A run may have very many, so others are dropped here.
            if self.printer.format == Format::Text && self.printer.job_summary().is_none() {
                published.packages = Vec::new();
            }
            run.outcomes.push(Outcome::Published(published));
        });
    }

    /// Adds keys that were pinned, or would be.
    pub(super) fn pinned(&self, pins: impl IntoIterator<Item = json::Pin>) {
        self.change(|run| run.pins.extend(pins));
    }

    /// Adds an installed version.
    pub(super) fn installed(&self, installed: Installed) {
        self.change(|run| {
            run.tally.add_installed(&installed);
            let version = Subject::version(&installed.provider, &installed.version);
            run.progress.complete(&version, installed.packages.len());
            version_line::installed(&self.printer, &installed);
            run.outcomes.push(Outcome::Installed(installed));
        });
    }

    /// Prints the error of a failed version and adds it.
    pub(super) fn failed(&self, subject: Subject, error: CommandError) {
        self.change(|run| {
            run.progress.abandon(&subject);
            run.progress.print_held(&subject);
            self.printer.group(&subject, &format!("Failed {subject}"));
            if !run.alike.repeats(&error, &subject) {
                self.printer.failure(&error);
            }
            run.outcomes.push(Outcome::Failed(subject, error));
        });
    }

    /// Like [`Report::failed`], for an error of a journey. If it is not about a version, it becomes the error of the run.
    pub(super) fn journey_failed(
        &self,
        to_error: impl FnOnce(Failure) -> CommandError,
        failure: Failure,
    ) {
        match failure.subject.clone() {
            Some(subject) => self.failed(subject, to_error(failure)),
            None => self.run_failed(to_error(failure)),
        }
    }

    /// Like [`Report::journey_failed`], for a run whose report has one line for each version: the failure of a package is that of its version.
    pub(super) fn version_failed(&self, failure: Failure) {
        let version = failure.subject.clone().map(|subject| Subject {
            platform: None,
            ..subject
        });
        match version {
            Some(version) => self.failed(version, failure.into()),
            None => self.run_failed(failure.into()),
        }
    }

    /// Sets an error that is not about a version.
    pub(super) fn run_failed(&self, error: CommandError) {
        self.change(|run| run.error = Some(error));
    }

    /// Whether something failed so far.
    pub(super) fn has_failures(&self) -> bool {
        match &*self.state() {
            State::Running(run) => {
                run.error.is_some() || run.outcomes.iter().any(|one| one.error().is_some())
            }
            _ => false,
        }
    }

    /// Prints the report.
    pub(super) fn finish(&self) -> Ending {
        let Some(run) = self.end() else {
            return Ending::Done;
        };
        let ending = Ending::of(
            run.outcomes
                .iter()
                .filter_map(Outcome::error)
                .chain(&run.error),
        );
        run.print(&self.printer, None);
        ending
    }

    /// Prints the results so far, and that the run was interrupted.
    pub(super) fn interrupted(&self) {
        let is_finished = matches!(*self.state(), State::Finished);
        match self.end() {
            Some(run) => run.print(&self.printer, Some(json::Error::interrupted())),
            None => {
                self.printer.interrupted(None);
                if !is_finished {
                    self.printer.document(&json::Failed::interrupted());
                }
            }
        }
    }

    /// Prints the error that ended the command, and returns its category.
    pub(super) fn command_failed(&self, error: &CommandError) -> Category {
        self.printer.failure(error);
        if !matches!(*self.state(), State::Finished) {
            self.printer.document(&json::Failed::from(error));
        }
        error.category()
    }

    fn change(&self, change: impl FnOnce(&mut Run)) {
        if let State::Running(run) = &mut *self.state() {
            change(run);
        }
    }

    fn end(&self) -> Option<Run> {
        match std::mem::replace(&mut *self.state(), State::Finished) {
            State::Running(run) => Some(*run),
            State::Idle | State::Finished => None,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Run {
    fn print(mut self, printer: &Printer, interruption: Option<json::Error>) {
        self.progress.clear();
        printer.groups_left();
        self.sort();
        self.alike.print(printer);
        let is_interrupted = interruption.is_some();
        self.print_withdrawn(printer);
        self.print_hashes(printer);
        self.summarize(printer, is_interrupted);
        self.write_job_summary(printer, is_interrupted);
        if !is_interrupted {
            self.print_configuration(printer);
        }
        for outcome in &self.outcomes {
            match outcome {
                Outcome::Published(published) => printer.result(&published.reference),
                Outcome::Installed(installed) => {
                    for package in &installed.packages {
                        printer.result(&package.path.display().to_string());
                    }
                }
                Outcome::Failed(..) => {}
            }
        }
        if let Some(error) = &self.error {
            printer.failure(error);
        }
        if is_interrupted {
            printer.interrupted(self.extent().as_ref());
        }
        printer.document(&self.document(interruption));
    }

    /// How much an interrupted run has written; `None` if it was to write nothing.
    fn extent(&self) -> Option<interruption::Extent> {
        if self.tally.dry_run {
            return None;
        }
        Some(match (self.progress.standing(), &self.destination) {
            (Some(done), _) => interruption::Extent::Some(done),
            (None, Destination::Store(_)) => interruption::Extent::NothingTagged,
            (None, Destination::Directory(_)) => interruption::Extent::NothingWritten,
        })
    }

    fn document(&self, interruption: Option<json::Error>) -> json::Outcomes<'_> {
        let http = match &self.destination {
            Destination::Store(http) => Some(http),
            Destination::Directory(_) => None,
        };
        json::Outcomes {
            schema: json::SCHEMA,
            providers: self
                .outcomes
                .iter()
                .map(|outcome| outcome.provider(http.is_some()))
                .collect(),
            pins: &self.pins,
            deleted: &self.deleted,
            bytes: http.map(|_| self.tally.written_bytes),
            requests: http.map(Http::requests),
            error: interruption.or_else(|| self.error.as_ref().map(json::Error::from)),
        }
    }

    /// Sorts by provider and version, so that the order does not depend on timing. Versions that were not published come last.
    fn sort(&mut self) {
        let is_last = matches!(self.destination, Destination::Store(_));
        self.outcomes.sort_by_cached_key(|outcome| match outcome {
            Outcome::Published(one) => {
                let version = Some(one.version.clone());
                (false, one.provider.clone(), version, one.reference.clone())
            }
            Outcome::Installed(one) => {
                let version = Some(one.version.clone());
                (false, one.provider.clone(), version, String::new())
            }
            Outcome::Failed(about, error) => {
                let version = about.version.clone();
                let text = format!("{about} {error}");
                (is_last, about.provider.clone(), version, text)
            }
        });
    }

    fn summarize(&self, printer: &Printer, is_interrupted: bool) {
        let all = self.outcomes.len() + self.left_out;
        let failures = outcome::failures(&self.outcomes, all, self.verb.has_one_version);
        // A run with one failure has its error message, and an interrupted run without results has the message about the interruption.
        if (all == 1 && failures.is_some()) || (all == 0 && is_interrupted) {
            return;
        }
        let (verb, text) = self.totals(is_interrupted);
        printer.line(Tone::Done, verb, &text);
        if let Some(text) = failures {
            printer.line(Tone::Warning, "Failed", &text);
        }
    }

    /// The counts of the run: a verb, and the text after it.
    fn totals(&self, is_interrupted: bool) -> (&'static str, String) {
        let verb = match self.tally.dry_run {
            true => self.verb.planned,
            false => self.verb.done,
        };
        let end = match is_interrupted {
            true => " before it was interrupted",
            false => "",
        };
        let deleted = match (self.deleted.len(), self.tally.dry_run) {
            (0, _) => String::new(),
            (count, false) => format!("; deleted {}", counted(count, "version")),
            (count, true) => format!("; would delete {}", counted(count, "version")),
        };
        let elapsed = self.progress.elapsed();
        let text = format!("{} in {elapsed}{deleted}{end}", self.tally);
        (verb, text)
    }

    /// Writes the summary of a job of GitHub Actions.
    fn write_job_summary(&self, printer: &Printer, is_interrupted: bool) {
        let Some(path) = printer.job_summary().filter(|_| !self.outcomes.is_empty()) else {
            return;
        };
        let (verb, text) = self.totals(is_interrupted);
        let title = printer.neutral(&format!("{verb} {text}"));
        if let Err(error) = job_summary::append(path, &title, &self.outcomes) {
            let path = printable_path(path);
            printer.warning(&format!("cannot write the job summary to {path}: {error}"));
        }
    }
}
