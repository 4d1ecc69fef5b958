//! Unmodified clients install from the mirrors that tfoci writes, and OCI tools read the artifacts that it pushes.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::programs::has;
use crate::support::scene::{Run, Scene};

/// Terraform and OpenTofu, from a filesystem mirror.
mod mirror;
/// What a configuration requires.
mod requirements;
/// skopeo and ORAS, from the layout.
mod tools;

/// Runs a program in a directory of the scene, without a network.
pub fn run<A: AsRef<OsStr>>(
    scene: &Scene,
    directory: &Path,
    program: &str,
    arguments: impl IntoIterator<Item = A>,
) -> Run {
    let mut command: Command = scene.command(program);
    // No server listens at this address, so every network request fails at once.
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "https_proxy", "http_proxy"] {
        command.env(name, "http://127.0.0.1:1");
    }
    let output = command
        .env("TF_CLI_CONFIG_FILE", scene.path("client.tfrc"))
        .env("CHECKPOINT_DISABLE", "1")
        .current_dir(directory)
        .args(arguments)
        .output()
        .unwrap();
    Run {
        status: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The clients that this machine has.
pub fn clients() -> impl Iterator<Item = &'static str> {
    let all = ["terraform", "tofu"].into_iter();
    all.filter(|client| has(client))
}

/// Runs `init` of a client in a directory of the scene.
pub fn init(scene: &Scene, directory: &str, client: &str) -> Run {
    let arguments = ["init", "-input=false", "-no-color"];
    run(scene, &scene.path(directory), client, arguments)
}

/// A file that requires providers from its third line on: the address of each, and its constraint or nothing.
pub fn requiring(providers: &[(&str, &str)]) -> String {
    let lines = ('x'..='z').zip(providers).map(|(name, (source, version))| {
        let version = match *version {
            "" => String::new(),
            version => format!(", version = \"{version}\""),
        };
        format!("    {name} = {{ source = \"{source}\"{version} }}\n")
    });
    let lines: String = lines.collect();
    format!("terraform {{\n  required_providers {{\n{lines}  }}\n}}\n")
}

/// The hashes in a lock file or in a document.
pub fn hashes(text: &str) -> BTreeSet<String> {
    let is_hash = |word: &&str| word.starts_with("h1:") || word.starts_with("zh:");
    text.split('"').filter(is_hash).map(str::to_owned).collect()
}

/// What a client has printed, without frames and line breaks.
pub fn said(run: &Run) -> String {
    let text = format!("{} {}", run.stdout, run.stderr).replace(['│', '╷', '╵'], " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The bytes of a blob of the demo provider's layout.
fn blob(scene: &Scene, digest: &str) -> Vec<u8> {
    let hex = digest.trim().strip_prefix("sha256:").unwrap();
    let blobs = scene.path("store/example.com/acme/demo/blobs/sha256");
    fs::read(blobs.join(hex)).unwrap()
}
