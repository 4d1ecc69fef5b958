//! Rules for every text in a transcript. That hints name only options that exist is checked when a transcript is played.

use std::fs;

use super::{Part, files, parts};
use crate::support::registry::access::{IDENTITY, PASSWORD};

/// Words of libraries, and how they show values.
const FOREIGN: [&str; 10] = [
    "error sending request",
    "client error (",
    "tcp connect error",
    "dns error",
    "builder error",
    "InvalidContentType",
    "DnsName(",
    "IpAddress(",
    "docs.rs/",
    "RUST_BACKTRACE",
];

/// What a command prints to stderr, without the marks of lines, and its status.
struct Printed {
    of: String,
    stderr: String,
    status: String,
}

fn all() -> Vec<Printed> {
    let mut all = Vec::new();
    for (name, file) in files() {
        for part in parts(&fs::read_to_string(file).unwrap()) {
            let Part::Command { script, printed } = part else {
                continue;
            };
            let lines = printed.lines().filter_map(|line| line.strip_prefix('!'));
            let lines = lines.map(|line| line.strip_prefix(' ').unwrap_or(line));
            let status = printed.lines().find_map(|line| line.strip_prefix("= "));
            all.push(Printed {
                of: format!("{name}: {script}"),
                stderr: lines.map(|line| format!("{line}\n")).collect(),
                status: status.unwrap_or("0").to_owned(),
            });
        }
    }
    assert!(all.len() > 500, "{}", all.len());
    all
}

/// The errors of a text: the first line of each, and the lines below it.
fn errors(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut errors: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut is_inside = false;
    for line in text.lines() {
        is_inside = line.starts_with("error: ") || is_inside && line.starts_with("  ");
        match errors.last_mut() {
            _ if line.starts_with("error: ") => errors.push((line, Vec::new())),
            Some((_, below)) if is_inside => below.push(line),
            _ => {}
        }
    }
    errors
}

#[test]
fn no_message_has_words_of_libraries_or_secrets() {
    for Printed { of, stderr, .. } in all() {
        for word in FOREIGN.into_iter().chain([PASSWORD, IDENTITY, "hunter2"]) {
            assert!(!stderr.contains(word), "{of}\n{stderr}");
        }
        for (first, _) in errors(&stderr) {
            // What the system says is the reason of a sentence of our own.
            assert!(!first.contains("(os error "), "{of}\n{first}");
        }
    }
}

#[test]
fn errors_are_short() {
    for Printed { of, stderr, .. } in all() {
        for (first, below) in errors(&stderr) {
            // A line of a file, with a mark below it.
            let is_quotation = below.iter().any(|line| line.trim() == "|");
            let most = if is_quotation { 6 } else { 3 };
            // Where it is, and with which credentials, does not count.
            let beside = ["at line ", "named by ", "tried "];
            let lines = below.iter().map(|line| line.trim_start());
            let lines = lines.filter(|line| !beside.iter().any(|one| line.starts_with(one)));
            assert!(lines.count() <= most, "{of}\n{first}\n{}", below.join("\n"));
        }
    }
}

#[test]
fn hints_are_one_sentence() {
    for Printed { of, stderr, .. } in all() {
        let lines = stderr.lines();
        for hint in lines.filter_map(|line| line.strip_prefix("hint: ")) {
            assert!(hint.chars().count() <= 120, "{of}\n{hint}");
            assert!(!hint.contains(". "), "{of}\n{hint}");
        }
    }
}

#[test]
fn an_error_has_an_exit_code_of_its_category() {
    for Printed { of, stderr, status } in all() {
        // A shell may go on after a command that failed.
        if of.contains([';', '|', '\n']) {
            continue;
        }
        let codes = ["1", "2", "3", "4", "130"];
        let has_failed = codes.contains(&status.as_str());
        assert!(errors(&stderr).is_empty() || has_failed, "{of}\n{stderr}");
    }
}
