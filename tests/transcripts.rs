//! What people read: commands, and all that they print, as text files in `tests/transcripts`.
//!
//! ```text
//! # A remark.
//! @ release                           a setup, which `given` describes
//! $ tfoci push dist --to …            a command, which a shell runs in the scene's directory
//! > more lines                        the next lines of the same command, such as a file
//!   stdout
//! ! stderr
//! = 3                                 the exit code, unless it is 0
//! ```
//!
//! If texts change, `TFOCI_BLESS=1 cargo test transcripts` writes the files anew. Then read the difference. `TFOCI_TRANSCRIPT=trust/pins`
//! selects the files whose names begin like this.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::hints;
use crate::support::scene::Run;
use given::Stage;

mod given;
mod rules;

const DIRECTORY: &str = "tests/transcripts";

/// A part of a transcript.
#[derive(Debug, PartialEq, Eq)]
pub enum Part {
    /// An empty line or a remark.
    Remark(String),
    /// A setup.
    Given(String),
    /// A command, and what the file says that it prints.
    Command { script: String, printed: String },
}

/// Every transcript: its name, such as `trust/pins`, and its file.
pub fn files() -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    for topic in fs::read_dir(DIRECTORY).unwrap() {
        let topic = topic.unwrap().path();
        for file in fs::read_dir(&topic).into_iter().flatten() {
            let path = file.unwrap().path();
            let name = path.strip_prefix(DIRECTORY).unwrap().with_extension("");
            if path.extension().is_some_and(|end| end == "txt") {
                found.insert(name.to_str().unwrap().to_owned(), path);
            }
        }
    }
    found
}

/// Reads a transcript.
pub fn parts(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    for line in text.lines() {
        if let Some(script) = line.strip_prefix("$ ") {
            parts.push(Part::Command {
                script: script.to_owned(),
                printed: String::new(),
            });
        } else if let Some(setup) = line.strip_prefix("@ ") {
            parts.push(Part::Given(setup.to_owned()));
        } else if line.is_empty() || line.starts_with('#') {
            parts.push(Part::Remark(line.to_owned()));
        } else {
            let Some(Part::Command { script, printed }) = parts.last_mut() else {
                panic!("no command is before the line `{line}`");
            };
            match line.strip_prefix('>') {
                Some(more) if printed.is_empty() => {
                    write!(script, "\n{}", more.strip_prefix(' ').unwrap_or(more)).unwrap();
                }
                _ => writeln!(printed, "{line}").unwrap(),
            }
        }
    }
    parts
}

/// Runs a transcript. Returns it with what is printed now.
fn played(text: &str) -> String {
    let mut stage = Stage::new();
    let mut written = String::new();
    for part in parts(text) {
        match part {
            Part::Remark(line) => writeln!(written, "{line}").unwrap(),
            Part::Given(setup) => {
                stage.given(&setup);
                writeln!(written, "@ {setup}").unwrap();
            }
            Part::Command { script, .. } => {
                let run = stage.run(&script);
                for (number, line) in script.split('\n').enumerate() {
                    let mark = if number == 0 { '$' } else { '>' };
                    writeln!(written, "{}", format!("{mark} {line}").trim_end()).unwrap();
                }
                written += &printed(&run);
                check_hints(&script, &run);
            }
        }
    }
    written
}

/// What a command printed, as lines of a transcript.
fn printed(run: &Run) -> String {
    let mut text = String::new();
    for line in run.stdout.lines() {
        // An empty line belongs to the file.
        let line = if line.is_empty() { "." } else { line };
        writeln!(text, "  {line}").unwrap();
    }
    for line in run.stderr.lines() {
        writeln!(text, "{}", format!("! {line}").trim_end()).unwrap();
    }
    match run.status {
        Some(0) => {}
        Some(status) => writeln!(text, "= {status}").unwrap(),
        None => text += "= killed\n",
    }
    text
}

fn check_hints(script: &str, run: &Run) {
    let words = script.split_whitespace();
    let words: Vec<&str> = words.skip_while(|word| *word != "tfoci").skip(1).collect();
    hints::check(&words, &run.stderr);
}

/// Plays the transcripts of a topic, several at once, and compares them with their files.
fn play(topic: &str) {
    let only = std::env::var("TFOCI_TRANSCRIPT").unwrap_or_default();
    let is_blessing = std::env::var_os("TFOCI_BLESS").is_some();
    let prefix = format!("{topic}/");
    let all = files();
    let is_wanted = |name: &&String| name.starts_with(&prefix) && name.starts_with(&only);
    let wanted = all.iter().filter(|(name, _)| is_wanted(name));
    let differs = |path: &Path| {
        let before = fs::read_to_string(path).unwrap();
        let after = played(&before);
        if is_blessing && before != after {
            fs::write(path, &after).unwrap();
        }
        (!is_blessing && before != after).then(|| difference(path, &after))
    };
    let found: Vec<String> = std::thread::scope(|scope| {
        let started = wanted.map(|(_, path)| scope.spawn(|| differs(path)));
        let started: Vec<_> = started.collect();
        let ended = started.into_iter().map(|thread| thread.join().unwrap());
        ended.flatten().collect()
    });
    assert!(found.is_empty(), "{}", found.concat());
}

/// The difference between a file and what it should be, by `diff`, which every system for development has.
fn difference(path: &Path, after: &str) -> String {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(&file, after).unwrap();
    let mut diff = Command::new("diff");
    let output = diff.arg("-u").arg(path).arg(file.path()).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// One test for each directory.
macro_rules! topics {
    ($($topic:ident)*) => {
        $(#[test]
        fn $topic() {
            play(stringify!($topic));
        })*

        #[test]
        fn every_directory_is_played() {
            let mut known = vec![$(stringify!($topic)),*];
            let files = files();
            let mut found: Vec<&str> = files.keys().map(|name| name.split('/').next().unwrap()).collect();
            known.sort_unstable();
            found.dedup();
            assert_eq!(found, known);
        }
    };
}

topics!(
    arguments clients commands help newcomers next_steps origins push registries release store trust wrong_files
);
