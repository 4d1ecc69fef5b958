//! The printer: the only code that writes to stdout and stderr.
//!
//! stdout carries the result and nothing else; everything for people goes to stderr. A reader that closes its end early
//! has what it wanted, so a broken pipe is no failure.

use std::error::Error as _;
use std::fmt::Display;
use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use console::{Style, Term};
use indicatif::MultiProgress;

use super::diagnose::Complaint;
use super::json;
use super::options::{Color, Format};
use super::progress::Progress;

/// How wide the column of verbs is.
const GUTTER: usize = 10;

/// How much is said on stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verbosity {
    /// Errors only.
    Quiet,
    /// What happens, with bars on a terminal.
    Normal,
    /// What happens, line by line.
    Verbose,
}

/// Decides who may speak, and how.
#[derive(Clone)]
pub(super) struct Printer {
    verbosity: Verbosity,
    format: Format,
    style: Style,
    bars: MultiProgress,
    lines_for_starts: bool,
}

impl Printer {
    pub(super) fn new(verbosity: Verbosity, format: Format, color: Color, progress: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let colorful = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => console::colors_enabled_stderr(),
        };
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let drawn = progress && verbosity == Verbosity::Normal && terminal && !dumb && std::env::var_os("CI").is_none();
        // Nothing is drawn before it is known that the work takes a while.
        let bars = MultiProgress::with_draw_target(indicatif::ProgressDrawTarget::hidden());
        Self {
            verbosity,
            format,
            style: Style::new().for_stderr().force_styling(colorful),
            bars: if drawn { bars } else { MultiProgress::with_draw_target(indicatif::ProgressDrawTarget::hidden()) },
            lines_for_starts: !drawn && progress,
        }
    }
}
