//! `tfoci schema`.

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::Ending;
use super::session::Session;

const EXAMPLES: &str = "\
Examples:
  tfoci schema mirror-file > mirror.schema.json
  tfoci schema push";

macro_rules! schema {
    ($name:literal, $file:literal) => {
        (
            $name,
            include_str!(concat!("../../templates/schemas/", $file, ".json")),
        )
    };
}

/// The schemas: what each describes, and its text.
const SCHEMAS: [(&str, &str); 23] = [
    schema!("mirror-file", "mirror-file"),
    schema!("trust-file", "trust-file"),
    schema!("push", "publication"),
    schema!("mirror", "publication"),
    schema!("copy", "publication"),
    schema!("install", "install"),
    schema!("lock", "lock"),
    schema!("site", "site"),
    schema!("cli-config", "cli-config"),
    schema!("list", "list"),
    schema!("versions", "versions"),
    schema!("inspect", "inspect"),
    schema!("prune", "prune"),
    schema!("have", "bundle"),
    schema!("bundle", "bundle"),
    schema!("verify", "findings"),
    schema!("doctor", "findings"),
    schema!("resolve", "resolve"),
    schema!("trust-check", "trust-check"),
    schema!("trust-show", "trust-show"),
    schema!("login", "login"),
    schema!("logout", "login"),
    schema!("config", "config"),
];

/// Print the JSON schema of a configuration file or of a result
///
/// Editors check `mirror.toml` and `trust.toml` while you write them if the first line is `#:schema FILE`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The file, or the command whose result it is
    #[arg(value_parser = PossibleValuesParser::new(SCHEMAS.map(|(name, _)| name)))]
    name: String,
}

pub(super) fn run(arguments: &Arguments, session: &Session) -> Ending {
    let found = SCHEMAS.iter().find(|(name, _)| *name == arguments.name);
    let text = found.map_or("", |(_, text)| text.trim_end());
    session.printer.own_text(text);
    Ending::Done
}
