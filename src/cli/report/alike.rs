//! Failures with one cause: the error of the first one is printed, and the names of the others.

use tfoci::event::Subject;

use super::super::error::{CommandError, CommonFailure};
use super::super::printer::Printer;

/// The failures of hosts and disks so far.
#[derive(Default)]
pub(super) struct Alike {
    /// In the order of their first failures.
    failures: Vec<(CommonFailure, Vec<Subject>)>,
}

impl Alike {
    /// Whether an error like this one was printed. If so, its subject is kept.
    pub(super) fn repeats(&mut self, error: &CommandError, subject: &Subject) -> bool {
        let Some(failure) = CommonFailure::of(error) else {
            return false;
        };
        let known = self
            .failures
            .iter_mut()
            .find(|(known, _)| *known == failure);
        match known {
            Some((_, others)) => {
                others.push(subject.clone());
                true
            }
            None => {
                self.failures.push((failure, Vec::new()));
                false
            }
        }
    }

    /// Prints the names of those that failed like another.
    pub(super) fn print(&self, printer: &Printer) {
        for (failure, others) in &self.failures {
            let mut names: Vec<String> = others.iter().map(ToString::to_string).collect();
            names.sort();
            if !names.is_empty() {
                printer.failed_alike(failure, &names);
            }
        }
    }
}
