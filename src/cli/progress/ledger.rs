//! What a run plans, and how much of it is done.

use std::collections::HashMap;

use indicatif::HumanBytes;

use tfoci::event::Subject;
use tfoci::version::Version;

/// The versions that a run has selected so far.
#[derive(Debug, Default)]
pub(super) struct Ledger(HashMap<Subject, VersionState>);

/// The state of a version in one destination.
#[derive(Debug, Default)]
struct VersionState {
    /// The number of its packages, once known.
    packages: Option<usize>,
    /// The bytes of all of its packages, once known.
    bytes: Option<u64>,
    finished: usize,
    received: u64,
    is_ended: bool,
}

/// The sums over all versions.
#[derive(Debug, Default)]
pub(super) struct Totals {
    finished: usize,
    packages: usize,
    pub(super) received: u64,
    /// An estimate, until the sizes of all packages are known.
    pub(super) bytes: u64,
}

impl Ledger {
    /// Adds the versions of a provider.
    pub(super) fn select(&mut self, subject: &Subject, versions: Vec<(Version, Option<usize>)>) {
        for (version, packages) in versions {
            let version = Subject {
                version: Some(version),
                ..subject.clone()
            };
            let state = self.state(&version);
            state.packages = state.packages.or(packages);
        }
    }

    /// Sets what a version needs.
    pub(super) fn plan(&mut self, subject: &Subject, packages: usize, bytes: u64) {
        let state = self.state(subject);
        state.packages = Some(packages);
        state.bytes = Some(bytes);
    }

    pub(super) fn advance(&mut self, subject: &Subject, bytes: u64) {
        self.state(subject).received += bytes;
    }

    /// Ends the transfer of a package.
    pub(super) fn finish(&mut self, subject: &Subject) {
        self.state(subject).finished += 1;
    }

    /// Ends a version that is complete in its destination.
    pub(super) fn end(&mut self, subject: &Subject, packages: usize) {
        let state = self.state(subject);
        state.finished = *state.packages.get_or_insert(packages);
        state.received = *state.bytes.get_or_insert(0);
        state.is_ended = true;
    }

    /// Leaves out a failed provider or version.
    pub(super) fn abandon(&mut self, failed: &Subject) {
        let Self(versions) = self;
        versions.retain(|subject, state| state.is_ended || !is_part(subject, failed));
    }

    pub(super) fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        let mut measured = 0;
        for state in self.0.values() {
            let packages = state.packages.unwrap_or(1);
            totals.finished += state.finished;
            totals.packages += packages;
            if let Some(bytes) = state.bytes {
                measured += packages as u64;
                totals.bytes = totals.bytes.saturating_add(bytes);
                // Bytes that are sent again after a lost connection count once.
                totals.received += state.received.min(bytes);
            }
        }
        // The other packages are as large as these.
        let all = totals.bytes.saturating_mul(totals.packages as u64);
        totals.bytes = all.checked_div(measured).unwrap_or(0);
        totals
    }

    fn state(&mut self, subject: &Subject) -> &mut VersionState {
        self.0.entry(subject.whole_version()).or_default()
    }
}

/// Whether a version or package is part of what failed.
pub(super) fn is_part(subject: &Subject, failed: &Subject) -> bool {
    subject.provider == failed.provider
        && (failed.version.is_none() || subject.version == failed.version)
        && (failed.destination.is_none() || subject.destination == failed.destination)
}

impl Totals {
    /// `9 of 24 packages, 7.90 MiB of 15.00 MiB`; nothing before any version is known.
    pub(super) fn parts(&self) -> Vec<String> {
        let mut parts = Vec::new();
        if self.packages > 0 {
            parts.push(format!("{} of {} packages", self.finished, self.packages));
        }
        if self.bytes > 0 {
            let (received, bytes) = (HumanBytes(self.received), HumanBytes(self.bytes));
            parts.push(format!("{received} of {bytes}"));
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sums_have_what_is_planned_and_what_is_done() {
        let mut ledger = Ledger::default();
        let demo = "registry.acme.test/acme/demo".parse().unwrap();
        let versions = ["1.0.0", "1.1.0"].map(|one| (one.parse().unwrap(), Some(4)));
        ledger.select(&Subject::provider(&demo), versions.into());
        let version = Subject::version(&demo, &"1.0.0".parse().unwrap());
        ledger.plan(&version, 4, 4000);
        let package = version.platform(&"linux_amd64".parse().unwrap());
        ledger.advance(&package, 700);
        ledger.advance(&package, 300);
        ledger.finish(&package);
        let parts = ["1 of 8 packages", "1000 B of 7.81 KiB"];
        assert_eq!(ledger.totals().parts(), parts);
        ledger.abandon(&Subject::version(&demo, &"1.1.0".parse().unwrap()));
        ledger.end(&version, 4);
        let parts = ["4 of 4 packages", "3.91 KiB of 3.91 KiB"];
        assert_eq!(ledger.totals().parts(), parts);
    }
}
