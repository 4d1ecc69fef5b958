//! Progress: how many packages and bytes a run plans, and how many of them are done.
//!
//! Events change the [`ledger`], which adds up packages and bytes. On a terminal, a bar for each package and one for its sums stand below the
//! log; elsewhere, a line has the sums every half minute. [`report`](super::report) prints the results of versions.

mod ledger;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};

use indicatif::{FormattedDuration, HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};

use tfoci::authentication::{Anchor, Authentication, Status};
use tfoci::error::printable_path;
use tfoci::event::{Event, Reporter, Subject, Transfer, Warning};
use tfoci::jobs::locked;

use super::printer::{Motion, Printer, Tone};
use ledger::{Ledger, is_part};

/// Nothing is drawn before this time, so that short runs show no bars.
const FIRST_FRAME: Duration = Duration::from_millis(500);
/// The time between two frames.
const FRAME: Duration = Duration::from_millis(100);
/// Redraws of the terminal per second.
const FRAMES: u8 = 10;
/// The line of a bar. The text is cut where the terminal ends.
const LINE: &str = "{bar:20} {percent:>3}%  {wide_msg}";

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
    /// The bar of the sums, the last one.
    total: ProgressBar,
    /// The bars of the packages in transfer.
    bars: HashMap<Subject, ProgressBar>,
    /// Whether the run has ended. Tasks that are being cancelled must not draw again.
    is_closed: bool,
}

impl Progress {
    /// The progress of a run that begins now.
    pub(super) fn begin(printer: &Printer, only_changed: bool) -> Arc<Self> {
        let total = printer.bars.add(bar(1, String::new()));
        let progress = Arc::new(Self {
            printer: printer.clone(),
            started: Instant::now(),
            only_changed,
            state: Mutex::new(State {
                ledger: Ledger::default(),
                next_beat: BEAT,
                total,
                bars: HashMap::new(),
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

    /// Removes the bars at the bottom of the terminal. They do not return: tasks that are being cancelled draw no more.
    pub(super) fn clear(&self) {
        self.state().is_closed = true;
        let _closed = self.printer.bars.clear();
        let hidden = ProgressDrawTarget::hidden();
        self.printer.bars.set_draw_target(hidden);
    }

    /// Counts a version that is complete.
    pub(super) fn complete(&self, version: &Subject, packages: usize) {
        self.state().ledger.end(version, packages);
    }

    /// Leaves out a failed provider, or one failed version.
    pub(super) fn abandon(&self, failed: &Subject) {
        let mut state = self.state();
        state.ledger.abandon(failed);
        let stopped = state.bars.extract_if(|package, _| is_part(package, failed));
        stopped.for_each(|(_, bar)| self.take_away(&bar));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    fn show(&self) {
        let now = self.started.elapsed();
        let mut state = self.state();
        let is_bars = self.printer.motion == Motion::Bars;
        let first = if is_bars {
            FIRST_FRAME
        } else {
            state.next_beat
        };
        if state.is_closed || now < first {
            return;
        }
        let totals = state.ledger.totals();
        let mut parts = totals.parts();
        if is_bars {
            let total = &state.total;
            if self.printer.bars.is_hidden() {
                let target = ProgressDrawTarget::stderr_with_hz(FRAMES);
                self.printer.bars.set_draw_target(target);
            }
            total.set_length(totals.bytes.max(1));
            total.set_position(totals.received);
            let rate = total.per_sec() as u64;
            if rate > 0 && totals.received < totals.bytes {
                parts.push(format!("{}/s", HumanBytes(rate)));
                parts.push(format!("ETA {}", FormattedDuration(total.eta())));
            }
            total.set_message(self.printer.neutral(&parts.join(", ")));
            total.tick();
            return;
        }
        state.next_beat = now + BEAT;
        drop(state);
        if parts.is_empty() {
            parts.push(format!("for {} seconds", now.as_secs()));
        }
        self.printer.line(Tone::Plain, "Working", &parts.join(", "));
    }

    fn started(&self, subject: Subject, size: u64) {
        if self.printer.motion == Motion::Lines && size > LARGE {
            let text = format!("{subject} {}", HumanBytes(size));
            self.printer.line(Tone::Plain, "Copying", &text);
        }
        if self.printer.motion != Motion::Bars {
            return;
        }
        self.stop(&subject);
        let mut state = self.state();
        let bar = bar(size, self.printer.neutral(&subject.to_string()));
        let bar = self.printer.bars.insert_before(&state.total, bar);
        state.bars.insert(subject, bar);
    }

    fn advanced(&self, subject: &Subject, bytes: u64) {
        let mut state = self.state();
        state.ledger.advance(subject, bytes);
        if let Some(bar) = state.bars.get(subject) {
            bar.inc(bytes);
        }
    }

    /// Removes the bar of a transfer.
    fn stop(&self, subject: &Subject) {
        if let Some(bar) = self.state().bars.remove(subject) {
            self.take_away(&bar);
        }
    }

    /// Clears a bar, and takes it out of the list of all bars, which would keep it.
    fn take_away(&self, bar: &ProgressBar) {
        bar.finish_and_clear();
        self.printer.bars.remove(bar);
    }

    fn verified(&self, subject: &Subject, authentication: &Authentication) {
        // An unsigned release is not verified: the policy only accepts it. Neither is a release whose key is stored beside it: a user who may
        // write to the store can replace both.
        let verb = match authentication.status {
            Status::Signed if !is_embedded(authentication) => "Verified",
            _ => "Accepted",
        };
        let text = format!("{subject}   {}", explained(authentication));
        self.printer.detail(tone(authentication), verb, &text);
        self.printer.warn_of_notes(subject, authentication);
    }
}

fn bar(length: u64, text: String) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::hidden());
    if let Ok(style) = ProgressStyle::with_template(LINE) {
        bar.set_style(style.progress_chars("█░"));
    }
    bar.with_message(text)
}

/// Whether the key of a release is stored beside it.
fn is_embedded(authentication: &Authentication) -> bool {
    authentication.anchor == Some(Anchor::Embedded)
}

/// The authentication, with an explanation if it proves less than the word `signed` suggests.
pub(super) fn explained(authentication: &Authentication) -> String {
    let more = match is_embedded(authentication) {
        true => " by the key beside it, not pinned",
        false => "",
    };
    format!("{authentication}{more}")
}

/// The tone of a line with this authentication. Green lines were proven by a lock file, or by a signature whose key is not stored beside it.
pub(super) fn tone(authentication: &Authentication) -> Tone {
    match (authentication.status, authentication.anchor) {
        (_, Some(Anchor::Embedded)) => Tone::Plain,
        (Status::Signed, _) | (_, Some(Anchor::Lock)) => Tone::Done,
        _ => Tone::Plain,
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
            Event::VersionsSelected { subject, versions } => {
                self.state().ledger.select(&subject, versions);
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
            Event::Advanced { subject, bytes } => self.advanced(&subject, bytes),
            Event::Finished {
                subject,
                size,
                transfer,
                authentication,
            } => {
                self.stop(&subject);
                self.state().ledger.finish(&subject);
                let text = format!("{subject}   {}   {authentication}", HumanBytes(size));
                let tone = tone(&authentication);
                self.printer.detail(tone, verb(transfer), &text);
            }
            Event::AttachedFinished {
                subject,
                digest,
                size,
                transfer,
            } => {
                self.stop(&subject);
                let status = Status::Unverified;
                let text = format!("{subject} {digest}   {}   {status}", HumanBytes(size));
                self.printer.line(Tone::Plain, verb(transfer), &text);
            }
            Event::Warning { subject, warning } => {
                let text = format!("{subject}: {warning}");
                match warning {
                    // A version that stays as it is would have the same warning in every run.
                    Warning::NoPackage { .. } if self.only_changed => {
                        self.printer.detail(Tone::Plain, "Warning", &text);
                    }
                    _ => self.printer.warning(&text),
                }
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
