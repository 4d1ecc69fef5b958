//! The report of `site`.

use std::sync::Arc;

use tfoci::event::{Reporter, Subject};

use super::super::json;
use super::super::printer::Tone;
use super::super::render::Mirror;
use super::verb::SITE;
use super::{Destination, Extent, Report};

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
}
