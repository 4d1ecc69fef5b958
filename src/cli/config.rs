//! `tfoci config`.

use clap::Args;
use serde_json::json;

use tfoci::config::Settings;
use tfoci::error::printable;

use super::Ending;
use super::error::CommandError;
use super::json::SCHEMA;
use super::session::{Session, config_file};

const EXAMPLES: &str = "\
Examples:
  tfoci config
  tfoci config --format json";

/// Print the settings that hold here, and where they stand
///
/// An option comes before a variable `TFOCI_…`, that before `tfoci.toml` in this directory, and that before your own file, whose path is printed
/// first. `store` is for all commands with one store but install and lock, which look where the client looks. `mirror_file` is for mirror.
/// `tfoci.toml` may have these two only, since whoever can change the directory can write it.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {}

pub(super) fn run(session: &Session) -> Result<Ending, CommandError> {
    let printer = &session.printer;
    let file = config_file().map(|path| path.to_string_lossy().into_owned());
    let shown = printable(file.as_deref().unwrap_or("none: no home directory"));
    printer.result(&format!("file          {shown}"));
    let mut settings = Vec::new();
    for (name, _) in Settings::default().values() {
        let setting = session.settings.here(name)?;
        let shown = setting.as_ref().map_or("not set".to_owned(), |one| {
            format!("{} ({})", printable(&one.value), printable(&one.place))
        });
        printer.result(&format!("{name:<12}  {shown}"));
        let (value, from) = setting.map(|one| (one.value, one.place)).unzip();
        settings.push(json!({"name": name, "value": value, "from": from}));
    }
    printer.document(&json!({"schema": SCHEMA, "file": file, "settings": settings}));
    Ok(Ending::Done)
}
