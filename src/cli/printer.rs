//! The printer: the only code that writes to stdout and stderr.
//!
//! stdout contains only the result. All other output goes to stderr. A broken pipe is not a failure, because a reader may close its end
//! early. Every line is neutral ([`neutral`]) and does not contain the passwords of arguments ([`Redaction`]).

mod errors;
mod github;
mod log_line;
mod usage;

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex};

use console::Style;
use indicatif::{MultiProgress, ProgressDrawTarget};
use serde::Serialize;

use tfoci::authentication::Authentication;
use tfoci::disk;
use tfoci::event::Subject;
use tfoci::jobs::locked;

use super::arguments::{Color, Format, Globals};
use super::error::CommandError;
use super::neutral;
use super::redaction::Redaction;
use github::GithubJob;
pub(super) use usage::usage;

/// The width of the column of verbs.
const GUTTER: usize = 10;
/// The most warnings that are remembered, so that none is printed twice.
const MOST_WARNINGS: usize = 1_000;

/// How much the printer writes to stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verbosity {
    /// Errors only.
    Quiet,
    /// Also what happens, with progress bars on a terminal.
    Normal,
    /// Also packages and decisions. Lines replace the progress bars.
    Verbose,
    /// Also every HTTP request.
    Everything,
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Motion {
    /// Progress bars.
    Bars,
    /// A line when a large package starts.
    Lines,
    /// No progress.
    Still,
}

/// The importance of a line, which decides its colour. Without colour, its verb tells the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    /// Something was done.
    Done,
    /// Information, or something that was done with bytes that no trusted key has signed.
    Plain,
    /// Something that needs attention.
    Warning,
}

/// Writes results to stdout and everything else to stderr.
#[derive(Clone)]
pub(super) struct Printer {
    verbosity: Verbosity,
    pub(super) format: Format,
    pub(super) motion: Motion,
    pub(super) bars: MultiProgress,
    /// Whether stdout is a terminal, so that a person reads the result.
    pub(super) result_is_read: bool,
    /// Whether stderr is a terminal.
    terminal: bool,
    colorful: bool,
    /// The job of GitHub Actions.
    github: Option<GithubJob>,
    /// Whether lines are a log in JSON.
    is_log: bool,
    redaction: Arc<Redaction>,
    /// The warnings of [`Printer::warn_once`].
    warned: Arc<Mutex<HashSet<String>>>,
    /// The error that occurred when the result was written.
    unwritten: Arc<Mutex<Option<io::Error>>>,
}

impl Printer {
    /// A printer for these options. It removes the passwords of the arguments from its output.
    pub(super) fn new(options: &Globals, arguments: &[OsString]) -> Self {
        let verbosity = match (options.quiet, options.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, 0) => Verbosity::Normal,
            (false, 1) => Verbosity::Verbose,
            (false, _) => Verbosity::Everything,
        };
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let terminal = io::stderr().is_terminal() && !dumb;
        let colorful = match options.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto if set("NO_COLOR") => false,
            Color::Auto => terminal || set("CLICOLOR_FORCE"),
        };
        let motion = match verbosity {
            _ if options.no_progress => Motion::Still,
            Verbosity::Quiet => Motion::Still,
            Verbosity::Normal if terminal && !set("CI") => Motion::Bars,
            _ => Motion::Lines,
        };
        // Progress draws the bars once the work has taken some time.
        let bars = MultiProgress::with_draw_target(ProgressDrawTarget::hidden());
        Self {
            verbosity,
            format: options.format,
            motion,
            bars,
            result_is_read: io::stdout().is_terminal(),
            terminal,
            colorful,
            github: GithubJob::current(),
            is_log: false,
            redaction: Arc::new(Redaction::of(arguments)),
            warned: Arc::default(),
            unwritten: Arc::default(),
        }
    }

    /// Sanitises text that another component writes to the terminal.
    pub(super) fn neutral(&self, text: &str) -> String {
        neutral::text(&self.redaction.apply(text))
    }

    /// Prints a line of the result.
    pub(super) fn result(&self, text: &str) {
        if self.format == Format::Text {
            self.own_text(&self.neutral(text));
        }
    }

    /// Fails if the result could not be written.
    pub(super) fn check_written(&self) -> Result<(), CommandError> {
        let Some(source) = locked(&self.unwritten).take() else {
            return Ok(());
        };
        Err(disk::Error::at("write the result to", Path::new("stdout"), source).into())
    }

    /// With `--format json`, prints the result as one document. Documents are plain structures, which can always be written as JSON.
    pub(super) fn document(&self, document: &impl Serialize) {
        self.json(serde_json::to_string_pretty(document));
    }

    /// With `--format json`, prints one of many documents as a line.
    pub(super) fn document_line(&self, document: &impl Serialize) {
        self.json(serde_json::to_string(document));
    }

    fn json(&self, text: serde_json::Result<String>) {
        if let Some(text) = text.ok().filter(|_| self.format == Format::Json) {
            self.own_text(&neutral::json(&self.redaction.apply(&text)));
        }
    }

    /// Prints a line on stderr: what happened, and to what.
    pub(super) fn line(&self, tone: Tone, verb: &str, text: &str) {
        if self.is_log {
            self.log_message(&verb.to_lowercase(), text);
        } else if self.verbosity != Verbosity::Quiet {
            self.to_stderr(style(tone).bold(), &format!("{verb:>GUTTER$}"), text);
        }
    }

    /// Whether only what changes has lines: a person at a terminal reads them, and the summary counts the rest.
    pub(super) fn is_terse(&self) -> bool {
        self.terminal && self.verbosity <= Verbosity::Normal
    }

    /// Prints a warning, unless this run has printed it already, or very many: `tfoci serve` runs for months, and others choose the texts.
    pub(super) fn warn_once(&self, text: String) {
        let mut warned = locked(&self.warned);
        if warned.len() < MOST_WARNINGS && warned.insert(text.clone()) {
            self.warning(&text);
        }
    }

    /// Prints the warnings about the notes of a version, with what to do about them.
    pub(super) fn warn_of_notes(&self, subject: &Subject, authentication: &Authentication) {
        for note in &authentication.notes {
            if let Some(warning) = note.warning() {
                self.warning(&format!("{subject}: {warning}"));
            }
        }
    }

    /// Whether `-v` was given.
    pub(super) fn is_verbose(&self) -> bool {
        self.verbosity >= Verbosity::Verbose
    }

    /// Prints a line with `-v`.
    pub(super) fn detail(&self, tone: Tone, verb: &str, text: &str) {
        if self.is_verbose() {
            self.line(tone, verb, text);
        }
    }

    /// Prints a line with `-vv`.
    pub(super) fn request(&self, verb: &str, text: &str) {
        if self.verbosity >= Verbosity::Everything {
            self.line(Tone::Plain, verb, text);
        }
    }

    /// Prints text on stderr.
    pub(super) fn say(&self, text: &str) {
        if self.verbosity != Verbosity::Quiet {
            self.to_stderr(Style::new(), "", text);
        }
    }

    /// Prints text on stdout as it is. Callers give text of the program, whatever the format, such as help, a script or a schema.
    pub(super) fn own_text(&self, text: &str) {
        let mut stdout = io::stdout().lock();
        let written = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
        // The reader closed the pipe and needs no more output.
        let failed = written
            .err()
            .filter(|error| error.kind() != io::ErrorKind::BrokenPipe);
        if let Some(error) = failed {
            locked(&self.unwritten).get_or_insert(error);
        }
    }

    /// Writes a line, and its beginning in a style. The text is sanitised, so that only the style contains escape sequences.
    fn to_stderr(&self, style: Style, begin: &str, text: &str) {
        let line = self.styled(style, begin, text);
        self.bars.suspend(|| {
            // If stderr is closed, there is no way to report the error.
            let _closed = writeln!(io::stderr(), "{line}");
        });
    }

    fn styled(&self, style: Style, begin: &str, text: &str) -> String {
        let separator = if begin.is_empty() { "" } else { " " };
        let plain = self.neutral(&format!("{begin}{separator}{text}"));
        let rest = plain.strip_prefix(begin).unwrap_or(&plain);
        let begin = style.force_styling(self.colorful).apply_to(begin);
        format!("{begin}{rest}")
    }
}

fn style(tone: Tone) -> Style {
    match tone {
        Tone::Done => Style::new().green(),
        Tone::Plain => Style::new().cyan(),
        Tone::Warning => Style::new().yellow(),
    }
}
