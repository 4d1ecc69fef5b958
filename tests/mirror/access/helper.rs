use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::credentials;
use crate::mirror::{demo, mirror, said, scene};
use crate::support::origin::{Origin, Setup};
use crate::support::scene::Scene;

/// A token helper that records its arguments.
pub fn helper(scene: &Scene, directory: &str, script: &str) {
    let path = scene.path(format!("{directory}/terraform-credentials-vault"));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    // Another process writes the file. If this process forked while it had the file open for writing, the system would refuse to run it.
    let text = format!("#!/bin/sh\necho \"$@\" >> \"$HOME/asked\"\n{script}\n");
    let wrote = scene.run(
        "sh",
        [
            "-c",
            "printf '%s' \"$2\" > \"$1\"",
            "sh",
            path.to_str().unwrap(),
            &text,
        ],
    );
    wrote.succeeds();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn the_token_helper_is_asked_last_and_once() {
    let origin = Setup::new([demo()]).token("sesame").start();
    let block = "credentials_helper \"vault\" { args = [\"--path\", \"x y\"] }\n";
    let answer = r#"echo '{"token": "sesame", "more": 1}'"#;
    for directory in [".terraform.d/plugins", ".config/opentofu/plugins", "bin"] {
        let scene = scene(&origin);
        let path = format!(
            "{}:{}",
            scene.path("bin").display(),
            std::env::var("PATH").unwrap()
        );
        let scene = scene.env("PATH", &path);
        helper(&scene, directory, answer);
        scene.write(".tofurc", block);
        let run = mirror(&scene, &origin, &["-v"]).succeeds().hides("sesame");
        assert!(said(&run, &origin).contains("Using terraform-credentials-vault for [ORIGIN]"));
        let asked = fs::read_to_string(scene.path("asked")).unwrap();
        assert_eq!(asked, format!("--path x y get {}\n", origin.host()));
    }
    let scene = scene(&origin);
    helper(&scene, ".terraform.d/plugins", answer);
    scene.write(
        ".tofurc",
        format!("{block}{}", credentials(&origin, "sesame")),
    );
    mirror(&scene, &origin, &[]).succeeds();
    assert!(!scene.path("asked").exists());
}

#[test]
fn a_failing_helper_matters_only_if_a_token_is_required() {
    let block = "credentials_helper \"vault\" {}\n";
    for (script, reason) in [
        (
            "exit 7",
            "terraform-credentials-vault failed to get: exit 7",
        ),
        (
            "echo sesame",
            "terraform-credentials-vault answered with something other than credentials\n    expected JSON with token, at most 65536 bytes",
        ),
        (
            "yes sesame",
            "terraform-credentials-vault answered with something other than credentials\n    expected JSON with token, at most 65536 bytes",
        ),
    ] {
        let open = Origin::of([demo()]);
        let scene = scene(&open);
        helper(&scene, ".terraform.d/plugins", script);
        scene.write(".tofurc", block);
        mirror(&scene, &open, &[]).succeeds();

        let closed = Setup::new([demo()]).token("sesame").start();
        let run = mirror(&scene, &closed, &[]).exits(1).hides("sesame");
        let wanted = format!("\n  tried no token, since none was found for [ORIGIN]\n  {reason}\n");
        let text = said(&run, &closed);
        assert!(text.contains(&wanted), "{text}");
    }
}
