//! References to `src/clients.md` name headings that exist, and no file refers to documents outside the repository.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The text before the anchor in a reference.
const REFERENCE: &str = "clients#";

#[test]
fn every_reference_to_clients_names_a_heading() {
    let anchors = anchors(&fs::read_to_string("src/clients.md").unwrap());
    let mut broken = Vec::new();
    for path in files() {
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate() {
            for anchor in referenced(line) {
                if !anchors.contains(&anchor) {
                    broken.push(format!("{}:{}: {anchor}", path.display(), number + 1));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
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
    let own = Path::new("tests/references.rs");
    let mut found = Vec::new();
    for path in files().filter(|path| path != own) {
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate() {
            if is_numbered(line) {
                found.push(format!("{}:{}: {line}", path.display(), number + 1));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
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
        let anchor: String = title
            .trim()
            .chars()
            .filter_map(|c| match c {
                ' ' => Some('-'),
                '-' | '_' => Some(c),
                _ if c.is_alphanumeric() => Some(c.to_ascii_lowercase()),
                _ => None,
            })
            .collect();
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
    let mut pending: Vec<PathBuf> = ["src", "tests", "testdata", "benches", "fuzz"]
        .map(PathBuf::from)
        .to_vec();
    let mut files = vec![PathBuf::from("README.md")];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                // Inputs and results of the fuzzer are no text.
                if !["corpus", "artifacts", "target"].contains(&name(&path)) {
                    pending.push(path);
                }
            } else if ["rs", "md", "py", "sh", "toml"].contains(&extension(&path)) {
                files.push(path);
            }
        }
    }
    files.into_iter()
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap()
}

fn extension(path: &Path) -> &str {
    path.extension()
        .and_then(|name| name.to_str())
        .unwrap_or_default()
}
