//! Programs that keep secrets.
//!
//! Such a program is a stranger with the user's trust: its time and its output are bounded, and what it writes is never shown.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};

use super::{Action, Error};

/// The longest answer, in bytes. Tokens have some thousands.
pub(super) const LONGEST: u64 = 64 << 10;

/// What a program is asked.
pub(super) struct Question<'a> {
    /// The program, as people call it.
    pub(super) helper: &'a str,
    pub(super) action: Action,
    /// What it reads.
    pub(super) input: &'a str,
    /// How long it may take.
    pub(super) patience: Duration,
}

impl Question<'_> {
    /// Runs the program, and gives what it wrote.
    pub(super) async fn ask(&self, mut command: Command) -> Result<(ExitStatus, Vec<u8>), Error> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        let helper = || self.helper.to_owned();
        let broken = |source| Error::Start {
            helper: helper(),
            source: Arc::new(source),
        };
        let mut child = command.spawn().map_err(broken)?;
        let talk = tokio::time::timeout(self.patience, talk(&mut child, self.input)).await;
        let Ok(talked) = talk else {
            return Err(Error::Slow {
                helper: helper(),
                action: self.action,
                seconds: self.patience.as_secs(),
            });
        };
        let (status, output) = talked.map_err(broken)?;
        let status = status.ok_or_else(|| Error::Answer {
            helper: helper(),
            action: self.action,
            limit: LONGEST,
        })?;
        Ok((status, output))
    }
}

/// Tells a program its input and hears it out; no status where it says too much, and is cut off.
async fn talk(child: &mut Child, input: &str) -> io::Result<(Option<ExitStatus>, Vec<u8>)> {
    if let Some(mut stdin) = child.stdin.take() {
        match stdin.write_all(input.as_bytes()).await {
            // It may know its answer without having read the question.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error),
            _ => {}
        }
    }
    let mut output = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        stdout.take(LONGEST + 1).read_to_end(&mut output).await?;
    }
    if output.len() as u64 > LONGEST {
        return Ok((None, output));
    }
    Ok((Some(child.wait().await?), output))
}

pub(super) fn succeeded(helper: &str, action: Action, status: ExitStatus) -> Result<(), Error> {
    if status.success() {
        return Ok(());
    }
    Err(Error::Failed {
        helper: helper.to_owned(),
        action,
        status: status.code(),
    })
}
