//! `tfoci help`: the help of a command, or a page about a topic.

use clap::Args;
use console::{Term, measure_text_width};

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
  mirror-file  the file that names the providers of a team
  templates    store addresses, and which repository a provider has
  credentials  where passwords and tokens are looked for
  environment  the environment variables that tfoci reads
  deployment   running `tfoci serve`: clients, tokens, limits, systemd, Kubernetes
  json         the documents of --format json
  exit-codes   what the exit codes mean";

/// The pages in `templates/help`, with their names.
pub(super) const TOPICS: [(&str, &str); 8] = [
    ("trust", include_str!("../../templates/help/trust.txt")),
    (
        "mirror-file",
        include_str!("../../templates/help/mirror-file.txt"),
    ),
    (
        "templates",
        include_str!("../../templates/help/templates.txt"),
    ),
    (
        "credentials",
        include_str!("../../templates/help/credentials.txt"),
    ),
    (
        "environment",
        include_str!("../../templates/help/environment.txt"),
    ),
    (
        "deployment",
        include_str!("../../templates/help/deployment.txt"),
    ),
    ("json", include_str!("../../templates/help/json.txt")),
    (
        "exit-codes",
        include_str!("../../templates/help/exit-codes.txt"),
    ),
];

/// The page about the options that every command takes. It is made from the arguments themselves.
const OPTIONS: &str = "options";

/// A line of a paragraph of a page is wider than this, if the first word of the next line is added.
const FULL: usize = 90;

/// Explain a command, or a topic
///
/// Topics: options (those that every command takes), trust, mirror-file, templates, credentials, environment, deployment, json, exit-codes.
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
    let terminal = Term::stdout();
    let width = terminal.size_checked().map(|(_, columns)| columns.into());
    let page = match width.filter(|_| terminal.is_term()) {
        Some(width) => wrapped(&page, width),
        None => page,
    };
    session.printer.own_text(page.trim_end());
    Ok(Ending::Done)
}

fn page(names: &[&str]) -> Result<String, CommandError> {
    if let [OPTIONS] = names {
        return Ok(options());
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
        None => Err(CommandError::Topic {
            text: names.join(" "),
            meant: meant(&tfoci, names),
        }),
    }
}

/// The page that is meant by misspelt names.
fn meant(tfoci: &clap::Command, names: &[&str]) -> Option<String> {
    let shown = |command: &clap::Command| {
        let commands = command.get_subcommands().filter(|one| !one.is_hide_set());
        commands.map(|one| one.get_name().to_owned()).collect()
    };
    let (mut command, mut candidates): (_, Vec<String>) = (tfoci, shown(tfoci));
    candidates.extend(TOPICS.iter().map(|(topic, _)| (*topic).to_owned()));
    candidates.push(OPTIONS.to_owned());
    let mut meant = Vec::new();
    for name in names {
        let words: Vec<&str> = candidates.iter().map(String::as_str).collect();
        let found = nearest(name, &words)?.to_owned();
        if let Some(one) = command.find_subcommand(&found) {
            (command, candidates) = (one, shown(one));
        } else {
            candidates.clear();
        }
        meant.push(found);
    }
    Some(meant.join(" "))
}

/// Wraps the paragraphs of a page for a narrow terminal. Tables and code stay as they are.
fn wrapped(page: &str, width: usize) -> String {
    let mut text = String::new();
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        let mut paragraph = vec![line];
        let mut last = line;
        while let Some(next) = lines.next_if(|next| goes_on(last, next)) {
            paragraph.push(next);
            last = next;
        }
        let is_prose = is_prose(line) && (paragraph.len() > 1 || line.ends_with(['.', ':']));
        let is_narrow = |line: &&str| measure_text_width(line) <= width;
        if !is_prose || paragraph.iter().all(is_narrow) {
            paragraph
                .iter()
                .for_each(|line| text += &format!("{line}\n"));
            continue;
        }
        let mut row = String::new();
        for word in paragraph.join(" ").split_whitespace() {
            let is_full = measure_text_width(&row) + 1 + measure_text_width(word) > width;
            if is_full && !row.is_empty() {
                text += &format!("{row}\n");
                row.clear();
            }
            row += if row.is_empty() {
                indentation(line)
            } else {
                " "
            };
            row += word;
        }
        text += &format!("{row}\n");
    }
    text
}

fn indentation(line: &str) -> &str {
    line.strip_suffix(line.trim_start()).unwrap_or_default()
}

/// Whether a line may belong to a paragraph. Code is indented further, ends with a backslash or is a comment, and tables have columns.
fn is_prose(line: &str) -> bool {
    let text = line.trim_start();
    let is_code = indentation(line).len() > 2 || text.ends_with('\\') || text.starts_with('#');
    !(is_code || text.is_empty() || text.contains("  "))
}

/// Whether the next line continues a paragraph: its first word had no space on this line, and is not the number of an item.
fn goes_on(line: &str, next: &str) -> bool {
    let word = next.split_whitespace().next().unwrap_or_default();
    let is_item = word.len() == 2 && word.ends_with('.');
    let is_full = measure_text_width(line) + 1 + measure_text_width(word) > FULL;
    let is_alike = is_prose(line) && is_prose(next) && indentation(line) == indentation(next);
    is_full && is_alike && !is_item
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
