//! Where credentials come from, as `-v` tells it. (What counts for which repository is tested in the library.)

use crate::support::scene::Scene;

/// What `-v` says about sources, for a registry that nothing is kept for.
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
fn the_variables_of_docker_and_podman_count_and_clients_are_said_to_ignore_them() {
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
fn every_place_is_named_and_a_broken_one_says_why() {
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
    // The keeper's own file must be one, so another is named for it.
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
fn an_authfile_stands_for_all_files() {
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
