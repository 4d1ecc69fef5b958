//! The fixture of most tests of `push`: an author with a key, a release folder `dist`, and a store.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use super::judge;
use super::release::{Mistake, ReleaseFolder};
use super::scene::{Run, Scene};
use super::signer::Signer;

/// The path of the author's provider in the scene.
pub const REPOSITORY: &str = "store/registry.opentofu.org/acme/demo";

/// A scene with `acme.asc`, `stranger.asc` and the releases that a test writes.
pub struct Author {
    pub scene: Scene,
}

impl Deref for Author {
    type Target = Scene;

    fn deref(&self) -> &Scene {
        &self.scene
    }
}

impl Author {
    pub fn new() -> Self {
        Self::within(Scene::new())
    }

    /// In a scene that has an environment.
    pub fn within(scene: Scene) -> Self {
        // Without it, `push` notes which host an address of two parts has.
        let scene = scene.env_by_default("TFOCI_DEFAULT_HOST", "registry.opentofu.org");
        scene.write("acme.asc", Signer::acme().public_armored());
        scene.write("stranger.asc", Signer::stranger().public_armored());
        Self { scene }
    }

    /// With this release in `dist`.
    pub fn of(release: ReleaseFolder) -> Self {
        let author = Self::new();
        author.releases(release);
        author
    }

    /// With the release `demo` 1.0.0 for two platforms in `dist`.
    pub fn with_release() -> Self {
        Self::of(two_platforms())
    }

    /// With that release and a mistake in it.
    pub fn with_mistake(mistake: Mistake) -> Self {
        Self::of(two_platforms().mistake(mistake))
    }

    /// Writes a release into `dist`, and nothing else is there.
    pub fn releases(&self, release: ReleaseFolder) {
        let _none = fs::remove_dir_all(self.path("dist"));
        release.write(&self.path("dist"));
    }

    /// Asserts that this changes nothing in the scene. Returns what it returns.
    #[track_caller]
    pub fn untouched<T>(&self, work: impl FnOnce() -> T) -> T {
        let before = self.tree();
        let result = work();
        assert_eq!(self.tree(), before);
        result
    }

    /// Writes that release.
    pub fn with_release_in_place(&self) {
        two_platforms().write(&self.path("dist"));
    }

    /// With that release in `dist` and in `store`.
    pub fn pushed() -> Self {
        let author = Self::new();
        author.with_pushed();
        author
    }

    /// Writes that release and pushes it.
    pub fn with_pushed(&self) {
        self.with_release_in_place();
        self.push("").succeeds();
    }

    /// The store has a release of two platforms without a signature.
    pub fn with_pushed_unsigned(&self) {
        two_platforms()
            .mistake(Mistake::SignatureMissing)
            .write(&self.path("dist"));
        self.push_unsigned("--allow-unsigned acme/demo").succeeds();
    }

    /// `tfoci push dist --provider acme/demo --to oci-layout:store --jobs 1` with further arguments.
    pub fn push_unsigned(&self, more: impl AsRef<str>) -> Run {
        let push = "push dist --to oci-layout:store --jobs 1";
        match more.as_ref() {
            more if more.contains("--provider") => self.line(format!("{push} {more}")),
            more => self.line(format!("{push} --provider acme/demo {more}")),
        }
    }

    /// The same with `--key acme.asc`.
    pub fn push(&self, more: impl AsRef<str>) -> Run {
        self.push_unsigned(format!("--key acme.asc {}", more.as_ref()))
    }

    /// `tfoci push dist --provider acme/demo --key acme.asc` into another store, with further arguments.
    pub fn push_to(&self, to: &str, more: impl AsRef<str>) -> Run {
        // A template may have spaces.
        let push = "push dist --provider acme/demo --key acme.asc --to".split(' ');
        let more = more.as_ref().split_whitespace();
        self.tfoci(&push.chain([to]).chain(more).collect::<Vec<_>>())
    }

    /// Runs `tfoci` and replaces what differs between runs.
    pub fn tfoci(&self, arguments: &[&str]) -> Run {
        steady(self.scene.tfoci(arguments))
    }

    /// The same with the words of a line.
    pub fn line(&self, line: impl AsRef<str>) -> Run {
        steady(self.scene.line(line))
    }

    /// The zip of a platform in `dist`.
    pub fn zip(&self, platform: &str) -> PathBuf {
        let name = format!("dist/terraform-provider-demo_1.0.0_{platform}.zip");
        self.path(name)
    }

    /// The digest of that zip, in hex.
    pub fn zip_hex(&self, platform: &str) -> String {
        judge::sha256(&self.zip(platform))
    }

    /// A path in the provider's repository.
    pub fn repository(&self, path: impl AsRef<Path>) -> PathBuf {
        self.path(REPOSITORY).join(path)
    }

    /// Everything in the scene.
    pub fn tree(&self) -> BTreeMap<String, String> {
        judge::tree(&self.path(""))
    }

    /// Everything below a path in the scene.
    pub fn tree_of(&self, path: impl AsRef<Path>) -> BTreeMap<String, String> {
        judge::tree(&self.path(path))
    }

    /// What installs from the store: `VERSION PLATFORM` of each package.
    #[track_caller]
    pub fn installs(&self) -> Vec<String> {
        let found = judge::installs(&self.path("store")).into_iter();
        let words = |line: String| line.split(' ').collect::<Vec<_>>()[1..3].join(" ");
        found.map(words).collect()
    }

    /// The repository's `index.json`.
    pub fn layout_index(&self) -> serde_json::Value {
        let bytes = fs::read(self.repository("index.json")).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    /// The digest of a tag, in hex.
    pub fn tagged(&self, tag: &str) -> Option<String> {
        let index = self.layout_index();
        let entries = index["manifests"].as_array().unwrap();
        let entry = entries
            .iter()
            .find(|entry| entry["annotations"]["org.opencontainers.image.ref.name"] == tag)?;
        let digest = entry["digest"].as_str().unwrap();
        Some(digest.strip_prefix("sha256:").unwrap().to_owned())
    }

    /// The file of a blob.
    pub fn blob(&self, hex: &str) -> PathBuf {
        self.repository("blobs/sha256").join(hex)
    }

    /// The file of the blob that a descriptor names.
    pub fn described(&self, descriptor: &serde_json::Value) -> PathBuf {
        let digest = descriptor["digest"].as_str().unwrap();
        self.blob(digest.strip_prefix("sha256:").unwrap())
    }

    /// The document of a tag.
    pub fn document(&self, tag: &str) -> serde_json::Value {
        let bytes = fs::read(self.blob(&self.tagged(tag).unwrap())).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }
}

/// `demo` 1.0.0 for `darwin_arm64` and `linux_amd64`.
pub fn two_platforms() -> ReleaseFolder {
    ReleaseFolder::new("demo", "1.0.0")
        .platform("darwin_arm64")
        .platform("linux_amd64")
}

/// `demo` 1.0.0 for `linux_amd64`, built again with another zip.
pub fn another_build() -> ReleaseFolder {
    let files: &[(&str, &[u8])] = &[("terraform-provider-demo_v1.0.0", b"another\n")];
    ReleaseFolder::new("demo", "1.0.0").package("linux_amd64", files)
}

/// Replaces what differs between runs: keys, which each run of the tests generates, and times.
pub fn steady(mut run: Run) -> Run {
    for text in [&mut run.stdout, &mut run.stderr] {
        for (signer, name) in [(Signer::acme(), "ACME"), (Signer::stranger(), "STRANGER")] {
            let fingerprint = signer.fingerprint();
            let (_, id) = fingerprint.split_at(24);
            *text = text
                .replace(&fingerprint, &format!("[{name}]"))
                .replace(id, &format!("[{name} ID]"));
        }
        *text = text
            .lines()
            .map(|line| match line.rsplit_once(" in ") {
                Some((before, rest)) if is_time(time(rest)) => {
                    format!("{before} in {}\n", rest.replacen(time(rest), "[TIME]", 1))
                }
                _ => format!("{}\n", without_random(line)),
            })
            .collect();
    }
    run
}

/// Removes the random part from the name of a temporary file.
fn without_random(line: &str) -> String {
    const BEGINNING: &str = ".tfoci-tmp-";
    match line.split_once(BEGINNING) {
        Some((before, rest)) => format!("{before}{BEGINNING}{}", &rest[6..]),
        None => line.to_owned(),
    }
}

/// What stands before the next part of a summary.
fn time(text: &str) -> &str {
    text.split_once(';').map_or(text, |(time, _)| time)
}

fn is_time(text: &str) -> bool {
    text.strip_suffix('s')
        .is_some_and(|number| number.parse::<f64>().is_ok())
}

/// The words of a text without punctuation around them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let punctuation = |c| "(),:;.'`\"".contains(c);
    let words = text.split_whitespace();
    words
        .map(move |word| word.trim_matches(punctuation))
        .filter(|word| !word.is_empty())
}

impl Run {
    /// Asserts the facts of stderr, in their order: marks of lines (`error`, `Warning`, `Copied`, `expected`), names and numbers. Words between
    /// them may be any, but there are as many errors and warnings. Without facts nothing may be printed.
    #[track_caller]
    pub fn says(self, facts: &str) -> Self {
        let stderr = self.stderr.as_str();
        let missing = words(facts)
            .scan(words(stderr), |said, fact| {
                Some((!said.any(|word| word == fact)).then_some(fact))
            })
            .flatten()
            .next();
        let differs = |mark: &&str| {
            let lines = stderr.lines().map(str::trim_start);
            let printed = lines.filter(|line| line.starts_with(mark)).count();
            words(facts).filter(|word| word == mark).count() != printed
        };
        let mut marks = vec!["error", "Warning"];
        marks.retain(differs);
        let is_silent = !facts.is_empty() || stderr.is_empty();
        assert!(
            missing.is_none() && marks.is_empty() && is_silent,
            "from {missing:?} on it is not said, in this order: {facts}\nmore or fewer: {marks:?}\n{stderr}"
        );
        self
    }

    /// Asserts that nothing that was printed holds a secret.
    #[track_caller]
    pub fn hides(self, secret: &str) -> Self {
        for text in [&self.stdout, &self.stderr] {
            assert!(!text.contains(secret), "{text}");
        }
        self
    }

    /// The JSON document on stdout.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap()
    }

    /// Asserts that stdout is empty.
    #[track_caller]
    pub fn without_result(self) -> Self {
        assert_eq!(self.stdout, "");
        self
    }
}
