//! `tfoci man`.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use clap_mangen::Man;

use tfoci::disk;

use super::Ending;
use super::error::CommandError;
use super::session::Session;

const EXAMPLES: &str = "\
Examples:
  tfoci man ~/.local/share/man/man1
  tfoci man /usr/local/share/man/man1 --quiet";

/// Write a manual page for each command into a directory
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The directory; it is created if it does not exist
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

pub(super) fn run(arguments: &Arguments, session: &Session) -> Result<Ending, CommandError> {
    let directory = &arguments.directory;
    let failed = |source| {
        let error = disk::Error::at("write manual pages into", directory, source);
        CommandError::from(error)
    };
    std::fs::create_dir_all(directory).map_err(failed)?;
    let mut tfoci = super::tfoci().disable_help_subcommand(true);
    tfoci.build();
    write(&tfoci, directory).map_err(failed)?;
    session.printer.result(&directory.display().to_string());
    Ok(Ending::Done)
}

/// Writes the pages of a command and of its subcommands.
fn write(command: &clap::Command, directory: &Path) -> io::Result<()> {
    for command in command.get_subcommands().filter(|one| !one.is_hide_set()) {
        write(command, directory)?;
    }
    let page = Man::new(command.clone().mut_args(with_help));
    let mut roff = Vec::new();
    page.render(&mut roff)?;
    let text = String::from_utf8_lossy(&roff);
    std::fs::write(directory.join(page.get_filename()), laid_out(&text))
}

/// The argument with its help, which pages leave out where the short help of the command does.
fn with_help(argument: clap::Arg) -> clap::Arg {
    match argument.get_help().cloned() {
        Some(help) if argument.get_long_help().is_none() => argument.long_help(help),
        _ => argument,
    }
}

/// The page with the lines of its examples and tables as they are.
fn laid_out(page: &str) -> String {
    let Some((before, after)) = page.split_once(".SH EXTRA\n") else {
        return page.to_owned();
    };
    let end = after.find(".SH ").unwrap_or(after.len());
    let (lines, rest) = after.split_at(end);
    let (heading, lines) = match lines.strip_prefix("Examples:\n") {
        Some(lines) => ("EXAMPLES", lines),
        None => ("NOTES", lines),
    };
    format!("{before}.SH {heading}\n.nf\n{lines}.fi\n{rest}")
}
