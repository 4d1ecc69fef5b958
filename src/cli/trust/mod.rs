//! `tfoci trust`: what a trust file says.
//!
//! [`check`] prints a whole file with its mistakes, and [`show`] the entry that applies to one provider. [`keys`] puts keys and rules into words
//! for both. [`tfoci::trust`] parses trust files and decides what they allow. Neither command verifies a release or changes a file: `tfoci
//! mirror --pin-new` adds keys.

mod check;
mod keys;
mod show;

use clap::{Args, Subcommand};

use tfoci::error::printable;
use tfoci::trust::Denial;

use super::Ending;
use super::error::CommandError;
use super::printer::Printer;
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

/// Prints an entry of the block list.
fn print_denial(denial: &Denial, printer: &Printer) {
    let (pattern, line) = (&denial.pattern, denial.line);
    printer.result(&format!("deny      {pattern}   line {line}"));
    let versions = match denial.versions.is_any() {
        true => "all".to_owned(),
        false => denial.versions.to_string(),
    };
    let until = denial.until.iter();
    let until: String = until.map(|until| format!(", until {until}")).collect();
    printer.result(&format!("versions  {versions}{until}"));
    printer.result(&format!("reason    {}", printable(&denial.reason)));
}
