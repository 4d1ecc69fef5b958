//! `tfoci help`: the help of a command, or a page about a topic.

use clap::Args;

use tfoci::error::printable;
use tfoci::finding::{Code, Kind};
use tfoci::nearest::nearest;

use super::Ending;
use super::arguments::Globals;
use super::error::CommandError;
use super::session::Session;

/// The list of all pages.
pub(super) const LIST: &str = "\
Help topics, by `tfoci help TOPIC`:
  options      the options that every command takes
  trust        which signatures are accepted, and how to pin keys
  mirror-file  the file that names the providers of a team, and nightly runs
  maintenance  damaged packages; replacing and withdrawing versions; leaving
  templates    store addresses, and which repository a provider has
  credentials  where passwords and tokens are looked for
  environment  the environment variables that tfoci reads
  deployment   running `tfoci serve`: clients, tokens, limits, systemd, Kubernetes
  findings     the codes of `tfoci verify` and `tfoci doctor`
  json         the documents of --format json
  exit-codes   what the exit codes mean";

/// A page in `templates/help`, with its name.
macro_rules! page {
    ($topic:literal) => {
        (
            $topic,
            include_str!(concat!("../../templates/help/", $topic, ".txt")),
        )
    };
}

/// The pages with their names.
pub(super) const TOPICS: [(&str, &str); 9] = [
    page!("trust"),
    page!("mirror-file"),
    page!("maintenance"),
    page!("templates"),
    page!("credentials"),
    page!("environment"),
    page!("deployment"),
    page!("json"),
    page!("exit-codes"),
];

/// The page about the options that every command takes. It is made from the arguments themselves.
const OPTIONS: &str = "options";

/// The page about the codes of findings. It is made from the codes themselves.
const FINDINGS: &str = "findings";

/// Explain a command, or a topic
///
/// Topics: options (those that every command takes), trust, mirror-file, maintenance, templates, credentials, environment, deployment, findings,
/// json, exit-codes.
#[derive(Args)]
pub(super) struct Arguments {
    /// A command or a topic; a command of `trust` has two words
    #[arg(value_name = "COMMAND|TOPIC", num_args = 0..=2)]
    names: Vec<String>,
}

/// Prints the page of a topic, or the long help of a command.
pub(super) fn run(arguments: &Arguments, session: &Session) -> Result<Ending, CommandError> {
    let names: Vec<&str> = arguments.names.iter().map(String::as_str).collect();
    let page = page(&names)?;
    session.printer.own_text(page.trim_end());
    Ok(Ending::Done)
}

fn page(names: &[&str]) -> Result<String, CommandError> {
    match names {
        [OPTIONS] => return Ok(options()),
        [FINDINGS] => return Ok(findings()),
        _ => {}
    }
    if let Some((_, text)) = TOPICS.iter().find(|(topic, _)| names == [*topic]) {
        return Ok((*text).to_owned());
    }
    let tfoci = super::tfoci();
    let command = names
        .iter()
        .try_fold(&tfoci, |command, name| command.find_subcommand(name));
    match command {
        Some(_) => Ok(long_help(names)),
        None => {
            let text = printable(&names.join(" "));
            let error =
                CommandError::usage(format!("there is no command and no help topic `{text}`"));
            Err(error.advising(match meant(&tfoci, names) {
                Some(meant) => format!("did you mean `tfoci help {meant}`?"),
                None => "`tfoci help` lists the commands and topics".to_owned(),
            }))
        }
    }
}

/// The page that is meant by a misspelt name.
fn meant<'a>(tfoci: &'a clap::Command, names: &[&str]) -> Option<&'a str> {
    let [name] = names else { return None };
    if let "withdraw" | "delete" | "remove" | "replace" | "repair" | "uninstall" = *name {
        return Some("maintenance");
    }
    let commands = tfoci.get_subcommands().filter(|one| !one.is_hide_set());
    let topics = TOPICS.iter().map(|(topic, _)| *topic);
    let pages = commands.map(clap::Command::get_name);
    let pages: Vec<&str> = pages.chain(topics).chain([OPTIONS, FINDINGS]).collect();
    nearest(name, &pages)
}

/// What `tfoci COMMAND --help` prints.
fn long_help(command: &[&str]) -> String {
    let arguments = ["tfoci"].iter().chain(command).chain(&["--help"]);
    match super::tfoci().try_get_matches_from(arguments) {
        Ok(_) => String::new(),
        Err(help) => help.to_string(),
    }
}

/// The options that every command takes, which its own help leaves out.
fn options() -> String {
    let command = clap::Command::new("tfoci").disable_help_flag(true);
    let mut command = <Globals as Args>::augment_args(command)
        .help_template("Options that every command takes\n\n{options}")
        .max_term_width(super::HELP_WIDTH);
    command.render_long_help().to_string()
}

/// The codes of findings, with what each means and the exit code that follows from it.
fn findings() -> String {
    let mut text =
        "The findings of `tfoci verify` and `tfoci doctor`, by the code in brackets\n".to_owned();
    for code in Code::ALL {
        let exit = match code.kind() {
            Kind::Warning => "only with --fail-on warning".to_owned(),
            _ => super::exit_code(code.category()).to_string(),
        };
        let (name, severity) = (code.as_str(), code.severity().as_str());
        text += &format!("\n{name} ({severity}; exit code: {exit})\n");
        for line in [code.meaning(), code.fix()] {
            text += &format!("    {line}\n").replace("    \n", "");
        }
    }
    text
}
