//! `tfoci doctor`: the step at which it ends is the one at which the client fails.

use std::collections::BTreeMap;
use std::fs;

use tfoci::platform::Platform;

use crate::clients::run;
use crate::schema::follows;
use crate::support::programs::has;
use crate::support::scene::{Run, Scene};

/// What a client reads on this machine.
mod machine;
/// Origins, network mirrors and directories.
mod methods;
/// OCI registries.
mod registries;

/// What a run said: each failing step of a provider, or of this machine, with its code.
struct Report {
    run: Run,
    failing: Vec<(String, String)>,
    good: BTreeMap<String, String>,
}

/// Runs `tfoci doctor` in `project`.
#[track_caller]
fn doctor(scene: &Scene, more: &[&str]) -> Report {
    let words = ["doctor", "--chdir", "project"];
    let run = scene.tfoci(words.iter().chain(more)).keeps_secrets();
    let mut report = Report {
        failing: Vec::new(),
        good: BTreeMap::new(),
        run,
    };
    for line in report.run.stdout.lines() {
        let step = |rest: &str| {
            let (name, text) = rest.split_at(14);
            (name.trim().to_owned(), text.to_owned())
        };
        if let Some(rest) = line.strip_prefix("  ✗ ") {
            let (name, text) = step(rest);
            let code = text.rsplit_once('[').unwrap().1.trim_end_matches(']');
            report.failing.push((name, code.to_owned()));
        } else if let Some(rest) = line.strip_prefix("  ✓ ") {
            report.good.extend([step(rest)]);
        }
    }
    let words = words.iter().chain(more).chain(&["--format", "json", "-vv"]);
    let json = scene.tfoci(words).keeps_secrets();
    assert_eq!(json.status, report.run.status);
    let document = json.json();
    follows("doctor", &document);
    let findings = document["findings"].as_array().unwrap().iter();
    let errors = findings.filter(|one| one["severity"] == "error");
    let errors: Vec<&str> = errors.map(|one| one["code"].as_str().unwrap()).collect();
    let failing = report.failing.iter().map(|(_, code)| code.as_str());
    assert_eq!(errors, failing.collect::<Vec<_>>());
    report
}

impl Report {
    /// Asserts that exactly this step fails, with this code.
    #[track_caller]
    fn fails_at(self, step: &str, code: &str) -> Self {
        let expected = [(step.to_owned(), code.to_owned())];
        assert_eq!(self.failing, expected, "{}", self.run.stdout);
        let exit = if code.starts_with("lock-") { 3 } else { 1 };
        assert_eq!(self.run.status, Some(exit));
        self
    }

    /// Asserts that all is well.
    #[track_caller]
    fn passes(self) -> Self {
        assert_eq!(self.failing, [], "{}", self.run.stdout);
        assert_eq!(self.run.status, Some(0), "{}", self.run.stdout);
        self
    }
}

/// Clients of origins and of mirrors other than OCI registries.
const CLIENTS: [&str; 2] = ["terraform", "tofu"];

/// Runs `init` of a client in `project` with the configuration of the tests, if this machine has the client.
#[track_caller]
fn init(scene: &Scene, client: &str) -> Option<Run> {
    for name in ["client.tfrc", ".terraformrc"] {
        let text = fs::read(scene.path(".tofurc")).unwrap_or_default();
        scene.write(name, text);
    }
    // Elsewhere, clients ask the system for authorities.
    if cfg!(not(target_os = "linux")) || !has(client) {
        return None;
    }
    let arguments = ["init", "-input=false", "-no-color"];
    let run = run(scene, &scene.path("project"), client, arguments);
    let _absent = fs::remove_dir_all(scene.path("project/.terraform"));
    Some(run)
}

/// Asserts that `init` succeeds, and that no step fails.
#[track_caller]
fn both_pass(scene: &Scene, client: &str) -> Report {
    init(scene, client).map(Run::succeeds);
    let _absent = fs::remove_file(scene.path("project/.terraform.lock.hcl"));
    doctor(scene, &["--client", client]).passes()
}

/// Asserts that `init` fails and says these words, and that this step alone fails.
#[track_caller]
fn both_fail(scene: &Scene, client: &str, step: &str, code: &str, says: &str) -> Report {
    if let Some(run) = init(scene, client) {
        assert_ne!(run.status, Some(0), "{client}, {code}: {}", run.stdout);
        let said = run.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        let said = said.replace("│ ", "");
        assert!(said.contains(says), "{client}, {code}: {said}");
    }
    doctor(scene, &["--client", client]).fails_at(step, code)
}

fn here() -> String {
    Platform::current().to_string()
}

/// A hash that no package has.
fn other_hash() -> String {
    format!("zh:{}", "0".repeat(64))
}

/// Writes a project that requires one provider.
fn project(scene: &Scene, source: &str, constraints: &str) {
    let text = format!(
        "terraform {{\n  required_providers {{\n    demo = {{\n      source  = \"{source}\"\n      version = \"{constraints}\"\n    }}\n  }}\n}}\n"
    );
    scene.write("project/main.tf", text);
}

/// Writes an entry of a lock file.
fn lock(scene: &Scene, client: &str, source: &str, version: &str, hash: &str) {
    let text = format!(
        "# This file is maintained automatically by \"{client} init\".\n# Manual edits may be lost in future updates.\n\nprovider \"{source}\" {{\n  version = \"{version}\"\n  hashes = [\n    \"{hash}\",\n  ]\n}}\n"
    );
    scene.write("project/.terraform.lock.hcl", text);
}

/// Writes the CLI configuration with these methods.
fn configuration(scene: &Scene, methods: &str) {
    let text = format!("provider_installation {{\n{methods}\n}}\n");
    scene.write(".tofurc", text);
}
