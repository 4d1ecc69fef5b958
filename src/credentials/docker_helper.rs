//! Helpers of docker, which store usernames and passwords of OCI registries.
//!
//! `docker-credential-NAME get|store|erase` reads the registry's server URL, or an object to store, and prints
//! `{"Username": "…", "Secret": "…"}`.

use std::ffi::OsString;

use serde::{Deserialize, Serialize};
use tokio::process::Command;
use zeroize::Zeroizing;

use super::program::{Answers, HelperRun};
use super::{CredentialKind, Error, hub};
use crate::config::HelperName;
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

/// What the subcommand `store` reads from stdin.
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
    pub(super) fn new(path: Option<OsString>) -> Self {
        Self {
            path,
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
            server: hub::key_of(domain),
            username,
            secret: password.reveal(),
        };
        // Escaping makes a text at most six times as long. Reallocation would leave copies of the password in memory.
        let size = 6 * (input.server.len() + username.len() + input.secret.len()) + 64;
        let mut bytes = Zeroizing::new(Vec::with_capacity(size));
        // Writing text to memory cannot fail.
        let _written = serde_json::to_writer(&mut *bytes, &input);
        self.run(helper, "store", &bytes).succeeds().await
    }

    /// Erases the credentials of a registry from a helper, under every name of the registry. Returns `false` if the helper had none.
    pub(super) async fn erase(&self, helper: &HelperName, domain: &str) -> Result<bool, Error> {
        let mut erased = false;
        for server in servers(domain) {
            if self.ask(helper, &server).await?.is_some() {
                let mut erase = self.run(helper, "erase", server.as_bytes());
                erase.succeeds().await?;
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
        let mut run = self.run(helper, "get", server.as_bytes());
        let (status, output) = run.run().await?;
        if !status.success() && output.trim_ascii() == NOT_FOUND {
            return Ok(None);
        }
        run.succeeded(status)?;
        let answer = serde_json::from_slice(&output).map_err(|_| run.wrong_answer())?;
        let GetAnswer { username, secret } = answer;
        Ok(match username.as_str() {
            IDENTITY_TOKEN => Some(CredentialKind::IdentityToken(secret)),
            "" => None,
            _ => Some(CredentialKind::Password {
                username,
                password: secret,
            }),
        })
    }

    fn run<'a>(
        &self,
        helper: &'a HelperName,
        action: &'static str,
        input: &'a [u8],
    ) -> HelperRun<'a> {
        let mut command = Command::new(helper.program());
        command.arg(action);
        if let Some(path) = &self.path {
            command.env("PATH", path);
        }
        HelperRun {
            helper: helper.program(),
            command,
            input,
        }
    }
}

/// The names under which a helper may store a registry: [clients use a URL with a scheme](crate::clients#credential-helpers), docker and
/// others a name without one.
fn servers(domain: &str) -> Vec<String> {
    let mut servers = vec![format!("https://{domain}"), domain.to_owned()];
    if hub::key_of(domain) != domain {
        servers.insert(0, hub::key_of(domain).to_owned());
    }
    servers
}
