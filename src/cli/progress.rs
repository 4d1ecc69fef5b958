//! Progress: prints the events of journeys as bars or lines.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use console::Term;
use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};

use tfoci::authentication::{Authentication, Status};
use tfoci::error::printable_path;
use tfoci::event::{Event, Reporter, Subject, Transfer};

use super::printer::{Motion, Printer, Tone};

/// No bars are drawn before this time, so that short runs show none.
const FIRST_FRAME: Duration = Duration::from_millis(500);
/// Redraws of bars per second.
const FRAMES: u8 = 10;
/// Without bars, the start of a package larger than this is printed, in bytes.
const LARGE: u64 = 1 << 20;

/// Prints events about transfers.
pub(super) struct Progress {
    printer: Printer,
    started: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    active: HashMap<Subject, ProgressBar>,
    /// The sizes of the packages whose bars are on the screen, ascending.
    sizes: Vec<u64>,
    total: Option<ProgressBar>,
    visible: bool,
}

impl Progress {
    pub(super) fn new(printer: &Printer) -> Self {
        Self {
            printer: printer.clone(),
            started: Instant::now(),
            state: Mutex::default(),
        }
    }

    /// The time since the start, for the summary.
    pub(super) fn elapsed(&self) -> String {
        format!("{:.1}s", self.started.elapsed().as_secs_f64())
    }

    /// Removes all bars.
    pub(super) fn clear(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { active, total, .. } = &mut *state;
        for bar in active.drain().map(|(_, bar)| bar).chain(total.take()) {
            bar.finish_and_clear();
            self.printer.bars.remove(&bar);
        }
        state.sizes.clear();
    }

    /// Removes the bars of a failed provider, or of one failed version.
    pub(super) fn abandon(&self, failed: &Subject) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_part = |subject: &Subject| {
            subject.provider == failed.provider
                && (failed.version.is_none() || subject.version == failed.version)
                && (failed.destination.is_none() || subject.destination == failed.destination)
        };
        let abandoned: Vec<(Subject, ProgressBar)> = state
            .active
            .extract_if(|subject, _| is_part(subject))
            .collect();
        for (_, bar) in abandoned {
            state.remove(&bar, bar.length().unwrap_or_default(), &self.printer);
        }
    }

    fn begin(&self, subject: Subject, size: u64) {
        match self.printer.motion {
            Motion::Bars => self.add_bar(subject, size),
            Motion::Lines if size > LARGE => {
                self.printer.line(
                    Tone::Plain,
                    "Copying",
                    &format!("{subject} {}", HumanBytes(size)),
                );
            }
            Motion::Lines | Motion::Still => {}
        }
    }

    fn add_bar(&self, subject: Subject, size: u64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State {
            active,
            sizes,
            total,
            ..
        } = &mut *state;
        let total = total.get_or_insert_with(|| self.printer.bars.add(styled(0, "total")));
        total.inc_length(size);
        let place = sizes.partition_point(|other| *other <= size);
        sizes.insert(place, size);
        let name = name(&subject);
        active.insert(
            subject,
            self.printer
                .bars
                .insert(place, styled(size, &self.printer.neutral(&name))),
        );
    }

    fn advance(&self, subject: &Subject, bytes: u64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !state.visible
            && self.printer.motion == Motion::Bars
            && self.started.elapsed() > FIRST_FRAME
        {
            self.printer
                .bars
                .set_draw_target(ProgressDrawTarget::stderr_with_hz(FRAMES));
            state.visible = true;
        }
        for bar in state.active.get(subject).into_iter().chain(&state.total) {
            bar.inc(bytes);
        }
    }

    fn end(&self, subject: &Subject, size: u64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bar) = state.active.remove(subject) {
            state.remove(&bar, size, &self.printer);
        }
    }
}

impl State {
    /// Removes a bar, and the bar of the total after the last one.
    fn remove(&mut self, bar: &ProgressBar, size: u64, printer: &Printer) {
        bar.finish_and_clear();
        printer.bars.remove(bar);
        if let Some(place) = self.sizes.iter().position(|other| *other == size) {
            self.sizes.remove(place);
        }
        if self.active.is_empty()
            && let Some(total) = self.total.take()
        {
            total.finish_and_clear();
            printer.bars.remove(&total);
        }
    }
}

impl Progress {
    fn selected(&self, subject: &Subject, matching: usize) {
        let plural = if matching == 1 {
            "the only match".to_owned()
        } else {
            format!("newest of {matching} matching")
        };
        self.printer
            .line(Tone::Plain, "Selected", &format!("{subject} ({plural})"));
    }

    fn verified(&self, subject: &Subject, authentication: &Authentication) {
        // An unsigned release is not verified: the policy only accepts it.
        let verb = match authentication.status {
            Status::Signed => "Verified",
            Status::Checksum | Status::Unverified => "Accepted",
        };
        self.printer
            .line(Tone::Done, verb, &format!("{subject}   {authentication}"));
        if let Some(warning) = authentication.warning() {
            let text = format!("{subject}: {warning}");
            self.printer.line(Tone::Warning, "Warning", &text);
        }
    }
}

impl Reporter for Progress {
    fn report(&self, event: Event) {
        match event {
            Event::Waiting { path } => {
                self.printer.line(
                    Tone::Warning,
                    "Waiting",
                    &format!("for another process that holds {}", printable_path(&path)),
                );
            }
            Event::Selected { subject, matching } => {
                self.selected(&subject, matching);
            }
            Event::Verified {
                subject,
                authentication,
            } => {
                self.verified(&subject, &authentication);
            }
            Event::Started { subject, size } => self.begin(subject, size),
            Event::Advanced { subject, bytes } => self.advance(&subject, bytes),
            Event::Finished {
                subject,
                size,
                transfer,
                authentication,
            } => {
                self.end(&subject, size);
                let text = format!("{subject}   {}   {authentication}", HumanBytes(size));
                self.printer.line(Tone::Done, verb(transfer), &text);
            }
            Event::AttachedFinished {
                subject,
                digest,
                size,
                transfer,
            } => {
                self.end(&subject, size);
                let status = Status::Unverified.as_str();
                let text = format!("{subject} {digest}   {}   {status}", HumanBytes(size));
                self.printer.line(Tone::Done, verb(transfer), &text);
            }
            Event::VersionPresent { subject } => {
                self.printer
                    .line(Tone::Done, verb(Transfer::Present), &subject.to_string());
            }
            Event::Warning { subject, message } => {
                self.printer
                    .line(Tone::Warning, "Warning", &format!("{subject}: {message}"));
            }
            // `Trace` prints the events about requests.
            _ => {}
        }
    }
}

fn verb(transfer: Transfer) -> &'static str {
    match transfer {
        Transfer::Copied => "Copied",
        Transfer::Mounted => "Mounted",
        Transfer::Present => "Present",
        Transfer::Planned => "Would copy",
    }
}

/// The label of a bar. It omits the host and the namespace, because they rarely differ between bars.
fn name(subject: &Subject) -> String {
    let mut name = subject.provider.type_name().to_owned();
    if let Some(version) = &subject.version {
        name += &format!(" {version}");
    }
    if let Some(platform) = &subject.platform {
        name += &format!(" {platform}");
    }
    if let Some(destination) = &subject.destination {
        name += &format!(" to {destination}");
    }
    name
}

/// The template of a bar for a terminal of this width. It shortens the label, because bars that wrap leave remnants on the screen.
fn template(columns: u16) -> &'static str {
    match columns {
        96.. => {
            "{wide_msg} {bar:24} {binary_bytes:>11} of {binary_total_bytes:11} {binary_bytes_per_sec:>13}"
        }
        56.. => "{wide_msg} {binary_bytes:>11} of {binary_total_bytes:11}",
        _ => "{wide_msg} {percent:>3} %",
    }
}

fn styled(size: u64, name: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(size), ProgressDrawTarget::hidden());
    let (_, columns) = Term::stderr().size();
    bar.set_style(
        ProgressStyle::with_template(template(columns))
            .unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    bar.set_message(name.to_owned());
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_leaves_room_for_a_name() {
        for (columns, figures) in [
            (40, "100 %"),
            (56, "1023.99 MiB of 1023.99 MiB"),
            (80, "1023.99 MiB of 1023.99 MiB"),
            (
                96,
                "[           24         ] 1023.99 MiB of 1023.99 MiB 1023.99 MiB/s",
            ),
        ] {
            let template = template(columns);
            assert_eq!(
                template.contains("{bar"),
                figures.contains('['),
                "{columns}"
            );
            assert_eq!(
                template.contains("bytes"),
                figures.contains("of"),
                "{columns}"
            );
            assert!(template.starts_with("{wide_msg} "), "{columns}");
            assert!(figures.len() + 24 <= usize::from(columns), "{columns}");
        }
    }

    #[test]
    fn bars_of_several_versions_differ() {
        let provider = "example.com/acme/demo".parse().expect("an address");
        let version = "1.0.0".parse().expect("a version");
        let platform = "linux_amd64".parse().expect("a platform");
        let subject = Subject::version(&provider, &version).platform(&platform);
        assert_eq!(name(&subject), "demo 1.0.0 linux_amd64");
    }
}
