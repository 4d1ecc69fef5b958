//! Failures with one cause: the error of the first one is printed, and the names of the others.

use std::collections::BTreeSet;

use tfoci::event::Subject;

use super::super::error::{CommandError, CommonFailure};
use super::super::printer::Printer;

/// The failures of hosts and disks so far.
#[derive(Default)]
pub(super) struct Alike {
    /// In the order of their first failures.
    failures: Vec<(CommonFailure, Subject, Vec<Subject>)>,
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
            .find(|(known, _, _)| *known == failure);
        match known {
            Some((_, _, others)) => {
                others.push(subject.clone());
                true
            }
            None => {
                self.failures.push((failure, subject.clone(), Vec::new()));
                false
            }
        }
    }

    /// Prints how many failed like another, with each name once. A version may have failed in several stores.
    pub(super) fn print(&self, printer: &Printer) {
        for (failure, first, others) in &self.failures {
            let name = |subject: &Subject| {
                let everywhere = Subject {
                    destination: None,
                    ..subject.clone()
                };
                everywhere.to_string()
            };
            let mut names: BTreeSet<String> = others.iter().map(name).collect();
            names.remove(&name(first));
            if !others.is_empty() {
                printer.failed_alike(failure, others.len(), &names);
            }
        }
    }
}
