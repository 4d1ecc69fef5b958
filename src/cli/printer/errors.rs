//! Errors with their hints.

use console::Style;

use super::super::error::CommandError;
use super::super::neutral;
use super::{Printer, Verbosity};
use tfoci::error::{Hint, causes};
use tfoci::event::Subject;
use tfoci::finding::Severity;

impl Printer {
    /// Prints an error with its hint.
    pub(in crate::cli) fn failure(&self, error: &CommandError) {
        let (mut text, hint) = (describe(error), error.hint());
        self.block(&text, hint.as_deref());
        if let Some(hint) = hint {
            text += &format!("\n\nhint: {hint}");
        }
        self.annotate(Severity::Error, &text);
    }

    /// Prints that a signal interrupted the run. `hint` says how to go on.
    pub(in crate::cli) fn interrupted(&self, hint: Option<&str>) {
        self.block("interrupted", hint);
        self.annotate(Severity::Error, "interrupted");
    }

    /// Prints that this failed like another one whose error was printed.
    pub(in crate::cli) fn failed_alike(&self, subject: &Subject) {
        let text = format!("… {subject} failed in the same way");
        self.to_stderr(Style::new(), "", &text);
    }

    /// Prints an error and its hint.
    fn block(&self, text: &str, hint: Option<&str>) {
        self.to_stderr(wrong(), "error:", text);
        if let Some(hint) = hint {
            self.hint(hint);
        }
    }

    /// Prints what to do next.
    pub(in crate::cli) fn advise(&self, hint: &str) {
        if self.verbosity != Verbosity::Quiet {
            self.hint(hint);
        }
    }

    fn hint(&self, hint: &str) {
        self.to_stderr(Style::new(), "", "");
        self.to_stderr(Style::new().cyan().bold(), "hint:", hint);
    }
}

/// The style of the word `error:`.
pub(super) fn wrong() -> Style {
    Style::new().red().bold()
}

/// An error and its causes, one per line. Quotations from documents may be long, and are shortened.
fn describe(error: &CommandError) -> String {
    let mut text = error.to_string();
    for cause in causes(error) {
        for line in cause.to_string().lines() {
            text += &format!("\n  {}", neutral::quoted(line.trim_end()));
        }
    }
    text
}
