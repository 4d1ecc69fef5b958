//! The sources of credentials, and what is said of those that cannot be used. Unit tests of the library cover their precedence.

use crate::support::scene::Scene;

#[test]
fn doctor_names_the_files_that_clients_read_and_those_that_only_tfoci_reads() {
    let scene = Scene::new()
        .env("DOCKER_CONFIG", "docker")
        .env("REGISTRY_AUTH_FILE", "podman.json");
    scene.write("docker/config.json", "{\"auths\": {}}");
    scene.write(".docker/config.json", "{\"auths\": {}}");
    let run = scene.tfoci(["doctor"]).succeeds();
    let steps = run.stdout.lines();
    let steps = steps.filter_map(|line| line.strip_prefix("  ✓ credentials   "));
    let steps: Vec<&str> = steps.collect();
    assert!(steps[0].starts_with("docker/config.json,"), "{steps:?}");
    assert_eq!(steps[1..], ["[TMP]/.docker/config.json"]);
}

#[test]
fn unusable_configurations_are_reported_with_the_reason() {
    const PASSWORD: &str = "username = \"me\"\npassword = \"hunter2\"";
    const HELPER: &str = "docker_credentials_helper";
    let warns = |text: &[u8], facts: &str| {
        let scene = Scene::new();
        scene.write(".terraformrc", text);
        let run = scene.line("logout example.com -v").succeeds();
        let facts = format!("Warning [TMP]/.terraformrc {facts}");
        run.says(&facts).hides("hunter2");
    };
    for (text, facts) in [
        (&b"\xff"[..], "UTF-8"),
        (b"a =\n", "HCL line 2"),
        (b"{\"a\": ", "JSON line 1"),
        (
            b"credentials_helper \"a/b\" {\n}\n",
            "a/b expected terraform-credentials-NAME 1",
        ),
        (b"host \"a..b\" {\n}\n", "a..b expected 1"),
    ] {
        warns(text, facts);
    }
    let both = format!("{PASSWORD}\n{HELPER} = \"x\"");
    let [x, path] = ["x", "a/b"].map(|name| format!("{HELPER} = \"{name}\""));
    for (label, body, facts) in [
        ("example.com", "", "example.com expected 1"),
        ("example.com", &*both, "example.com expected 1"),
        ("example.com", "username = \"me\"", "example.com expected 1"),
        (
            "example.com/a",
            &x,
            "example.com/a expected docker_credentials_helper 1",
        ),
        (
            "example.com",
            &path,
            "a/b expected docker-credential-NAME 1",
        ),
        (
            "https://example.com",
            PASSWORD,
            "https://example.com expected DOMAIN/PATH 1",
        ),
    ] {
        let block = format!("oci_credentials \"{label}\" {{\n{body}\n}}\n");
        warns(block.as_bytes(), facts);
    }
}

#[test]
fn an_unusable_entry_is_reported_before_any_request() {
    let scene = Scene::new();
    let entry = r#"{"auths": {"example.com": {"auth": "!"}}}"#;
    scene.write(".docker/config.json", entry);
    let versions = "versions acme/demo --exact-repository";
    let from = "--from example.com/mirror/demo";
    let run = scene.line(format!("{versions} {from}")).exits(1);
    run.says("error registry.opentofu.org/acme/demo example.com/mirror/demo example.com [TMP]/.docker/config.json auth base64");
}

/// The facts in the warnings of a command that asks a registry which cannot be reached.
#[track_caller]
fn warns(scene: &Scene, facts: &str) {
    let line = "versions acme/demo --from localhost:1/acme/demo --plain-http localhost:1";
    let facts = format!("{facts} error localhost:1/acme/demo");
    scene.line(line).exits(1).says(&facts).hides("hunter2");
}

#[test]
fn unusable_credentials_are_ignored_with_one_warning() {
    let scene = Scene::new();
    scene.write(".docker/config.json", "{\n\"auths\": {hunter2");
    warns(&scene, "Warning [TMP]/.docker/config.json 2 11");
    let scene = Scene::new();
    let block = "credentials \"a\" {\n  token = = \"hunter2\"\n}\n";
    scene.write(".tofurc", block);
    warns(&scene, "Warning [TMP]/.tofurc HCL line 2");
    // Clients read this file too, and CI jobs name it to have no configuration.
    let scene = Scene::new().env("TF_CLI_CONFIG_FILE", "/dev/null");
    warns(&scene, "");
}

#[test]
fn a_missing_helper_is_a_warning_alone_and_beside_other_credentials() {
    let scene = Scene::new();
    let file = ".config/containers/auth.json";
    scene.write(file, r#"{"credHelpers": {"localhost:1": "none"}}"#);
    let auth = r#"{"auths": {"localhost:1": {"auth": "bWU6aHVudGVyMg=="}}}"#;
    scene.write(".docker/config.json", auth);
    let warning = format!("Warning [TMP]/{file} docker-credential-none");
    warns(&scene, &warning);
    let scene = Scene::new();
    scene.write(".docker/config.json", r#"{"credsStore": "none"}"#);
    let warning = "Warning [TMP]/.docker/config.json docker-credential-none";
    warns(&scene, warning);
}

#[test]
fn mirror_warns_once_of_a_configuration_that_does_not_parse() {
    let scene = Scene::new();
    scene.write(".tofurc", "}\n");
    let to = "localhost:2/{namespace}/{type} --plain-http localhost:2";
    let run = scene.line(format!("mirror localhost:1/acme/demo --to {to}"));
    run.exits(1).says("Warning [TMP]/.tofurc error");
}
