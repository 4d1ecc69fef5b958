//! `tfoci login`.

use clap::Args;
use serde_json::{Value, json};

use tfoci::credentials::{Credential, CredentialStore, Credentials, Location};
use tfoci::error::{Category, printable, printable_path};
use tfoci::secret::Secret;
use tfoci::store::{self, Registry};

use super::Ending;
use super::error::CommandError;
use super::json::{SCHEMA, object};
use super::printer::{Printer, Tone};
use super::question;
use super::session::{Session, warn_of_sources};

const EXAMPLES: &str = "\
Examples:
  tfoci login ghcr.io --username acme-bot
  tfoci login registry.internal --username robot --password-stdin \\
    --ca-file ca.pem < token.txt";

/// Store the username and password for a registry
///
/// tfoci asks for them on the terminal, unless options give them. It stores them only if the registry accepts them, where docker and podman do.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The registry: HOST or HOST:PORT
    #[arg(value_name = "REGISTRY")]
    registry: String,
    /// The username [default: asked for on the terminal]
    #[arg(short, long, value_name = "NAME")]
    username: Option<String>,
    /// Read the password from stdin instead of the terminal
    #[arg(long)]
    password_stdin: bool,
}

pub(super) async fn run(arguments: Arguments, session: &Session) -> Result<Ending, CommandError> {
    let printer = &session.printer;
    let registry = &arguments.registry;
    // An error about the file or its helper comes before the user types a password.
    let store = CredentialStore::new(&session.locations(), registry)?;
    let (username, password) = entered(&arguments, printer).await?;
    let typed = Credential::typed(&username, password.clone());
    let http = session.http()?;
    let was_asked = Registry::new(http, Credentials::none())
        .check(registry, &typed)
        .await
        .map_err(refusal)?;
    let location = store.store(&username, &password).await?;
    if was_asked {
        printer.line(Tone::Done, "Login", "succeeded");
    }
    let (shown, place) = (printable(registry), name(&location));
    printer.line(Tone::Done, "Stored", &format!("{shown} in {place}"));
    if !was_asked {
        let text = format!("{shown} did not ask for credentials; they were stored unchecked");
        printer.warning(&text);
    }
    if let Location::File(path) = &location {
        let text = format!(
            "the password lies unencrypted in {}; a credential helper would protect it",
            printable_path(path)
        );
        printer.warning(&text);
    }
    warn_of_sources(session.credentials().registry_warnings(), printer);
    printer.document(&document(registry, "stored", Some(&location)));
    Ok(Ending::Done)
}

/// The username and the password, from options, the terminal or stdin.
async fn entered(
    arguments: &Arguments,
    printer: &Printer,
) -> Result<(String, Secret), CommandError> {
    let registry = &arguments.registry;
    let username = match &arguments.username {
        Some(username) => username.clone(),
        None if arguments.password_stdin => {
            return Err(CommandError::usage(
                "`--password-stdin` needs `--username NAME`",
            ));
        }
        None => question::ask(&printer.neutral(&format!("Username at {registry}: "))).await?,
    };
    if username.is_empty() || username.contains([':', '\r', '\n']) {
        return Err(CommandError::usage(format!(
            "`{}` cannot be the name of a user\n  expected text without a colon",
            printable(&username)
        )));
    }
    let password = if arguments.password_stdin {
        question::password().await?
    } else {
        let prompt = format!("Password of {username} at {registry}: ");
        question::ask_for_secret(&printer.neutral(&prompt)).await?
    };
    Ok((username, password))
}

/// The location of stored credentials as text.
pub(super) fn name(location: &Location) -> String {
    match location {
        Location::File(path) => printable_path(path),
        Location::Helper(helper) => helper.program().to_owned(),
    }
}

/// The result of `login` and `logout`.
pub(super) fn document(registry: &str, status: &str, location: Option<&Location>) -> Value {
    let (file, helper) = match location {
        // JSON strings cannot hold a path that is not Unicode, so this replaces what does not convert.
        Some(Location::File(path)) => (Some(path.to_string_lossy()), None),
        Some(Location::Helper(helper)) => (None, Some(helper.program().to_owned())),
        None => (None, None),
    };
    object([json!({
        "schema": SCHEMA,
        "registry": registry,
        "status": status,
        "file": file,
        "helper": helper,
    })])
}

/// The error of a registry that refused the credentials or could not be asked.
fn refusal(error: store::Error) -> CommandError {
    let error = CommandError::from(error);
    match error.category() {
        Category::Unauthorized => {
            error.advising("some registries take a token in place of a password")
        }
        _ => error,
    }
}
