//! The sources of credentials that `-v` lists. Unit tests of the library cover their precedence.

use crate::support::author::Author;
use crate::support::registry::{Access, Personality, Setup};
use crate::support::scene::Scene;

/// What `-v` prints about each source of credentials, for a registry without stored credentials: its path, the first word about it, and
/// whether clients ignore it.
fn considered(scene: &Scene, more: &[&str]) -> Vec<String> {
    let arguments = ["logout", "example.com", "-v"].into_iter();
    let run = scene
        .tfoci(arguments.chain(more.iter().copied()))
        .succeeds()
        .hides("hunter2");
    let lines = run.stderr.lines();
    lines
        .filter_map(|line| line.strip_prefix("Considered ")?.split_once(": "))
        .map(|(path, about)| {
            let word = about.split([' ', ',', ':']).next().unwrap();
            let note = if about.contains("clients") {
                ", ours"
            } else {
                ""
            };
            format!("{path}: {word}{note}")
        })
        .collect()
}

#[test]
fn docker_and_podman_variables_are_used_with_a_note_that_clients_ignore_them() {
    let scene = Scene::new()
        .env("DOCKER_CONFIG", "docker")
        .env("REGISTRY_AUTH_FILE", "podman.json");
    scene.write(
        "docker/config.json",
        r#"{"auths": {"a.example.com": {}, "b.example.com": {"auth": "bWU6aHVudGVyMg=="}}, "credsStore": "x"}"#,
    );
    let lines = considered(&scene, &[]);
    let lines: Vec<_> = lines.iter().filter(|line| line.ends_with("ours")).collect();
    assert_eq!(
        lines,
        ["podman.json: absent, ours", "docker/config.json: 1, ours"]
    );
}

#[test]
fn every_considered_file_is_listed_with_the_reason_if_it_is_broken() {
    let scene = Scene::new();
    scene.write(".docker/config.json", "{\"auths\": {");
    scene.write(
        ".dockercfg",
        r#"{"example.com": {"auth": "bWU6aHVudGVyMg=="}}"#,
    );
    scene.write(
        ".terraformrc",
        "oci_credentials \"b.example.com\" {\n  username = \"me\"\n  password = \"hunter2\"\n}\n",
    );
    // The file that `login` writes must be valid, so another one is named for it.
    let scene = scene.env("REGISTRY_AUTH_FILE", "none.json");
    let lines = considered(&scene, &[]);
    let wanted = [
        "[TMP]/.tofurc: absent",
        "[TMP]/.terraformrc: 1",
        "none.json: absent, ours",
        "[TMP]/.config/containers/auth.json: absent",
        "[TMP]/.docker/config.json: cannot",
        "[TMP]/.dockercfg: 0",
    ];
    assert_eq!(lines, wanted);
}

#[test]
fn authfile_replaces_all_other_files() {
    let scene = Scene::new();
    scene.write(
        "mine.json",
        r#"{"auths": {"b.example.com": {"auth": "bWU6aHVudGVyMg=="}}}"#,
    );
    let lines = considered(&scene, &["--authfile", "mine.json", "--cli-config", "rc"]);
    assert_eq!(
        lines,
        Vec::<String>::new(),
        "the configuration that was named is not there"
    );
    scene.write("rc", "{}");
    let lines = considered(&scene, &["--authfile", "mine.json", "--cli-config", "rc"]);
    assert_eq!(lines, ["mine.json: 1, ours", "rc: 0"]);
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
        (b"a =\n".to_vec(), "HCL 2 1"),
        (b"{\"a\": ".to_vec(), "JSON 1 6"),
        (credentials("example.com", ""), "example.com no expected 1"),
        (
            credentials("example.com", &[PASSWORD, &helper("x")].join("\n")),
            "example.com several expected 1",
        ),
        (
            credentials("example.com", "username = \"me\""),
            "example.com username without password 1",
        ),
        (
            credentials("example.com/a", &helper("x")),
            "example.com/a docker_credentials_helper expected 1",
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
        (b"host \"a..b\" {\n}\n".to_vec(), "host 1 a..b expected"),
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
        run.says(&format!("Warning {file} {facts} Considered {file} cannot"))
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
    let versions = ["versions", "acme/demo", "--exact-repository"];
    let from = ["--from", "example.com/mirror/demo"];
    let run = scene.tfoci(versions.into_iter().chain(from)).exits(1);
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
    warns(&scene, "Warning [TMP]/.tofurc HCL 2 11");
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
        "Warning docker-credential-none [TMP]/.config/containers/auth.json",
    );
}

#[test]
fn a_missing_helper_alone_is_a_warning_too() {
    let scene = Scene::new();
    scene.write(".docker/config.json", r#"{"credsStore": "none"}"#);
    warns(
        &scene,
        "Warning docker-credential-none [TMP]/.docker/config.json",
    );
}

#[test]
fn files_that_variables_name_and_that_do_not_exist_are_warnings() {
    for variable in ["REGISTRY_AUTH_FILE", "SSL_CERT_FILE", "SSL_CERT_DIR"] {
        let scene = Scene::new().env(variable, "missing");
        warns(&scene, &format!("Warning {variable} missing"));
    }
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

/// Only a command that does what `tofu` does says so.
#[test]
fn an_entry_that_tofu_does_not_read_is_used_with_a_warning() {
    let author = Author::new();
    author.with_release_in_place();
    let registry = Setup::of(Personality::Plain)
        .access(Access::Basic { user: "alice" })
        .start();
    let host = registry.host();
    let url = format!("https://{host}/v2/");
    let auth = registry.authfile().replace(host, &url);
    author.scene.write("auth.json", auth);
    let options = ["--authfile", "auth.json", "--plain-http", host];
    let to = format!("{host}/{{namespace}}/{{type}}");
    let pushed = author.push_to(&to, &options).succeeds();
    let install = ["install", "acme/demo", "--from", &to, "--platform", "all"];
    let install = [&install[..], &["--into", "out"], &options].concat();
    let installed = author.tfoci(&install).succeeds();
    installed.says(&format!("Warning auth.json {url} {host} Copied"));
    pushed.says("Pushed");
}
