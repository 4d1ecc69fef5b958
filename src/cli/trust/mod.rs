//! `tfoci trust`: what a trust file says.
//!
//! [`check`] prints a whole file with its mistakes, and [`show`] the entry that applies to one provider. [`keys`] puts keys and rules into words
//! for both. [`tfoci::trust`] parses trust files and decides what they allow. Neither command verifies a release or changes a file: `tfoci
//! mirror --pin-new` adds keys.

mod check;
mod deny;
mod keys;
mod show;

use clap::{Args, Subcommand};

use super::Ending;
use super::error::CommandError;
use super::session::Session;

/// Check a trust file, or show what applies to a provider
///
/// `tfoci help trust` explains trust files.
#[derive(Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Check(check::Arguments),
    Show(show::Arguments),
}

pub(super) async fn run(arguments: &Arguments, session: &Session) -> Result<Ending, CommandError> {
    match &arguments.command {
        Command::Check(arguments) => check::run(arguments, session).await,
        Command::Show(arguments) => show::run(arguments, session),
    }
}
