use std::fs;
use std::path::Path;

use serde_json::Value;

use super::layout_scene::{LayoutScene, PLATFORMS, PROVIDER};

/// Runs a command with `--dry-run` while another process holds the lock. This run must change nothing. Then runs it without. Returns both
/// reports.
fn planned_and_done(scene: &LayoutScene, arguments: &[String]) -> [Value; 2] {
    let dry: Vec<String> = arguments
        .iter()
        .cloned()
        .chain(["--dry-run".to_owned()])
        .collect();
    let lock = scene.path(format!("store/{PROVIDER}/.tfoci.lock"));
    let lock = lock.exists().then(|| fs::File::open(lock).unwrap());
    lock.iter().for_each(|lock| lock.lock().unwrap());
    let before = (scene.tree("."), scene.inodes("."));
    let plan = scene.succeeds(&dry);
    assert!(
        (scene.tree("."), scene.inodes(".")) == before,
        "a dry run has changed something"
    );
    drop(lock);
    [plan, scene.succeeds(arguments)].map(|text| serde_json::from_str(&text).unwrap())
}

/// Asserts that a push does what its dry run reported. Returns the statuses of the version and of its packages.
#[track_caller]
fn keeps_its_word(scene: &LayoutScene, more: &[&str]) -> (String, Vec<String>) {
    let more: Vec<&str> = more.iter().copied().chain(["--format", "json"]).collect();
    let [plan, done] = planned_and_done(scene, &LayoutScene::push("store", &more));
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
        let packages = provider["packages"].as_array().unwrap().clone();
        let status = |value: &Value| value["status"].as_str().unwrap().to_owned();
        (
            status(provider),
            packages.iter().map(status).collect::<Vec<_>>(),
        )
    };
    let (planned, done) = (statuses(plan), statuses(done));
    let all = |(version, packages): &(String, Vec<String>)| {
        let all: Vec<bool> = [version]
            .into_iter()
            .chain(packages)
            .map(|s| s == "present")
            .collect();
        all
    };
    assert_eq!(all(&planned), all(&done), "{planned:?} {done:?}");
    done
}

fn owned(version: &str, packages: &[&str]) -> (String, Vec<String>) {
    (
        version.to_owned(),
        packages.iter().map(|&status| status.to_owned()).collect(),
    )
}

#[test]
fn a_push_does_what_its_dry_run_reports() {
    let scene = LayoutScene::new(&PLATFORMS);
    let first = keeps_its_word(&scene, &["--platform", "linux_amd64"]);
    assert_eq!(first, owned("copied", &["copied"]));
    assert_eq!(
        keeps_its_word(&scene, &[]),
        owned("updated", &["copied", "present"])
    );
    assert_eq!(
        keeps_its_word(&scene, &[]),
        owned("present", &["present", "present"])
    );
    let replace = ["--existing", "replace"];
    assert_eq!(
        keeps_its_word(&scene, &replace),
        owned("present", &["present", "present"])
    );
    let annotated = ["--existing", "replace", "--annotation", "a=b"];
    assert_eq!(
        keeps_its_word(&scene, &annotated),
        owned("updated", &["present", "present"])
    );
}

#[test]
fn a_repair_does_what_its_dry_run_reports() {
    let scene = LayoutScene::new(&PLATFORMS);
    scene.succeeds(&LayoutScene::push("store", &[]));
    let sums = scene.path("dist/terraform-provider-demo_1.0.0_SHA256SUMS");
    remove_blob(&scene, &fs::read(sums).unwrap());
    assert_eq!(
        keeps_its_word(&scene, &[]),
        owned("updated", &["present", "present"])
    );
    let zip = scene.path("dist/terraform-provider-demo_1.0.0_linux_amd64.zip");
    remove_blob(&scene, &fs::read(zip).unwrap());
    assert_eq!(
        keeps_its_word(&scene, &[]),
        owned("updated", &["present", "copied"])
    );
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
    assert_eq!(
        keeps_its_word(&scene, &[]),
        owned("copied", &["present", "present"])
    );
}

/// Removes the blob with these bytes.
fn remove_blob(scene: &LayoutScene, bytes: &[u8]) {
    let store = scene.tree("store");
    let is_it = |content: &Option<Vec<u8>>| content.as_deref() == Some(bytes);
    let (path, _) = store
        .iter()
        .find(|(_, (content, _))| is_it(content))
        .unwrap();
    fs::remove_file(scene.path(Path::new("store").join(path))).unwrap();
}

#[test]
fn a_dry_run_plans_to_reuse_blobs_of_another_repository() {
    let scene = LayoutScene::new(&PLATFORMS);
    let elsewhere = LayoutScene::push("store", &[]);
    scene
        .tfoci(elsewhere.iter().map(|argument| match &**argument {
            "registry.opentofu.org/acme/demo" => "other/demo",
            argument => argument,
        }))
        .succeeds();
    assert_eq!(
        keeps_its_word(&scene, &[]),
        owned("copied", &["mounted", "mounted"])
    );
}

#[test]
fn an_installation_does_what_its_dry_run_reports() {
    for form in ["--packed", "--unpacked"] {
        let scene = LayoutScene::new(&PLATFORMS);
        scene.succeeds(&LayoutScene::push("store", &[]));
        let install = LayoutScene::install("mirror", &[form, "--format", "json"]);
        for _ in 0..2 {
            let [plan, done] = planned_and_done(&scene, &install);
            let [plan, done] = [&plan, &done].map(|report| &report["providers"][0]);
            for field in ["provider", "version", "authentication", "packages"] {
                assert_eq!(plan[field], done[field]);
            }
        }
    }
}
