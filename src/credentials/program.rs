//! Runs credential helpers.
//!
//! The time and the output of a helper are limited, and messages never contain its output. Each helper runs once per registry or host; its
//! answer is cached, an error for a while.

use std::collections::HashMap;
use std::hash::Hash;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use zeroize::Zeroizing;

use super::Error;
use crate::attestation::KEY_VARIABLE;
use crate::jobs::locked;

/// The time limit of a helper. The user may have to unlock a key ring; nobody does in tests.
const LONGEST_RUN: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 10 });

/// The longest accepted output in bytes. Tokens have a few thousand.
const LONGEST: u64 = 64 << 10;

/// The output of a helper. It is wiped on drop.
pub(super) type Output = Zeroizing<Vec<u8>>;

pub(super) struct HelperRun<'a> {
    /// The name of the program, for messages.
    pub(super) helper: &'a str,
    pub(super) command: Command,
    /// The content of its stdin.
    pub(super) input: &'a [u8],
}

impl HelperRun<'_> {
    /// Runs the program until it ends.
    pub(super) async fn run(&mut self) -> Result<(ExitStatus, Output), Error> {
        self.command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .env_remove(KEY_VARIABLE)
            .kill_on_drop(true);
        let helper = self.helper.to_owned();
        let broken = |source| Error::HelperStart {
            helper: helper.clone(),
            source: Arc::new(source),
        };
        let mut child = self.command.spawn().map_err(broken)?;
        let talk = tokio::time::timeout(LONGEST_RUN, exchange(&mut child, self.input)).await;
        let Ok(talked) = talk else {
            return Err(self.failed(format!("no answer in {} seconds", LONGEST_RUN.as_secs())));
        };
        let (status, output) = talked.map_err(broken)?;
        let status = status.ok_or_else(|| self.wrong_answer())?;
        Ok((status, output))
    }

    /// Runs a program whose output does not matter.
    pub(super) async fn succeeds(&mut self) -> Result<(), Error> {
        let (status, _) = self.run().await?;
        self.succeeded(status)
    }

    /// Fails if the exit status is not 0.
    pub(super) fn succeeded(&self, status: ExitStatus) -> Result<(), Error> {
        match status.success() {
            true => Ok(()),
            false => Err(self.failed(status.to_string())),
        }
    }

    fn failed(&self, why: String) -> Error {
        let helper = self.helper.to_owned();
        Error::HelperFailed { helper, why }
    }

    /// The error for an output that is too long or violates the protocol.
    pub(super) fn wrong_answer(&self) -> Error {
        let helper = self.helper.to_owned();
        Error::HelperAnswer { helper }
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

/// How long the failure of a helper counts. A key ring that was locked may be open then; without the pause, each request would wait for a
/// helper that hangs.
const FAILURE: Duration = Duration::from_secs(60);

/// The cached answers of helpers.
#[derive(Debug)]
pub(super) struct Answers<K, V>(Mutex<HashMap<K, Arc<AnswerCell<V>>>>);

type AnswerCell<V> = tokio::sync::Mutex<Option<(Result<Option<V>, Error>, Instant)>>;

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
        let cell = {
            let mut answers = locked(&self.0);
            answers.entry(question).or_default().clone()
        };
        // The lock is held while the helper runs, so that two tasks do not run it for the same host and prompt the user twice.
        let mut known = cell.lock().await;
        if let Some((answer, since)) = &*known
            && (answer.is_ok() || since.elapsed() < FAILURE)
        {
            return answer.clone();
        }
        let answer = ask.await;
        *known = Some((answer.clone(), Instant::now()));
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// While the helper of one registry hangs, others are read.
    #[tokio::test]
    async fn an_answer_does_not_wait_for_the_helper_of_another_host() {
        let answers = Answers::<&str, u32>::default();
        let known = || answers.get("known", async { Ok(Some(1)) });
        assert!(matches!(known().await, Ok(Some(1))));
        let hanging = answers.get("hanging", std::future::pending());
        tokio::select! {
            biased;
            _never = hanging => panic!("the helper hangs"),
            again = known() => assert!(matches!(again, Ok(Some(1)))),
        }
    }

    /// Concurrent questions prompt the user once, and a failure is not repeated by each request.
    #[tokio::test]
    async fn a_failure_counts_for_a_while() {
        let answers = Answers::<&str, u32>::default();
        let failed = || Error::HelperFailed {
            helper: "helper".to_owned(),
            why: "exit status: 1".to_owned(),
        };
        let first = answers.get("host", async { Err(failed()) });
        let second = answers.get("host", async { Ok(Some(1)) });
        let (first, second) = tokio::join!(first, second);
        assert!(first.is_err() && second.is_err());
    }
}
