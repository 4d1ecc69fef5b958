//! `tfoci logout`.

use std::fs;

use crate::support::scene::Scene;

const HOST: &str = "registry.example.com";
/// Stores `me:hunter2` for the host.
const FILE: &str = r#"{"auths":{"registry.example.com":{"auth":"bWU6aHVudGVyMg=="}}}"#;

fn logged_in() -> Scene {
    let scene = Scene::new();
    scene.write(".docker/config.json", FILE);
    scene
}

#[test]
fn the_credentials_are_erased_from_the_file() {
    let scene = logged_in();
    let run = scene.tfoci(["logout", HOST]).succeeds();
    run.says("Erased registry.example.com [TMP]/.docker/config.json");
    let text = fs::read_to_string(scene.path(".docker/config.json")).unwrap();
    let is_erased = !text.contains("bWU6aHVudGVyMg") && !text.contains(HOST);
    assert!(is_erased, "{text}");
    let again = scene.tfoci(["logout", HOST]).succeeds();
    again.says("Absent registry.example.com");
}

#[test]
fn credentials_that_remain_elsewhere_are_reported() {
    let scene = logged_in();
    scene.write(".config/containers/auth.json", FILE);
    let run = scene.tfoci(["logout", HOST]).succeeds();
    run.says("Erased registry.example.com [TMP]/.docker/config.json Note [TMP]/.config/containers/auth.json registry.example.com");
}

#[test]
fn results_are_documents() {
    let scene = logged_in();
    let logout = format!("logout {HOST} --format json -q");
    for status in ["erased", "absent"] {
        let document = scene.line(&logout).succeeds().json();
        assert_eq!(document["registry"], HOST);
        assert_eq!(document["status"], status);
        assert_eq!(document["schema"], 1);
    }
}
