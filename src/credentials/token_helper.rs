//! The token helper of the CLI configuration, which stores tokens of provider registries.
//!
//! `terraform-credentials-NAME ARGUMENT... get HOST` prints `{"token": "…"}`, or `{}`.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use tokio::process::Command;

use super::Error;
use super::program::{Answers, HelperRun};
use crate::address::Hostname;
use crate::config::cli::CredentialsHelper;
use crate::secret::Secret;

/// The token helper of the CLI configuration, with a cache of its answers.
#[derive(Debug)]
pub(super) struct TokenHelper {
    /// The name of the program, for messages.
    name: String,
    /// The path of the program, or its name if no directory contains it.
    program: PathBuf,
    arguments: Vec<String>,
    answers: Answers<Hostname, Secret>,
}

/// The answer of a token helper. Other members are ignored.
#[derive(Deserialize)]
struct TokenAnswer {
    token: Option<Secret>,
}

impl TokenHelper {
    /// Finds the program in the first directory that contains it.
    pub(super) fn new(block: CredentialsHelper, directories: &[PathBuf]) -> Self {
        let name = block.name.program().to_owned();
        let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
        let mut paths = directories.iter().map(|directory| directory.join(&file));
        let program = paths.find(|path| path.is_file());
        Self {
            program: program.unwrap_or_else(|| Path::new(&name).to_owned()),
            name,
            arguments: block.arguments,
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
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .arg("get")
            .arg(host.as_ascii());
        let mut run = HelperRun {
            helper: &self.name,
            command,
            input: b"",
        };
        let (status, output) = run.run().await?;
        run.succeeded(status)?;
        let answer: TokenAnswer =
            serde_json::from_slice(&output).map_err(|_| run.wrong_answer())?;
        Ok(answer.token)
    }
}
