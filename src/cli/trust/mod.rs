//! `tfoci trust`: what a trust file says.

mod check;
mod date;
mod document;
mod keys;
mod rules;
mod show;
mod warnings;

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

/// Runs the command.
pub(super) fn run(arguments: &Arguments, session: &Session) -> Result<Ending, CommandError> {
    match &arguments.command {
        Command::Check(arguments) => check::run(arguments, session),
        Command::Show(arguments) => show::run(arguments, session),
    }
}
