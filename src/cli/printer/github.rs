//! Output for a job of GitHub Actions: groups of lines, and annotations.
//!
//! The runner executes a line that begins with `::`. Only this module writes such lines. The text in them is neutral
//! ([`neutral`](super::super::neutral)) like every output, and escaped as the runner expects, so that it cannot end a command or begin another.

use std::collections::HashMap;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tfoci::event::Subject;
use tfoci::finding::Severity;

use super::{GUTTER, Printer, Tone, Verbosity, style};

/// A job of GitHub Actions in which the program runs.
#[derive(Default)]
pub(super) struct GithubJob {
    /// The file for the job summary.
    summary: Option<PathBuf>,
    /// The lines of versions that are not done. The log shows the lines of a version as one group, because versions are transferred
    /// concurrently.
    held: Mutex<HashMap<Subject, Vec<String>>>,
}

impl GithubJob {
    /// The job; `None` outside of GitHub Actions.
    pub(super) fn current() -> Option<Self> {
        let is_github = std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true");
        let summary = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty());
        is_github.then(|| Self {
            summary: summary.map(PathBuf::from),
            held: Mutex::default(),
        })
    }

    /// Holds a line back until its version is done.
    fn hold(&self, subject: &Subject, line: String) {
        let lines = subject.whole_version();
        self.held().entry(lines).or_default().push(line);
    }

    /// Removes the lines of a version and returns them. Lines about all of its destinations go to the first destination.
    fn take(&self, subject: &Subject) -> Vec<String> {
        let version = subject.whole_version();
        let of_all = Subject {
            destination: None,
            ..version.clone()
        };
        let mut held = self.held();
        let mut lines = held.remove(&of_all).unwrap_or_default();
        lines.extend(held.remove(&version).into_iter().flatten());
        lines
    }

    /// The versions whose lines are still held, in order.
    fn waiting(&self) -> Vec<Subject> {
        let mut waiting: Vec<Subject> = self.held().keys().cloned().collect();
        waiting.sort_by_cached_key(ToString::to_string);
        waiting
    }

    fn held(&self) -> MutexGuard<'_, HashMap<Subject, Vec<String>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.github.as_deref()?.summary.as_deref()
    }

    /// Prints a line about a version. On GitHub Actions, it becomes part of the group of this version.
    pub(in crate::cli) fn line_of(&self, subject: &Subject, tone: Tone, verb: &str, text: &str) {
        match &self.github {
            Some(github) if self.verbosity > Verbosity::Quiet => {
                let line = self.styled(style(tone).bold(), &format!("{verb:>GUTTER$}"), text);
                github.hold(subject, line);
            }
            _ => self.line(tone, verb, text),
        }
    }

    /// Prints the lines of a version as a group of GitHub Actions.
    pub(in crate::cli) fn group(&self, subject: &Subject, title: &str) {
        let lines = self.github.as_ref().map(|github| github.take(subject));
        if let Some(lines) = lines.filter(|lines| !lines.is_empty()) {
            self.command(&group(&self.neutral(title), &lines));
        }
    }

    /// Drops the lines of a version that the report leaves out.
    pub(in crate::cli) fn drop_group(&self, subject: &Subject) {
        if let Some(github) = &self.github {
            github.take(subject);
        }
    }

    /// Prints the groups of versions that are not done.
    pub(in crate::cli) fn groups_left(&self) {
        for subject in self.github.iter().flat_map(|github| github.waiting()) {
            self.group(&subject, &format!("Incomplete {subject}"));
        }
    }
}

/// Lines under a title, folded in the log.
fn group(title: &str, lines: &[String]) -> String {
    let title = data(&title.replace(['\r', '\n'], " "));
    format!("::group::{title}\n{}\n::endgroup::", lines.join("\n"))
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
        assert_eq!(
            group("a\n::endgroup::\r%0A", &["b".to_owned(), "c".to_owned()]),
            "::group::a ::endgroup:: %250A\nb\nc\n::endgroup::"
        );
    }
}
