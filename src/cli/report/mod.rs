//! The report of `push`, `mirror`, `copy` and `install`: the outcome of each provider version.
//!
//! The report collects results during the run and prints them at its end, even if it is interrupted: a summary on stderr, and references,
//! paths or one JSON document on stdout.

mod alike;
mod extent;
mod installed;
mod job_summary;
mod outcome;
mod run;
mod site;
mod tally;
mod verb;
mod version_line;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tfoci::error::Category;
use tfoci::event::{Reporter, Subject};
use tfoci::http::Http;
use tfoci::install::Installed;
use tfoci::outcome::{Change, Failure, Published};

use super::Ending;
use super::arguments::Format;
use super::error::CommandError;
use super::json;
use super::printer::Printer;
use super::progress::{PresentVersions, Progress};
use super::render::Mirror;
use alike::Alike;
pub(super) use extent::Extent;
use outcome::Outcome;
use run::{Destination, Run};
use tally::Tally;
pub(super) use verb::{COPY, MIRROR, PUSH};
use verb::{INSTALL, Verb};

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
        match failure.subject.as_ref().map(Subject::whole_version) {
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
