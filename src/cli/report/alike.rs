//! Failures with one cause: the error of the first one is printed, and the names of the others.

use std::collections::BTreeSet;

use tfoci::event::Subject;

use super::super::error::{CommandError, CommonFailure};
use super::super::printer::Printer;

/// The failures of hosts and disks so far, in the order of their first ones.
#[derive(Default)]
pub(super) struct Alike(Vec<Known>);

struct Known {
    failure: CommonFailure,
    first: String,
    /// How many more failed in the same way.
    others: usize,
    /// Their names. A version may have failed in several stores.
    names: BTreeSet<String>,
}

impl Alike {
    /// Whether an error like this one was printed. If so, its subject is kept.
    pub(super) fn repeats(&mut self, error: &CommandError, subject: &Subject) -> bool {
        let Some(failure) = CommonFailure::of(error) else {
            return false;
        };
        let everywhere = Subject {
            destination: None,
            ..subject.clone()
        };
        let name = everywhere.to_string();
        if let Some(known) = self.0.iter_mut().find(|known| known.failure == failure) {
            known.others += 1;
            known.names.extend((name != known.first).then_some(name));
            return true;
        }
        self.0.push(Known {
            failure,
            first: name,
            others: 0,
            names: BTreeSet::new(),
        });
        false
    }

    /// Prints how many failed like another, with each name once.
    pub(super) fn print(&self, printer: &Printer) {
        for known in self.0.iter().filter(|known| known.others > 0) {
            printer.failed_alike(&known.failure, known.others, &known.names);
        }
    }
}
