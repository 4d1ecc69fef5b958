use std::fs;

use serde_json::Value;

use super::layout_scene::{LayoutScene, PLATFORMS, PROVIDER, install, push};

/// Runs a command with `--dry-run` while another process holds the lock. This run must change nothing. Then runs it without. Returns both
/// reports.
fn planned_and_done(scene: &LayoutScene, line: &str) -> [Value; 2] {
    let lock = scene.path(format!("store/{PROVIDER}/.tfoci.lock"));
    let lock = lock.exists().then(|| fs::File::open(lock).unwrap());
    lock.iter().for_each(|lock| lock.lock().unwrap());
    let before = (scene.tree("."), scene.inodes("."));
    let plan = scene.succeeds(format!("{line} --dry-run"));
    let after = (scene.tree("."), scene.inodes("."));
    assert!(after == before, "a dry run has changed something");
    drop(lock);
    [plan, scene.succeeds(line)].map(|text| serde_json::from_str(&text).unwrap())
}

/// Asserts that a push does what its dry run reported. Returns the statuses of the version and of its packages.
#[track_caller]
fn keeps_its_word(scene: &LayoutScene, more: &str) -> String {
    let line = push("store", &format!("{more} --format json"));
    let [plan, done] = planned_and_done(scene, &line);
    let [plan, done] = [&plan, &done].map(|report| &report["providers"][0]);
    for field in [
        "provider",
        "version",
        "reference",
        "digest",
        "authentication",
    ] {
        assert_eq!(plan[field], done[field]);
    }
    let statuses = |provider: &Value| {
        let packages = provider["packages"].as_array().unwrap().iter();
        let all = [provider].into_iter().chain(packages);
        let all = all.map(|one| one["status"].as_str().unwrap().to_owned());
        all.collect::<Vec<String>>()
    };
    let (planned, done) = (statuses(plan), statuses(done));
    let same = planned.iter().zip(&done);
    let mut same = same.map(|(plan, done)| (plan == "present") == (done == "present"));
    assert!(same.all(|same| same), "{planned:?} {done:?}");
    done.join(" ")
}

#[test]
fn a_push_does_what_its_dry_run_reports() {
    let scene = LayoutScene::new(&PLATFORMS);
    for (more, expected) in [
        ("--platform linux_amd64", "copied copied"),
        ("", "updated copied present"),
        ("", "present present present"),
        ("--existing replace", "present present present"),
        (
            "--existing replace --annotation a=b",
            "updated present present",
        ),
    ] {
        assert_eq!(keeps_its_word(&scene, more), expected, "{more}");
    }
}

#[test]
fn a_repair_does_what_its_dry_run_reports() {
    let scene = LayoutScene::new(&PLATFORMS);
    scene.succeeds(push("store", ""));
    for (lost, expected) in [
        ("SHA256SUMS", "updated present present"),
        ("linux_amd64.zip", "updated present copied"),
    ] {
        let lost = scene.path(format!("dist/terraform-provider-demo_1.0.0_{lost}"));
        remove_blob(&scene, &fs::read(lost).unwrap());
        assert_eq!(keeps_its_word(&scene, ""), expected);
    }
    // As an interrupted first push leaves it: the index of the version is written after these files.
    let path = |name: &str| scene.path(format!("store/{PROVIDER}/{name}"));
    let tags: Value = serde_json::from_slice(&fs::read(path("index.json")).unwrap()).unwrap();
    for entry in tags["manifests"].as_array().unwrap() {
        let digest = entry["digest"].as_str().unwrap().replace(':', "/");
        fs::remove_file(path(&format!("blobs/{digest}"))).unwrap();
    }
    for name in ["index.json", "oci-layout"] {
        fs::remove_file(path(name)).unwrap();
    }
    assert_eq!(keeps_its_word(&scene, ""), "copied present present");
}

/// Removes the blob with these bytes.
fn remove_blob(scene: &LayoutScene, bytes: &[u8]) {
    let store = scene.tree("store");
    let is_it = |content: &Option<Vec<u8>>| content.as_deref() == Some(bytes);
    let mut nodes = store.iter();
    let (path, _) = nodes.find(|(_, (content, _))| is_it(content)).unwrap();
    fs::remove_file(scene.path("store").join(path)).unwrap();
}

#[test]
fn a_dry_run_plans_to_reuse_blobs_of_another_repository() {
    let scene = LayoutScene::new(&PLATFORMS);
    scene.succeeds(push("store", "").replace(PROVIDER, "other/demo"));
    assert_eq!(keeps_its_word(&scene, ""), "copied mounted mounted");
}

#[test]
fn an_installation_does_what_its_dry_run_reports() {
    for form in ["--packed", "--unpacked"] {
        let scene = LayoutScene::new(&PLATFORMS);
        scene.succeeds(push("store", ""));
        let install = install("mirror", &format!("{form} --format json"));
        for _ in 0..2 {
            let [plan, done] = planned_and_done(&scene, &install);
            let [plan, done] = [&plan, &done].map(|report| &report["providers"][0]);
            for field in ["provider", "version", "authentication", "packages"] {
                assert_eq!(plan[field], done[field]);
            }
        }
    }
}
