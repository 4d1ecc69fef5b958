use std::fs;
use std::process::Command;

use serde_json::Value;

use super::root;
use crate::support::programs::has;
use crate::support::scene::Scene;

const ARCHITECTURES: [&str; 2] = ["amd64", "arm64"];

/// Builds an image for both architectures. `packaging/check` does it with the real program.
fn build(scene: &Scene, layout: &str) {
    let program = scene.write("program", "#!/bin/sh\necho tfoci runs\n");
    let program = program.display();
    let programs = ARCHITECTURES.map(|architecture| format!("{architecture}={program}"));
    let output = Command::new(root().join("packaging/image"))
        .arg(scene.path(layout))
        .args(programs)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn the_image_has_the_program_for_each_architecture_and_may_write_nothing() {
    if !has("skopeo") || !has("python3") {
        return;
    }
    let scene = Scene::new();
    build(&scene, "image");
    for architecture in ARCHITECTURES {
        let inspect = format!("--override-arch {architecture} inspect --config oci:image");
        let run = scene.run("skopeo", inspect.split(' ')).succeeds();
        let document = run.json();
        assert_eq!(document["architecture"], architecture);
        let config = &document["config"];
        assert_eq!(config["User"], "65532:65532");
        assert_eq!(config["Entrypoint"], serde_json::json!(["/usr/bin/tfoci"]));
        let version = &config["Labels"]["org.opencontainers.image.version"];
        assert_eq!(version, env!("CARGO_PKG_VERSION"));
    }
    let copy = "--override-arch amd64 copy oci:image dir:unpacked";
    scene.run("skopeo", copy.split(' ')).succeeds();
    let manifest = fs::read(scene.path("unpacked/manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    let layer = manifest["layers"][0]["digest"].as_str().unwrap();
    let layer = layer.replace("sha256:", "unpacked/");
    fs::create_dir(scene.path("root")).unwrap();
    scene.run("tar", ["-xzf", &layer, "-C", "root"]).succeeds();
    let run = scene.run(scene.path("root/usr/bin/tfoci"), [""]).succeeds();
    assert_eq!(run.stdout, "tfoci runs\n");
    let certificates = "root/etc/ssl/certs/ca-certificates.crt";
    assert!(scene.path(certificates).is_file());
}

#[test]
fn the_same_program_gives_the_same_image() {
    if !has("python3") {
        return;
    }
    let scene = Scene::new();
    build(&scene, "one");
    build(&scene, "two");
    let index = |layout: &str| fs::read(scene.path(layout).join("index.json")).unwrap();
    assert_eq!(index("one"), index("two"));
}
