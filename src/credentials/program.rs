//! Runs credential helpers.
//!
//! The time and the output of a helper are limited, and messages never contain its output. Each helper runs once per registry or host; its
//! answer is cached, even if it is an error.

use std::collections::HashMap;
use std::hash::Hash;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use tokio::sync::Mutex;
use zeroize::Zeroizing;

use super::{Error, HelperAction};

/// The longest accepted output in bytes. Tokens have a few thousand.
pub(super) const LONGEST: u64 = 64 << 10;

/// The output of a helper. It is wiped on drop.
pub(super) type Output = Zeroizing<Vec<u8>>;

/// A helper, and what it is run for.
pub(super) struct HelperRun<'a> {
    /// The name of the program, for messages.
    pub(super) helper: &'a str,
    pub(super) action: HelperAction,
    /// The content of its stdin.
    pub(super) input: &'a [u8],
    /// The time limit.
    pub(super) timeout: Duration,
}

impl HelperRun<'_> {
    /// Runs the program until it ends.
    pub(super) async fn run(&self, mut command: Command) -> Result<(ExitStatus, Output), Error> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        let helper = || self.helper.to_owned();
        let broken = |source| Error::HelperStart {
            helper: helper(),
            source: Arc::new(source),
        };
        let mut child = command.spawn().map_err(broken)?;
        let talk = tokio::time::timeout(self.timeout, exchange(&mut child, self.input)).await;
        let Ok(talked) = talk else {
            return Err(Error::HelperTimeout {
                helper: helper(),
                action: self.action,
                seconds: self.timeout.as_secs(),
            });
        };
        let (status, output) = talked.map_err(broken)?;
        let status = status.ok_or_else(|| self.wrong_answer())?;
        Ok((status, output))
    }

    /// Fails if the exit status is not 0.
    pub(super) fn succeeded(&self, status: ExitStatus) -> Result<(), Error> {
        if status.success() {
            return Ok(());
        }
        Err(Error::HelperFailed {
            helper: self.helper.to_owned(),
            action: self.action,
            status: status.code(),
        })
    }

    /// The error for an output that is too long or violates the protocol.
    pub(super) fn wrong_answer(&self) -> Error {
        Error::HelperAnswer {
            helper: self.helper.to_owned(),
            action: self.action,
            limit: LONGEST,
        }
    }
}

/// Writes the input and reads the output. The status is `None` if the output is too long, and the program may still run.
async fn exchange(child: &mut Child, input: &[u8]) -> io::Result<(Option<ExitStatus>, Output)> {
    if let Some(mut stdin) = child.stdin.take() {
        match stdin.write_all(input).await {
            // A helper may exit without reading its input.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error),
            _ => {}
        }
    }
    // The capacity fits the longest output. Reallocation would leave copies of a secret in memory.
    let mut output = Zeroizing::new(Vec::with_capacity(LONGEST as usize + 1));
    if let Some(stdout) = child.stdout.take() {
        stdout.take(LONGEST + 1).read_to_end(&mut output).await?;
    }
    if output.len() as u64 > LONGEST {
        return Ok((None, output));
    }
    Ok((Some(child.wait().await?), output))
}

/// The cached answers of helpers.
#[derive(Debug)]
pub(super) struct Answers<K, V>(Mutex<HashMap<K, Result<Option<V>, Error>>>);

impl<K, V> Default for Answers<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash, V: Clone> Answers<K, V> {
    /// Returns the cached answer, or runs the helper.
    pub(super) async fn get(
        &self,
        question: K,
        ask: impl Future<Output = Result<Option<V>, Error>>,
    ) -> Result<Option<V>, Error> {
        // The lock is held while the helper runs, so that two tasks do not run it for the same host and prompt the user twice.
        let mut answers = self.0.lock().await;
        if let Some(known) = answers.get(&question) {
            return known.clone();
        }
        let answer = ask.await;
        answers.insert(question, answer.clone());
        answer
    }
}
