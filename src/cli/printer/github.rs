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
                self.annotate(Severity::Warning, text);
            }
            _ => self.line(Tone::Warning, "Warning", text),
        }
    }

    /// Puts a message on the page of the run, in a job of GitHub Actions.
    pub(in crate::cli) fn annotate(&self, level: Severity, text: &str) {
        if self.github.is_some() {
            let command = annotation(level, &self.neutral(text));
            self.bars.suspend(|| {
                let _closed = writeln!(io::stderr(), "{command}");
            });
        }
    }

    /// The file for the summary of a job of GitHub Actions.
    pub(in crate::cli) fn job_summary(&self) -> Option<&Path> {
        self.github.as_ref()?.summary.as_deref()
    }
}

/// The command for a message. Its text is escaped, so that it cannot end the command.
fn annotation(level: Severity, message: &str) -> String {
    let message = message.replace('%', "%25").replace('\r', "%0D");
    let message = message.replace('\n', "%0A");
    format!("::{} title=tfoci::{message}", level.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_leave_its_command() {
        assert_eq!(
            annotation(Severity::Error, "50%\r\n::endgroup:: %0A"),
            "::error title=tfoci::50%25%0D%0A::endgroup:: %250A"
        );
    }
}
