//! `tfoci help`: the help of a command, or a page about a topic.

use clap::Args;

use tfoci::error::printable;
use tfoci::finding::{Code, Gravity};

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
  air-gap      one file for a closed network, what is new, and parts
  templates    store addresses, and which repository a provider has
  credentials  where passwords and tokens are looked for
  environment  the environment variables that tfoci reads
  deployment   running `tfoci serve`: clients, tokens, limits, systemd, Kubernetes
  findings     the codes of `tfoci verify` and `tfoci doctor`; each is a topic, too
  json         the documents of --format json
  exit-codes   what the exit codes mean";

/// A page in `templates/help`, with its name, and the page in `docs` that says more.
macro_rules! page {
    ($topic:literal, $docs:literal) => {
        (
            $topic,
            include_str!(concat!("../../templates/help/", $topic, ".txt")),
            $docs,
        )
    };
}

/// The pages with their names.
pub(super) const TOPICS: [(&str, &str, &str); 11] = [
    page!("trust", "trust.md"),
    page!("mirror-file", "mirror.md"),
    page!("maintenance", "maintenance.md"),
    page!("air-gap", "air-gap.md"),
    page!("templates", "registries.md"),
    page!("credentials", "reference.md"),
    page!("environment", "reference.md"),
    page!("deployment", "serve.md"),
    page!("findings", "troubleshooting.md"),
    page!("json", "json.md"),
    page!("exit-codes", "reference.md"),
];

/// The file that says where tfoci is published.
const HOME: &str = include_str!("../../packaging/home");

/// The URL where tfoci is published.
pub(super) fn home() -> &'static str {
    let url = HOME.lines().find_map(|line| line.strip_prefix("url="));
    url.unwrap_or_default()
}

/// The page about the options that every command takes. It is made from the arguments themselves.
const OPTIONS: &str = "options";

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
    if names == [OPTIONS] {
        return Ok(options());
    }
    if let Some((_, text, docs)) = TOPICS.iter().find(|(topic, ..)| names == [*topic]) {
        return Ok(format!("{text}\nMore: {}/blob/main/docs/{docs}", home()));
    }
    if let Some(code) = Code::ALL.iter().find(|code| names == [code.as_str()]) {
        return Ok(finding(*code));
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
            Err(error.advising("`tfoci help` lists the commands and topics"))
        }
    }
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
        .mut_args(|argument| argument.hide_short_help(false))
        .help_template("Options that every command takes\n\n{options}")
        .max_term_width(super::HELP_WIDTH);
    command.render_help().to_string()
}

/// What a finding means, and what helps.
fn finding(code: Code) -> String {
    let exit = match code.gravity() {
        Gravity::Warning => "0, and 1 with --fail-on warning".to_owned(),
        _ => super::exit_code(code.category()).to_string(),
    };
    let (name, severity) = (code.as_str(), code.severity().as_str());
    let lines = [code.meaning(), code.fix()].join("\n");
    format!(
        "{name} ({severity}; exit code {exit})\n\n{}",
        lines.trim_end()
    )
}
