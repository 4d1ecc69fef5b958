//! `tfoci login`.

mod terminal;

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::registry::access::PASSWORD;
use crate::support::registry::answer::Answer;
use crate::support::registry::{Access, Fault, Personality, Registry, Seen, Setup};
use crate::support::scene::{Run, Scene};

/// `me` and the password, encoded.
const ENCODED: &str = "bWU6Y29ycmVjdCBob3JzZTogYmF0dGVyeQ==";

/// How a registry that knows `me` requests credentials.
#[derive(Clone, Copy, PartialEq)]
enum Manner {
    /// For a name and password.
    Basic,
    /// For a token, of its own token server.
    Bearer,
    /// It requests none, and checks credentials that are sent.
    Open,
    /// For a name and password, except for `/v2/`, as zot if anonymous users may read a part. A wrong password counts as none.
    Part,
}

fn open(manner: Manner) -> Registry {
    let access = match manner {
        Manner::Bearer => Access::of(Personality::Quay),
        _ => Access::Basic { user: "me" },
    };
    let setup = Setup::of(Personality::Plain).access(access);
    let registry = setup.tokens(|tokens| tokens.user = "me").start();
    let well = Answer::json(200, &json!({}));
    match manner {
        Manner::Open => {
            let is_anonymous = |seen: &Seen| seen.authorization().is_none();
            registry.always(is_anonymous, Fault::Answer(well));
        }
        Manner::Part => {
            let asks = Fault::Answer(well.header("www-authenticate", "Basic realm=\"r\""));
            registry.always(|seen| seen.path == "/v2/", asks);
        }
        Manner::Basic | Manner::Bearer => {}
    }
    registry
}

/// Logs in with a password on standard input. No secret is ever printed.
fn login(scene: &Scene, host: &str, password: &str, more: &str) -> Run {
    let known = format!("login {host} --username me --password-stdin --plain-http {host} {more}");
    let mut command = scene.command(env!("CARGO_BIN_EXE_tfoci"));
    command
        .args(known.split_whitespace())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let _early = child.stdin.take().unwrap().write_all(password.as_bytes());
    let output = child.wait_with_output().unwrap();
    let tidy = |bytes: Vec<u8>| scene.filter(bytes).replace(host, "[HOST]");
    let run = Run {
        status: output.status.code(),
        stdout: tidy(output.stdout),
        stderr: tidy(output.stderr),
    };
    run.keeps_secrets().hides(ENCODED).hides("token-")
}

#[test]
fn credentials_are_checked_and_stored_readable_by_their_owner_only() {
    for manner in [Manner::Basic, Manner::Bearer, Manner::Open, Manner::Part] {
        let (scene, door) = (Scene::new(), open(manner));
        let password = format!("{PASSWORD}\n");
        login(&scene, door.host(), &password, "")
            .succeeds()
            .without_result();
        let path = scene.path(".docker/config.json");
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let entry = format!("{{\n\t\t\t\"auth\": \"{ENCODED}\"\n\t\t}}");
        let auths = format!("{{\n\t\t\"{}\": {entry}\n\t}}", door.host());
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, format!("{{\n\t\"auths\": {auths}\n}}\n"));
        let names: Vec<_> = fs::read_dir(scene.path(".docker")).unwrap().collect();
        assert_eq!(names.len(), 1, "{names:?}");
    }
}

#[test]
fn refused_credentials_are_not_stored() {
    for manner in [Manner::Basic, Manner::Bearer, Manner::Open, Manner::Part] {
        let (scene, door) = (Scene::new(), open(manner));
        login(&scene, door.host(), "wrong", "").exits(1);
        assert!(!scene.path(".docker").exists());
        assert!(!door.seen().is_empty());
    }
}

/// A web site accepts any password.
#[test]
fn a_host_that_is_no_registry_is_refused() {
    for status in [404, 200] {
        let (scene, site) = (Scene::new(), Registry::plain());
        let page = Answer::new(status).header("content-type", "text/html");
        let page = page.body(format!("<html>{PASSWORD}</html>"));
        site.always(|_| true, Fault::Answer(page));
        login(&scene, site.host(), PASSWORD, "").exits(1);
        assert!(!scene.path(".docker").exists());
    }
}

#[test]
fn the_password_is_sent_only_to_a_server_that_requires_it() {
    let (scene, door) = (Scene::new(), open(Manner::Bearer));
    login(&scene, door.host(), PASSWORD, "").succeeds();
    let heard = door.seen().into_iter().map(|seen| {
        let secret = seen.authorization().unwrap_or("none");
        format!("{} {secret}", seen.target)
    });
    let heard: Vec<String> = heard.collect();
    let asks = format!("/token?service=registry Basic {ENCODED}");
    assert_eq!(heard[..2], ["/v2/ none", &asks]);
    assert!(heard[2].starts_with("/v2/ Bearer token-"), "{heard:?}");
    assert_eq!(heard.len(), 3, "{heard:?}");
}

#[test]
fn results_are_documents() {
    let (scene, door) = (Scene::new(), open(Manner::Basic));
    let run = login(&scene, door.host(), PASSWORD, "--format json -q").succeeds();
    let file = "[TMP]/.docker/config.json";
    let expected = json!({"schema": 1, "registry": "[HOST]", "status": "stored", "file": file});
    assert_eq!(run.json(), expected);
    assert_eq!(run.stderr, "");
}

#[test]
fn the_file_is_the_one_that_the_user_or_the_environment_names() {
    let door = open(Manner::Basic);
    let scene = Scene::new()
        .env("DOCKER_CONFIG", "docker")
        .env("REGISTRY_AUTH_FILE", "podman.json");
    login(&scene, door.host(), PASSWORD, "--authfile mine.json").succeeds();
    assert!(scene.path("mine.json").exists() && !scene.path("podman.json").exists());
    login(&scene, door.host(), PASSWORD, "").succeeds();
    assert!(scene.path("podman.json").exists() && !scene.path("docker").exists());
    let scene = Scene::new().env("DOCKER_CONFIG", "docker");
    login(&scene, door.host(), PASSWORD, "").succeeds();
    assert!(scene.path("docker/config.json").exists() && !scene.path(".docker").exists());
}

#[test]
fn the_credential_helper_of_the_file_stores_the_password() {
    let door = open(Manner::Basic);
    let scene = Scene::new();
    let bin = scene.path("bin");
    let path = std::env::var("PATH").unwrap();
    let scene = scene.env("PATH", &format!("{}:{path}", bin.display()));
    scene.write(".docker/config.json", "{\"credsStore\": \"test\"}");
    let script = "#!/bin/sh\necho hunter2 >&2\ncase $1 in store) cat > \"$HOME/kept\" ;; get) cat \"$HOME/kept\" || { echo credentials not found in native keychain; exit 1; } ;; erase) rm \"$HOME/kept\" ;; esac\n";
    scene.write("bin/script", script);
    // Another process writes the file. If this process forked while it had the file open for writing, the system would refuse to run it.
    let install =
        "cp bin/script bin/docker-credential-test && chmod 755 bin/docker-credential-test";
    scene.run("sh", ["-c", install]).succeeds();
    login(&scene, door.host(), PASSWORD, "").succeeds();
    let kept = fs::read_to_string(scene.path("kept")).unwrap();
    let secret = format!("\"Secret\":\"{PASSWORD}\"");
    assert!(kept.contains(&secret), "{kept}");
    let config = fs::read_to_string(scene.path(".docker/config.json")).unwrap();
    assert_eq!(config, "{\"credsStore\": \"test\"}");
    scene.tfoci(["logout", door.host()]).succeeds();
    assert!(!scene.path("kept").exists());
}

#[test]
fn concurrent_logins_are_all_stored() {
    let scene = Scene::new();
    let doors: Vec<Registry> = (0..8).map(|_| open(Manner::Open)).collect();
    std::thread::scope(|scope| {
        for door in &doors {
            scope.spawn(|| login(&scene, door.host(), PASSWORD, "").succeeds());
        }
    });
    let text = fs::read_to_string(scene.path(".docker/config.json")).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["auths"].as_object().unwrap().len(), 8, "{text}");
    std::thread::scope(|scope| {
        for door in &doors {
            scope.spawn(|| scene.tfoci(["logout", door.host()]).succeeds());
        }
    });
    let text = fs::read_to_string(scene.path(".docker/config.json")).unwrap();
    assert_eq!(text, "{\n\t\"auths\": {}\n}\n");
    let names: Vec<_> = fs::read_dir(scene.path(".docker")).unwrap().collect();
    assert_eq!(names.len(), 1, "{names:?}");
}

/// The home directory of a container may not exist, or not be a directory.
#[test]
fn without_a_usable_home_another_file_can_be_named() {
    let scene = Scene::new();
    scene.write("home", "");
    let home = scene.path("home").display().to_string();
    let (scene, door) = (scene.env("HOME", &home), open(Manner::Basic));
    login(&scene, door.host(), PASSWORD, "").exits(1);
    login(&scene, door.host(), PASSWORD, "--authfile mine.json").succeeds();
}

#[test]
fn contradictory_arguments_are_usage_errors() {
    for arguments in [
        &["login", "example.com", "-u", "me"][..],
        &["login", "example.com", "--password-stdin"],
        &["login", "example.com", "-u", "me", "--password-stdin"],
        &["login", "example.com", "-u", "a:b", "--password-stdin"],
        &["login", "example.com", "-u", "me", "--password", "hunter2"],
        &["login", "example.com/path", "-u", "me", "--password-stdin"],
        &["logout", "https://example.com"],
    ] {
        Scene::new().tfoci(arguments).exits(2).without_result();
    }
    login(&Scene::new(), "127.0.0.1:1", &"x".repeat(65537), "").exits(2);
}
