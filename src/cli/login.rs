//! `tfoci login`.

use std::io::{IsTerminal as _, Read as _};

use clap::Args;
use zeroize::Zeroizing;

use tfoci::credentials::{Credential, CredentialStore, Credentials, Location};
use tfoci::error::{printable, printable_path};
use tfoci::outcome::{Failure, Problem};
use tfoci::secret::Secret;

use super::Ending;
use super::error::CommandError;
use super::json;
use super::printer::Tone;
use super::session::{Session, report_considered};

/// The longest password in bytes. Tokens of cloud registries have a few thousand.
const LONGEST: u64 = 64 << 10;

const EXAMPLES: &str = "\
Examples:
  tfoci login registry.example.com --username me
  tfoci login registry.example.com --username ci --password-stdin < token";

/// Store the username and password for a registry
///
/// The registry is asked first; credentials that it refuses are not stored. The file is that of --authfile, REGISTRY_AUTH_FILE,
/// DOCKER_CONFIG, or ~/.docker/config.json, which docker and podman use too. If it names a credential helper for the registry, the helper
/// stores the password.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The registry: HOST or HOST:PORT
    #[arg(value_name = "REGISTRY")]
    registry: String,
    /// The username
    #[arg(short, long, value_name = "NAME")]
    username: String,
    /// Read the password from stdin instead of the terminal
    #[arg(long)]
    password_stdin: bool,
}

pub(super) async fn run(arguments: Arguments, session: &Session) -> Result<Ending, CommandError> {
    let printer = &session.printer;
    let Arguments {
        registry,
        username,
        password_stdin,
    } = arguments;
    if username.is_empty() || username.contains([':', '\r', '\n']) {
        return Err(CommandError::Username { username });
    }
    let store = CredentialStore::new(&session.locations(), &registry)?;
    let password = if password_stdin {
        let read = tokio::task::spawn_blocking(from_stdin).await;
        read.unwrap_or(Err(CommandError::NoPassword))?
    } else {
        from_terminal(&printer.neutral(&format!("Password of {username} at {registry}: ")))?
    };
    let typed = Credential::typed(&username, password.clone());
    session
        .registry_with(&session.http()?, Credentials::none())
        .check(&registry, &typed)
        .await
        .map_err(Problem::from)
        .map_err(Failure::from)?;
    let location = store.store(&username, &password).await?;
    printer.line(
        Tone::Done,
        "Stored",
        &format!("{} in {}", printable(&registry), name(&location)),
    );
    let credentials = session.credentials();
    if let Ok(Some(found)) = credentials.for_repository(&registry, "").await
        && found.basic() != typed.basic()
    {
        let text = format!("{} counts before what was stored", found.found_in);
        printer.line(Tone::Warning, "Note", &text);
    }
    report_considered(&credentials.registry_sources(), printer);
    printer.document(&json::Login::new(&registry, "stored", Some(&location)));
    Ok(Ending::Done)
}

/// The location of stored credentials as text.
pub(super) fn name(location: &Location) -> String {
    match location {
        Location::File(path) => printable_path(path),
        Location::Helper(helper) => helper.to_string(),
    }
}

fn from_stdin() -> Result<Secret, CommandError> {
    // Allocates the largest size at once: growing would leave copies of the password in memory.
    let mut text = Zeroizing::new(String::with_capacity(LONGEST as usize + 1));
    let read = std::io::stdin().take(LONGEST + 1).read_to_string(&mut text);
    let line = text.strip_suffix('\n').unwrap_or(&text);
    let line = line.strip_suffix('\r').unwrap_or(line);
    match read {
        Ok(size) if size as u64 <= LONGEST && !line.is_empty() => Ok(line.into()),
        _ => Err(CommandError::NoPassword),
    }
}

/// Asks on the terminal. A signal takes effect only after the line ends, because the terminal's echo must be restored first.
fn from_terminal(prompt: &str) -> Result<Secret, CommandError> {
    let terminal = console::Term::stderr();
    if !std::io::stdin().is_terminal() || !terminal.is_term() {
        return Err(CommandError::NoTerminal);
    }
    let read = terminal
        .write_str(prompt)
        .and_then(|()| terminal.read_secure_line());
    match read {
        Ok(line) if !line.is_empty() => Ok(line.into()),
        _ => Err(CommandError::NoPassword),
    }
}
