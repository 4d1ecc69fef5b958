//! Credential helpers. There are two protocols.
//!
//! - `docker-credential-NAME get|store|erase` stores usernames and passwords of OCI registries. It reads the registry's server URL, or an
//! object to store, and prints `{"Username": "…", "Secret": "…"}`.
//!
//! - `terraform-credentials-NAME ARGUMENT... get HOST` stores tokens of provider registries. It prints `{"token": "…"}`, or `{}`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::process::Command;
use zeroize::Zeroizing;

use super::program::{Answers, HelperRun, Output};
use super::{CredentialKind, Error, HelperAction, docker};
use crate::address::Hostname;
use crate::config::HelperName;
use crate::config::cli::CredentialsHelper;
use crate::secret::Secret;

/// The output of docker's helpers for an unknown registry ([clients: credential helpers](crate::clients#credential-helpers)).
const NOT_FOUND: &[u8] = b"credentials not found in native keychain";
/// The username that marks the secret as an identity token.
const IDENTITY_TOKEN: &str = "<token>";

/// Docker's helpers, with a cache of their answers.
#[derive(Debug)]
pub(super) struct DockerHelpers {
    /// `PATH` for the helpers; `None` inherits it from tfoci.
    path: Option<OsString>,
    timeout: Duration,
    /// The answers by helper and registry.
    answers: Answers<(HelperName, String), CredentialKind>,
}

/// The output of `get`.
#[derive(Deserialize)]
struct GetAnswer {
    #[serde(rename = "Username", default)]
    username: String,
    #[serde(rename = "Secret", default)]
    secret: Secret,
}

/// The input of `store`.
#[derive(Serialize)]
struct StoreInput<'a> {
    #[serde(rename = "ServerURL")]
    server: &'a str,
    #[serde(rename = "Username")]
    username: &'a str,
    #[serde(rename = "Secret")]
    secret: &'a str,
}

impl DockerHelpers {
    pub(super) fn new(path: Option<OsString>, timeout: Duration) -> Self {
        Self {
            path,
            timeout,
            answers: Answers::default(),
        }
    }

    /// Asks a helper for the credentials of a registry.
    pub(super) async fn get(
        &self,
        helper: &HelperName,
        domain: &str,
    ) -> Result<Option<CredentialKind>, Error> {
        let ask = async {
            for server in servers(domain) {
                let answer = self.ask(helper, &server).await?;
                if answer.is_some() {
                    return Ok(answer);
                }
            }
            Ok(None)
        };
        let question = (helper.clone(), domain.to_owned());
        self.answers.get(question, ask).await
    }

    /// Stores a username and password with a helper, under docker's key of the registry.
    pub(super) async fn store(
        &self,
        helper: &HelperName,
        domain: &str,
        username: &str,
        password: &Secret,
    ) -> Result<(), Error> {
        let input = StoreInput {
            server: docker::key_of(domain),
            username,
            secret: password.reveal(),
        };
        // Escaping makes a text at most six times as long. Reallocation would leave copies of the password in memory.
        let size = 6 * (input.server.len() + username.len() + input.secret.len()) + 64;
        let mut bytes = Zeroizing::new(Vec::with_capacity(size));
        // Writing text to memory cannot fail.
        let _written = serde_json::to_writer(&mut *bytes, &input);
        self.run(helper, HelperAction::Store, &bytes, must_succeed)
            .await
    }

    /// Erases the credentials of a registry from a helper, under every name of the registry. Returns `false` if the helper had none.
    pub(super) async fn erase(&self, helper: &HelperName, domain: &str) -> Result<bool, Error> {
        let mut erased = false;
        for server in servers(domain) {
            if self.ask(helper, &server).await?.is_some() {
                let input = server.as_bytes();
                self.run(helper, HelperAction::Erase, input, must_succeed)
                    .await?;
                erased = true;
            }
        }
        Ok(erased)
    }

    async fn ask(
        &self,
        helper: &HelperName,
        server: &str,
    ) -> Result<Option<CredentialKind>, Error> {
        let read = |run: &HelperRun<'_>, status: ExitStatus, output: &Output| {
            if !status.success() && output.trim_ascii() == NOT_FOUND {
                return Ok(None);
            }
            run.succeeded(status)?;
            let answer = serde_json::from_slice(output).map_err(|_| run.wrong_answer())?;
            let GetAnswer { username, secret } = answer;
            Ok(match username.as_str() {
                IDENTITY_TOKEN => Some(CredentialKind::IdentityToken(secret)),
                "" => None,
                _ => Some(CredentialKind::Password {
                    username,
                    password: secret,
                }),
            })
        };
        self.run(helper, HelperAction::Get, server.as_bytes(), read)
            .await
    }

    async fn run<T>(
        &self,
        helper: &HelperName,
        action: HelperAction,
        input: &[u8],
        read: impl FnOnce(&HelperRun<'_>, ExitStatus, &Output) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let program = helper.program();
        let mut command = Command::new(&program);
        command.arg(action.as_str());
        if let Some(path) = &self.path {
            command.env("PATH", path);
        }
        let run = HelperRun {
            helper: &program,
            action,
            input,
            timeout: self.timeout,
        };
        let (status, output) = run.run(command).await?;
        read(&run, status, &output)
    }
}

fn must_succeed(run: &HelperRun<'_>, status: ExitStatus, _: &Output) -> Result<(), Error> {
    run.succeeded(status)
}

/// The names under which a helper may store a registry: [clients use a URL with a scheme](crate::clients#credential-helpers), docker and
/// others a name without one.
fn servers(domain: &str) -> Vec<String> {
    let mut servers = vec![format!("https://{domain}"), domain.to_owned()];
    if docker::key_of(domain) != domain {
        servers.insert(0, docker::key_of(domain).to_owned());
    }
    servers
}

/// The token helper of the CLI configuration, with a cache of its answers.
#[derive(Debug)]
pub(super) struct TokenHelper {
    /// The name of the program, for messages.
    name: String,
    /// The path of the program, or its name if no directory contains it.
    program: PathBuf,
    arguments: Vec<String>,
    timeout: Duration,
    answers: Answers<Hostname, Secret>,
}

/// The answer of a token helper. Other members are ignored.
#[derive(Deserialize)]
struct TokenAnswer {
    token: Option<Secret>,
}

impl TokenHelper {
    /// Finds the program in the first directory that contains it.
    pub(super) fn new(
        block: CredentialsHelper,
        directories: &[PathBuf],
        timeout: Duration,
    ) -> Self {
        let name = block.program();
        let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
        let mut paths = directories.iter().map(|directory| directory.join(&file));
        let program = paths.find(|path| path.is_file());
        Self {
            program: program.unwrap_or_else(|| Path::new(&name).to_owned()),
            name,
            arguments: block.arguments,
            timeout,
            answers: Answers::default(),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Requests the token of a host from the helper.
    pub(super) async fn get(&self, host: &Hostname) -> Result<Option<Secret>, Error> {
        self.answers.get(host.clone(), self.ask(host)).await
    }

    async fn ask(&self, host: &Hostname) -> Result<Option<Secret>, Error> {
        let run = HelperRun {
            helper: &self.name,
            action: HelperAction::GetToken,
            input: b"",
            timeout: self.timeout,
        };
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .arg(run.action.as_str())
            .arg(host.as_ascii());
        let (status, output) = run.run(command).await?;
        run.succeeded(status)?;
        let answer: TokenAnswer =
            serde_json::from_slice(&output).map_err(|_| run.wrong_answer())?;
        Ok(answer.token)
    }
}
