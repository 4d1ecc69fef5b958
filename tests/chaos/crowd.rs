use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Stdio};

use serde_json::Value;

use super::layout_scene::{LayoutScene, PROVIDER};

const PLATFORMS: [&str; 8] = [
    "darwin_amd64",
    "darwin_arm64",
    "freebsd_amd64",
    "linux_386",
    "linux_amd64",
    "linux_arm",
    "linux_arm64",
    "windows_amd64",
];
const ROUNDS: usize = 20;

fn start(scene: &LayoutScene, arguments: &[String]) -> Child {
    let mut command = scene.command(env!("CARGO_BIN_EXE_tfoci"));
    command
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Starts all runs at once and waits for all. Returns the one provider that each run reports.
fn at_once(scene: &LayoutScene, runs: &[Vec<String>]) -> Vec<Value> {
    let started: Vec<Child> = runs
        .iter()
        .map(|arguments| start(scene, arguments))
        .collect();
    let ended = started.into_iter().map(|child| {
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{stderr}");
        let mut report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report["providers"][0].take()
    });
    ended.collect()
}

fn platforms_at_once(platforms: &[&str]) {
    let scene = LayoutScene::new(platforms);
    scene.succeeds(&LayoutScene::push("alone", &[]));
    let alone = scene.seen("alone");
    assert!(alone.is_some());
    for _ in 0..ROUNDS {
        scene.reset("store", None);
        let push = |platform: &&str| {
            LayoutScene::push("store", &["--platform", platform, "--format", "json"])
        };
        let reports = at_once(&scene, &platforms.iter().map(push).collect::<Vec<_>>());
        assert_eq!(scene.seen("store"), alone);
        let copied = reports.iter().filter(|report| report["status"] == "copied");
        assert_eq!(copied.count(), 1, "{reports:?}");
        let updated = reports
            .iter()
            .filter(|report| report["status"] == "updated");
        assert_eq!(updated.count(), platforms.len() - 1, "{reports:?}");
    }
}

#[test]
fn two_platforms_pushed_at_once_are_all_stored() {
    platforms_at_once(&PLATFORMS[..2]);
}

#[test]
fn eight_platforms_pushed_at_once_are_all_stored() {
    platforms_at_once(&PLATFORMS);
}

#[test]
fn one_of_several_equal_pushes_copies() {
    for count in [2, 8] {
        let scene = LayoutScene::new(&PLATFORMS[..2]);
        let reports = at_once(
            &scene,
            &vec![LayoutScene::push("store", &["--format", "json"]); count],
        );
        let copied = reports.iter().filter(|report| report["status"] == "copied");
        assert_eq!(copied.count(), 1, "{reports:?}");
        let present = reports
            .iter()
            .filter(|report| report["status"] == "present");
        assert_eq!(present.count(), count - 1, "{reports:?}");
        assert!(
            reports
                .iter()
                .all(|report| report["digest"] == reports[0]["digest"])
        );
    }
}

#[test]
fn concurrent_installations_into_one_directory_succeed() {
    let scene = LayoutScene::new(&PLATFORMS);
    scene.succeeds(&LayoutScene::push("store", &[]));
    let install = LayoutScene::install("mirror", &["--unpacked", "--format", "json"]);
    let reports = at_once(&scene, &vec![install; 4]);
    assert!(reports.iter().all(|report| *report == reports[0]));
    let install = LayoutScene::install("alone", &["--unpacked"]);
    scene.succeeds(&install);
    assert!(scene.tree("mirror") == scene.tree("alone"));
}

#[test]
fn waiting_for_a_lock_is_reported_once() {
    let scene = LayoutScene::new(&PLATFORMS[..2]);
    scene.succeeds(&LayoutScene::push("store", &["--platform", PLATFORMS[0]]));
    let path = format!("store/{PROVIDER}/.tfoci.lock");
    let lock = File::options().write(true).open(scene.path(&path)).unwrap();
    lock.lock().unwrap();
    let mut push = start(&scene, &LayoutScene::push("store", &[]));
    let mut stderr = BufReader::new(push.stderr.take().unwrap());
    let mut line = || {
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        line
    };
    let waits = line();
    assert!(
        waits.contains("Waiting") && waits.contains(&path),
        "{waits}"
    );
    // Readers take no lock.
    for _ in 0..5 {
        let versions = ["versions", "acme/demo", "--from", "oci-layout:store"];
        assert_eq!(scene.tfoci(versions).succeeds().stdout, "1.0.0\n");
    }
    lock.unlock().unwrap();
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    assert!(!rest.contains("Waiting"), "{rest}");
    assert!(push.wait().unwrap().success(), "{rest}");
}
