//! Progress: how many packages and bytes a run plans, and how many of them are done.
//!
//! Events change the [`ledger`], which adds up packages and bytes. On a terminal, [`frame`] draws its sums as lines below the log; elsewhere, a
//! line has them every half minute. [`report`](super::report) prints the results of versions.

mod frame;
mod ledger;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};

use console::Term;
use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};

use tfoci::authentication::{Anchor, Authentication, Status};
use tfoci::error::printable_path;
use tfoci::event::{Event, Reporter, Subject, Transfer, Warning};
use tfoci::jobs::locked;
use tfoci::version::Version;

pub(super) use super::finished_line::explained;
use super::finished_line::is_embedded;
use super::printer::{Motion, Printer, Tone};
use ledger::Ledger;

/// Nothing is drawn before this time, so that short runs show no bars.
const FIRST_FRAME: Duration = Duration::from_millis(500);
/// The time between two frames.
const FRAME: Duration = Duration::from_millis(100);
/// Redraws of the terminal per second.
const FRAMES: u8 = 10;

/// Without a terminal, the start of a package larger than this is printed, in bytes.
const LARGE: u64 = 1 << 20;

/// The time between two lines without a terminal. CI systems end a job after some minutes without output.
const BEAT: Duration = Duration::from_secs(30);

/// Prints events about transfers.
pub(super) struct Progress {
    printer: Printer,
    started: Instant,
    /// Whether versions that are present have no lines.
    only_changed: bool,
    state: Mutex<State>,
}

struct State {
    ledger: Ledger,
    /// When the next line without a terminal is due.
    next_beat: Duration,
    /// The lines at the bottom of the terminal, once they are drawn.
    lines: Option<ProgressBar>,
    /// Warnings about platforms without a package, until it is known that their version changes. Those of versions that are left out say the same
    /// in every run.
    held: HashMap<Subject, Vec<Warning>>,
    /// Whether the run has ended. Tasks that are being cancelled must not draw again.
    is_closed: bool,
}

impl Progress {
    /// The progress of a run with this number of providers.
    pub(super) fn begin(printer: &Printer, providers: usize, only_changed: bool) -> Arc<Self> {
        let progress = Arc::new(Self {
            printer: printer.clone(),
            started: Instant::now(),
            only_changed,
            state: Mutex::new(State {
                ledger: Ledger::of(providers),
                next_beat: BEAT,
                lines: None,
                held: HashMap::new(),
                is_closed: false,
            }),
        });
        if printer.motion != Motion::Still {
            let weak = Arc::downgrade(&progress);
            // If the thread cannot be started, the run shows no progress.
            let _thread = std::thread::Builder::new().spawn(move || tick(&weak));
        }
        progress
    }

    /// The time since the start, for the summary.
    pub(super) fn elapsed(&self) -> String {
        format!("{:.1}s", self.started.elapsed().as_secs_f64())
    }

    /// Removes the lines at the bottom of the terminal. They do not return.
    pub(super) fn clear(&self) {
        let mut state = self.state();
        state.is_closed = true;
        if let Some(lines) = state.lines.take() {
            // A bar that is removed leaves its last lines on the screen, so clear them first.
            let _closed = self.printer.bars.clear();
            self.printer.bars.remove(&lines);
        }
    }

    /// Counts a version that is complete.
    pub(super) fn complete(&self, version: &Subject, packages: usize) {
        self.state().ledger.end(version, packages);
    }

    /// Prints the warnings that were held about a version that changed or failed.
    pub(super) fn print_held(&self, version: &Subject) {
        let version = Subject {
            destination: None,
            ..version.clone()
        };
        let held = self.state().held.remove(&version);
        for warning in held.into_iter().flatten() {
            self.printer.warning(&format!("{version}: {warning}"));
        }
    }

    /// Leaves out a failed provider, or one failed version.
    pub(super) fn abandon(&self, failed: &Subject) {
        self.state().ledger.abandon(failed);
    }

    /// How many of all packages are done, as text; `None` if none is.
    pub(super) fn packages_done(&self) -> Option<String> {
        let totals = self.state().ledger.totals()?;
        (totals.finished > 0).then(|| totals.packages_done())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    fn show(&self) {
        let now = self.started.elapsed();
        let mut state = self.state();
        if state.is_closed || now < FIRST_FRAME {
            return;
        }
        let host = self.printer.pending.oldest();
        match self.printer.motion {
            Motion::Bars => self.draw(&mut state, host.as_deref()),
            Motion::Lines if now >= state.next_beat => {
                state.next_beat = now + BEAT;
                let text = standing(&mut state.ledger, now, host);
                drop(state);
                self.printer.line(Tone::Plain, "Working", &text);
            }
            Motion::Lines | Motion::Still => {}
        }
    }

    fn draw(&self, state: &mut State, host: Option<&str>) {
        let text = frame::draw(&mut state.ledger, Term::stderr().size(), host).join("\n");
        let lines = state.lines.get_or_insert_with(|| {
            let target = ProgressDrawTarget::stderr_with_hz(FRAMES);
            self.printer.bars.set_draw_target(target);
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
            if let Ok(style) = ProgressStyle::with_template("{msg}") {
                bar.set_style(style);
            }
            self.printer.bars.add(bar)
        });
        lines.set_message(self.printer.neutral(&text));
        lines.tick();
    }

    fn started(&self, subject: Subject, size: u64) {
        if self.printer.motion == Motion::Lines && size > LARGE {
            let text = format!("{subject} {}", HumanBytes(size));
            self.printer.line(Tone::Plain, "Copying", &text);
        }
        self.state().ledger.start(subject, size);
    }

    fn selected(&self, subject: &Subject, matching: usize) {
        if self.printer.is_terse() {
            return;
        }
        let text = format!("{subject} (newest of {matching} matching)");
        self.printer.line(Tone::Plain, "Selected", &text);
    }

    fn versions_selected(&self, subject: &Subject, versions: Vec<(Version, Option<usize>)>) {
        for (version, _) in &versions {
            self.printer.widths.widen(&Subject {
                version: Some(version.clone()),
                ..subject.clone()
            });
        }
        self.state().ledger.select(subject, versions);
    }

    fn finished(
        &self,
        subject: &Subject,
        size: u64,
        transfer: Transfer,
        authentication: &Authentication,
    ) {
        let text = format!("{subject}   {}   {authentication}", HumanBytes(size));
        self.printer
            .package(tone(authentication), verb(transfer), &text);
    }

    fn verified(&self, subject: &Subject, authentication: &Authentication) {
        // An unsigned release is not verified: the policy only accepts it. Neither is a release whose key is stored beside it: a user who may
        // write to the store can replace both.
        let verb = match authentication.status {
            Status::Signed if !is_embedded(authentication) => "Verified",
            _ => "Accepted",
        };
        let text = format!("{subject}   {}", explained(authentication));
        self.printer.package(tone(authentication), verb, &text);
        self.printer.warn_of_notes(subject, authentication);
    }
}

/// The tone of a line with this authentication. Green lines were proven by a lock file, or by a signature whose key is not stored beside it.
pub(super) fn tone(authentication: &Authentication) -> Tone {
    match (authentication.status, authentication.anchor) {
        (_, Some(Anchor::Embedded)) => Tone::Unproven,
        (Status::Signed, _) | (_, Some(Anchor::Lock)) => Tone::Done,
        _ => Tone::Unproven,
    }
}

/// The line of a run without a terminal: what is done, or the host for which it waits, or at least the time.
fn standing(ledger: &mut Ledger, now: Duration, host: Option<String>) -> String {
    let mut parts = Vec::new();
    if let Some(totals) = ledger.totals() {
        parts.push(format!("{} packages done", totals.packages_done()));
        if totals.bytes > 0 {
            parts.push(frame::fraction(&totals));
        }
    }
    let host = host.filter(|_| !ledger.flows(BEAT));
    parts.extend(host.map(|host| format!("waiting for {host}")));
    match parts.is_empty() {
        true => format!("for {} seconds", now.as_secs()),
        false => parts.join(", "),
    }
}

/// Shows the progress until it is dropped.
fn tick(progress: &Weak<Progress>) {
    loop {
        std::thread::sleep(FRAME);
        match progress.upgrade() {
            Some(progress) => progress.show(),
            None => return,
        }
    }
}

impl Reporter for Progress {
    fn report(&self, event: Event) {
        match event {
            Event::Waiting { path } => {
                let text = format!("for another process that holds {}", printable_path(&path));
                self.printer.line(Tone::Warning, "Waiting", &text);
            }
            Event::Selected { subject, matching } => self.selected(&subject, matching),
            Event::VersionsSelected { subject, versions } => {
                self.versions_selected(&subject, versions);
            }
            Event::Planned {
                subject,
                packages,
                bytes,
            } => self.state().ledger.plan(&subject, packages, bytes),
            Event::Verified {
                subject,
                authentication,
            } => self.verified(&subject, &authentication),
            Event::Started { subject, size } => self.started(subject, size),
            Event::Advanced { subject, bytes } => self.state().ledger.advance(&subject, bytes),
            Event::Finished {
                subject,
                size,
                transfer,
                authentication,
            } => {
                self.state().ledger.finish(&subject, size);
                self.finished(&subject, size, transfer, &authentication);
            }
            Event::AttachedFinished {
                subject,
                digest,
                size,
                transfer,
            } => {
                self.state().ledger.stop(&subject);
                let status = Status::Unverified;
                let text = format!("{subject} {digest}   {}   {status}", HumanBytes(size));
                self.printer.line(Tone::Unproven, verb(transfer), &text);
            }
            Event::Warning {
                subject,
                warning: warning @ Warning::NoPackage { .. },
            } if self.only_changed => {
                self.state().held.entry(subject).or_default().push(warning);
            }
            Event::Warning { subject, warning } => {
                self.printer.warning(&format!("{subject}: {warning}"));
            }
            // `Trace` prints the events about requests.
            _ => {}
        }
    }
}

/// The verb for the result of a transfer.
pub(super) fn verb(transfer: Transfer) -> &'static str {
    match transfer {
        Transfer::Copied => "Copied",
        Transfer::Mounted => "Reused",
        Transfer::Present => "Present",
        Transfer::Planned => "Would copy",
    }
}
