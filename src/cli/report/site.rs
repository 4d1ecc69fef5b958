//! The report of `site`.

use std::collections::BTreeSet;
use std::sync::Arc;

use tfoci::address::ProviderAddr;
use tfoci::error::{FEW, counted, listed};
use tfoci::event::{Reporter, Subject};

use super::super::json;
use super::super::printer::{Printer, Tone};
use super::super::render::Mirror;
use super::run::{Destination, Run};
use super::verb::SITE;
use super::{Extent, Report, State};

impl Report {
    /// Starts the report of a run that writes a site, which clients reach at this URL.
    pub(in super::super) fn writing_site(
        &self,
        url: Option<String>,
        extent: Extent,
    ) -> Arc<dyn Reporter> {
        let mirror = url.map(|url| Mirror::Network { url });
        self.begin(SITE, extent, Destination::Directory(mirror))
    }

    /// The providers that failed as a whole or in part.
    pub(in super::super) fn failed_providers(&self) -> BTreeSet<ProviderAddr> {
        match &*self.state() {
            State::Running(run) => run
                .failures()
                .map(|subject| subject.provider.clone())
                .collect(),
            State::Idle | State::Finished => BTreeSet::new(),
        }
    }

    /// Adds a version that was deleted from a site, or would be.
    pub(in super::super) fn deleted(&self, deleted: json::Deleted) {
        self.change(|run| {
            let verb = match run.tally.dry_run {
                true => "Would delete",
                false => "Deleted",
            };
            let version = Subject::version(&deleted.provider, &deleted.version);
            self.printer.line(Tone::Plain, verb, &version.to_string());
            run.deleted.push(deleted);
        });
    }

    /// Adds a published version that the store no longer has.
    pub(in super::super) fn withdrawn(&self, version: &Subject) {
        self.change(|run| run.withdrawn.push(version.to_string()));
    }
}

impl Run {
    /// Names the published versions that the store no longer has.
    pub(super) fn print_withdrawn(&self, printer: &Printer) {
        let (are, them) = match self.withdrawn.len() {
            0 => return,
            1 => ("is", "it"),
            _ => ("are", "them"),
        };
        let count = counted(self.withdrawn.len(), "published version");
        let names = listed(&self.withdrawn, FEW);
        let text =
            format!("{count} {are} not in the store any more: {names}. --delete deletes {them}");
        printer.line(Tone::Plain, "Note", &text);
    }
}
