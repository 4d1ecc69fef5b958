//! `tfoci verify`: each fault of a store has its code, and what its fix says heals it.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::schema::follows;
use crate::support::origin::{Origin, Provider};
use crate::support::scene::{Run, Scene};
use crate::support::signer::Signer;
use crate::support::{copy, trusting};

/// Whether clients accept the tags and documents of a store.
mod acceptable;
/// Signatures and keys.
mod authentic;
/// What the origin has now.
mod current;
/// The bytes of packages.
mod deep;
/// Text, JUnit, and jobs of GitHub Actions.
mod output;
/// Registries: requests, pages, and `/v2/`.
mod registries;
/// Which versions are verified.
mod selection;
/// The verdict of real OpenTofu.
mod tofu;
/// Whether the store has everything.
mod whole;

const PLATFORMS: [&str; 2] = ["darwin_arm64", "linux_amd64"];

/// `acme/demo` of an origin, mirrored into the layouts in `store`, and a trust file that pins its key.
pub struct Mirrored {
    pub scene: Scene,
    pub origin: Origin,
}

/// The findings of a run.
pub struct Found {
    pub run: Run,
    pub findings: Vec<Value>,
}

fn demo() -> Provider {
    Provider::demo(&PLATFORMS).version("1.1.0", &PLATFORMS)
}

impl Mirrored {
    pub fn new() -> Self {
        Self::of(demo(), "@>=1.0.0")
    }

    /// The versions of a provider that these constraints admit.
    pub fn of(provider: Provider, constraints: &str) -> Self {
        let origin = Origin::of([provider]);
        let scene = trusting();
        let key = Signer::acme().fingerprint();
        let pins = format!(
            "[[provider]]\nmatch = \"{}/*/*\"\nkeys = [\"{key}\"]\n",
            origin.host()
        );
        scene.write("trust.toml", pins);
        let mirrored = Self { scene, origin };
        let mirror = format!("mirror [DEMO]{constraints} --to oci-layout:store");
        mirrored.tfoci(&mirror).succeeds();
        mirrored
    }

    /// Runs `tfoci` with the words of a line, in which `[DEMO]` stands for the provider.
    #[track_caller]
    pub fn tfoci(&self, line: &str) -> Run {
        let line = line.replace("[DEMO]", &self.origin.address("acme/demo"));
        self.scene.tfoci(line.split(' '))
    }

    /// Verifies the layouts in a directory with more options.
    #[track_caller]
    pub fn verify_in(&self, store: &str, more: &str) -> Found {
        let line = format!("verify --from oci-layout:{store} --trust trust.toml {more}");
        self.found(line.trim_end())
    }

    #[track_caller]
    pub fn verify(&self, more: &str) -> Found {
        self.verify_in("store", more)
    }

    #[track_caller]
    pub fn found(&self, line: &str) -> Found {
        Found::of(self.tfoci(&format!("{line} --format json")))
    }

    /// The layout of the provider in a store.
    pub fn layout(&self, store: &str) -> PathBuf {
        let host = self.origin.host().replace(':', "_");
        self.scene.path(format!("{store}/{host}/acme/demo"))
    }

    /// A copy of the store.
    pub fn copy_to(&self, store: &str) -> PathBuf {
        copy(&self.scene.path("store"), &self.scene.path(store));
        self.layout(store)
    }

    /// Runs the command of a fix in a shell.
    #[track_caller]
    pub fn fix(&self, finding: &Value) {
        let command = finding["fix"]["command"].as_str().unwrap();
        let rest = command.strip_prefix("tfoci ").unwrap();
        let line = format!("'{}' {rest}", env!("CARGO_BIN_EXE_tfoci"));
        self.scene.run("sh", ["-c", &line]).succeeds();
    }
}

impl Found {
    #[track_caller]
    pub fn of(run: Run) -> Self {
        let run = run.keeps_secrets();
        let document = run.json();
        follows("verify", &document);
        let findings = document["findings"].as_array().unwrap().clone();
        Self { run, findings }
    }

    /// The codes, without duplicates, in order.
    pub fn codes(&self) -> Vec<&str> {
        let codes = self.findings.iter().map(|one| one["code"].as_str());
        Vec::from_iter(codes.map(Option::unwrap).collect::<BTreeSet<_>>())
    }

    /// Asserts the codes and the exit code.
    #[track_caller]
    pub fn are(self, codes: &[&str], exit: i32) -> Self {
        assert_eq!(self.codes(), codes, "{:#?}", self.findings);
        assert_eq!(self.run.status, Some(exit), "{:#?}", self.findings);
        self
    }

    /// Asserts that nothing is wrong.
    #[track_caller]
    pub fn are_none(self) {
        self.are(&[], 0);
    }
}

/// Changes one byte in the middle of a file.
fn flip(path: &std::path::Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).unwrap();
}
