//! Many providers are mirrored with little memory.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use tokio::sync::Barrier;

use super::team::{PLATFORMS, Team};
use crate::support::origin::Provider;
use crate::support::registry::{Fault, Seen, matching};

/// The measure and its limit in KiB. A run may take 28 MiB. The executable takes 25 MiB of them in a development build and less than 12
/// MiB in a release build, so a development build counts allocations only.
const LIMIT: (&str, u64) = match cfg!(debug_assertions) {
    true => ("RssAnon:", 16 << 10),
    false => ("VmHWM:", 28 << 10),
};

/// The peak memory of a run in KiB, sampled after each version.
#[derive(Clone, Default)]
struct Peak {
    process: Arc<AtomicU32>,
    most: Arc<AtomicU64>,
}

impl Peak {
    /// Samples at each request that reads a manifest.
    fn of(team: &Team) -> Self {
        let peak = Self::default();
        let looking = peak.clone();
        let is_last = |seen: &Seen| seen.method != "PUT" && seen.path.contains("/manifests/");
        team.registry
            .always(is_last, Fault::after(move || looking.look()));
        peak
    }

    fn look(&self) {
        let path = format!("/proc/{}/status", self.process.load(Ordering::SeqCst));
        let status = fs::read_to_string(path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(LIMIT.0));
        let size = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
        self.most.fetch_max(size.unwrap_or(0), Ordering::SeqCst);
    }

    /// Mirrors.
    fn run(&self, team: &Team) -> u64 {
        self.most.store(0, Ordering::SeqCst);
        let mut command = team.command("");
        let run = command.spawn().unwrap();
        self.process.store(run.id(), Ordering::SeqCst);
        let output = run.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        self.most.load(Ordering::SeqCst)
    }
}

#[test]
fn two_hundred_providers_take_little_memory() {
    let (providers, versions) = (200, 3);
    let team = Team::of(Provider::many(providers, versions, &PLATFORMS));
    let peak = Peak::of(&team);
    let first = peak.run(&team);
    team.assert_whole();
    let tags = team.tags();
    assert_eq!(tags.len(), 2 * providers * versions);
    team.forget();
    let second = peak.run(&team);
    assert_eq!(team.tags(), tags);
    let expected = format!("1 discovery, {providers} versions");
    assert_eq!(team.origin.counters(), expected);
    let indexes = providers * versions;
    let expected = format!("{indexes} GET manifests, {providers} GET tags");
    assert_eq!(team.stored(), expected);
    let (what, most) = LIMIT;
    for peak in [first, second] {
        let is_small = (1..=most).contains(&peak);
        assert!(is_small, "{what} {peak} KiB, expected at most {most}");
    }
}

/// There are more providers than concurrent jobs, and the first one gets no answer before the last one was requested.
#[test]
fn a_slow_provider_does_not_stop_the_others() {
    let team = Team::of(Provider::many(20, 1, &["linux_amd64"]));
    let both = Arc::new(Barrier::new(2));
    for name in ["p0", "p9"] {
        let path = format!("mirror/acme/{name}/tags/list");
        let wait = Fault::Together(Arc::clone(&both));
        team.registry.fault(1, matching("GET", &path), wait);
    }
    team.mirror("").succeeds();
    team.assert_whole();
}

/// Eight versions wait for each other before their tags move. Their packages go one at a time all the same.
#[test]
fn versions_of_one_provider_travel_side_by_side() {
    let team = Team::of(Provider::many(1, 12, &["linux_amd64"]));
    let all = Arc::new(Barrier::new(8));
    // The first version finds out whether the registry takes evidence.
    for nth in 2..=9 {
        let looks = matching("HEAD", "/manifests/evidence-");
        team.registry
            .fault(nth, looks, Fault::Together(Arc::clone(&all)));
    }
    team.mirror("--jobs 1").succeeds();
    team.assert_whole();
    assert_eq!(team.tags().len(), 24);
    let zips = |seen: &Seen| seen.path.ends_with(".zip");
    assert_eq!(team.origin.most_at_once(zips), 1);
}
