//! Credential helpers: programs `docker-credential-NAME` that keep secrets elsewhere.
//!
//! A helper is asked once for each registry, whatever it answers.

use std::collections::HashMap;
use std::ffi::OsString;
use std::process::ExitStatus;
use std::time::Duration;

use serde::Deserialize;
use tokio::process::Command;
use tokio::sync::Mutex;

use super::means::Means;
use super::program::{self, LONGEST, Question};
use super::{Action, Error, hub};
use crate::config::{HelperName, Hidden};

/// How long a helper may take. Somebody may have to unlock a key ring.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// What helpers print when they know nothing ([clients: credential helpers](crate::clients#credential-helpers)).
const NOT_FOUND: &str = "credentials not found in native keychain";
/// The name that says that the secret is an identity token.
const TOKEN: &str = "<token>";

/// By helper and registry.
type Told = HashMap<(HelperName, String), Result<Option<Means>, Error>>;

/// Runs helpers, and remembers what they told.
#[derive(Debug)]
pub(super) struct Helpers {
    /// Where programs are; `None` leaves that to the system.
    path: Option<OsString>,
    patience: Duration,
    told: Mutex<Told>,
}

/// What a helper answers to `get`.
#[derive(Deserialize)]
struct Answer {
    #[serde(rename = "Username", default)]
    username: String,
    #[serde(rename = "Secret", default)]
    secret: String,
}

impl Helpers {
    pub(super) fn new(path: Option<OsString>, patience: Duration) -> Self {
        Self {
            path,
            patience,
            told: Mutex::default(),
        }
    }

    /// What a helper knows about a registry.
    pub(super) async fn get(
        &self,
        helper: &HelperName,
        domain: &str,
    ) -> Result<Option<Means>, Error> {
        let asked = (helper.clone(), domain.to_owned());
        // Held while asking: two who want the same wait for one question, and one prompt to unlock.
        let mut told = self.told.lock().await;
        if let Some(known) = told.get(&asked) {
            return known.clone();
        }
        let mut answer = Ok(None);
        for server in servers(domain) {
            answer = self.ask(helper, &server).await;
            if !matches!(answer, Ok(None)) {
                break;
            }
        }
        told.insert(asked, answer.clone());
        answer
    }

    /// Makes a helper keep credentials, under the name that docker gives the registry.
    pub(super) async fn store(
        &self,
        helper: &HelperName,
        domain: &str,
        username: &str,
        secret: &Hidden,
    ) -> Result<(), Error> {
        let entry = serde_json::json!({
            "ServerURL": hub::key(domain),
            "Username": username,
            "Secret": secret.reveal(),
        });
        let (status, _) = self.run(helper, Action::Store, &entry.to_string()).await?;
        succeeded(helper, Action::Store, status)
    }

    /// Makes a helper forget a registry, under whatever name it knows it. `false`: it knew none.
    pub(super) async fn erase(&self, helper: &HelperName, domain: &str) -> Result<bool, Error> {
        let mut erased = false;
        for server in servers(domain) {
            if self.ask(helper, &server).await?.is_some() {
                let (status, _) = self.run(helper, Action::Erase, &server).await?;
                succeeded(helper, Action::Erase, status)?;
                erased = true;
            }
        }
        Ok(erased)
    }

    async fn ask(&self, helper: &HelperName, server: &str) -> Result<Option<Means>, Error> {
        let (status, output) = self.run(helper, Action::Get, server).await?;
        if !status.success() && output.trim_ascii() == NOT_FOUND.as_bytes() {
            return Ok(None);
        }
        succeeded(helper, Action::Get, status)?;
        let answer: Answer = serde_json::from_slice(&output).map_err(|_| Error::Answer {
            helper: helper.program(),
            action: Action::Get,
            limit: LONGEST,
        })?;
        let secret = Hidden::new(answer.secret);
        Ok(match answer.username {
            username if username == TOKEN => Some(Means::Identity(secret)),
            username if username.is_empty() => None,
            username => Some(Means::Password {
                username,
                password: secret,
            }),
        })
    }

    async fn run(
        &self,
        helper: &HelperName,
        action: Action,
        input: &str,
    ) -> Result<(ExitStatus, Vec<u8>), Error> {
        let name = helper.program();
        let mut command = Command::new(&name);
        command.arg(action.as_str());
        if let Some(path) = &self.path {
            command.env("PATH", path);
        }
        let question = Question {
            helper: &name,
            action,
            input,
            patience: self.patience,
        };
        question.ask(command).await
    }
}

fn succeeded(helper: &HelperName, action: Action, status: ExitStatus) -> Result<(), Error> {
    program::succeeded(&helper.program(), action, status)
}

/// What a registry may be called by those who kept its credentials:
/// [clients ask with a scheme](crate::clients#credential-helpers), docker and others keep without.
fn servers(domain: &str) -> Vec<String> {
    let mut servers = vec![format!("https://{domain}"), domain.to_owned()];
    if hub::key(domain) != domain {
        servers.insert(0, hub::key(domain).to_owned());
    }
    servers
}
