//! Build script: tells `--version` which commit the executable was built from, and for which target.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    // `TFOCI_COMMIT` names the commit where there is no Git repository, as in a source archive.
    println!("cargo::rerun-if-env-changed=TFOCI_COMMIT");
    println!("cargo::rerun-if-changed=src/build.rs");
    for file in [".git/HEAD", ".git/logs/HEAD", ".git/refs/heads"] {
        if Path::new(file).exists() {
            println!("cargo::rerun-if-changed={file}");
        }
    }
    let commit = env::var("TFOCI_COMMIT").ok().or_else(head);
    let commit = commit.unwrap_or_else(|| "unknown commit".to_owned());
    let target = env::var("TARGET").unwrap_or_default();
    let version = env!("CARGO_PKG_VERSION");
    println!("cargo::rustc-env=TFOCI_VERSION={version} ({commit}, {target})");
}

/// The commit that is checked out, and its date.
fn head() -> Option<String> {
    let log = ["log", "-1", "--format=%h %cs", "--abbrev=10"];
    let output = Command::new("git").args(log).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let text = text.trim();
    (output.status.success() && !text.is_empty()).then(|| text.to_owned())
}
