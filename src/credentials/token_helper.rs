//! The token helper: a program `terraform-credentials-NAME` that the CLI configuration names.
//!
//! `terraform-credentials-NAME ARGUMENT... get HOST` answers `{"token": "…"}`, or `{}` where it knows nothing. It is asked once
//! for each host.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use tokio::process::Command;
use tokio::sync::Mutex;

use super::program::{self, LONGEST, Question};
use super::{Action, Error};
use crate::address::Hostname;
use crate::config::Hidden;
use crate::config::cli::CredentialsHelper;

/// The helper, and what it told.
#[derive(Debug)]
pub(super) struct TokenHelper {
    /// The program, as people call it.
    name: String,
    /// Where it is; its name alone where it was not found.
    program: PathBuf,
    arguments: Vec<String>,
    patience: Duration,
    told: Mutex<HashMap<Hostname, Result<Option<Hidden>, Error>>>,
}

/// What a helper answers. Other members are for others.
#[derive(Deserialize)]
struct Answer {
    token: Option<String>,
}

impl TokenHelper {
    /// The helper that is in the first of these directories.
    pub(super) fn new(
        said: CredentialsHelper,
        directories: &[PathBuf],
        patience: Duration,
    ) -> Self {
        let name = said.program();
        let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
        let mut places = directories.iter().map(|directory| directory.join(&file));
        let program = places.find(|path| path.is_file());
        Self {
            program: program.unwrap_or_else(|| Path::new(&name).to_owned()),
            name,
            arguments: said.arguments,
            patience,
            told: Mutex::default(),
        }
    }

    /// The program, as people call it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The token of a host, if it knows one.
    pub(super) async fn get(&self, host: &Hostname) -> Result<Option<Hidden>, Error> {
        // Held while asking: two who want the same wait for one question, and one prompt to unlock.
        let mut told = self.told.lock().await;
        if let Some(known) = told.get(host) {
            return known.clone();
        }
        let answer = self.ask(host).await;
        told.insert(host.clone(), answer.clone());
        answer
    }

    async fn ask(&self, host: &Hostname) -> Result<Option<Hidden>, Error> {
        let action = Action::GetToken;
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .arg(action.as_str())
            .arg(host.as_ascii());
        let question = Question {
            helper: &self.name,
            action,
            input: "",
            patience: self.patience,
        };
        let (status, output) = question.ask(command).await?;
        program::succeeded(&self.name, action, status)?;
        let answer: Answer = serde_json::from_slice(&output).map_err(|_| Error::Answer {
            helper: self.name.clone(),
            action,
            limit: LONGEST,
        })?;
        Ok(answer.token.map(Hidden::new))
    }
}
