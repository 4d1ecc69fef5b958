//! Untrusted text stays text: no document, name or answer makes tfoci print a command of a terminal or of a CI runner.

use crate::support::scene::Run;

/// Arguments of the command line.
mod arguments;
/// Colours and their meaning.
#[cfg(target_os = "linux")]
mod colours;
/// Documents of stores, and files of release folders.
mod documents;
/// Groups, annotations and the job summary of GitHub Actions.
mod github;
/// Answers of registries and origins.
mod servers;
/// Every frame of runs on terminals of several sizes.
#[cfg(target_os = "linux")]
mod terminals;

/// Text that would control a terminal or a CI runner if it were printed unescaped.
fn hostile() -> [String; 10] {
    [
        "::error::forged".to_owned(),
        "  ::set-output name=x::forged".to_owned(),
        "x\n::stop-commands::forged".to_owned(),
        "x\r\n \t::warning::forged\r::debug::forged".to_owned(),
        "##[command]forged ##vso[task.setvariable variable=x]forged".to_owned(),
        "x\n##[group]forged\n##teamcity[buildStatus]".to_owned(),
        "\u{1b}[2K\u{1b}[1A\u{1b}]0;forged\u{7}\u{9b}31m".to_owned(),
        "\u{202e}forged\u{2066}\u{200b}\u{feff}\u{e0041}\u{ad}".to_owned(),
        "section_start:1:forged\r\u{1b}[0K\u{2028}::error::forged\u{85}::error::forged".to_owned(),
        "forged".repeat(2000),
    ]
}

/// How each command is run in turn.
fn form(turn: usize) -> &'static str {
    ["-vv", "--format json", "--color always -v"][turn % 3]
}

/// The words of a line, in which `[X]` stands for a text that may have blanks.
fn words(line: &str, text: &str) -> impl Iterator<Item = String> {
    line.split(' ').map(|word| word.replace("[X]", text))
}

/// Whether a run printed plain text only.
#[track_caller]
fn check(run: &Run, what: &str) {
    for stream in [&run.stdout, &run.stderr] {
        let shown = || stream.escape_debug().to_string();
        let plain = without_colour(stream);
        for line in plain.split(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']) {
            let is_plain = !line.trim_start().starts_with("::") && line.chars().count() < 4000;
            assert!(is_plain, "{what}\n{}", shown());
        }
        for command in ["##[", "##vso[", "##teamcity["] {
            assert!(!stream.contains(command), "{what}\n{}", shown());
        }
        let deceptive = |c: char| {
            let turns = matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}');
            turns || (c.is_control() && !matches!(c, '\n' | '\t'))
        };
        assert!(!plain.contains(deceptive), "{what}\n{}", shown());
    }
    assert!(matches!(run.status, Some(0..=4)), "{what}\n{run:?}");
    if run.stdout.trim_start().starts_with('{') {
        let parsed = serde_json::from_str::<serde_json::Value>(&run.stdout);
        assert!(parsed.is_ok(), "{what}\n{}", run.stdout);
    }
}

/// Whether a line has no escape sequences but tfoci's own styles at its beginning.
fn without_colour(text: &str) -> String {
    let mut plain = text.to_owned();
    for colour in [31, 32, 33, 36] {
        plain = plain.replace(&format!("\u{1b}[{colour}m\u{1b}[1m"), "");
    }
    plain.replace("\u{1b}[0m", "")
}

/// The text with each string of a JSON document in turn replaced by hostile text; `seed` chooses which.
fn altered(document: &str, seed: usize) -> Vec<String> {
    let marks: Vec<usize> = document.match_indices('"').map(|(at, _)| at).collect();
    let strings = marks.chunks_exact(2).map(|pair| pair[0]..pair[1] + 1);
    let hostile = hostile();
    let replace = |(number, range): (usize, std::ops::Range<usize>)| {
        let text = &hostile[(number + seed) % hostile.len()];
        let text = serde_json::to_string(text).unwrap();
        let (before, after) = (&document[..range.start], &document[range.end..]);
        format!("{before}{text}{after}")
    };
    strings.enumerate().map(replace).collect()
}
