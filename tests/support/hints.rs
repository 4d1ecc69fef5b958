//! A hint advises no option that the command lacks.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::process::Command;
use std::sync::Mutex;

/// The options of each command that was asked for.
static KNOWN: Mutex<BTreeMap<String, BTreeSet<String>>> = Mutex::new(BTreeMap::new());

/// Options of `gpg`, whose hints need no command before them.
const GPG: [&str; 2] = ["--armor", "--digest-algo"];

/// Checks the hints that a command printed. An option in them is one of this command, or of one that the hint names.
#[track_caller]
pub fn check(arguments: &[impl AsRef<OsStr>], stderr: &str) {
    let words = arguments.iter().map(|one| one.as_ref().to_string_lossy());
    let words: Vec<_> = words.collect();
    let hints = stderr.lines();
    for hint in hints.filter_map(|line| line.strip_prefix("hint: ")) {
        let quoted: Vec<&str> = hint.split('`').skip(1).step_by(2).collect();
        let mut commands: Vec<&str> = words.iter().map(|word| &**word).collect();
        commands.extend(quoted.iter().flat_map(|text| text.split(' ')));
        commands.retain(|word| is_command(word));
        // Every command has those of the empty name.
        commands.push("");
        for option in quoted.iter().filter(|text| text.starts_with("--")) {
            let has = |command: &&str| options(command).contains(name(option));
            let is_known = GPG.contains(&name(option)) || commands.iter().any(has);
            assert!(is_known, "none of {commands:?} has `{option}`\n{hint}");
        }
        for text in quoted {
            let mut words = text.split(' ').skip_while(|word| *word != "tfoci").skip(1);
            let Some(command) = words.next().filter(|word| is_command(word)) else {
                continue;
            };
            for option in words.filter(|word| word.starts_with("--")) {
                let has = |command| options(command).contains(name(option));
                assert!(has(command) || has(""), "no `{command} {option}`\n{hint}");
            }
        }
    }
}

/// `--from` of `--from=STORE`.
fn name(option: &str) -> &str {
    let end = option.find(['=', ' ']).unwrap_or(option.len());
    option.get(..end).unwrap_or(option)
}

fn is_command(word: &str) -> bool {
    let is_word = |c: char| c.is_ascii_lowercase() || c == '-';
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(is_word)
        && !options(word).is_empty()
}

/// The options of a command, by its help; those of every command if it has no name.
fn options(command: &str) -> BTreeSet<String> {
    if let Some(options) = KNOWN.lock().unwrap().get(command) {
        return options.clone();
    }
    let text = match command {
        "" => help(&["help", "options"]),
        "trust" => help(&["trust", "check", "--help"]) + &help(&["trust", "show", "--help"]),
        _ => help(&[command, "--help"]),
    };
    let listed = text.lines().filter_map(|line| {
        let line = line.trim_start();
        let words = line.strip_prefix("--").map(|_| line);
        let short = || line.split_once(", ").map(|(_, rest)| rest);
        let option = words.or_else(short)?;
        option.starts_with("--").then(|| name(option).to_owned())
    });
    let options: BTreeSet<String> = listed.collect();
    let mut known = KNOWN.lock().unwrap();
    known.insert(command.to_owned(), options.clone());
    options
}

fn help(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tfoci"));
    String::from_utf8(command.args(arguments).output().unwrap().stdout).unwrap()
}

#[test]
fn options_of_other_commands_are_found() {
    let refused =
        |hint: &'static str| std::panic::catch_unwind(|| check(&["resolve"], hint)).is_err();
    assert!(!refused(
        "hint: `--from STORE`, `--ca-file FILE`, `tfoci copy --to STORE`"
    ));
    assert!(refused("hint: `--to STORE`"));
    assert!(!refused("hint: `copy` takes `--to STORE`"));
    assert!(refused("hint: `tfoci resolve --to STORE`"));
}
