//! OCI tools read the layouts of tfoci, and tfoci reads theirs.

use std::fs;

use super::{blob, run};
use crate::install::{DEMO, Facts, sha256, with_demo};
use crate::support::programs::has;
use crate::support::scene::{Run, Scene};

const REPOSITORY: &str = "store/example.com/acme/demo";

/// A scene with a store, and the digest of the index in it.
fn pushed() -> (Scene, String) {
    let scene = with_demo();
    let release = format!("releases/{DEMO}/1.0.0");
    let always =
        format!("--provider {DEMO} --key acme.asc --to oci-layout:store --digest-file digest");
    scene.line(format!("push {release} {always}")).succeeds();
    let digest = fs::read_to_string(scene.path("digest")).unwrap();
    (scene, digest.trim().to_owned())
}

fn in_scene(scene: &Scene, program: &str, line: &str) -> Run {
    run(scene, &scene.path(""), program, line.split(' ')).succeeds()
}

#[test]
fn skopeo_returns_the_same_bytes_of_the_index() {
    if !has("skopeo") {
        return;
    }
    let (scene, digest) = pushed();
    let at = format!("oci:{REPOSITORY}:1.0.0");
    let raw = in_scene(&scene, "skopeo", &format!("inspect --raw {at}")).stdout;
    assert_eq!(format!("sha256:{}", sha256(raw.as_bytes())), digest);
    assert_eq!(raw.as_bytes(), blob(&scene, &digest));
}

#[test]
fn skopeo_copies_one_platform_with_its_zip() {
    if !has("skopeo") {
        return;
    }
    let (scene, _) = pushed();
    let windows = "--override-os windows --override-arch arm64";
    let copy = format!("copy --insecure-policy oci:{REPOSITORY}:1.0.0 dir:copy");
    in_scene(&scene, "skopeo", &format!("{windows} {copy}"));
    let Facts { zh, .. } = Facts::of_demo(&scene, "windows_arm64");
    let copied = fs::read(scene.path("copy").join(&zh["zh:".len()..]));
    assert_eq!(format!("zh:{}", sha256(&copied.unwrap())), zh);
    let manifest = fs::read(scene.path("copy/manifest.json")).unwrap();
    let digest = format!("sha256:{}", sha256(&manifest));
    assert_eq!(blob(&scene, &digest), manifest);
}

#[test]
fn oras_reads_and_copies_the_artifact_and_its_evidence() {
    if !has("oras") {
        return;
    }
    let (scene, digest) = pushed();
    let fetch = format!("manifest fetch --oci-layout {REPOSITORY}:1.0.0");
    let raw = in_scene(&scene, "oras", &fetch).stdout;
    assert_eq!(raw.as_bytes(), blob(&scene, &digest));
    for tag in ["1.0.0", "evidence-1.0.0"] {
        let from = format!("--from-oci-layout {REPOSITORY}:{tag}");
        let copy = format!("cp {from} --to-oci-layout copy:{tag}");
        in_scene(&scene, "oras", &copy);
    }
    let inspect = |from: &str| {
        let inspect = format!("inspect {DEMO}@1.0.0 --exact-repository --from {from}");
        let run = scene.line(inspect).succeeds();
        run.stdout.replace(from, "[STORE]")
    };
    let copy = "oci-layout:copy";
    assert_eq!(inspect(copy), inspect(&format!("oci-layout:{REPOSITORY}")));

    let installed = scene.line(format!("install {DEMO} --from {copy} --exact-repository --into mirror --platform all --key acme.asc --require-pinned"));
    let summary = "\n Installed 1 version, 2 packages (";
    installed.succeeds().tells(summary);
}

#[test]
fn artifacts_made_by_oras_are_read_and_installed() {
    if !has("oras") {
        return;
    }
    let scene = with_demo();
    let zip = |platform: &str| format!("terraform-provider-demo_1.0.0_{platform}.zip");
    let folder = scene.path(format!("releases/{DEMO}/1.0.0"));
    let layout = |tag: &str| format!("{}:{tag}", scene.path("theirs").display());
    for platform in ["linux_amd64", "windows_arm64"] {
        let (at, file) = (layout(platform), format!("{}:archive/zip", zip(platform)));
        let of = platform.replace('_', "/");
        let kind = "application/vnd.opentofu.provider-target";
        let push = format!("push --oci-layout {at} --artifact-type {kind}");
        let push = format!("{push} --artifact-platform {of} {file}");
        run(&scene, &folder, "oras", push.split(' ')).succeeds();
    }
    let kind = "application/vnd.opentofu.provider";
    let create = format!("manifest index create --oci-layout {}", layout("1.0.0"));
    let create = format!("{create} --artifact-type {kind} linux_amd64 windows_arm64");
    in_scene(&scene, "oras", &create);
    let installed = scene.line(format!("install {DEMO} --from oci-layout:theirs --exact-repository --into mirror --platform windows_arm64 -v")).succeeds();
    let Facts { zh, size, .. } = Facts::of_demo(&scene, "windows_arm64");
    let line = format!("    Copied {DEMO} 1.0.0 windows_arm64   {size} B   unverified\n");
    installed.tells(line).tells(zh);
}
