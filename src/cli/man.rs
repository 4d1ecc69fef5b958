//! `tfoci man`.

use std::path::PathBuf;

use clap::Args;

use tfoci::disk;
use tfoci::outcome::{Failure, Problem};

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
        let path = directory.clone();
        let error = match directory.is_file() {
            true => disk::Error::NotDirectory { path },
            false => disk::Error::Io {
                action: "write manual pages into",
                path,
                source,
            },
        };
        CommandError::from(Failure::from(Problem::from(error)))
    };
    std::fs::create_dir_all(directory).map_err(failed)?;
    clap_mangen::generate_to(super::tfoci(), directory).map_err(failed)?;
    session.printer.result(&directory.display().to_string());
    Ok(Ending::Done)
}
