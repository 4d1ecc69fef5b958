use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::credentials;
use crate::mirror::{demo, mirror, scene};
use crate::support::origin::{Origin, Setup};
use crate::support::scene::Scene;

/// A token helper that records its arguments.
pub fn helper(scene: &Scene, directory: &str, script: &str) {
    let path = scene.path(format!("{directory}/terraform-credentials-vault"));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    // Another process writes the file. If this process forked while it had the file open for writing, the system would refuse to run it.
    let text = format!("#!/bin/sh\necho \"$@\" >> \"$HOME/asked\"\n{script}\n");
    let write = "printf '%s' \"$2\" > \"$1\"";
    let arguments = ["-c", write, "sh", path.to_str().unwrap(), &text];
    scene.run("sh", arguments).succeeds();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn the_token_helper_is_asked_last_and_once() {
    let origin = Setup::new([demo()]).token("sesame").start();
    let block = "credentials_helper \"vault\" { args = [\"--path\", \"x y\"] }\n";
    let answer = r#"echo '{"token": "sesame", "more": 1}'"#;
    for directory in [".terraform.d/plugins", ".config/opentofu/plugins", "bin"] {
        let scene = scene(&origin);
        let (bin, path) = (scene.path("bin"), std::env::var("PATH").unwrap());
        let scene = scene.env("PATH", &format!("{}:{path}", bin.display()));
        helper(&scene, directory, answer);
        scene.write(".tofurc", block);
        let using = format!("Using terraform-credentials-vault {}", origin.host());
        let run = mirror(&scene, &origin, "-v").succeeds().hides("sesame");
        run.says(&using);
        let asked = fs::read_to_string(scene.path("asked")).unwrap();
        assert_eq!(asked, format!("--path x y get {}\n", origin.host()));
    }
    let scene = scene(&origin);
    helper(&scene, ".terraform.d/plugins", answer);
    let first = credentials(&origin, "sesame");
    scene.write(".tofurc", block.to_owned() + &first);
    mirror(&scene, &origin, "").succeeds();
    assert!(!scene.path("asked").exists());
}

#[test]
fn a_failing_helper_matters_only_if_a_token_is_required() {
    let block = "credentials_helper \"vault\" {}\n";
    let other = "other credentials";
    let scripts = ["exit 7", "echo sesame", "yes sesame"];
    for (script, reason) in scripts.iter().zip(["7", other, other]) {
        let open = Origin::of([demo()]);
        let scene = scene(&open);
        helper(&scene, ".terraform.d/plugins", script);
        scene.write(".tofurc", block);
        mirror(&scene, &open, "").succeeds();

        let closed = Setup::new([demo()]).token("sesame").start();
        let run = mirror(&scene, &closed, "").exits(1).hides("sesame");
        let host = closed.host();
        run.says(&format!(
            "error {host}/acme/demo {host} 401 {host} terraform-credentials-vault {reason}"
        ));
    }
}
