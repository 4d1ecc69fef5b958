//! References to `src/clients.md` name headings that exist, and no file refers to documents outside the repository.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::architecture::source;

/// The text before the anchor in a reference.
const REFERENCE: &str = "clients#";

#[test]
fn every_reference_to_clients_names_a_heading() {
    let anchors = anchors(&fs::read_to_string("src/clients.md").unwrap());
    let broken = found(|line| {
        let mut referenced = referenced(line).into_iter();
        referenced.find(|anchor| !anchors.contains(anchor))
    });
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn links_inside_clients_lead_to_headings() {
    let text = fs::read_to_string("src/clients.md").unwrap();
    let anchors = anchors(&text);
    for (place, _) in text.match_indices("](#") {
        let anchor = anchor_at(&text[place + "](#".len()..]);
        assert!(anchors.contains(&anchor), "{anchor}");
    }
}

#[test]
fn no_file_refers_to_numbered_documents() {
    let numbered = found(|line| is_numbered(line).then(|| line.to_owned()));
    assert!(numbered.is_empty(), "{numbered:#?}");
}

#[test]
fn a_planted_reference_to_a_numbered_document_is_found() {
    assert!(is_numbered("/// Versions (contract)."));
    assert!(is_numbered("/// Contract 1.3, check by check."));
    assert!(is_numbered("/// The limits of ruling 36."));
    assert!(!is_numbered(
        "/// Every store keeps the contract of the trait."
    ));
    assert!(!is_numbered("/// The contract ends here."));
}

#[test]
fn a_planted_reference_without_a_heading_is_found() {
    let anchors = anchors("# Lock files\n## The command `providers mirror`\ntext\n");
    let names: Vec<&str> = anchors.iter().map(String::as_str).collect();
    assert_eq!(names, ["lock-files", "the-command-providers-mirror"]);
    let line = format!("/// ([a](crate::{REFERENCE}lock-files), [b](crate::{REFERENCE}x_1)).");
    assert_eq!(referenced(&line), ["lock-files", "x_1"]);
}

/// Whether a line refers to a numbered section of a document outside the repository, such as one in parentheses.
fn is_numbered(line: &str) -> bool {
    let line = line.to_lowercase();
    let has_number = |word: &str| {
        line.match_indices(word).any(|(place, _)| {
            let rest = &line[place + word.len()..];
            rest.trim_start().starts_with(|c: char| c.is_ascii_digit())
        })
    };
    line.contains("(contract") || has_number("contract") || has_number("ruling")
}

/// The anchors that rustdoc creates for the headings of a document.
///
/// Headings must differ: rustdoc adds numbers to the anchors of equal headings, and these change when a heading is added.
fn anchors(document: &str) -> BTreeSet<String> {
    let mut headings = BTreeMap::new();
    for line in document.lines() {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() {
            continue;
        }
        let kept = title.trim().chars().filter_map(|c| match c {
            ' ' => Some('-'),
            '-' | '_' => Some(c),
            _ if c.is_alphanumeric() => Some(c.to_ascii_lowercase()),
            _ => None,
        });
        let anchor: String = kept.collect();
        assert!(headings.insert(anchor, line).is_none(), "{line}: twice");
    }
    headings.into_keys().collect()
}

/// The anchors that a line refers to.
fn referenced(line: &str) -> Vec<String> {
    line.match_indices(REFERENCE)
        .map(|(place, _)| anchor_at(&line[place + REFERENCE.len()..]))
        .filter(|anchor| !anchor.is_empty())
        .collect()
}

fn anchor_at(text: &str) -> String {
    text.chars()
        .take_while(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
        .collect()
}

/// All files that are written by hand: sources, tests, scripts and documents.
fn files() -> impl Iterator<Item = PathBuf> {
    let directories = ["src", "tests", "testdata", "benches", "fuzz"].into_iter();
    let kinds = ["rs", "md", "py", "sh", "toml"];
    let files = directories.flat_map(move |one| source::files(Path::new(one), &kinds));
    files.chain([PathBuf::from("README.md")])
}

/// The lines of all files of which something is wrong, each with its place.
fn found(what: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let mut found = Vec::new();
    for path in files().filter(|path| path != Path::new(file!())) {
        let text = fs::read_to_string(&path).unwrap();
        for (line, number) in text.lines().zip(1..) {
            let wrong = what(line).map(|wrong| format!("{}:{number}: {wrong}", path.display()));
            found.extend(wrong);
        }
    }
    found
}
