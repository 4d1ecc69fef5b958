//! `tfoci schema`.

use clap::{Args, ValueEnum};

use super::Ending;
use super::session::Session;

const EXAMPLES: &str = "\
Examples:
  tfoci schema mirror-file > mirror.schema.json
  tfoci schema push";

/// Print the JSON schema of a configuration file or of a result
///
/// Editors check `mirror.toml` and `trust.toml` while you write them if the first line is `#:schema FILE`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The file, or the command whose result it is
    #[arg(value_enum)]
    name: Name,
}

/// What a schema describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Name {
    /// `mirror.toml`
    MirrorFile,
    /// `trust.toml`
    TrustFile,
    Push,
    Mirror,
    Copy,
    Install,
    Lock,
    Site,
    CliConfig,
    List,
    Versions,
    Inspect,
    Resolve,
    TrustCheck,
    TrustShow,
    Login,
    Logout,
}

pub(super) fn run(arguments: &Arguments, session: &Session) -> Ending {
    let schema = match arguments.name {
        Name::MirrorFile => include_str!("../../templates/schemas/mirror-file.json"),
        Name::TrustFile => include_str!("../../templates/schemas/trust-file.json"),
        Name::Push | Name::Mirror | Name::Copy => {
            include_str!("../../templates/schemas/publication.json")
        }
        Name::Install => include_str!("../../templates/schemas/install.json"),
        Name::Lock => include_str!("../../templates/schemas/lock.json"),
        Name::Site => include_str!("../../templates/schemas/site.json"),
        Name::CliConfig => include_str!("../../templates/schemas/cli-config.json"),
        Name::List => include_str!("../../templates/schemas/list.json"),
        Name::Versions => include_str!("../../templates/schemas/versions.json"),
        Name::Inspect => include_str!("../../templates/schemas/inspect.json"),
        Name::Resolve => include_str!("../../templates/schemas/resolve.json"),
        Name::TrustCheck => include_str!("../../templates/schemas/trust-check.json"),
        Name::TrustShow => include_str!("../../templates/schemas/trust-show.json"),
        Name::Login | Name::Logout => include_str!("../../templates/schemas/login.json"),
    };
    session.printer.own_text(schema.trim_end());
    Ending::Done
}
