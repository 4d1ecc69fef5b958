//! Several destinations: a package is downloaded once, the others get it from the first one, and each line names its destination.

use std::collections::BTreeMap;

use super::origin_scene::OriginScene;
use super::{LINUX, demo};
use crate::support::author::another_build;
use crate::support::origin::{Fault, Provider, Seen, asks, lie};

const BOTH: &str = "[ORIGIN]/acme/demo --to oci-layout:store/a --to oci-layout:store/b";
const TO_B: &str = "[ORIGIN]/acme/demo --to oci-layout:store/b";
const ARRIVED: [&str; 2] = ["acme/demo 1.0.0 linux_amd64"; 2];

/// Everything in one of the layouts.
fn layout(scene: &OriginScene, name: &str) -> BTreeMap<String, String> {
    let files = scene.tree().into_iter();
    let below = files.filter_map(|(path, digest)| {
        let path = path.strip_prefix(name)?.strip_prefix('/')?;
        // The lock file matters to other processes only.
        (!path.ends_with(".lock")).then(|| (path.to_owned(), digest))
    });
    below.collect()
}

/// A scene with the parent directory of both layouts, since tfoci creates only the last directory of a path.
fn ready(scene: OriginScene) -> OriginScene {
    std::fs::create_dir(scene.path("store")).unwrap();
    scene
}

/// A scene whose second layout has another zip for the version.
fn conflicting() -> OriginScene {
    let scene = ready(OriginScene::release(another_build()));
    scene.run(&format!("{TO_B} -q")).says(0, "");
    scene.origin.publish(demo());
    scene
}

#[test]
fn a_package_is_read_once_for_two_destinations() {
    let scene = ready(OriginScene::of([demo()]));
    scene
        .run(BOTH)
        .tells("Copied [ORIGIN]/acme/demo 1.0.0 oci-layout:store/a/[ORIGIN]/acme/demo 1 406 signed [ACME ID] origin Copied [ORIGIN]/acme/demo 1.0.0 oci-layout:store/b/[ORIGIN]/acme/demo 1 signed [ACME ID] origin Mirrored 2 2 406 1 [TIME]")
        .gives("a/[ORIGIN]/acme/demo:1.0.0 b/[ORIGIN]/acme/demo:1.0.0");
    assert_eq!(
        scene.origin.counters(),
        "1 discovery, 1 versions, 2 download, 2 document, 2 signature, 1 package"
    );
    assert_eq!(scene.installs(), ARRIVED);
    assert!(!layout(&scene, "a").is_empty());
    assert_eq!(layout(&scene, "a"), layout(&scene, "b"));
}

#[test]
fn many_packages_of_unknown_size_are_read_once_as_well() {
    let platforms = ["darwin_amd64", "darwin_arm64", "linux_amd64", "linux_arm64"];
    let scene = ready(OriginScene::of(Provider::many(1, 3, &platforms)));
    let unsaid = lie::lacks("packages");
    scene.origin.always(asks("download"), unsaid);
    let all = BOTH.replace("demo", "p0@>=1");
    scene.run(&format!("{all} -q")).says(0, "");
    let whole = |seen: &Seen| asks("package")(seen) && seen.header("range").is_none();
    assert_eq!(scene.origin.count(whole), 12);
    assert_eq!(scene.installs().len(), 24);
    assert_eq!(layout(&scene, "a"), layout(&scene, "b"));
}

#[test]
fn a_cut_download_is_resumed_for_both() {
    let scene = ready(OriginScene::of([demo()]));
    scene.origin.fault(1, asks("package"), Fault::cut_body(100));
    scene.run(&format!("{BOTH} -q")).says(0, "");
    assert_eq!(scene.installs(), ARRIVED);
    let mut seen = scene.origin.seen();
    seen.retain(asks("package"));
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[1].header("range"), Some("bytes=100-"));
}

#[test]
fn a_complete_destination_downloads_nothing() {
    let scene = ready(OriginScene::of([demo()]));
    scene.run(&format!("{TO_B} -q")).says(0, "");
    scene.origin.forget();
    scene.run(BOTH).tells("Copied [ORIGIN]/acme/demo 1.0.0 oci-layout:store/a/[ORIGIN]/acme/demo 1 406 signed [ACME ID] origin Mirrored 1 1 406 1 [TIME]");
    assert_eq!(scene.origin.count(asks("package")), 1);
    assert_eq!(layout(&scene, "a"), layout(&scene, "b"));
    scene.origin.forget();
    scene.run(BOTH).tells("Mirrored 2 [TIME]");
    assert_eq!(scene.origin.counters(), "1 discovery, 1 versions");
}

#[test]
fn a_failing_destination_does_not_stop_the_other() {
    let scene = conflicting();
    let b = "oci-layout:store/b/[ORIGIN]/acme/demo";
    let said = scene.run(&format!("{BOTH} --recheck"));
    said.gives("a/[ORIGIN]/acme/demo:1.0.0")
        .says(3, &format!("Copied [ORIGIN]/acme/demo 1.0.0 oci-layout:store/a/[ORIGIN]/acme/demo 1 406 signed [ACME ID] origin error [ORIGIN]/acme/demo 1.0.0 linux_amd64 {b} Mirrored 1 1 406 [TIME] 1 2"));
    assert!(!layout(&scene, "a").is_empty());
}

#[test]
fn a_destination_that_cannot_be_read_does_not_stop_the_other() {
    let scene = ready(OriginScene::of([demo()]));
    scene.run(&format!("{BOTH} -q")).says(0, "");
    let mut files = layout(&scene, "a").into_keys();
    let index = files.find(|path| path.ends_with("demo/index.json"));
    scene.write(format!("store/a/{}", index.unwrap()), "no JSON");
    std::fs::remove_dir_all(scene.path("store/b")).unwrap();
    scene
        .run(BOTH)
        .gives("b/[ORIGIN]/acme/demo:1.0.0")
        .says(1, "Copied [ORIGIN]/acme/demo 1.0.0 oci-layout:store/b/[ORIGIN]/acme/demo 1 406 signed [ACME ID] origin error [ORIGIN]/acme/demo oci-layout:store/a/[ORIGIN]/acme/demo Mirrored 1 1 406 [TIME] 1 2");
}

#[test]
fn what_only_one_destination_has_is_copied_to_the_other() {
    let two = Provider::demo(&["darwin_arm64", LINUX]);
    let scene = ready(OriginScene::of([two]));
    let first = format!("[ORIGIN]/acme/demo --to oci-layout:store/a --platform {LINUX} -q");
    scene.run(&first).says(0, "");
    scene.origin.forget();
    scene.run(&format!("{BOTH} -q")).says(0, "");
    assert_eq!(scene.origin.count(asks("package")), 1);
    assert_eq!(scene.installs().len(), 4);
}

#[test]
fn the_document_says_which_destination_failed() {
    let scene = conflicting();
    let line = format!("mirror --ca-file ca.pem {BOTH} --recheck --format json");
    let document = scene.line(scene.named(&line)).exits(3).json();
    let [copied, failed] = [0, 1].map(|number| &document["providers"][number]);
    for (text, begin) in [
        (&copied["reference"], "oci-layout:store/a/"),
        (&failed["destination"], "oci-layout:store/b/"),
    ] {
        assert!(text.as_str().unwrap().starts_with(begin), "{text}");
    }
    assert_eq!(failed["status"], "failed");
}

#[test]
fn a_package_that_is_wrong_fails_in_both() {
    let scene = ready(OriginScene::of([demo()]));
    scene.origin.always(asks("package"), Fault::wrong_bytes());
    let errors = ["a", "b"].map(|name| format!("error [ORIGIN]/acme/demo 1.0.0 linux_amd64 oci-layout:store/{name}/[ORIGIN]/acme/demo [ORIGIN] "));
    scene.run(BOTH).gives("").says(3, &errors.concat());
    assert_eq!(scene.origin.count(asks("package")), 2);
    assert!(scene.installs().is_empty());
}

#[test]
fn a_source_that_has_nothing_is_reported_for_both() {
    let scene = ready(OriginScene::of([demo()]));
    let errors = ["a", "b"].map(|name| format!("error [ORIGIN]/acme/gone oci-layout:store/{name}/[ORIGIN]/acme/gone [ORIGIN] https://[ORIGIN]/v1/providers/acme/gone/versions "));
    let said = scene.run(&BOTH.replace("demo", "gone"));
    said.says(1, &errors.concat());
    assert_eq!(scene.origin.count(asks("versions")), 1);
}
