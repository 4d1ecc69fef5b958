//! Questions on the terminal.
//!
//! A separate thread reads the answer, so that Ctrl-C ends the command at once: the program would wait for a thread of the asynchronous
//! runtime. Ctrl-C drops the future, and [`Silence`] then restores the echo of the terminal.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _};

use tokio::sync::oneshot;
use zeroize::Zeroizing;

use tfoci::secret::Secret;

use super::error::CommandError;

/// Asks for a line of text.
pub(super) async fn ask(prompt: &str) -> Result<String, CommandError> {
    show(prompt)?;
    Ok(line().await?.to_string())
}

/// Asks for a line of text that the terminal does not show.
pub(super) async fn ask_for_secret(prompt: &str) -> Result<Secret, CommandError> {
    // A user may answer as soon as the prompt is shown.
    let silence = Silence::begin().map_err(|_| no_terminal())?;
    show(prompt)?;
    let password = password().await;
    silence.end();
    password
}

/// Reads a password from stdin.
pub(super) async fn password() -> Result<Secret, CommandError> {
    let line = line().await?;
    match line.is_empty() {
        true => Err(no_password()),
        false => Ok(line.as_str().into()),
    }
}

/// The longest line in bytes. Tokens of cloud registries have a few thousand bytes.
const LONGEST: usize = 64 << 10;

fn no_terminal() -> CommandError {
    CommandError::usage("login needs a terminal to ask for the username or password")
        .advising("`--username NAME --password-stdin` reads the password from standard input")
}

fn no_password() -> CommandError {
    CommandError::usage(format!(
        "no password was given\n  expected one line of text, at most {LONGEST} bytes"
    ))
}

/// Shows a prompt, if a user can read and answer it.
fn show(prompt: &str) -> Result<(), CommandError> {
    let terminal = console::Term::stderr();
    let is_terminal = io::stdin().is_terminal() && terminal.is_term();
    let shown = is_terminal.then(|| terminal.write_str(prompt));
    shown.and_then(Result::ok).ok_or_else(no_terminal)
}

/// The next line of stdin, without its end.
async fn line() -> Result<Zeroizing<String>, CommandError> {
    let (sender, receiver) = oneshot::channel();
    std::thread::spawn(move || {
        // Allocates the largest size at once: growing would leave copies of the password in memory.
        let mut line = Zeroizing::new(String::with_capacity(LONGEST + 1));
        let read = (io::stdin().lock().take(LONGEST as u64 + 1)).read_line(&mut line);
        // After Ctrl-C the answer is not needed.
        let _dropped = sender.send(read.map(|_| line));
    });
    let read = receiver.await.map_err(|_| no_password())?;
    let line = read.map_err(|_| no_password())?;
    let line = line.trim_end_matches(['\r', '\n']);
    match line.len() <= LONGEST {
        true => Ok(Zeroizing::new(line.to_owned())),
        false => Err(no_password()),
    }
}

/// A terminal that does not echo what is typed. Dropping it restores the echo.
struct Silence {
    #[cfg(unix)]
    before: rustix::termios::Termios,
    is_answered: bool,
}

impl Silence {
    #[cfg(unix)]
    fn begin() -> io::Result<Self> {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let before = tcgetattr(io::stdin())?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        silent.local_modes.insert(LocalModes::ECHONL);
        tcsetattr(io::stdin(), OptionalActions::Flush, &silent)?;
        Ok(Self {
            before,
            is_answered: false,
        })
    }

    /// Elsewhere a terminal would show the password.
    #[cfg(not(unix))]
    fn begin() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn end(mut self) {
        self.is_answered = true;
    }
}

impl Drop for Silence {
    fn drop(&mut self) {
        #[cfg(unix)]
        {
            use rustix::termios::{OptionalActions, tcsetattr};
            let _closed = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
        }
        if !self.is_answered {
            // The next message begins a line.
            let _closed = console::Term::stderr().write_line("");
        }
    }
}
