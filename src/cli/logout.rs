//! `tfoci logout`.

use clap::Args;

use tfoci::credentials::CredentialStore;
use tfoci::error::printable;

use super::Ending;
use super::error::CommandError;
use super::login::{document, name};
use super::printer::Tone;
use super::session::{Session, warn_of_sources};

const EXAMPLES: &str = "\
Examples:
  tfoci logout registry.example.com
  tfoci logout registry.example.com --authfile auth.json";

/// Remove the username and password that `tfoci login` stored for a registry
///
/// tfoci does not change credentials in other places, and prints where some remain.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The registry: HOST or HOST:PORT
    #[arg(value_name = "REGISTRY")]
    registry: String,
}

pub(super) async fn run(arguments: Arguments, session: &Session) -> Result<Ending, CommandError> {
    let printer = &session.printer;
    let Arguments { registry } = arguments;
    let erased = CredentialStore::new(&session.locations(), &registry)?
        .erase()
        .await?;
    let shown = printable(&registry);
    let (tone, verb, status, text) = match &erased {
        Some(location) => {
            let text = format!("{shown} from {}", name(location));
            (Tone::Done, "Erased", "erased", text)
        }
        None => {
            let text = format!("nothing was kept for {shown}");
            (Tone::Plain, "Absent", "absent", text)
        }
    };
    printer.line(tone, verb, &text);
    let credentials = session.credentials();
    // An unreadable or missing file is not a failure of `logout`.
    if let Ok(Some(found)) = credentials.for_repository(&registry, "").await {
        let text = format!("{} still has credentials for {shown}", found.found_in);
        printer.line(Tone::Warning, "Note", &text);
    }
    warn_of_sources(credentials.registry_warnings(), printer);
    printer.document(&document(&registry, status, erased.as_ref()));
    Ok(Ending::Done)
}
