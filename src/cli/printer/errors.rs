//! Errors with their hints.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use console::Style;

use super::super::error::{CommandError, CommonFailure};
use super::super::neutral;
use super::{Printer, Verbosity};
use tfoci::error::{Hint, causes};
use tfoci::finding::Severity;

impl Printer {
    /// Prints an error with its hint.
    pub(in crate::cli) fn failure(&self, error: &CommandError) {
        let hint = error.hint();
        self.block(&describe(error), hint.as_deref());
        if self.github.is_some() {
            let subject = error.failure().and_then(|failure| failure.subject.as_ref());
            let title =
                subject.map_or_else(|| "tfoci".to_owned(), |subject| format!("tfoci: {subject}"));
            let hint = hint.map(|hint| format!("\n\nhint: {hint}"));
            let text = format!("{}{}", describe(error), hint.unwrap_or_default());
            self.annotate(Severity::Error, &title, &text);
        }
    }

    /// Prints that a signal interrupted the run. `hint` says how to go on.
    pub(in crate::cli) fn interrupted(&self, hint: Option<&str>) {
        self.block("interrupted", hint);
        if self.github.is_some() {
            self.annotate(Severity::Error, "tfoci", "interrupted");
        }
    }

    /// Prints how many others failed like one whose error was printed, and their names.
    pub(in crate::cli) fn failed_alike(
        &self,
        failure: &CommonFailure,
        count: usize,
        names: &BTreeSet<String>,
    ) {
        let at = failure.host.as_ref().map(|host| format!(" at {host}"));
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let colon = if names.is_empty() { "" } else { ": " };
        let text = format!(
            "… and {count} more failed in the same way{}{colon}{}",
            at.unwrap_or_default(),
            names.join(", ")
        );
        self.block_of(Style::new(), "", &text);
    }

    /// Prints an error and its hint. An empty line is between two of them.
    fn block(&self, text: &str, hint: Option<&str>) {
        self.block_of(wrong(), "error:", text);
        if let Some(hint) = hint {
            self.hint(hint);
        }
        self.after_error.store(true, Ordering::Relaxed);
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

    fn block_of(&self, style: Style, begin: &str, text: &str) {
        if self.after_error.load(Ordering::Relaxed) {
            self.to_stderr(Style::new(), "", "");
        }
        self.to_stderr(style, begin, text);
        self.after_error.store(true, Ordering::Relaxed);
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
