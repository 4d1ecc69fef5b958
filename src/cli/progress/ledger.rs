//! What a run plans, and how much of it is done.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;

use tfoci::address::ProviderAddr;
use tfoci::event::Subject;
use tfoci::version::Version;

/// The plan of a run and its state.
#[derive(Debug)]
pub(super) struct Ledger {
    /// The number of providers of the run; 0 if it is not known.
    providers: usize,
    /// The providers whose versions are selected, and those that failed.
    selected: HashSet<ProviderAddr>,
    versions: HashMap<Subject, VersionState>,
    /// The packages in transfer, in the order of their start.
    pub(super) active: Vec<ActivePackage>,
    /// Estimates the rate of all bytes, since the first package started.
    flow: Option<ProgressBar>,
    last_byte: Option<Instant>,
    /// The largest part that was shown, in thousandths. If an estimate grows, the shown part stays instead of shrinking.
    shown: u64,
}

/// The state of a version in one destination.
#[derive(Debug, Default)]
struct VersionState {
    /// The number of its packages, once known.
    packages: Option<usize>,
    /// The bytes of all of its packages, once known.
    bytes: Option<u64>,
    finished: usize,
    finished_bytes: u64,
    is_ended: bool,
}

/// A package in transfer.
#[derive(Debug)]
pub(super) struct ActivePackage {
    pub(super) subject: Subject,
    pub(super) size: u64,
    /// The bytes that were read of it, at most its size: a transfer that begins again counts once.
    pub(super) received: u64,
}

/// The sums over all versions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub(super) finished: usize,
    pub(super) packages: usize,
    pub(super) received: u64,
    pub(super) bytes: u64,
    /// Whether `packages` is final.
    pub(super) counts_all_packages: bool,
    /// Whether `bytes` is final. Otherwise it is an estimate.
    pub(super) counts_all_bytes: bool,
    /// The part that is done, in thousandths.
    pub(super) part: u64,
    /// The bytes per second.
    pub(super) rate: u64,
    /// The time left.
    pub(super) left: Option<Duration>,
}

impl Ledger {
    pub(super) fn of(providers: usize) -> Self {
        Self {
            providers,
            selected: HashSet::new(),
            versions: HashMap::new(),
            active: Vec::new(),
            flow: None,
            last_byte: None,
            shown: 0,
        }
    }

    /// Adds the versions of a provider.
    pub(super) fn select(&mut self, subject: &Subject, versions: Vec<(Version, Option<usize>)>) {
        self.selected.insert(subject.provider.clone());
        for (version, packages) in versions {
            let version = Subject {
                version: Some(version),
                ..subject.clone()
            };
            let state = self.versions.entry(version).or_default();
            state.packages = state.packages.or(packages);
        }
    }

    /// Sets what a version needs.
    pub(super) fn plan(&mut self, subject: &Subject, packages: usize, bytes: u64) {
        let state = self.state(subject);
        state.packages = Some(packages);
        state.bytes = Some(bytes.max(state.finished_bytes));
    }

    pub(super) fn start(&mut self, subject: Subject, size: u64) {
        self.flow.get_or_insert_with(ProgressBar::hidden);
        self.stop(&subject);
        self.active.push(ActivePackage {
            subject,
            size,
            received: 0,
        });
    }

    pub(super) fn advance(&mut self, subject: &Subject, bytes: u64) {
        self.last_byte = Some(Instant::now());
        if let Some(flow) = &self.flow {
            flow.inc(bytes);
        }
        let mut active = self.active.iter_mut();
        if let Some(package) = active.find(|package| package.subject == *subject) {
            package.received = package.received.saturating_add(bytes).min(package.size);
        }
    }

    /// Ends the transfer of a blob that is not a package.
    pub(super) fn stop(&mut self, subject: &Subject) {
        self.active.retain(|package| package.subject != *subject);
    }

    /// Ends the transfer of a package.
    pub(super) fn finish(&mut self, subject: &Subject, size: u64) {
        let before = self.active.len();
        self.stop(subject);
        let was_sent = self.active.len() < before;
        let state = self.state(subject);
        state.finished += 1;
        if was_sent || state.bytes.is_none() {
            state.finished_bytes = state.finished_bytes.saturating_add(size);
        } else if let Some(bytes) = state.bytes {
            state.finished_bytes = state.finished_bytes.saturating_add(size).min(bytes);
        }
    }

    /// Ends a version that is complete in its destination.
    pub(super) fn end(&mut self, subject: &Subject, packages: usize) {
        let state = self.state(subject);
        state.finished = *state.packages.get_or_insert(packages);
        state.finished_bytes = *state.bytes.get_or_insert(state.finished_bytes);
        state.is_ended = true;
    }

    /// Leaves out a failed provider, version or package.
    pub(super) fn abandon(&mut self, failed: &Subject) {
        let is_part = |subject: &Subject| {
            subject.provider == failed.provider
                && (failed.version.is_none() || subject.version == failed.version)
                && (failed.destination.is_none() || subject.destination == failed.destination)
        };
        self.selected.insert(failed.provider.clone());
        self.active.retain(|package| !is_part(&package.subject));
        let versions = self.versions.iter_mut();
        for (_, state) in versions.filter(|(subject, state)| is_part(subject) && !state.is_ended) {
            state.bytes = Some(state.finished_bytes);
            state.is_ended = true;
        }
    }

    /// Whether bytes of the packages in transfer have arrived during this time.
    pub(super) fn flows(&self, within: Duration) -> bool {
        let is_recent = self.last_byte.is_some_and(|last| last.elapsed() < within);
        is_recent && self.active.iter().any(|package| package.received > 0)
    }

    /// The sums; `None` before any version is known.
    pub(super) fn totals(&mut self) -> Option<Totals> {
        if self.versions.is_empty() {
            return None;
        }
        let mean = self.mean();
        let lists_all = self.selected.len() >= self.providers;
        let mut totals = Totals {
            counts_all_packages: lists_all,
            counts_all_bytes: lists_all,
            ..Totals::default()
        };
        for (subject, state) in &self.versions {
            let active = self.active.iter();
            let active = active.filter(|package| package.subject.whole_version() == *subject);
            let (received, size) = active.fold((0_u64, 0_u64), |(received, size), package| {
                (
                    received.saturating_add(package.received),
                    size.saturating_add(package.size),
                )
            });
            let least = state.finished_bytes.saturating_add(size);
            totals.finished += state.finished;
            totals.packages += state.packages.unwrap_or(1).max(state.finished);
            let received = state.finished_bytes.saturating_add(received);
            totals.received = totals.received.saturating_add(received);
            let bytes = match (state.bytes, state.packages) {
                (Some(bytes), _) => bytes.max(least),
                (None, packages) => {
                    let packages = packages.unwrap_or(1) as u64;
                    least.max(mean.saturating_mul(packages))
                }
            };
            totals.bytes = totals.bytes.saturating_add(bytes);
            totals.counts_all_packages &= state.packages.is_some();
            totals.counts_all_bytes &= state.bytes.is_some();
        }
        let is_done = totals.counts_all_bytes && totals.received >= totals.bytes;
        let part = (totals.received.saturating_mul(1000)).checked_div(totals.bytes);
        let part = part.unwrap_or(0).min(if is_done { 1000 } else { 990 });
        self.shown = self.shown.max(part);
        totals.part = self.shown;
        totals.rate = self.flow.as_ref().map_or(0, |flow| flow.per_sec() as u64);
        let left = totals.bytes.saturating_sub(totals.received);
        let left = left.checked_div(totals.rate).filter(|_| left > 0);
        totals.left = left.map(Duration::from_secs);
        Some(totals)
    }

    /// The mean size of the packages whose sizes are known.
    fn mean(&self) -> u64 {
        let known = self.versions.values();
        let known = known.filter_map(|state| Some((state.bytes?, state.packages?)));
        let (bytes, packages) = known
            .filter(|(bytes, _)| *bytes > 0)
            .fold((0_u64, 0_u64), |(bytes, packages), (more_bytes, more)| {
                (bytes + more_bytes, packages + more as u64)
            });
        bytes.checked_div(packages).unwrap_or(0)
    }

    fn state(&mut self, subject: &Subject) -> &mut VersionState {
        self.versions.entry(subject.whole_version()).or_default()
    }
}

impl Totals {
    /// How many of all packages are done: `9 of 24`, or `9 of ~24` while their number is an estimate.
    pub(super) fn packages_done(&self) -> String {
        let tilde = if self.counts_all_packages { "" } else { "~" };
        format!("{} of {tilde}{}", self.finished, self.packages)
    }
}
