//! What `packaging` has: the installer, the image, and that everything names one version and one home.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::programs::has;
use crate::support::release::sha256;
use crate::support::scene::Scene;

/// The Helm chart, whose objects `packaging/check` validates.
mod chart;
/// The image, which skopeo reads.
mod image;
/// The installer, with a server of files.
mod installer;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

/// The value of a line `NAME=VALUE` in `packaging/home`.
fn home(name: &str) -> String {
    let start = format!("{name}=");
    let text = read("packaging/home");
    let mut lines = text.lines();
    let value = lines.find_map(|line| line.strip_prefix(&start));
    value.unwrap().to_owned()
}

/// Files that users read one by one, and which therefore repeat the URL.
#[test]
fn there_is_one_home() {
    let url = home("url");
    for name in [
        "packaging/install.sh",
        "packaging/gitlab/templates/mirror.yml",
    ] {
        let text = read(name);
        for line in text.lines().filter(|line| line.contains("github.com/")) {
            assert!(line.contains(&url), "{name}: {line}");
        }
        assert!(text.contains(&url), "{name}");
    }
    let values = read("packaging/chart/values.yaml");
    assert!(values.contains(&format!("repository: {}\n", home("image"))));
    let chart = read("packaging/chart/Chart.yaml");
    let version = format!("appVersion: {}\n", env!("CARGO_PKG_VERSION"));
    assert!(chart.contains(&version), "{chart}");
}

#[test]
fn a_release_has_the_version_of_cargo_and_notes() {
    let run = |tag: &str| {
        let mut script = std::process::Command::new(root().join("packaging/notes"));
        script.arg(tag).output().unwrap()
    };
    let version = env!("CARGO_PKG_VERSION");
    let released = read("CHANGELOG.md").contains(&format!("## [{version}]"));
    let notes = run(&format!("v{version}"));
    assert_eq!(notes.status.success(), released);
    assert_eq!(notes.stdout.is_empty(), !released);
    assert_eq!(run("v99.0.0").status.code(), Some(1));
    assert_eq!(run("main").status.code(), Some(2));
}

#[test]
fn the_formula_names_each_archive_with_its_checksum() {
    let scene = Scene::new();
    let targets = [
        "x86_64-apple-darwin",
        "aarch64-apple-darwin",
        "x86_64-unknown-linux-musl",
        "aarch64-unknown-linux-musl",
    ];
    for target in targets {
        scene.write(format!("archives/tfoci-{target}.tar.gz"), target);
    }
    let run = scene.run(root().join("packaging/formula"), ["archives"]);
    let formula = run.succeeds().stdout;
    assert!(!formula.contains('@'), "{formula}");
    for target in targets {
        let sum = sha256(target.as_bytes());
        let url = format!("tfoci-{target}.tar.gz\"\n      sha256 \"{sum}\"");
        assert!(formula.contains(&url), "{formula}");
    }
}

/// What ShellCheck says about scripts. The workflow and the actions have their own tools: see `packaging/check`.
#[test]
fn scripts_are_sound() {
    if !has("shellcheck") {
        return;
    }
    let scripts = fs::read_dir(root().join("packaging")).unwrap();
    let scripts = scripts.map(|entry| entry.unwrap().path());
    let is_shell = |path: &PathBuf| is_file_of(path, &["bash", "/bin/sh"]);
    let scripts: Vec<PathBuf> = scripts.filter(is_shell).collect();
    assert!(scripts.len() > 3, "{scripts:?}");
    let mut command = std::process::Command::new("shellcheck");
    let options = ["--external-sources", "--source-path=SCRIPTDIR/.."];
    let command = command.current_dir(root()).args(options).args(scripts);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
}

/// Whether the first line of a file names one of these programs.
fn is_file_of(path: &Path, programs: &[&str]) -> bool {
    let text = fs::read_to_string(path).unwrap_or_default();
    let first = text.lines().next().unwrap_or_default();
    first.starts_with("#!") && programs.iter().any(|program| first.ends_with(program))
}
