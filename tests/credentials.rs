//! The sources of credentials that `-v` lists. Unit tests of the library cover their precedence.

use crate::support::author::Author;
use crate::support::registry::{Access, Personality, Setup};
use crate::support::scene::Scene;

/// What `-v` prints about sources of credentials, for a registry without stored credentials.
fn considered(scene: &Scene, more: &[&str]) -> Vec<String> {
    let arguments = ["logout", "example.com", "-v"].into_iter();
    let run = scene
        .tfoci(arguments.chain(more.iter().copied()))
        .succeeds();
    assert!(!run.stderr.contains("hunter2"), "{}", run.stderr);
    let lines = run.stderr.lines();
    lines
        .filter_map(|line| line.strip_prefix("Considered "))
        .map(str::to_owned)
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
    let lines: Vec<_> = lines
        .iter()
        .filter(|line| line.contains("do not look"))
        .collect();
    assert_eq!(
        lines,
        [
            "podman.json: absent, clients do not look there",
            "docker/config.json: 1 entry and a helper for the rest, clients do not look there, docker-credential-x cannot be started, No such file or directory (os error 2)",
        ]
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
        "[TMP]/.terraformrc: 1 entry",
        "none.json: absent, clients do not look there",
        "[TMP]/.config/containers/auth.json: absent",
        "[TMP]/.docker/config.json: cannot be used: [TMP]/.docker/config.json is not a file of credentials, expected a JSON object, as docker and podman write it, at line 1, column 11",
        "[TMP]/.dockercfg: 0 entries",
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
    assert_eq!(
        lines,
        [
            "mine.json: 1 entry, clients do not look there",
            "rc: 0 entries",
        ]
    );
}

#[test]
fn unusable_configurations_are_reported_with_the_reason() {
    const PASSWORD: &str = "username = \"me\"\npassword = \"hunter2\"";
    const HELPER: &str = "docker_credentials_helper";
    let credentials = |label: &str, body: &str| {
        format!("oci_credentials \"{label}\" {{\n{body}\n}}\n").into_bytes()
    };
    for (text, problem) in [
        (b"\xff".to_vec(), "neither HCL nor JSON: not UTF-8 text"),
        (b"a =\n".to_vec(), "not valid HCL, at line 2, column 1"),
        (b"{\"a\": ".to_vec(), "not valid JSON, at line 1, column 6"),
        (
            credentials("example.com", ""),
            "the `oci_credentials` block for `example.com` has no credentials, expected username and password, access_token and refresh_token, or docker_credentials_helper, at line 1",
        ),
        (
            credentials("example.com", &format!("{PASSWORD}\n{HELPER} = \"x\"")),
            "the `oci_credentials` block for `example.com` has several kinds of credentials, expected username and password, access_token and refresh_token, or docker_credentials_helper, at line 1",
        ),
        (
            credentials("example.com", "username = \"me\""),
            "the `oci_credentials` block for `example.com` has `username` without `password`, at line 1",
        ),
        (
            credentials("example.com/a", &format!("{HELPER} = \"x\"")),
            "the `oci_credentials` block for `example.com/a` has a path and `docker_credentials_helper`, expected a domain alone: helpers know no paths, at line 1",
        ),
        (
            credentials("example.com", &format!("{HELPER} = \"a/b\"")),
            "`a/b` is not the name of a credential helper, expected NAME of a program docker-credential-NAME, without path separators, at line 1",
        ),
        (
            credentials("https://example.com", PASSWORD),
            "`https://example.com` is not a registry, or a part of one, expected DOMAIN or DOMAIN/PATH, at line 1",
        ),
        (
            b"credentials_helper \"a/b\" {\n}\n".to_vec(),
            "`a/b` is not the name of a token helper, expected NAME of a program terraform-credentials-NAME, without path separators, at line 1",
        ),
        (
            b"host \"a..b\" {\n}\n".to_vec(),
            "the label of a `host` block is not a host, at line 1, `a..b` is not a host name: it has an empty label, expected something before and after every dot",
        ),
        (
            b"oci_default_credentials {\n  discover_ambient_credentials = false\n  docker_style_config_files = []\n}\n".to_vec(),
            "`docker_style_config_files` is set while `discover_ambient_credentials` is false, at line 1",
        ),
        (
            b"provider_installation {\n  direct {}\n  dev_overrides {}\n}\n".to_vec(),
            "`dev_overrides` comes after an installation method, expected it before all of them, at line 3",
        ),
    ] {
        let scene = Scene::new();
        scene.write(".terraformrc", text);
        let file = "[TMP]/.terraformrc";
        assert_eq!(
            considered(&scene, &[])[1],
            format!("{file}: cannot be used: {file} is not a CLI configuration, {problem}")
        );
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
    assert_eq!(
        run.stderr,
        "error: registry.opentofu.org/acme/demo (example.com/mirror/demo): the entry `example.com` of [TMP]/.docker/config.json cannot be used: its `auth` is not base64 of text\n"
    );
}

/// The warnings of a command that asks a registry which cannot be reached.
fn warnings(scene: &Scene) -> Vec<String> {
    let arguments = "versions acme/demo --from localhost:1/acme/demo --plain-http localhost:1";
    let run = scene.tfoci(arguments.split(' ')).exits(1);
    assert!(!run.stderr.contains("hunter2"), "{}", run.stderr);
    let lines = run.stderr.lines();
    lines
        .filter_map(|line| line.strip_prefix("   Warning "))
        .map(str::to_owned)
        .collect()
}

#[test]
fn unusable_credentials_are_ignored_with_one_warning() {
    let scene = Scene::new();
    scene.write(".docker/config.json", "{\n\"auths\": {hunter2");
    assert_eq!(
        warnings(&scene),
        [
            "[TMP]/.docker/config.json is not a file of credentials, expected a JSON object, as docker and podman write it, at line 2, column 11; it was ignored"
        ]
    );
    let scene = Scene::new();
    scene.write(
        ".tofurc",
        "credentials \"a\" {\n  token = = \"hunter2\"\n}\n",
    );
    assert_eq!(
        warnings(&scene),
        [
            "[TMP]/.tofurc is not a CLI configuration, not valid HCL, at line 2, column 11; it was ignored"
        ]
    );
    let scene = Scene::new().env("TF_CLI_CONFIG_FILE", "missing.rc");
    assert_eq!(
        warnings(&scene),
        ["TF_CLI_CONFIG_FILE names missing.rc, which does not exist"]
    );
    // Clients read this file too, and CI jobs name it to have no configuration.
    let scene = Scene::new().env("TF_CLI_CONFIG_FILE", "/dev/null");
    assert_eq!(warnings(&scene), [""; 0]);
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
    assert_eq!(
        warnings(&scene),
        [
            "docker-credential-none cannot be started, No such file or directory (os error 2), named by [TMP]/.config/containers/auth.json; it was ignored"
        ]
    );
}

#[test]
fn a_missing_helper_alone_is_a_warning_too() {
    let scene = Scene::new();
    scene.write(".docker/config.json", r#"{"credsStore": "none"}"#);
    assert_eq!(
        warnings(&scene),
        [
            "docker-credential-none cannot be started, No such file or directory (os error 2), named by [TMP]/.docker/config.json; it was ignored"
        ]
    );
}

#[test]
fn files_that_variables_name_and_that_do_not_exist_are_warnings() {
    for variable in ["REGISTRY_AUTH_FILE", "SSL_CERT_FILE", "SSL_CERT_DIR"] {
        let scene = Scene::new().env(variable, "missing");
        let says = format!("{variable} names missing, which does not exist");
        assert_eq!(warnings(&scene), [says]);
    }
}

#[test]
fn mirror_warns_once_of_a_configuration_that_does_not_parse() {
    let scene = Scene::new();
    scene.write(".tofurc", "}\n");
    let arguments =
        "mirror localhost:1/acme/demo --to localhost:2/{namespace}/{type} --plain-http localhost:2";
    let run = scene.tfoci(arguments.split(' ')).exits(1);
    assert_eq!(
        run.stderr.matches("   Warning ").count(),
        1,
        "{}",
        run.stderr
    );
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
    let warning = format!(
        "   Warning `tofu` does not read auth.json ({url}) as it is written: `tfoci login {host}` writes an entry that it reads\n"
    );
    assert_eq!(
        installed.stderr.matches(&warning).count(),
        1,
        "{}",
        installed.stderr
    );
    assert!(!pushed.stderr.contains("Warning"), "{}", pushed.stderr);
}
