use std::fs::File;
use std::io::Read as _;
use std::process::Child;

use serde_json::Value;

use super::layout_scene::{LayoutScene, PROVIDER, install, push};
use crate::support::signal::until_said;

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

/// Starts all runs at once and waits for all. Returns the one provider that each run reports.
fn at_once(scene: &LayoutScene, runs: &[String]) -> Vec<Value> {
    let start = |line: &String| scene.piped(line).spawn().unwrap();
    let started: Vec<Child> = runs.iter().map(start).collect();
    let ended = started.into_iter().map(|child| {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let mut report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report["providers"][0].take()
    });
    ended.collect()
}

fn with_status(reports: &[Value], status: &str) -> usize {
    let found = reports.iter().filter(|report| report["status"] == status);
    found.count()
}

fn platforms_at_once(platforms: &[&str]) {
    let scene = LayoutScene::new(platforms);
    scene.succeeds(push("alone", ""));
    let alone = scene.seen("alone");
    assert!(alone.is_some());
    for _ in 0..ROUNDS {
        scene.reset("store", None);
        let push = |platform| push("store", &format!("--platform {platform} --format json"));
        let runs: Vec<String> = platforms.iter().map(push).collect();
        let reports = at_once(&scene, &runs);
        assert_eq!(scene.seen("store"), alone);
        assert_eq!(with_status(&reports, "copied"), 1, "{reports:?}");
        let updated = with_status(&reports, "updated");
        assert_eq!(updated, platforms.len() - 1, "{reports:?}");
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
        let reports = at_once(&scene, &vec![push("store", "--format json"); count]);
        assert_eq!(with_status(&reports, "copied"), 1, "{reports:?}");
        let present = with_status(&reports, "present");
        assert_eq!(present, count - 1, "{reports:?}");
        let is_same = |report: &Value| report["digest"] == reports[0]["digest"];
        assert!(reports.iter().all(is_same));
    }
}

#[test]
fn concurrent_installations_into_one_directory_succeed() {
    let scene = LayoutScene::new(&PLATFORMS);
    scene.succeeds(push("store", ""));
    let into = install("mirror", "--unpacked --format json");
    let reports = at_once(&scene, &vec![into; 4]);
    assert!(reports.iter().all(|report| *report == reports[0]));
    scene.succeeds(install("alone", "--unpacked"));
    assert!(scene.tree("mirror") == scene.tree("alone"));
}

#[test]
fn waiting_for_a_lock_is_reported_once() {
    let scene = LayoutScene::new(&PLATFORMS[..2]);
    scene.succeeds(push("store", &format!("--platform {}", PLATFORMS[0])));
    let path = format!("store/{PROVIDER}/.tfoci.lock");
    let lock = File::options().write(true).open(scene.path(&path)).unwrap();
    lock.lock().unwrap();
    let mut push = scene.piped(push("store", "")).spawn().unwrap();
    let mut stderr = until_said(&mut push, "Waiting");
    // Readers take no lock.
    for _ in 0..5 {
        let versions = "versions acme/demo --from oci-layout:store";
        assert_eq!(scene.succeeds(versions), "1.0.0\n");
    }
    lock.unlock().unwrap();
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    assert!(!rest.contains("Waiting"), "{rest}");
    assert!(push.wait().unwrap().success(), "{rest}");
}
