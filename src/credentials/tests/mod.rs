//! These tests use scripts as helpers and check file modes, so they need Unix.
#![cfg(unix)]

mod choice;
mod helpers;
mod origins;
mod storing;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use proptest::prelude::*;
use tempfile::TempDir;

use super::docker_file::DockerFile;
use super::locations::read_docker_config;
use super::*;

/// A home directory with credential files and helpers.
struct HomeDirectory(TempDir);

impl HomeDirectory {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn helper(&self, name: &str, script: &str) {
        self.program(&format!("bin/docker-credential-{name}"), script);
    }

    /// Another process writes the program: a fork of this one would inherit the open file, and executing it would fail with "text file
    /// busy".
    fn program(&self, name: &str, script: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let wrote = Command::new("sh")
            .args([
                "-c",
                "printf '%s' \"$2\" > \"$1\" && chmod 755 \"$1\"",
                "sh",
            ])
            .arg(&path)
            .arg(format!("#!/bin/sh\n{script}\n"))
            .status();
        assert!(wrote.unwrap().success());
    }

    fn locations(&self) -> Locations {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut directories = vec![self.path("bin")];
        directories.extend(std::env::split_paths(&path));
        Locations {
            environment: Environment {
                home: Some(self.0.path().to_owned()),
                xdg_runtime_dir: Some(self.path("run")),
                path: Some(std::env::join_paths(directories).unwrap()),
                ..Environment::default()
            },
            ..Locations::default()
        }
    }

    fn credentials(&self) -> Credentials {
        Credentials::at(self.locations())
    }
}

fn auth(pair: &str) -> String {
    use base64::Engine as _;
    format!(
        r#"{{"auth":"{}"}}"#,
        base64::engine::general_purpose::STANDARD.encode(pair)
    )
}

fn file(entries: &[(&str, &str)]) -> String {
    let entries = entries
        .iter()
        .map(|(key, pair)| format!("\"{key}\":{}", auth(pair)));
    format!(
        r#"{{"auths":{{{}}}}}"#,
        entries.collect::<Vec<_>>().join(",")
    )
}

fn find(credentials: &Credentials, repository: &str) -> Result<Option<Credential>, Error> {
    let (host, name) = repository.split_once('/').unwrap_or((repository, ""));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(credentials.for_repository(host, name))
}

/// The credential for a repository as text: `NAME:PASSWORD`, or the token.
fn found(credentials: &Credentials, repository: &str) -> String {
    match find(credentials, repository).unwrap().map(|one| one.kind) {
        None => "none".to_owned(),
        Some(CredentialKind::Password { username, password }) => {
            format!("{username}:{}", password.reveal())
        }
        Some(CredentialKind::IdentityToken(token)) => format!("identity {}", token.reveal()),
        Some(CredentialKind::AccessToken(token)) => format!("access {}", token.reveal()),
    }
}

fn failure(credentials: &Credentials, repository: &str) -> String {
    find(credentials, repository).unwrap_err().to_string()
}

#[test]
fn secrets_are_not_printed() {
    let home = HomeDirectory::new();
    home.write(
        ".docker/config.json",
        &file(&[("example.com", "me:hunter2")]),
    );
    home.write(
        ".tofurc",
        "oci_credentials \"b.example.com\" { username = \"me\", password = \"hunter2\" }",
    );
    let credentials = home.credentials();
    let found = find(&credentials, "b.example.com").unwrap().unwrap();
    let store = CredentialStore::new(&home.locations(), "example.com").unwrap();
    let file = fs::read(home.path(".docker/config.json")).unwrap();
    let (parsed, read) = (
        DockerFile::parse(&file),
        read_docker_config(&home.path(".docker/config.json")),
    );
    let shown = format!(
        "{credentials:?}{found:?}{:?}{:?}{:?}{store:?}{parsed:?}{read:?}",
        found.kind,
        found.basic(),
        credentials.registry_sources()
    );
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(!shown.contains("bWU6aHVudGVyMg"), "{shown}");
}

proptest! {
    #[test]
    fn any_file_is_read_or_refused_and_prints_to_the_same(
        text in "\\PC{0,100}|\\{(\"(auths|credHelpers|credsStore|x)\": ?(\\{\"[a-z./]{0,8}\": ?(\\{\"auth\": ?\"[A-Za-z=]{0,8}\"\\}|null|1)\\}|\"[a-z]{0,3}\")(, )?){0,3}\\}"
    ) {
        if let Ok(file) = DockerFile::parse(text.as_bytes()) {
            let printed = file.print(0).unwrap();
            let again = DockerFile::parse(printed.reveal().as_bytes()).unwrap();
            prop_assert_eq!(again.print(0).unwrap(), printed);
            let _ = docker::entries(&file);
        }
    }
}
