use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::{LINUX, demo, mirror, said, scene};
use crate::support::origin::{Door, Fault, Origin, Provider, Setup, asks, at};
use crate::support::scene::{Run, Scene};

/// The variable that is for an origin.
fn variable(origin: &Origin) -> String {
    format!("TF_TOKEN_{}", origin.host())
}

fn with_token(origin: &Origin, token: &str) -> Scene {
    scene(origin).env(&variable(origin), token)
}

fn credentials(origin: &Origin, token: &str) -> String {
    format!(
        "credentials \"{}\" {{ token = \"{token}\" }}\n",
        origin.host()
    )
}

/// Every request, and what it said about who it is: `versions acme/demo: Bearer sesame`.
fn introductions(origin: &Origin) -> Vec<String> {
    let seen = origin.seen();
    let lines = origin.transcript();
    let lines = lines.iter().zip(&seen).map(|(line, seen)| {
        let door = match seen.door {
            Door::Front => "",
            Door::Elsewhere => " elsewhere",
            Door::Plain => " without TLS",
        };
        let words: Vec<&str> = line.split(' ').collect();
        let who = seen.authorization().unwrap_or("nobody");
        format!("{}{door}: {who}", words[1..words.len() - 1].join(" "))
    });
    let mut lines: Vec<String> = lines.collect();
    lines.sort();
    lines
}

/// Nothing that was printed holds the secret.
#[track_caller]
fn keeps(run: Run, secret: &str) -> Run {
    for text in [&run.stdout, &run.stderr] {
        assert!(!text.contains(secret), "{text}");
    }
    run
}

#[test]
fn the_token_goes_to_the_registry_and_to_nothing_else() {
    let origin = Setup::new([demo()])
        .token("sesame")
        .service_at(Door::Elsewhere)
        .files_at(Door::Front)
        .start();
    let scene = with_token(&origin, "sesame");
    keeps(mirror(&scene, &origin, &["-vv"]).succeeds(), "sesame");
    assert_eq!(
        introductions(&origin),
        [
            "discovery: Bearer sesame",
            "document acme/demo 1.0.0: nobody",
            "download acme/demo 1.0.0 linux_amd64 elsewhere: Bearer sesame",
            "package acme/demo 1.0.0 linux_amd64: nobody",
            "signature acme/demo 1.0.0: nobody",
            "versions acme/demo elsewhere: Bearer sesame",
        ]
    );
    origin.assert_no_leaks();
}

#[test]
fn no_redirect_takes_the_token_along() {
    let origin = Origin::of([demo()]);
    let scene = with_token(&origin, "sesame");
    for kind in ["versions", "download"] {
        origin.fault(1, at(Door::Front, asks(kind)), Fault::RedirectElsewhere);
    }
    mirror(&scene, &origin, &[]).succeeds();
    let introductions = introductions(&origin);
    for line in [
        "versions acme/demo: Bearer sesame",
        "versions acme/demo elsewhere: nobody",
        "download acme/demo 1.0.0 linux_amd64: Bearer sesame",
        "download acme/demo 1.0.0 linux_amd64 elsewhere: nobody",
    ] {
        assert!(
            introductions.iter().any(|one| one == line),
            "{introductions:#?}"
        );
    }
}

#[test]
fn nothing_leaves_tls() {
    for kind in [
        "discovery",
        "versions",
        "download",
        "document",
        "signature",
        "package",
    ] {
        let origin = Origin::of([demo()]);
        let scene = with_token(&origin, "sesame");
        origin.always(at(Door::Front, asks(kind)), Fault::RedirectPlain);
        let run = mirror(&scene, &origin, &[]).exits(1);
        let text = said(&run, &origin);
        assert!(text.contains("refusing to use http"), "{text}");
        assert!(
            text.contains("hint: to speak to it without TLS, `--plain-http [PLAIN]`"),
            "{text}"
        );
        assert_eq!(origin.count(|seen| seen.door == Door::Plain), 0);
    }
}

#[test]
fn sources_of_tokens_count_in_the_order_of_clients() {
    let origin = Setup::new([demo()]).token("first").start();
    let host = origin.host();
    let json = |token: &str| format!(r#"{{"credentials": {{"{host}": {{"token": "{token}"}}}}}}"#);
    let variable = variable(&origin);
    let all = |scene: Scene, tokens: [&str; 3]| {
        scene.write(".terraform.d/credentials.tfrc.json", json(tokens[1]));
        scene.write(".tofurc", credentials(&origin, tokens[2]));
        scene.env(&variable, tokens[0])
    };
    for tokens in [["first", "x", "x"], ["", "first", "x"]] {
        let scene = all(scene(&origin), tokens);
        mirror(&scene, &origin, &[]).succeeds();
    }
    // Whoever names a configuration has no other file, as clients have it.
    let scene = all(scene(&origin), ["", "x", "x"]);
    scene.write("mine.tfrc", credentials(&origin, "first"));
    mirror(&scene, &origin, &["--cli-config", "mine.tfrc"]).succeeds();
}

#[test]
fn a_source_that_is_broken_hides_no_other() {
    let origin = Setup::new([demo()]).token("sesame").start();
    let scene = with_token(&origin, "line\nbreak");
    scene.write(
        ".terraform.d/credentials.tfrc.json",
        "{\"credentials\": sesame",
    );
    scene.write(".tofurc", credentials(&origin, "sesame"));
    scene.write(".netrc", "hunter2");
    let run = keeps(mirror(&scene, &origin, &["-v"]).succeeds(), "hunter2");
    let text = said(&run, &origin);
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.contains("absent"))
        .collect();
    assert_eq!(
        lines[..4],
        [
            "Considered [TMP]/.terraform.d/credentials.tfrc.json: cannot be used: [TMP]/.terraform.d/credentials.tfrc.json is not a CLI configuration, not valid JSON, at line 1, column 17",
            "Considered [TMP]/.tofurc: 1 entry",
            "Considered [TMP]/.netrc: cannot be used: [TMP]/.netrc is not a .netrc, line 1: expected `machine`, `default`, `login`, `password`, `account` or `macdef`",
            "     Using [TMP]/.tofurc (credentials \"[ORIGIN]\") for [ORIGIN]",
        ]
    );
}

#[test]
fn a_token_that_is_refused_is_said_to_be_from_somewhere() {
    let origin = Setup::new([demo()]).token("sesame").start();
    let scene = with_token(&origin, "hunter2");
    let run = keeps(mirror(&scene, &origin, &["-v"]).exits(1), "hunter2");
    let text = said(&run, &origin);
    let error = &text[text.find("     Using").unwrap()..];
    assert_eq!(
        error,
        "     Using TF_TOKEN_[ORIGIN] for [ORIGIN]\n\
        error: the request for the list of versions was refused for [ORIGIN]/acme/demo in [ORIGIN]\n  \
        from https://[ORIGIN]/v1/providers/acme/demo/versions\n  \
        answered 403\n  \
        tried the token from TF_TOKEN_[ORIGIN]\n\n\
        hint: the token may have expired, or may not read this provider\n"
    );
}

/// A token helper that writes down what it is asked.
fn helper(scene: &Scene, directory: &str, script: &str) {
    let path = scene.path(format!("{directory}/terraform-credentials-vault"));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    // Written by another process: whoever forks while we write keeps the file busy, and it cannot be run.
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
        let run = keeps(mirror(&scene, &origin, &["-v"]).succeeds(), "sesame");
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
fn a_helper_that_fails_matters_only_where_a_token_is_wanted() {
    let block = "credentials_helper \"vault\" {}\n";
    for (script, reason) in [
        (
            "exit 7",
            "terraform-credentials-vault failed to get: exit 7",
        ),
        (
            "echo sesame",
            "terraform-credentials-vault answered something that is no credentials\n    expected JSON with token, at most 65536 bytes",
        ),
        (
            "yes sesame",
            "terraform-credentials-vault answered something that is no credentials\n    expected JSON with token, at most 65536 bytes",
        ),
    ] {
        let open = Origin::of([demo()]);
        let scene = scene(&open);
        helper(&scene, ".terraform.d/plugins", script);
        scene.write(".tofurc", block);
        mirror(&scene, &open, &[]).succeeds();

        let closed = Setup::new([demo()]).token("sesame").start();
        let run = keeps(mirror(&scene, &closed, &[]).exits(1), "sesame");
        let wanted = format!("\n  tried no token, since none was found for [ORIGIN]\n  {reason}\n");
        let text = said(&run, &closed);
        assert!(text.contains(&wanted), "{text}");
    }
}

#[test]
fn a_host_block_takes_the_place_of_discovery() {
    let origin = Setup::new([demo()]).token("sesame").start();
    let scene = scene(&origin).env("TF_TOKEN_example_com", "sesame");
    scene.write(".tofurc", origin.host_block("example.com"));
    let arguments = [
        "mirror",
        "example.com/acme/demo",
        "--to",
        "oci-layout:store",
        "--ca-file",
        "ca.pem",
    ];
    let run = scene.tfoci(arguments).succeeds();
    assert!(
        run.stdout
            .starts_with("oci-layout:store/example.com/acme/demo:1.0.0@")
    );
    assert_eq!(
        origin.counters(),
        "1 versions, 1 download, 1 document, 1 signature, 1 package"
    );
    origin.assert_no_leaks();
    scene.write(
        ".tofurc",
        "host \"example.com\" {\n  services = { \"providers.v2\" = \"/\" }\n}\n",
    );
    let run = scene.tfoci(arguments).exits(1);
    let wanted = "error: example.com does not offer a provider registry for example.com/acme/demo in example.com\n  by its `host` block in the CLI configuration\n  expected providers.v1\n  received providers.v2\n";
    assert!(run.stderr.starts_with(wanted), "{}", run.stderr);
}

#[test]
fn packages_get_names_and_passwords_of_their_own_host() {
    let origin = Setup::new([demo()])
        .token("sesame")
        .package_login("robot", "hunter2")
        .files_at(Door::Elsewhere)
        .start();
    let scene = with_token(&origin, "sesame");
    scene.write(
        ".netrc",
        "machine localhost login x password y\ndefault login x password y\n",
    );
    let run = mirror(&scene, &origin, &[]).exits(1);
    let text = said(&run, &origin);
    let wanted = "    tried no password, since no .netrc has one for [ELSEWHERE]\n\nhint: packages get names and passwords, never tokens: `machine [ELSEWHERE]` in .netrc\n";
    assert!(text.ends_with(wanted), "{text}");

    origin.forget();
    scene.write(
        "mine",
        "machine 127.0.0.1\n  login robot\n  password hunter2\n",
    );
    let scene = scene.env("NETRC", "mine");
    let run = keeps(mirror(&scene, &origin, &["-v"]).succeeds(), "hunter2");
    assert!(said(&run, &origin).contains("     Using mine (machine 127.0.0.1) for [ELSEWHERE]\n"));
    assert_eq!(
        introductions(&origin),
        [
            "discovery: Bearer sesame",
            "document acme/demo 1.0.0 elsewhere: nobody",
            "download acme/demo 1.0.0 linux_amd64: Bearer sesame",
            "package acme/demo 1.0.0 linux_amd64 elsewhere: Basic cm9ib3Q6aHVudGVyMg==",
            "signature acme/demo 1.0.0 elsewhere: nobody",
            "versions acme/demo: Bearer sesame",
        ]
    );
}

#[test]
fn a_password_goes_without_tls_only_where_that_was_asked_for() {
    let origin = Setup::new([demo()])
        .package_login("robot", "hunter2")
        .files_at(Door::Plain)
        .start();
    let scene = scene(&origin);
    scene.write(".netrc", "machine 127.0.0.1 login robot password hunter2");
    mirror(&scene, &origin, &[]).exits(1);
    assert_eq!(origin.count(|seen| seen.door == Door::Plain), 0);
    let plain = origin.doors().plain.strip_prefix("http://").unwrap();
    mirror(&scene, &origin, &["--plain-http", plain]).succeeds();
    assert_eq!(origin.count(|seen| seen.authorization().is_some()), 1);
}

#[test]
fn no_redirect_takes_the_password_along() {
    let origin = Setup::new([demo()]).start();
    let scene = scene(&origin);
    scene.write(".netrc", "machine localhost login robot password hunter2");
    origin.always(at(Door::Front, asks("package")), Fault::RedirectElsewhere);
    mirror(&scene, &origin, &[]).succeeds();
    let basic = "package acme/demo 1.0.0 linux_amd64: Basic cm9ib3Q6aHVudGVyMg==";
    let nobody = "package acme/demo 1.0.0 linux_amd64 elsewhere: nobody";
    let introductions = introductions(&origin);
    for line in [basic, nobody] {
        assert!(
            introductions.iter().any(|one| one == line),
            "{introductions:#?}"
        );
    }
}

#[test]
fn the_token_of_a_network_mirrors_host_is_for_its_documents() {
    let setup = Setup::new([Provider::demo(&[LINUX])]).mirror_token("sesame");
    let origin = setup.start();
    let from = format!("network-mirror:{}", origin.mirror_url());
    let arguments = [
        "mirror",
        "example.com/acme/demo",
        "--from",
        &from,
        "--to",
        "oci-layout:store",
        "--ca-file",
        "ca.pem",
        "--allow-unsigned",
        "example.com/acme/demo",
    ];
    let closed = scene(&origin).tfoci(arguments).exits(1);
    let text = said(&closed, &origin);
    assert!(
        text.contains("\n  answered 401\n  tried no token, since none was found for [ORIGIN]\n"),
        "{text}"
    );
    origin.forget();
    keeps(
        with_token(&origin, "sesame").tfoci(arguments).succeeds(),
        "sesame",
    );
    assert_eq!(
        introductions(&origin)
            .into_iter()
            .filter(|line| !line.starts_with("package"))
            .collect::<Vec<_>>(),
        [
            "mirror-index acme/demo: Bearer sesame",
            "mirror-version acme/demo 1.0.0: Bearer sesame",
        ]
    );
    origin.assert_no_leaks();
}
