use std::collections::BTreeSet;
use std::io::Read as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex, MutexGuard};

use super::pusher::{NAME, Pusher};
use crate::support::registry::content::{Repository, parts};
use crate::support::registry::{Fault, Registry, Seen};

const PLATFORMS: [&str; 3] = ["darwin_arm64", "linux_amd64", "windows_amd64"];

/// Kills a process when a request arrives, or once it is done.
#[derive(Clone, Default)]
struct Trap(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// How many requests are answered before; `None` while the trap is not set.
    passing: Option<usize>,
    victim: Option<Child>,
}

impl Trap {
    /// Counts a request. Returns whether it is the chosen one.
    fn snaps(&self) -> bool {
        let mut state = self.state();
        let Some(passing) = &mut state.passing else {
            return false;
        };
        let is_last = *passing == 0;
        *passing = passing.saturating_sub(1);
        if is_last {
            state.passing = None;
        }
        is_last
    }

    fn kill(&self) {
        self.state().victim.as_mut().unwrap().kill().unwrap();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }
}

/// A registry in which a push is killed.
struct RegistryScene {
    registry: Registry,
    pusher: Pusher,
    /// At the arrival of a request, and after it.
    traps: [Trap; 2],
    before: Repository,
}

impl RegistryScene {
    /// `prepare` sets up the state before the push.
    fn new(prepare: impl FnOnce(&Pusher, &Registry)) -> Self {
        let (registry, pusher) = (Registry::plain(), Pusher::new(&PLATFORMS));
        prepare(&pusher, &registry);
        let traps = [Trap::default(), Trap::default()];
        let [arriving, done] = traps.clone();
        let snaps = move |_: &Seen| {
            let snaps = arriving.snaps();
            if snaps {
                arriving.kill();
            }
            snaps
        };
        registry.always(snaps, Fault::Reset);
        let (trap, kill) = (done.clone(), Fault::after(move || done.kill()));
        registry.always(move |_| trap.snaps(), kill);
        let before = held(&registry);
        Self {
            registry,
            pusher,
            traps,
            before,
        }
    }

    /// Kills a push at a request. Returns whether the push sent that many.
    fn kill(&self, trap: &Trap, passing: usize) -> bool {
        self.registry
            .repository(NAME, |repository| *repository = self.before.clone());
        // Requests wait until the process id is known.
        let mut state = trap.state();
        let mut command = self.pusher.command("dist", &self.registry, "");
        let mut victim = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut printed = victim.stdout.take().unwrap();
        state.passing = Some(passing);
        state.victim = Some(victim);
        drop(state);
        printed.read_to_end(&mut Vec::new()).unwrap();
        let mut state = trap.state();
        state.passing = None;
        let status = state.victim.take().unwrap().wait().unwrap();
        assert!(status.success() || status.signal() == Some(9), "{status}");
        !status.success()
    }

    /// Asserts that no stored zip was uploaded again.
    #[track_caller]
    fn assert_not_repeated(&self, left: &Repository) {
        for zip in zips(left) {
            let repeats =
                |seen: &Seen| seen.method == "PUT" && seen.parameter("digest") == Some(zip);
            assert_eq!(self.registry.count(repeats), 0, "{zip}");
        }
    }

    /// At every request of a push, as long as there is one.
    fn kill_everywhere(&self, trap: &Trap) {
        self.pusher.push(&self.registry, "").succeeds();
        let undisturbed = held(&self.registry);
        let mut passing = 0;
        while self.kill(trap, passing) {
            let left = held(&self.registry);
            assert_whole(&left, passing);
            self.registry.forget();
            self.pusher.push(&self.registry, "").succeeds();
            // In a repository without tags, no blob is looked up.
            if !left.tags.is_empty() {
                self.assert_not_repeated(&left);
            }
            assert_same(&held(&self.registry), &undisturbed, passing);
            passing += 1;
        }
        assert!(passing > 10, "only {passing} requests");
    }
}

/// Kills pushes at each request, before and after it at the same time, since a push that completes a version mostly waits.
fn kill_everywhere(prepare: fn(&Pusher, &Registry)) {
    std::thread::scope(|scope| {
        for at in 0..2 {
            scope.spawn(move || {
                let scene = RegistryScene::new(prepare);
                scene.kill_everywhere(&scene.traps[at]);
            });
        }
    });
}

/// The zips among blobs.
fn zips(held: &Repository) -> Vec<&String> {
    let blobs = held.blobs.iter();
    let zips = blobs.filter(|(_, bytes)| bytes.starts_with(b"PK"));
    zips.map(|(digest, _)| digest).collect()
}

fn held(registry: &Registry) -> Repository {
    registry.repository(NAME, |repository| repository.clone())
}

/// Asserts that everything below each tag is present, and that every version has its evidence.
#[track_caller]
fn assert_whole(held: &Repository, passing: usize) {
    let mut open: Vec<String> = held.tags.iter().map(|tag| tag.1.clone()).collect();
    while let Some(digest) = open.pop() {
        let manifest = held.manifests.get(&digest);
        let manifest =
            manifest.unwrap_or_else(|| panic!("{digest} is missing after {passing} requests"));
        let document = serde_json::from_slice(&manifest.bytes).unwrap();
        let (blobs, children) = parts(&document);
        for blob in blobs {
            let is_there = held.blobs.contains_key(&blob);
            assert!(is_there, "{blob} is missing after {passing} requests");
        }
        open.extend(children);
    }
    let tags: BTreeSet<&str> = held.tags.iter().map(|(tag, _)| tag.as_str()).collect();
    let is_proven = !tags.contains("1.0.0") || tags.contains("evidence-1.0.0");
    assert!(is_proven, "{tags:?}");
}

#[track_caller]
fn assert_same(held: &Repository, expected: &Repository, passing: usize) {
    let sorted = |repository: &Repository| {
        let mut tags = repository.tags.clone();
        tags.sort();
        let manifests: Vec<String> = repository.manifests.keys().cloned().collect();
        let blobs: Vec<String> = repository.blobs.keys().cloned().collect();
        (tags, manifests, blobs)
    };
    assert_eq!(sorted(held), sorted(expected), "after {passing} requests");
}

#[test]
fn at_every_request_of_a_first_push() {
    kill_everywhere(|_, _| {});
}

#[test]
fn at_every_request_while_platforms_are_added() {
    kill_everywhere(|pusher, registry| {
        pusher.push(registry, "--platform linux_amd64").succeeds();
    });
}
