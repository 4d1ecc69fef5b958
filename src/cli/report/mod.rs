//! The report of `push`, `mirror`, `copy`, `install`, `lock` and `site`: one row for each provider version.
//!
//! A [`Row`] is made from what became of a version, and is rendered three times: as a line with its results, as JSON, and in the summary of a
//! job of GitHub Actions ([`job_summary`]). The report collects rows during the run, and prints the rest at its end, even if it is interrupted.

mod job_summary;
mod row;
mod totals;

use std::collections::{BTreeSet, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use indicatif::HumanBytes;
use serde_json::{Value, json};
use url::Url;

use tfoci::address::ProviderAddr;
use tfoci::copy::Bundled;
use tfoci::disk;
use tfoci::error::{Category, counted, one_line, printable_path};
use tfoci::event::{Reporter, Subject};
use tfoci::http::Http;
use tfoci::install::Installed;
use tfoci::jobs::locked;
use tfoci::outcome::Published;
use tfoci::version::Version;

use super::Ending;
use super::arguments::Format;
use super::error::CommandError;
use super::json;
use super::printer::{Printer, Tone};
use super::progress::Progress;
use super::render::{Mirror, ProviderInstallationView};
pub(super) use row::Row;
use totals::Totals;

/// The verbs of a summary: what was done, and what a dry run would do.
pub(super) type Verb = (&'static str, &'static str);

pub(super) const PUSH: Verb = ("Pushed", "Would push");
pub(super) const MIRROR: Verb = ("Mirrored", "Would mirror");
pub(super) const COPY: Verb = ("Copied", "Would copy");
pub(super) const INSTALL: Verb = ("Installed", "Would install");
pub(super) const LOCK: Verb = ("Locked", "Would lock");
pub(super) const WRITE: Verb = ("Wrote", "Would write");

/// The extent of a run and of its report.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// Whether nothing is written.
    pub(super) dry_run: bool,
    /// Whether the results leave out versions that needed no changes.
    pub(super) only_changed: bool,
}

impl Extent {
    fn verb(self, (done, planned): Verb) -> &'static str {
        if self.dry_run { planned } else { done }
    }
}

/// Collects rows and prints them at the end of the run.
pub(super) struct Report {
    printer: Printer,
    /// The run, from its start until its report is printed.
    run: Mutex<Option<Run>>,
}

/// What a run writes.
pub(super) enum Destination {
    /// Stores. The HTTP client counts the requests.
    Store(Http),
    /// A directory, and the mirror that the CLI configuration of clients names for it.
    Directory(Option<Mirror>),
    /// Lock files, and perhaps the packages of a working directory. They are written at the end, so an interrupted run has no result.
    LockFiles(Vec<Value>),
}

/// A run and its results so far.
struct Run {
    verb: Verb,
    extent: Extent,
    progress: Arc<Progress>,
    destination: Destination,
    totals: Totals,
    rows: Vec<Row>,
    /// The number of rows that are left out.
    left_out: usize,
    /// The keys that were pinned, or would be.
    pins: Vec<Value>,
    /// The versions that were deleted, or would be.
    deleted: Vec<Value>,
    /// The files of the bundle that were written, or would be.
    bundles: Vec<Bundled>,
    /// An error that is not about a version.
    error: Option<CommandError>,
    /// The failures of hosts and disks whose errors were printed.
    explained: HashSet<String>,
    /// The file that gets a table of the results.
    file: Option<PathBuf>,
}

/// What is wrong with a host or a disk, without the names of files, since others fail in the same way; `None` for other errors.
fn common(error: &CommandError) -> Option<String> {
    use Category::{Local, Unauthorized, Unreachable};
    let failure = error.failure()?;
    if !matches!(failure.category(), Unreachable | Unauthorized | Local) {
        return None;
    }
    let text = one_line(&*failure.problem);
    let words = text.split_whitespace().map(|word| match Url::parse(word) {
        Ok(url) if url.has_host() => url.authority().to_owned(),
        _ if word.contains('/') => String::new(),
        _ => word.to_owned(),
    });
    Some(words.collect::<Vec<_>>().join(" "))
}

/// A list, unless it is empty.
fn if_any<T>(list: &[T]) -> Option<&[T]> {
    (!list.is_empty()).then_some(list)
}

impl Report {
    pub(super) fn new(printer: Printer) -> Self {
        Self {
            printer,
            run: Mutex::new(None),
        }
    }

    /// Starts the report of a run, and returns the reporter of its events.
    pub(super) fn begin(
        &self,
        verb: Verb,
        extent: Extent,
        destination: Destination,
    ) -> Arc<dyn Reporter> {
        let progress = Progress::begin(&self.printer, extent.only_changed);
        *self.run() = Some(Run {
            verb,
            extent,
            progress: progress.clone(),
            destination,
            totals: Totals::default(),
            rows: Vec::new(),
            left_out: 0,
            pins: Vec::new(),
            deleted: Vec::new(),
            bundles: Vec::new(),
            error: None,
            explained: HashSet::new(),
            file: None,
        });
        progress
    }

    /// Adds a published version.
    pub(super) fn published(&self, published: Published) {
        let subject = Subject {
            destination: published.destination.clone(),
            ..Subject::version(&published.provider, &published.version)
        };
        for change in &published.changes {
            row::print_change(&self.printer, &subject, change, published.status);
        }
        self.add(Row::published(subject, published, self.printer.format));
    }

    /// Adds an installed version.
    pub(super) fn installed(&self, installed: Installed) {
        let hashes = installed.hashes.clone();
        let row = Row::installed(installed, self.printer.format);
        let name = row.subject.to_string();
        self.add(row);
        // Lock files get theirs from `tfoci lock`.
        self.printer.detail(Tone::Plain, "Hashes", &name);
        for hash in hashes {
            self.printer.detail(Tone::Plain, "", &hash.to_string());
        }
    }

    /// Adds what became of the lock files.
    pub(super) fn lock_files(&self, files: Vec<Value>) {
        self.change(|run| run.destination = Destination::LockFiles(files));
    }

    /// Adds a version.
    pub(super) fn add(&self, row: Row) {
        self.change(|run| {
            run.totals.add(&row.totals);
            run.progress.complete(&row.subject, row.totals.packages);
            if run.extent.only_changed && row.is_unchanged() {
                run.left_out += 1;
                return;
            }
            row.print(&self.printer, run.extent.dry_run);
            run.rows.push(row);
        });
    }

    /// Prints the error of a failed version, or of a provider that failed as a whole, and adds it. The failure of a package is that of its version.
    /// An error about neither becomes the error of the run.
    pub(super) fn failed(&self, error: CommandError) {
        let subject = error.failure().and_then(|failure| failure.subject.as_ref());
        let subject = subject.map(Subject::whole_version);
        self.change(|run| {
            let Some(subject) = subject else {
                run.error = Some(error);
                return;
            };
            run.progress.abandon(&subject);
            match common(&error).is_some_and(|text| !run.explained.insert(text)) {
                true => self.printer.failed_alike(&subject),
                false => self.printer.failure(&error),
            }
            run.rows.push(Row::failed(subject, error, &run.destination));
        });
    }

    /// Adds keys that were pinned, or would be.
    pub(super) fn pinned(&self, pins: impl IntoIterator<Item = Value>) {
        self.change(|run| run.pins.extend(pins));
    }

    /// Adds a version that was deleted from a site, or would be.
    pub(super) fn deleted(&self, provider: &ProviderAddr, version: &Version) {
        self.change(|run| {
            let verb = run.extent.verb(("Deleted", "Would delete"));
            let subject = Subject::version(provider, version);
            self.printer.line(Tone::Plain, verb, &subject.to_string());
            run.deleted
                .push(json!({"provider": provider, "version": version}));
        });
    }

    /// Adds a file of a bundle that was written, or would be.
    pub(super) fn bundled(&self, bundled: Bundled) {
        self.change(|run| {
            let verb = run.extent.verb(WRITE);
            let path = bundled.path.as_deref().map(printable_path);
            let path = path.unwrap_or_else(|| "to the standard output".to_owned());
            let versions = counted(bundled.versions, "version");
            let omitted = match bundled.omitted {
                0 => String::new(),
                bytes => format!(", without {} that the far side has", HumanBytes(bytes)),
            };
            let digest = bundled.digest.map(|digest| format!("  {digest}"));
            let digest = digest.unwrap_or_default();
            let text = format!(
                "{path} ({}, {versions}{omitted}){digest}",
                HumanBytes(bundled.size)
            );
            self.printer.line(Tone::Done, verb, &text);
            run.bundles.push(bundled);
        });
    }

    /// Whether something failed so far.
    pub(super) fn has_failures(&self) -> bool {
        let run = self.run();
        run.iter().any(|run| run.errors().next().is_some())
    }

    /// The providers that failed as a whole or in part.
    pub(super) fn failed_providers(&self) -> BTreeSet<ProviderAddr> {
        let run = self.run();
        let failed = run.iter().flat_map(Run::failed);
        failed.map(|row| row.subject.provider.clone()).collect()
    }

    /// Writes a table of the results into a file, too. A file that cannot be written fails here, and not after everything was copied.
    pub(super) fn to_file(&self, path: &Path) -> Result<(), CommandError> {
        let created = File::create(path).map_err(|error| disk::Error::at("write", path, error));
        created.map_err(|error| CommandError::file(error, "--report"))?;
        self.change(|run| run.file = Some(path.to_owned()));
        Ok(())
    }

    /// Prints the report. If it `tells_news`, what changed or would change is a difference.
    pub(super) fn finish_telling(&self, tells_news: bool) -> Ending {
        let changed = |run: &Run| run.rows.iter().any(Row::is_news);
        let is_news = tells_news && self.run().as_ref().is_some_and(changed);
        let differs = is_news.then_some(Category::Differs);
        self.finish().and(differs.into_iter())
    }

    /// Prints the report.
    pub(super) fn finish(&self) -> Ending {
        let Some(run) = self.run().take() else {
            return Ending::Done;
        };
        let ending = Ending::of(run.errors());
        run.print(&self.printer, None);
        ending
    }

    /// Prints the results so far, and that the run was interrupted.
    pub(super) fn interrupted(&self) {
        match self.run().take().filter(|run| !run.is_locking()) {
            Some(run) => run.print(&self.printer, Some(json::Error::interrupted())),
            None => {
                self.printer.interrupted(None);
                self.printer.document(&json::interrupted());
            }
        }
    }

    /// Prints the error that ended the command, and returns its category.
    pub(super) fn command_failed(&self, error: &CommandError) -> Category {
        self.printer.failure(error);
        self.printer.document(&json::failed(error));
        error.category()
    }

    fn change(&self, change: impl FnOnce(&mut Run)) {
        if let Some(run) = &mut *self.run() {
            change(run);
        }
    }

    fn run(&self) -> MutexGuard<'_, Option<Run>> {
        locked(&self.run)
    }
}

impl Run {
    /// Prints the results, and what people need less, before the summary. Only what to do next follows it.
    fn print(mut self, printer: &Printer, interruption: Option<json::Error>) {
        self.progress.clear();
        // The order does not depend on timing. Versions that were not published come last.
        if !self.is_locking() {
            let fails_last = matches!(self.destination, Destination::Store(_));
            self.rows.sort_by_cached_key(|Row { subject, error, .. }| {
                let (provider, version) = (subject.provider.clone(), subject.version.clone());
                let is_last = fails_last && error.is_some();
                (is_last, provider, version, subject.destination.clone())
            });
        }
        for row in &self.rows {
            if !(printer.result_is_read && row.is_unchanged()) {
                row.results.iter().for_each(|result| printer.result(result));
            }
        }
        if let Some(error) = &self.error {
            printer.failure(error);
        }
        let end = match interruption {
            Some(_) => " before it was interrupted",
            None => "",
        };
        let (verb, text) = self.summary();
        let text = format!("{text}{end}");
        self.print_summary(printer, verb, &text, interruption.is_some());
        let (title, file) = (
            printer.neutral(&format!("{verb} {text}")),
            self.file.as_deref(),
        );
        job_summary::append(printer, file, &title, &self.rows, self.left_out);
        if interruption.is_none() {
            self.print_configuration(printer);
        } else {
            let next = "clients see nothing incomplete: run the same command again to go on";
            printer.interrupted((!self.extent.dry_run).then_some(next));
        }
        if printer.format == Format::Json {
            printer.document(&self.document(interruption));
        }
    }

    /// The result in JSON. If the run was interrupted, it has what was finished.
    fn document(mut self, interruption: Option<json::Error>) -> Value {
        let rows = self.rows.iter_mut();
        let rows: Vec<Value> = rows.filter_map(|row| row.document.take()).collect();
        let error = self.error.as_ref().map(json::Error::from);
        let of_destination = match &self.destination {
            Destination::Store(http) => {
                json!({"bytes": self.totals.written, "requests": http.requests()})
            }
            Destination::Directory(_) => Value::Null,
            Destination::LockFiles(files) => json!({"files": files}),
        };
        let more = json!({
            "schema": json::SCHEMA,
            "pins": if_any(&self.pins),
            "deleted": if_any(&self.deleted),
            "bundles": if_any(&self.bundles),
            "error": interruption.or(error),
        });
        let rows = Value::from_iter([("providers", Value::Array(rows))]);
        json::object([rows, of_destination, more])
    }

    fn is_locking(&self) -> bool {
        matches!(self.destination, Destination::LockFiles(_))
    }

    fn failed(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.error.is_some())
    }

    fn errors(&self) -> impl Iterator<Item = &CommandError> {
        let of_rows = self.rows.iter().filter_map(|row| row.error.as_ref());
        of_rows.chain(&self.error)
    }

    /// The counts of the run: a verb, and the text after it.
    fn summary(&self) -> (&'static str, String) {
        let totals = self.totals.text(self.extent.dry_run);
        let elapsed = self.progress.elapsed();
        (
            self.extent.verb(self.verb),
            format!("{totals} in {elapsed}"),
        )
    }

    fn print_summary(&self, printer: &Printer, verb: &str, text: &str, is_interrupted: bool) {
        let all = self.rows.len() + self.left_out;
        match (all, self.failed().count()) {
            // A run with one failure has its error message, and an interrupted run without results has the message about the interruption.
            (1, 1) => {}
            (0, _) if is_interrupted => {}
            // The lines of the lock files tell it.
            _ if self.is_locking() && self.totals.packages == 0 => {}
            (_, 0) => printer.line(Tone::Done, verb, text),
            (_, failed) => {
                let text = format!("{text}; {failed} of {all} failed");
                printer.line(Tone::Warning, verb, &text);
            }
        }
    }

    /// Prints the CLI configuration for clients of the mirror, or how to get it. People at a terminal have seen it when something was installed;
    /// `cli-config` prints it again.
    fn print_configuration(&self, printer: &Printer) {
        let Destination::Directory(mirror) = &self.destination else {
            return;
        };
        if self.failed().count() == self.rows.len()
            || (printer.is_terse() && self.rows.iter().all(Row::is_unchanged))
        {
            return;
        }
        let Some(mirror) = mirror else {
            if !self.extent.dry_run {
                printer.say("\nServe the directory over HTTPS. With `--url URL`, this command prints the clients' configuration.");
            }
            return;
        };
        let done = self.rows.iter().filter(|row| row.error.is_none());
        let [done, failed] = [done.collect(), self.failed().collect()]
            .map(|rows: Vec<&Row>| rows.into_iter().map(|row| &row.subject.provider));
        if let Some(view) = ProviderInstallationView::after(mirror.clone(), done, failed) {
            let block = view.render();
            let block = block.trim_end();
            printer.say(&format!("\nFor the client's CLI configuration:\n\n{block}"));
        }
    }
}
