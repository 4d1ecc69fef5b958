//! Output for a job of GitHub Actions: annotations, and the file of the job summary.
//!
//! The runner executes a line that begins with `::`. Only this module writes such lines. The text in them is neutral
//! ([`neutral`](super::super::neutral)) like every output, and escaped as the runner expects, so that it cannot end a command or begin another.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tfoci::finding::Severity;

use super::{Printer, Tone, Verbosity};

/// A job of GitHub Actions in which the program runs.
#[derive(Clone)]
pub(super) struct GithubJob {
    /// The file for the job summary.
    summary: Option<PathBuf>,
}

impl GithubJob {
    /// The job; `None` outside of GitHub Actions.
    pub(super) fn current() -> Option<Self> {
        let is_github = std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true");
        let summary = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty());
        is_github.then(|| Self {
            summary: summary.map(PathBuf::from),
        })
    }
}

impl Printer {
    /// Prints a warning. On GitHub Actions, it is an annotation.
    pub(in crate::cli) fn warning(&self, text: &str) {
        match self.github {
            Some(_) if self.verbosity > Verbosity::Quiet => {
                self.annotate(Severity::Warning, "tfoci", text);
            }
            _ => self.line(Tone::Warning, "Warning", text),
        }
    }

    /// Annotates a job of GitHub Actions with a finding.
    pub(in crate::cli) fn annotate_finding(&self, severity: Severity, text: &str) {
        if self.github.is_some() {
            self.annotate(severity, "tfoci", text);
        }
    }

    pub(super) fn annotate(&self, level: Severity, title: &str, text: &str) {
        let (title, text) = (self.neutral(title), self.neutral(text));
        self.command(&annotation(level, &title, &text));
    }

    /// Writes commands for the runner of GitHub Actions, at once, so that no other line comes between them.
    fn command(&self, text: &str) {
        self.bars.suspend(|| {
            let _closed = writeln!(io::stderr(), "{text}");
        });
    }

    /// The file for the summary of a job of GitHub Actions.
    pub(in crate::cli) fn job_summary(&self) -> Option<&Path> {
        self.github.as_ref()?.summary.as_deref()
    }
}

/// A message on the page of the run.
fn annotation(level: Severity, title: &str, message: &str) -> String {
    let level = level.as_str();
    format!("::{level} title={}::{}", property(title), data(message))
}

/// Escapes the text of a command.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Escapes the value of a property, which ends at a comma or colon.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_leave_its_command() {
        assert_eq!(
            annotation(Severity::Error, "a: b, c", "50%\r\n::endgroup:: %0A"),
            "::error title=a%3A b%2C c::50%25%0D%0A::endgroup:: %250A"
        );
        assert_eq!(
            annotation(Severity::Warning, "x::error\n::", ""),
            "::warning title=x%3A%3Aerror%0A%3A%3A::"
        );
    }
}
