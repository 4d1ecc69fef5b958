//! `tfoci login`.

mod terminal;

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::support::registry::answer::Answer;
use crate::support::registry::{Fault, Registry, matching};
use crate::support::scene::{Run, Scene};

/// `me:hunter2`, encoded.
const SECRETS: [&str; 3] = ["hunter2", "bWU6aHVudGVyMg", "access-token"];

/// How a registry requests credentials.
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
    /// It is no registry.
    Nothing,
}

/// A registry that knows `me` by the password `hunter2`.
struct Door {
    host: String,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Door {
    fn open(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (name, lines) = (host.clone(), Arc::clone(&heard));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                answer(stream.unwrap(), manner, &name, &lines);
            }
        });
        Self { host, heard }
    }

    fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

fn answer(mut stream: TcpStream, manner: Manner, host: &str, heard: &Mutex<Vec<String>>) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let request = lines.next().unwrap().unwrap();
    let secret = lines
        .map_while(Result::ok)
        .take_while(|line| !line.is_empty())
        .find_map(|line| line.strip_prefix("authorization: ").map(str::to_owned))
        .unwrap_or_default();
    let path = request.split(' ').nth(1).unwrap();
    heard.lock().unwrap().push(format!("{path} {secret}"));
    let known = secret == "Basic bWU6aHVudGVyMg==";
    let realm = format!("Bearer realm=\"http://{host}/token\",service=\"s\"");
    let (status, challenge, body) = match (manner, path) {
        (Manner::Nothing, _) => (404, String::new(), "<html>hunter2</html>"),
        (Manner::Part, "/v2/") => (200, "Basic realm=\"r\"".to_owned(), "{}"),
        (Manner::Part, _) if known => (404, String::new(), ""),
        (Manner::Open, _) if secret.is_empty() => (200, String::new(), "{}"),
        (Manner::Basic | Manner::Open, _) if known => (200, String::new(), "{}"),
        (Manner::Basic | Manner::Open | Manner::Part, _) => {
            (401, "Basic realm=\"r\"".to_owned(), "")
        }
        (Manner::Bearer, "/v2/") if secret == "Bearer access-token" => (200, String::new(), "{}"),
        (Manner::Bearer, "/v2/") => (401, realm, ""),
        (Manner::Bearer, _) if known => (200, String::new(), r#"{"token":"access-token"}"#),
        (Manner::Bearer, _) => (401, String::new(), ""),
    };
    let challenge = match challenge.as_str() {
        "" => String::new(),
        challenge => format!("WWW-Authenticate: {challenge}\r\n"),
    };
    let length = body.len();
    let _gone = write!(
        stream,
        "HTTP/1.1 {status} X\r\n{challenge}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
}

/// Logs in with a password on standard input. No secret is ever printed.
fn login(scene: &Scene, host: &str, password: &str, more: &[&str]) -> Run {
    let mut command = scene.command(env!("CARGO_BIN_EXE_tfoci"));
    command
        .args(["login", host, "--username", "me", "--password-stdin"])
        .args(["--plain-http", host])
        .args(more)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let _early = child.stdin.take().unwrap().write_all(password.as_bytes());
    let output = child.wait_with_output().unwrap();
    let tidy = |bytes: Vec<u8>| {
        let text = String::from_utf8(bytes).unwrap();
        let text = text.replace(
            scene.path("").to_str().unwrap().trim_end_matches('/'),
            "[TMP]",
        );
        text.replace(host, "[HOST]")
    };
    let run = Run {
        status: output.status.code(),
        stdout: tidy(output.stdout),
        stderr: tidy(output.stderr),
    };
    for secret in SECRETS {
        assert!(!run.stdout.contains(secret), "{}", run.stdout);
        assert!(!run.stderr.contains(secret), "{}", run.stderr);
    }
    run
}

#[test]
fn credentials_are_checked_and_stored_readable_by_their_owner_only() {
    for manner in [Manner::Basic, Manner::Bearer, Manner::Open, Manner::Part] {
        let (scene, door) = (Scene::new(), Door::open(manner));
        let run = login(&scene, &door.host, "hunter2\n", &[]).succeeds();
        assert_eq!(run.stdout, "");
        let path = scene.path(".docker/config.json");
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            format!(
                "{{\n\t\"auths\": {{\n\t\t\"{}\": {{\n\t\t\t\"auth\": \"bWU6aHVudGVyMg==\"\n\t\t}}\n\t}}\n}}\n",
                door.host
            )
        );
        let names: Vec<_> = fs::read_dir(scene.path(".docker")).unwrap().collect();
        assert_eq!(names.len(), 1, "{names:?}");
    }
}

#[test]
fn refused_credentials_are_not_stored() {
    for manner in [Manner::Basic, Manner::Bearer, Manner::Open, Manner::Part] {
        let (scene, door) = (Scene::new(), Door::open(manner));
        login(&scene, &door.host, "wrong", &[]).exits(1);
        assert!(!scene.path(".docker").exists());
        assert!(!door.heard().is_empty());
    }
}

#[test]
fn a_host_that_is_no_registry_is_refused() {
    let (scene, door) = (Scene::new(), Door::open(Manner::Nothing));
    login(&scene, &door.host, "hunter2", &[]).exits(1);
    assert!(!scene.path(".docker").exists());
}

#[test]
fn the_password_is_sent_only_to_a_server_that_requires_it() {
    let (scene, door) = (Scene::new(), Door::open(Manner::Bearer));
    login(&scene, &door.host, "hunter2", &[]).succeeds();
    assert_eq!(
        door.heard(),
        [
            "/v2/ ",
            "/token?service=s Basic bWU6aHVudGVyMg==",
            "/v2/ Bearer access-token"
        ]
    );
}

#[test]
fn results_are_documents() {
    let (scene, door) = (Scene::new(), Door::open(Manner::Basic));
    let run = login(&scene, &door.host, "hunter2", &["--format", "json", "-q"]).succeeds();
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    let file = "[TMP]/.docker/config.json";
    assert_eq!(
        document,
        json!({"schema": 1, "registry": "[HOST]", "status": "stored", "file": file})
    );
    assert_eq!(run.stderr, "");
}

#[test]
fn the_file_is_the_one_that_the_user_or_the_environment_names() {
    let door = Door::open(Manner::Basic);
    let scene = Scene::new()
        .env("DOCKER_CONFIG", "docker")
        .env("REGISTRY_AUTH_FILE", "podman.json");
    login(&scene, &door.host, "hunter2", &["--authfile", "mine.json"]).succeeds();
    assert!(scene.path("mine.json").exists() && !scene.path("podman.json").exists());
    login(&scene, &door.host, "hunter2", &[]).succeeds();
    assert!(scene.path("podman.json").exists() && !scene.path("docker").exists());
    let scene = Scene::new().env("DOCKER_CONFIG", "docker");
    login(&scene, &door.host, "hunter2", &[]).succeeds();
    assert!(scene.path("docker/config.json").exists() && !scene.path(".docker").exists());
}

#[test]
fn the_credential_helper_of_the_file_stores_the_password() {
    let door = Door::open(Manner::Basic);
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
    login(&scene, &door.host, "hunter2", &[]).succeeds();
    let kept = fs::read_to_string(scene.path("kept")).unwrap();
    assert!(kept.contains("\"Secret\":\"hunter2\""), "{kept}");
    assert_eq!(
        fs::read_to_string(scene.path(".docker/config.json")).unwrap(),
        "{\"credsStore\": \"test\"}"
    );
    scene.tfoci(["logout", &door.host]).succeeds();
    assert!(!scene.path("kept").exists());
}

#[test]
fn concurrent_logins_are_all_stored() {
    let scene = Scene::new();
    let doors: Vec<Door> = (0..8).map(|_| Door::open(Manner::Open)).collect();
    std::thread::scope(|scope| {
        for door in &doors {
            scope.spawn(|| login(&scene, &door.host, "hunter2", &[]).succeeds());
        }
    });
    let text = fs::read_to_string(scene.path(".docker/config.json")).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["auths"].as_object().unwrap().len(), 8, "{text}");
    std::thread::scope(|scope| {
        for door in &doors {
            scope.spawn(|| scene.tfoci(["logout", &door.host]).succeeds());
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
    let (scene, door) = (scene.env("HOME", &home), Door::open(Manner::Basic));
    login(&scene, &door.host, "hunter2", &[]).exits(1);
    login(&scene, &door.host, "hunter2", &["--authfile", "mine.json"]).succeeds();
}

/// A web site accepts any password.
#[test]
fn nothing_is_stored_for_a_web_site() {
    let scene = Scene::new();
    let registry = Registry::plain();
    let page = Answer::new(200).header("content-type", "text/html");
    registry.always(
        matching("GET", "/v2/"),
        Fault::Answer(page.body("<html></html>")),
    );
    let host = registry.host();
    login(&scene, host, "secret", &[]).exits(1);
    assert!(!scene.path(".docker/config.json").exists());
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
    login(&Scene::new(), "127.0.0.1:1", &"x".repeat(65537), &[]).exits(2);
}
