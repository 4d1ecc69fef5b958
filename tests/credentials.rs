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
    let steps: Vec<(&str, bool)> = steps
        .map(|step| step.split_once(',').unwrap_or((step, "")))
        .map(|(path, rest)| (path, rest.is_empty()))
        .collect();
    let expected = [
        ("docker/config.json", false),
        ("[TMP]/.docker/config.json", true),
    ];
    assert_eq!(steps, expected);
}

#[test]
fn unusable_configurations_are_reported_with_the_reason() {
    const PASSWORD: &str = "username = \"me\"\npassword = \"hunter2\"";
    const HELPER: &str = "docker_credentials_helper";
    let credentials = |label: &str, body: &str| {
        format!("oci_credentials \"{label}\" {{\n{body}\n}}\n").into_bytes()
    };
    let helper = |name: &str| format!("{HELPER} = \"{name}\"");
    for (text, facts) in [
        (b"\xff".to_vec(), "UTF-8"),
        (b"a =\n".to_vec(), "HCL line 2"),
        (b"{\"a\": ".to_vec(), "JSON line 1"),
        (credentials("example.com", ""), "example.com expected 1"),
        (
            credentials("example.com", &[PASSWORD, &helper("x")].join("\n")),
            "example.com expected 1",
        ),
        (
            credentials("example.com", "username = \"me\""),
            "example.com expected 1",
        ),
        (
            credentials("example.com/a", &helper("x")),
            "example.com/a expected docker_credentials_helper 1",
        ),
        (
            credentials("example.com", &helper("a/b")),
            "a/b expected docker-credential-NAME 1",
        ),
        (
            credentials("https://example.com", PASSWORD),
            "https://example.com expected DOMAIN/PATH 1",
        ),
        (
            b"credentials_helper \"a/b\" {\n}\n".to_vec(),
            "a/b expected terraform-credentials-NAME 1",
        ),
        (b"host \"a..b\" {\n}\n".to_vec(), "a..b expected 1"),
        (
            b"oci_default_credentials {\n  discover_ambient_credentials = false\n  docker_style_config_files = []\n}\n".to_vec(),
            "docker_style_config_files discover_ambient_credentials false 1",
        ),
        (
            b"provider_installation {\n  direct {}\n  dev_overrides {}\n}\n".to_vec(),
            "dev_overrides expected 3",
        ),
    ] {
        let scene = Scene::new();
        scene.write(".terraformrc", text);
        let run = scene.tfoci(["logout", "example.com", "-v"]).succeeds();
        let file = "[TMP]/.terraformrc";
        run.says(&format!("Warning {file} {facts}"))
            .hides("hunter2");
    }
}

#[test]
fn an_unusable_entry_is_reported_before_any_request() {
    let scene = Scene::new();
    scene.write(
        ".docker/config.json",
        r#"{"auths": {"example.com": {"auth": "!"}}}"#,
    );
    let versions = "versions acme/demo --exact-repository";
    let from = "--from example.com/mirror/demo";
    let run = scene.line(format!("{versions} {from}")).exits(1);
    run.says("error registry.opentofu.org/acme/demo example.com/mirror/demo example.com [TMP]/.docker/config.json auth base64");
}

/// The facts in the warnings of a command that asks a registry which cannot be reached.
#[track_caller]
fn warns(scene: &Scene, facts: &str) {
    let arguments = "versions acme/demo --from localhost:1/acme/demo --plain-http localhost:1";
    let run = scene.tfoci(arguments.split(' ')).exits(1);
    run.says(&format!("{facts} error localhost:1/acme/demo"))
        .hides("hunter2");
}

#[test]
fn unusable_credentials_are_ignored_with_one_warning() {
    let scene = Scene::new();
    scene.write(".docker/config.json", "{\n\"auths\": {hunter2");
    warns(&scene, "Warning [TMP]/.docker/config.json 2 11");
    let scene = Scene::new();
    scene.write(
        ".tofurc",
        "credentials \"a\" {\n  token = = \"hunter2\"\n}\n",
    );
    warns(&scene, "Warning [TMP]/.tofurc HCL line 2");
    let scene = Scene::new().env("TF_CLI_CONFIG_FILE", "missing.rc");
    warns(&scene, "Warning TF_CLI_CONFIG_FILE missing.rc");
    // Clients read this file too, and CI jobs name it to have no configuration.
    let scene = Scene::new().env("TF_CLI_CONFIG_FILE", "/dev/null");
    warns(&scene, "");
}

#[test]
fn a_missing_helper_beside_other_credentials_is_a_warning() {
    let scene = Scene::new();
    scene.write(
        ".config/containers/auth.json",
        r#"{"credHelpers": {"localhost:1": "none"}}"#,
    );
    scene.write(
        ".docker/config.json",
        r#"{"auths": {"localhost:1": {"auth": "bWU6aHVudGVyMg=="}}}"#,
    );
    warns(
        &scene,
        "Warning [TMP]/.config/containers/auth.json docker-credential-none",
    );
}

#[test]
fn a_missing_helper_alone_is_a_warning_too() {
    let scene = Scene::new();
    scene.write(".docker/config.json", r#"{"credsStore": "none"}"#);
    warns(
        &scene,
        "Warning [TMP]/.docker/config.json docker-credential-none",
    );
}

#[test]
fn a_file_that_a_variable_names_and_that_does_not_exist_is_a_warning() {
    let scene = Scene::new().env("REGISTRY_AUTH_FILE", "missing");
    warns(&scene, "Warning REGISTRY_AUTH_FILE missing");
}

#[test]
fn mirror_warns_once_of_a_configuration_that_does_not_parse() {
    let scene = Scene::new();
    scene.write(".tofurc", "}\n");
    let arguments =
        "mirror localhost:1/acme/demo --to localhost:2/{namespace}/{type} --plain-http localhost:2";
    let run = scene.tfoci(arguments.split(' ')).exits(1);
    run.says("Warning [TMP]/.tofurc error");
}
