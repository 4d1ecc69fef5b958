//! `tfoci completions`.

use clap::Args;
use clap_complete::Shell;

use super::Ending;
use super::session::Session;

const EXAMPLES: &str = "\
Examples:
  tfoci completions bash > ~/.local/share/bash-completion/completions/tfoci
  tfoci completions zsh > ~/.zfunc/_tfoci";

/// Print a script that completes commands and options in a shell
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(super) fn run(arguments: &Arguments, session: &Session) -> Ending {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut super::tfoci(), "tfoci", &mut script);
    session.printer.own_text(&String::from_utf8_lossy(&script));
    Ending::Done
}
