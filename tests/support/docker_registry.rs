//! Real registries, which run as programs: Debian's `docker-registry` (distribution 2.8), and `zot`.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use tempfile::TempDir;

use super::port;
use super::programs::find;
use super::tls::Identity;
use super::token_server::{ISSUER, SERVICE, TokenServer};
use super::wait::{PATIENCE, glance};

/// The name and password that are accepted.
pub const USER: &str = "robot";
pub const PASSWORD: &str = "correct-horse";
/// The htpasswd line for them, with bcrypt's lowest cost.
const HTPASSWD: &str = "robot:$2y$05$abcdefghijklmnopqrstuuZ0Fx87Pb/Aqb0E90lfvCwzXnaFKUHpS\n";

/// How many ports are tried, since another process may take a free port before the program listens on it.
const ATTEMPTS: usize = 5;

/// Which program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    DockerRegistry,
    Zot,
}

/// The setup of a registry.
#[derive(Default)]
pub struct Options<'a> {
    /// The identity for TLS.
    pub tls: Option<&'a Identity>,
    /// Whether it requires [`USER`] and [`PASSWORD`].
    pub password: bool,
    /// The repositories that anonymous users may read in spite of that; `zot` only.
    pub open: Option<&'static str>,
    /// The server whose tokens it requires; `docker-registry` only.
    pub tokens: Option<&'a TokenServer>,
}

/// A program that runs until it is dropped, with its own storage.
pub struct Foreign {
    child: Child,
    port: u16,
    directory: TempDir,
}

impl Program {
    fn name(self) -> &'static str {
        match self {
            Self::DockerRegistry => "docker-registry",
            Self::Zot => "zot",
        }
    }

    /// Starts the program, if it is installed.
    #[track_caller]
    pub fn start(self, options: &Options<'_>) -> Option<Foreign> {
        let program = find(self.name())?;
        for _ in 0..ATTEMPTS {
            if let Some(running) = self.attempt(&program, options) {
                return Some(running);
            }
        }
        panic!("{} does not start", self.name());
    }

    fn attempt(self, program: &Path, options: &Options<'_>) -> Option<Foreign> {
        let directory = TempDir::new().unwrap();
        let port = port::unused();
        let config = directory.path().join("config.json");
        fs::write(&config, self.config(directory.path(), port, options)).unwrap();
        fs::write(directory.path().join("htpasswd"), HTPASSWD).unwrap();
        if let Some(tokens) = options.tokens {
            fs::write(directory.path().join("tokens.crt"), tokens.certificate()).unwrap();
        }
        if let Some(identity) = options.tls {
            fs::write(directory.path().join("server.crt"), &identity.certificate).unwrap();
            fs::write(directory.path().join("server.key"), &identity.key).unwrap();
        }
        let log = File::create(directory.path().join("log")).unwrap();
        let mut child = Command::new(program)
            .arg("serve")
            .arg(&config)
            .env_clear()
            .env("HOME", directory.path())
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE && child.try_wait().unwrap().is_none() {
            if answers(port, options.tls.is_some()) {
                return Some(Foreign {
                    child,
                    port,
                    directory,
                });
            }
            glance(begun);
        }
        let _gone = child.kill();
        let _status = child.wait();
        None
    }

    fn config(self, directory: &Path, port: u16, options: &Options<'_>) -> String {
        let path = |name: &str| directory.join(name).display().to_string();
        let mut config = match self {
            // JSON, which is valid YAML.
            Self::DockerRegistry => serde_json::json!({
                "version": "0.1",
                "log": { "level": "error" },
                "storage": {
                    "filesystem": { "rootdirectory": path("storage") },
                    "delete": { "enabled": true },
                },
                "http": { "addr": format!("127.0.0.1:{port}"), "secret": "a secret" },
            }),
            Self::Zot => serde_json::json!({
                "distSpecVersion": "1.1.0",
                "storage": { "rootDirectory": path("storage"), "gc": false },
                "http": { "address": "127.0.0.1", "port": port.to_string() },
                "log": { "level": "error" },
            }),
        };
        if options.tls.is_some() {
            let names = match self {
                Self::DockerRegistry => ("certificate", "key"),
                Self::Zot => ("cert", "key"),
            };
            let tls = &mut config["http"]["tls"];
            tls[names.0] = path("server.crt").into();
            tls[names.1] = path("server.key").into();
        }
        if options.password {
            let file = path("htpasswd");
            match self {
                Self::DockerRegistry => {
                    config["auth"] =
                        serde_json::json!({ "htpasswd": { "realm": "tests", "path": file } });
                }
                Self::Zot => config["http"]["auth"]["htpasswd"]["path"] = file.into(),
            }
        }
        if let Some(open) = options.open {
            let all = ["read", "create", "update"];
            config["http"]["accessControl"]["repositories"] = serde_json::json!({
                (open): { "anonymousPolicy": ["read"], "defaultPolicy": all },
                "**": { "defaultPolicy": all },
            });
        }
        if let Some(tokens) = options.tokens {
            config["auth"] = serde_json::json!({ "token": {
                "realm": tokens.url(), "service": SERVICE, "issuer": ISSUER, "rootcertbundle": path("tokens.crt"),
            } });
        }
        config.to_string()
    }
}

impl Foreign {
    /// `127.0.0.1:PORT`
    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The requests so far, as `METHOD PATH STATUS`; `docker-registry` only, which logs a request before it answers.
    pub fn requests(&self) -> Vec<String> {
        let log = fs::read_to_string(self.directory.path().join("log")).unwrap();
        let request = |line: &str| {
            let (_, rest) = line.split_once(" \"")?;
            let (request, rest) = rest.split_once("\" ")?;
            let (method, path) = request.split_once(" /v2/")?;
            let path = path.strip_suffix(" HTTP/1.1")?;
            Some(format!("{method} {path} {}", rest.split(' ').next()?))
        };
        log.lines().filter_map(request).collect()
    }

    /// Runs the collector of `docker-registry`, which deletes manifests without a tag too.
    pub fn collect_untagged(&self) {
        let mut collector = Command::new(find("docker-registry").unwrap());
        let config = self.directory.path().join("config.json");
        collector
            .args(["garbage-collect", "--delete-untagged"])
            .arg(config);
        let output = collector.output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _status = self.child.wait();
    }
}

/// Whether it answers requests. A server with TLS also answers plain text.
fn answers(port: u16, tls: bool) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else {
        return false;
    };
    if tls {
        return true;
    }
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let sent = stream.write_all(b"GET /v2/ HTTP/1.0\r\n\r\n");
    let mut answer = [0; 5];
    sent.is_ok() && stream.read_exact(&mut answer).is_ok() && &answer == b"HTTP/"
}
