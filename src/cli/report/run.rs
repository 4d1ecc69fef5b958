//! A run: its results so far, and how they are printed at its end.

use std::sync::Arc;

use tfoci::error::{counted, printable_path};
use tfoci::event::Subject;
use tfoci::http::Http;

use super::super::error::CommandError;
use super::super::json;
use super::super::printer::{Printer, Tone};
use super::super::progress::Progress;
use super::super::render::Mirror;
use super::alike::Alike;
use super::job_summary;
use super::outcome::Outcome;
use super::tally::Tally;
use super::verb::Verb;

/// The destination of a run.
pub(super) enum Destination {
    /// Stores. The HTTP client counts the requests.
    Store(Http),
    /// A directory, and the mirror that the CLI configuration of clients names for it.
    Directory(Option<Mirror>),
}

/// A run and its results so far.
pub(super) struct Run {
    pub(super) verb: Verb,
    pub(super) progress: Arc<Progress>,
    pub(super) destination: Destination,
    pub(super) tally: Tally,
    pub(super) only_changed: bool,
    pub(super) outcomes: Vec<Outcome>,
    /// The number of outcomes that are left out.
    pub(super) left_out: usize,
    /// The keys that were pinned, or would be.
    pub(super) pins: Vec<json::Pin>,
    /// The versions that were deleted, or would be.
    pub(super) deleted: Vec<json::Deleted>,
    /// The published versions that the store no longer has.
    pub(super) withdrawn: Vec<String>,
    /// An error that is not about a version.
    pub(super) error: Option<CommandError>,
    /// The failures of hosts, of which the first is printed.
    pub(super) alike: Alike,
}

impl Run {
    /// Prints the results, and what people need less, before the summary. Only what to do next follows it.
    pub(super) fn print(mut self, printer: &Printer, interruption: Option<json::Error>) {
        self.progress.clear();
        printer.groups_left();
        self.sort();
        self.alike.print(printer);
        let is_interrupted = interruption.is_some();
        self.print_withdrawn(printer);
        self.print_hashes(printer);
        for outcome in &self.outcomes {
            if !(printer.result_is_read && outcome.is_unchanged()) {
                outcome.results().for_each(|result| printer.result(&result));
            }
        }
        if let Some(error) = &self.error {
            printer.failure(error);
        }
        self.summarize(printer, is_interrupted);
        self.write_job_summary(printer, is_interrupted);
        if is_interrupted {
            printer.interrupted(self.how_to_go_on().as_deref());
        } else {
            self.print_configuration(printer);
        }
        printer.document(&self.document(interruption));
    }

    /// The hint of an interrupted run; `None` if it was to write nothing.
    fn how_to_go_on(&self) -> Option<String> {
        let done = self.progress.standing();
        let done = done.map_or_else(
            || "clients see nothing incomplete".to_owned(),
            |done| format!("{done} packages are there"),
        );
        (!self.tally.dry_run).then(|| format!("{done}: run the same command again to go on"))
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
        let failed = self.failures().count();
        // A run with one failure has its error message, and an interrupted run without results has the message about the interruption.
        if (all == 1 && failed == 1) || (all == 0 && is_interrupted) {
            return;
        }
        let (verb, text) = self.totals(is_interrupted);
        if failed == 0 {
            return printer.line(Tone::Done, verb, &text);
        }
        // The outcomes are versions, so a provider that failed as a whole is not one of `all`.
        let is_counted = |subject: &Subject| self.verb.has_one_version || subject.version.is_some();
        let of = match self.failures().all(is_counted) {
            true => format!(" of {all}"),
            false => String::new(),
        };
        printer.line(Tone::Warning, verb, &format!("{text}; {failed}{of} failed"));
    }

    /// The versions that failed, and the providers that failed as a whole.
    pub(super) fn failures(&self) -> impl Iterator<Item = &Subject> {
        self.outcomes.iter().filter_map(|outcome| match outcome {
            Outcome::Failed(subject, _) => Some(subject),
            Outcome::Published(_) | Outcome::Installed(_) => None,
        })
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
        if let Err(error) = job_summary::append(path, &title, &self.outcomes, self.left_out) {
            let path = printable_path(path);
            printer.warning(&format!("cannot write the job summary to {path}: {error}"));
        }
    }
}
