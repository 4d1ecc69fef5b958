use std::collections::BTreeMap;
use std::ops::Deref;

use super::{demo, scene};
use crate::support::author::steady;
use crate::support::judge;
use crate::support::origin::{Fault, Origin, Provider, Release, asks};
use crate::support::registry::Registry;
use crate::support::release::ReleaseFolder;
use crate::support::scene::{Run, Scene};

/// An origin, and a user who mirrors it into the layouts in `store`.
pub struct OriginScene {
    pub scene: Scene,
    pub origin: Origin,
}

/// What a run printed, without what differs between runs.
#[derive(Debug)]
pub struct Told(Run);

impl Deref for OriginScene {
    type Target = Scene;

    fn deref(&self) -> &Scene {
        &self.scene
    }
}

impl OriginScene {
    pub fn new(origin: Origin) -> Self {
        let scene = scene(&origin);
        Self { scene, origin }
    }

    pub fn of(providers: impl IntoIterator<Item = Provider>) -> Self {
        Self::new(Origin::of(providers))
    }

    /// Of `acme/demo` with nothing but this release.
    pub fn release(release: impl Into<Release>) -> Self {
        Self::of([Provider::new("acme/demo").release(release)])
    }

    /// Runs `tfoci mirror … --to oci-layout:store`; `[ORIGIN]` in arguments stands for the origin.
    pub fn mirror(&self, arguments: &str) -> Told {
        self.run(&format!("{arguments} --to oci-layout:store"))
    }

    /// The same, for a document.
    pub fn json(&self, arguments: &str) -> Run {
        let known = "--to oci-layout:store --ca-file ca.pem --format json";
        self.line(self.named(&format!("mirror {arguments} {known}")))
    }

    /// Mirrors `acme/demo`.
    pub fn demo(&self, more: &str) -> Told {
        self.mirror(&format!("[ORIGIN]/acme/demo {more}"))
    }

    /// Runs `tfoci mirror …`.
    pub fn run(&self, arguments: &str) -> Told {
        self.command_of("mirror", arguments)
    }

    /// Runs another command.
    pub fn command_of(&self, command: &str, arguments: &str) -> Told {
        let arguments = self.named(arguments);
        let known = [command, "--ca-file", "ca.pem"];
        let all = known.into_iter().chain(arguments.split_whitespace());
        Told(self.steady(self.scene.tfoci(all)))
    }

    /// A text with the origin's host in the place of `[ORIGIN]`.
    pub fn named(&self, text: &str) -> String {
        text.replace("[ORIGIN]", self.origin.host())
    }

    /// Replaces ports, times and keys, which differ between runs.
    fn steady(&self, run: Run) -> Run {
        let doors = self.origin.doors();
        let mut run = steady(run);
        for text in [&mut run.stdout, &mut run.stderr] {
            let all = [&doors.front, &doors.elsewhere, &doors.plain];
            for (door, name) in all.iter().zip(["[ORIGIN]", "[ELSEWHERE]", "[PLAIN]"]) {
                let (_, host) = door.split_once("://").unwrap();
                // Directories of layouts are named without a colon.
                *text = text
                    .replace(host, name)
                    .replace(&host.replace(':', "_"), name);
            }
        }
        run.stderr = in_order(&run.stderr);
        let reference = |line: &str| line.split("@sha256:").next().unwrap().to_owned() + "\n";
        run.stdout = run.stdout.lines().map(reference).collect();
        run
    }

    /// What the independent client installs from the store, as `acme/demo 1.0.0 linux_amd64`. Asserts that each zip is one of the origin's.
    #[track_caller]
    pub fn installs(&self) -> Vec<String> {
        let store = self.path("store");
        if !store.exists() {
            return Vec::new();
        }
        let found = judge::installs(&store).into_iter().map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let parts: Vec<&str> = words[0].rsplit('/').collect();
            let provider = format!("{}/{}", parts[1], parts[0]);
            let zh = words[3].strip_prefix("zh:").unwrap();
            assert!(self.origin.has_zip(&provider, zh), "{line}");
            format!("{provider} {} {}", words[1], words[2])
        });
        found.collect()
    }

    /// Everything in the store.
    pub fn tree(&self) -> BTreeMap<String, String> {
        judge::tree(&self.path("store"))
    }
}

impl Told {
    /// Asserts the exit code, and the facts of stderr as [`Run::says`] does.
    #[track_caller]
    pub fn says(self, code: i32, facts: &str) -> Self {
        Self(self.0.exits(code).says(facts))
    }

    /// The same of a run that succeeds.
    #[track_caller]
    pub fn tells(self, facts: &str) -> Self {
        self.says(0, facts)
    }

    /// Asserts the exit code. Returns stderr.
    #[track_caller]
    pub fn ends(self, code: i32) -> String {
        self.0.exits(code).stderr
    }

    /// Asserts success. Returns stdout.
    #[track_caller]
    pub fn prints(self) -> String {
        self.0.succeeds().stdout
    }

    /// Asserts that nothing that was printed holds a secret.
    #[track_caller]
    pub fn hides(self, secret: &str) -> Self {
        Self(self.0.hides(secret))
    }

    /// Asserts the references that were printed, all of them in `store`.
    #[track_caller]
    pub fn gives(self, expected: &str) -> Self {
        let places = self.0.stdout.lines();
        let places = places.map(|line| line.strip_prefix("oci-layout:store/").expect(line));
        let places: Vec<&str> = places.collect();
        assert_eq!(places.join(" "), expected, "{}", self.0.stderr);
        self
    }
}

/// Concurrent work is reported in any order. Its lines are sorted and moved to the front.
fn in_order(text: &str) -> String {
    let verbs = "Verified,Accepted,Copied,Present,Updated,Would write,Pinned";
    let rank = |line: &str| {
        let begins = |verb| line.trim_start().starts_with(&format!("{verb} "));
        verbs.split(',').position(begins)
    };
    let news = |line: &&str| rank(line).is_some();
    let (mut news, rest): (Vec<&str>, Vec<&str>) = text.lines().partition(news);
    news.sort_by_key(|line| (rank(line), *line));
    let lines = news.into_iter().chain(rest);
    lines.map(|line| format!("{line}\n")).collect()
}

/// The arguments that mirror `acme/demo` into a registry.
pub fn into_registry(registry: &Registry) -> String {
    let host = registry.host();
    format!("[ORIGIN]/acme/demo --to {host}/{{namespace}}/{{type}} --plain-http {host}")
}

/// `demo` 1.0.0 for Linux.
pub fn folder() -> ReleaseFolder {
    ReleaseFolder::new("demo", "1.0.0").platform(super::LINUX)
}

/// What is said when `acme/demo` was mirrored.
pub const COPIED: &str =
    "Copied [ORIGIN]/acme/demo 1.0.0 1 406 signed [ACME ID] origin Mirrored 1 1 406 [TIME]";

/// The requests for one package of a provider.
pub const EACH_ONCE: &str =
    "1 discovery, 1 versions, 1 download, 1 document, 1 signature, 1 package";

/// What installs when `acme/demo` was mirrored.
pub const ARRIVED: [&str; 1] = ["acme/demo 1.0.0 linux_amd64"];

/// What installs when two versions of `acme/demo` were mirrored.
pub const TWO_ARRIVED: [&str; 2] = ["acme/demo 1.0.0 linux_amd64", "acme/demo 1.1.0 linux_amd64"];

/// What installs when `acme/demo` was mirrored for two platforms.
pub const BOTH_ARRIVED: [&str; 2] = [
    "acme/demo 1.0.0 darwin_arm64",
    "acme/demo 1.0.0 linux_amd64",
];

/// An origin of `acme/demo` with a fault for every request of a kind.
pub fn told(sort: &'static str, fault: Fault) -> OriginScene {
    let scene = OriginScene::of([demo()]);
    scene.origin.always(asks(sort), fault);
    scene
}

/// Asserts that `acme/demo` is mirrored.
#[track_caller]
pub fn arrives(scene: &OriginScene) {
    scene
        .demo("-q")
        .says(0, "")
        .gives("[ORIGIN]/acme/demo:1.0.0");
    assert_eq!(scene.installs(), ARRIVED);
}

/// Asserts that nothing is mirrored, with this error, if every request of a kind meets a fault.
#[track_caller]
pub fn refused(sort: &'static str, fault: Fault, code: i32, says: &str) {
    let scene = told(sort, fault);
    scene.demo("").says(code, says).gives("");
    assert!(scene.installs().is_empty());
}

/// What is said of a package whose bytes are not the announced ones.
pub fn spoiled(expected: &str, received: &str) -> String {
    format!(
        "error [ORIGIN]/acme/demo 1.0.0 linux_amd64 [ORIGIN] expected {expected} received {received}"
    )
}
