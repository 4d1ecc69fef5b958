//! Interrupted and killed runs: no partial version is visible, and the next run does only what is left.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Mutex, MutexGuard};

use super::team::Team;
use crate::support::dice::Dice;
use crate::support::origin::Provider;
use crate::support::registry::{Fault, Seen};
use crate::support::release::ReleaseFolder;
use crate::support::signal::send;
use crate::support::zipfile::{executable, file, zip};

const PLATFORMS: [&str; 2] = ["darwin_arm64", "linux_amd64"];
/// The number of points of a run at which a signal is sent.
const POINTS: usize = 8;
/// As many versions of one provider as are in work at once, and some more.
const MANY: usize = 20;

/// Sends a signal after a write took effect and before its answer. Later requests get no answer.
#[derive(Clone, Default)]
struct Trap(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// How many writes are answered before; `None` while the trap is not set.
    passing: Option<usize>,
    has_snapped: bool,
    victim: Option<u32>,
}

impl Trap {
    fn lay(team: &Team, signal: &'static str) -> Self {
        let trap = Self::default();
        let (snapping, sending, after) = (trap.clone(), trap.clone(), trap.clone());
        let hit = Fault::after(move || send(signal, sending.state().victim.unwrap()));
        team.registry.always(move |seen| snapping.snaps(seen), hit);
        let late = move |_: &Seen| after.state().has_snapped;
        team.registry.always(late, Fault::Stall);
        trap
    }

    fn snaps(&self, seen: &Seen) -> bool {
        let mut state = self.state();
        let Some(passing) = state.passing.filter(|_| is_write(seen)) else {
            return false;
        };
        state.passing = passing.checked_sub(1);
        state.has_snapped = passing == 0;
        state.has_snapped
    }

    /// Runs a mirror into the trap.
    fn catch(&self, team: &Team, passing: usize) -> (ExitStatus, String) {
        // Requests wait until the process id is known.
        let mut state = self.state();
        let victim: Child = team.command("--jobs 2").spawn().unwrap();
        state.victim = Some(victim.id());
        state.passing = Some(passing);
        drop(state);
        let ended = victim.wait_with_output().unwrap();
        *self.state() = State::default();
        (ended.status, String::from_utf8(ended.stderr).unwrap())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }
}

fn is_write(seen: &Seen) -> bool {
    seen.method == "PUT"
}

/// The complete versions: `acme/p0 1.0.0`.
fn finished(team: &Team) -> BTreeSet<String> {
    let tags = team.tags().into_iter().map(|(tag, _)| tag);
    let versions = tags.filter(|tag| !tag.contains(":evidence-"));
    versions.map(|tag| tag.replace(':', " ")).collect()
}

/// The zips that the registry has.
fn zips(team: &Team) -> BTreeSet<String> {
    let held: Vec<_> = team.names.iter().map(|name| team.held(name)).collect();
    let blobs = held.iter().flat_map(|held| &held.blobs);
    let zips = blobs.filter(|(_, bytes)| bytes.starts_with(b"PK"));
    zips.map(|(digest, _)| digest.clone()).collect()
}

/// Repeats a run of two providers with a signal at points from the first write to the last. `stops` checks how the run ended.
fn at_many_points(signal: &'static str, stops: impl Fn(ExitStatus, &str)) {
    let points = |writes| (0..POINTS).map(move |point| point * (writes - 1) / (POINTS - 1));
    at_points(Provider::many(2, 2, &PLATFORMS), signal, points, stops);
}

/// Repeats a run with a signal at these writes, of so many.
fn at_points<I: Iterator<Item = usize>>(
    providers: Vec<Provider>,
    signal: &'static str,
    points: impl FnOnce(usize) -> I,
    stops: impl Fn(ExitStatus, &str),
) {
    let team = Team::of(providers);
    team.mirror("").succeeds();
    let (whole, writes) = (team.tags(), team.registry.count(is_write));
    let trap = Trap::lay(&team, signal);
    for point in points(writes) {
        team.clear();
        let (status, stderr) = trap.catch(&team, point);
        stops(status, &stderr);
        team.assert_whole();
        let (finished, zips) = (finished(&team), zips(&team));
        team.forget();
        team.mirror("").succeeds();
        assert_eq!(team.tags(), whole, "{point}");
        for asked in team.origin.transcript() {
            let repeats = |version: &String| asked.contains(&format!("{version} "));
            assert!(!finished.iter().any(repeats), "{point}: {asked}");
        }
        let repeats = |seen: &Seen| {
            let digest = seen.parameter("digest");
            is_write(seen) && digest.is_some_and(|zip| zips.contains(zip))
        };
        assert_eq!(team.registry.count(repeats), 0, "{point}");
    }
}

#[test]
fn an_interrupted_run_leaves_whole_versions_and_the_next_finishes() {
    at_many_points("INT", |status, stderr| {
        assert_eq!(status.code(), Some(130), "{stderr}");
        assert!(stderr.contains("error: interrupted\n"), "{stderr}");
    });
}

#[test]
fn a_killed_run_leaves_whole_versions_and_the_next_finishes() {
    at_many_points("KILL", |status, _| assert_eq!(status.signal(), Some(9)));
}

#[test]
fn many_versions_of_one_provider_may_be_killed_at_any_write() {
    let mut dice = Dice::new(37);
    let points = |writes| std::iter::repeat_with(move || dice.roll(writes)).take(POINTS);
    let killed = |status: ExitStatus, _: &str| assert_eq!(status.signal(), Some(9));
    at_points(Provider::many(1, MANY, &PLATFORMS), "KILL", points, killed);
}

/// A provider whose packages have different sizes of at least 100 kB.
fn heavy() -> Provider {
    let folder = ReleaseFolder::new("demo", "1.0.0");
    let sizes = [100_000, 110_000, 120_000].into_iter();
    let packages = sizes.zip(["darwin_arm64", "linux_amd64", "linux_arm64"]);
    let folder = packages.fold(folder, |folder, (size, platform)| {
        let license = file("LICENSE", vec![b'x'; size]);
        folder.zip(platform, &zip([executable(), license]))
    });
    Provider::new("acme/demo").release(folder)
}

/// The blobs of the provider, with their sizes.
fn blobs(team: &Team) -> BTreeMap<String, u64> {
    let blobs = team.held("acme/demo").blobs.into_iter();
    let sized = blobs.map(|(digest, bytes)| (digest, bytes.len() as u64));
    sized.collect()
}

/// The completed uploads, with the number of bytes received for each.
fn uploaded(team: &Team) -> BTreeMap<String, u64> {
    let seen = team.registry.seen().into_iter();
    let done = seen.filter(|seen| is_write(seen) && seen.status == Some(201));
    let blobs = done.filter_map(|seen| Some((seen.parameter("digest")?.to_owned(), seen.body)));
    blobs.collect()
}

#[test]
fn blobs_uploaded_before_the_first_tag_are_not_sent_again() {
    let team = Team::of(vec![heavy()]);
    team.mirror("").succeeds();
    let (whole, writes) = (blobs(&team), team.registry.count(is_write));
    assert_eq!(uploaded(&team), whole);
    let tags = team.tags();
    let trap = Trap::lay(&team, "KILL");
    let mut spared = BTreeSet::new();
    for passing in 0..writes {
        team.clear();
        trap.catch(&team, passing);
        if !team.tags().is_empty() {
            break;
        }
        let came = blobs(&team);
        team.forget();
        team.mirror("").succeeds();
        assert_eq!(team.tags(), tags, "{passing}");
        // Requests of the killed process may still arrive, so less may be missing by now.
        let sent = uploaded(&team);
        for (digest, bytes) in &sent {
            assert_eq!(whole.get(digest), Some(bytes), "{passing}");
            assert!(!came.contains_key(digest), "{passing}: {digest} came again");
        }
        let bytes = |blobs: &BTreeMap<_, u64>| blobs.values().sum::<u64>();
        assert!(bytes(&sent) <= bytes(&whole) - bytes(&came), "{passing}");
        spared.insert(bytes(&came));
    }
    // From some of it to all of it.
    assert!(spared.len() >= 3, "{spared:?}");
    assert!(spared.contains(&whole.values().sum()), "{spared:?}");
}
