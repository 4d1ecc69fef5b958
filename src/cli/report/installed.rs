//! What follows an installation: hashes for lock files, and the CLI configuration of clients.

use std::collections::BTreeSet;

use tfoci::address::ProviderAddr;
use tfoci::install::Installed;

use super::super::printer::Printer;
use super::super::render::{Mirror, ProviderInstallationView};
use super::outcome::Outcome;
use super::run::{Destination, Run};

impl Run {
    fn installed(&self) -> impl Iterator<Item = &Installed> {
        self.outcomes.iter().filter_map(|outcome| match outcome {
            Outcome::Installed(installed) => Some(installed),
            Outcome::Published(_) | Outcome::Failed(..) => None,
        })
    }

    /// Prints the hashes of what was installed, with `-v`. Lock files get theirs from `tfoci lock`.
    pub(super) fn print_hashes(&self, printer: &Printer) {
        for installed in self.installed().filter(|_| self.verb.has_one_version) {
            let name = format!("{} {}", installed.provider, installed.version);
            printer.detail("Hashes", &name);
            for hash in &installed.hashes {
                printer.detail("", &hash.to_string());
            }
        }
    }

    /// Prints the CLI configuration for clients of the mirror, or how to get it.
    pub(super) fn print_configuration(&self, printer: &Printer) {
        let Destination::Directory(mirror) = &self.destination else {
            return;
        };
        // People at a terminal have seen it when something was installed; `cli-config` prints it again.
        let is_seen = self.verb.has_one_version && self.outcomes.iter().all(Outcome::is_unchanged);
        if is_seen && printer.is_terse() {
            return;
        }
        let is_network = matches!(mirror, None | Some(Mirror::Network { .. }));
        let is_for_mirror =
            |provider: &&ProviderAddr| !(is_network && provider.hostname().has_port());
        let named = |providers: BTreeSet<&ProviderAddr>| -> BTreeSet<String> {
            let providers = providers.into_iter().filter(is_for_mirror);
            providers.map(ToString::to_string).collect()
        };
        let installed = named(self.installed().map(|one| &one.provider).collect());
        if installed.is_empty() {
            return;
        }
        let Some(mirror) = mirror else {
            let next = "\nServe the directory over HTTPS. With `--url URL`, this command prints the clients' configuration.";
            if !self.tally.dry_run {
                printer.say(next);
            }
            return;
        };
        let failed = named(self.failures().map(|subject| &subject.provider).collect());
        let view = ProviderInstallationView::with_failed(mirror.clone(), installed, failed);
        printer.say(&format!(
            "\nFor the client's CLI configuration:\n\n{}",
            view.render().trim_end()
        ));
    }
}
