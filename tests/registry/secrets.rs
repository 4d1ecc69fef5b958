//! No secret is ever printed: not at `-vv`, not in JSON, not when something fails.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};

use super::{User, name_at, setup, start};
use crate::support::registry::access::{IDENTITY, PASSWORD};
use crate::support::registry::{Door, Fault, Personality, Quirks, Registry, matching};
use crate::support::signer::Signer;

/// Mirroring, with secrets on both sides.
mod mirroring;

/// A password that no registry knows.
const WRONG: &str = "wrong-but-still-a-secret";

/// The secrets that must not be in any output.
fn secrets(user: &str) -> Vec<String> {
    let mut secrets = [
        "signature=",
        "_state=",
        "scope=",
        "Basic ",
        "Bearer ",
        "token-1",
        "token-2",
    ]
    .map(str::to_owned)
    .to_vec();
    for secret in [PASSWORD, IDENTITY, WRONG] {
        secrets.extend(forms(user, secret));
    }
    secrets
}

/// A secret in plain text, and as it is sent.
fn forms(user: &str, secret: &str) -> [String; 4] {
    let pair = format!("{user}:{secret}");
    [
        secret.to_owned(),
        STANDARD_NO_PAD.encode(secret),
        STANDARD_NO_PAD.encode(pair),
        url::form_urlencoded::byte_serialize(secret.as_bytes()).collect(),
    ]
}

/// Runs `tfoci` as a user, and searches its output for secrets.
fn run(user: &User, name: &str, line: &str) -> String {
    let home = user.folder.path();
    let path = std::env::var("PATH").unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_tfoci"))
        .env_clear()
        .env("HOME", home)
        .env("PATH", format!("{}:{path}", home.join("bin").display()))
        .current_dir(home)
        .args(line.split_whitespace())
        .args(["-vv", "--plain-http", "127.0.0.1", "--format", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let _unread = child.stdin.take().unwrap().write_all(PASSWORD.as_bytes());
    let output = child.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8(said).unwrap();
    for secret in secrets(name) {
        assert!(!said.contains(&secret), "{line}: {secret}\n{said}");
    }
    said
}

/// Runs every command that talks to a registry.
fn run_all(user: &User, name: &str) -> String {
    std::fs::write(user.path("key.asc"), Signer::acme().public_armored()).unwrap();
    let host = &user.host;
    let store = format!("{host}/{}", user.name);
    let provider = "registry.example.net/acme/demo";
    let push = format!("push release --provider {provider} --to {store} --key key.asc");
    let mut said = String::new();
    for command in [
        format!("login {host} -u {name} --password-stdin --authfile own.json"),
        push.clone(),
        push,
        format!("versions {provider} --from {store}"),
        format!("inspect {provider}@1.0.0 --from {store}"),
        format!("install {provider}@1.0.0 --from {store} --into into --platform all"),
        format!("copy {provider} --from {store} --to oci-layout:copied"),
        format!("copy {provider} --from {store} --to {store}-copy"),
        format!("logout {host} --authfile own.json"),
    ] {
        let named = command.contains("--authfile") || user.path("bin").exists();
        let authfile = if named { "" } else { "--authfile auth.json" };
        let line = format!("{command} {authfile} --exact-repository");
        said += &run(user, name, &line);
    }
    said
}

/// Makes URLs of uploads and blobs carry secrets.
fn shows_secrets(quirks: &mut Quirks) {
    (quirks.upload_state, quirks.blobs_elsewhere) = (true, true);
}

fn registry(personality: Personality) -> (Registry, User) {
    let registry = start(personality);
    let user = User::of(&registry, name_at(personality));
    (registry, user)
}

#[test]
fn secrets_stay_hidden_in_successful_runs() {
    for (personality, identity) in [
        (Personality::Ecr, false),
        (Personality::Quay, false),
        (Personality::Harbor, false),
        (Personality::Hub, false),
        (Personality::Hub, true),
        (Personality::Gar, false),
    ] {
        let setup = setup(personality);
        let registry = setup.quirks(shows_secrets).start();
        let mut user = User::of(&registry, name_at(personality));
        if identity {
            user = user.identity();
        }
        std::fs::write(user.path("auth.json"), user.authfile()).unwrap();
        let said = run_all(&user, registry.user().unwrap());
        assert!(said.contains(" Requested PUT http"), "{said}");
        assert!(said.contains("     Using auth.json ("), "{said}");
        assert!(said.contains("?…: 200"), "{said}");
        assert!(said.contains("\"status\": \"present\""), "{said}");
        assert!(user.path("into").is_dir(), "{said}");
        assert!(user.path("copied/index.json").is_file(), "{said}");
        assert_ne!(registry.count(|seen| seen.door == Door::Elsewhere), 0);
        registry.assert_no_leaks();
    }
}

#[test]
fn secrets_stay_hidden_when_the_password_is_wrong() {
    for personality in [Personality::Ecr, Personality::Quay, Personality::Hub] {
        let (registry, user) = registry(personality);
        let auth = user.authfile();
        let pair = |secret: &str| format!("{}:{secret}", registry.user().unwrap());
        let encode = |text: String| STANDARD.encode(text);
        let wrong = auth.replace(&encode(pair(PASSWORD)), &encode(pair(WRONG)));
        assert_ne!(auth, wrong);
        std::fs::write(user.path("auth.json"), wrong).unwrap();
        let said = run_all(&user, registry.user().unwrap());
        assert!(said.contains(" refused "), "{said}");
    }
}

#[test]
fn secrets_of_a_helper_stay_hidden() {
    let (registry, user) = registry(Personality::Quay);
    let name = registry.user().unwrap();
    std::fs::create_dir_all(user.path("bin")).unwrap();
    std::fs::create_dir_all(user.path(".docker")).unwrap();
    let config = serde_json::json!({
        "credHelpers": {&user.host: "works"},
        "auths": {format!("{}/{}", user.host, user.name): {"auth": "###"}},
    });
    std::fs::write(user.path(".docker/config.json"), config.to_string()).unwrap();
    let answer = format!("{{\"Username\":\"{name}\",\"Secret\":\"{PASSWORD}\"}}");
    let broken = format!("{{\"Username\":\"{name}\",{PASSWORD}");
    for (script, works) in [
        (format!("echo '{PASSWORD}' >&2\necho '{answer}'"), true),
        (
            format!("echo '{PASSWORD}'\necho '{PASSWORD}' >&2\nexit 7"),
            false,
        ),
        (format!("echo '{broken}'"), false),
    ] {
        std::fs::write(user.path("script"), format!("#!/bin/sh\n{script}\n")).unwrap();
        let permissions = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(user.path("script"), permissions).unwrap();
        // Another process writes the file. If this process forked while it had the file open for writing, the system would refuse to run
        // it.
        let copied = Command::new("cp")
            .args(["-p", "script", "bin/docker-credential-works"])
            .current_dir(user.folder.path())
            .status();
        assert!(copied.unwrap().success());
        let said = run_all(&user, name);
        let used = "docker-credential-works, named by";
        assert_eq!(said.contains(used), works, "{said}");
        let problem = "its `auth` is not base64 of NAME:PASSWORD";
        assert!(said.contains(problem), "{said}");
    }
}

#[test]
fn secrets_stay_hidden_when_the_network_fails() {
    let faults = [
        Fault::status(400),
        Fault::denied(),
        Fault::Reset,
        Fault::wrong_bytes(),
        Fault::RedirectLoop,
        Fault::RedirectPlain,
        Fault::with("location", "http://other.example/?signature=1"),
        Fault::with("location", "https://me:token-1@[/?signature=1"),
    ];
    let (registry, user) = registry(Personality::Harbor);
    std::fs::write(user.path("auth.json"), user.authfile()).unwrap();
    let name = registry.user().unwrap().to_owned();
    run_all(&user, &name);
    drop(registry);
    for fault in faults {
        let (registry, other) = self::registry(Personality::Harbor);
        std::fs::write(other.path("auth.json"), other.authfile()).unwrap();
        registry.fault(1, matching("PUT", "/uploads/"), fault.clone());
        registry.fault(2, matching("POST", "/uploads/"), fault.clone());
        registry.fault(2, matching("GET", "/blobs/"), fault.clone());
        registry.fault(2, matching("GET", "/token"), fault.clone());
        registry.fault(2, |seen| seen.door == Door::Elsewhere, fault);
        run_all(&other, &name);
    }
}

#[test]
fn secrets_stay_hidden_when_no_server_answers() {
    let (registry, user) = registry(Personality::Harbor);
    std::fs::write(user.path("auth.json"), user.authfile()).unwrap();
    let name = registry.user().unwrap().to_owned();
    drop(registry);
    let from = format!("{}/{} --exact-repository", user.host, user.name);
    let line = format!("versions registry.example.net/acme/demo --from {from}");
    let said = run(&user, &name, &format!("{line} --authfile auth.json"));
    assert!(said.contains("  Retrying http"), "{said}");
}
