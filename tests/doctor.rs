//! `tfoci doctor`: the step at which it ends is the one at which the client fails.

use std::collections::BTreeMap;

use serde_json::Value;
use tfoci::platform::Platform;

use crate::schema::follows;
use crate::support::scene::{Run, Scene};

/// Real clients and a real registry.
#[cfg(target_os = "linux")]
mod clients;
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
    let document: Value = serde_json::from_str(&json.stdout).unwrap();
    follows("doctor", &document);
    let findings = document["findings"].as_array().unwrap().iter();
    let errors = findings.filter(|one| one["severity"] == "error");
    let errors: Vec<&str> = errors.map(|one| one["code"].as_str().unwrap()).collect();
    let failing: Vec<&str> = report
        .failing
        .iter()
        .map(|(_, code)| code.as_str())
        .collect();
    assert_eq!(errors, failing);
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

fn here() -> String {
    Platform::current().to_string()
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
    scene.write(
        ".tofurc",
        format!("provider_installation {{\n{methods}\n}}\n"),
    );
}
