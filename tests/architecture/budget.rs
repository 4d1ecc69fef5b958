//! The brake: how many lines of code each room may have. A budget is raised only by a commit whose message says which user or attacker notices the
//! difference.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::source::rust_files;

/// The lines of code of each room: a module of the library, or the command line (`cli`).
const BUDGETS: [(&str, usize); 58] = [
    ("error", 112),
    ("secret", 136),
    ("shown", 99),
    ("text", 9),
    ("plain", 45),
    ("json", 337),
    ("toml", 65),
    ("platform", 127),
    ("digest", 80),
    ("hash", 124),
    ("version", 196),
    ("date", 24),
    ("constraint", 179),
    ("address", 420),
    ("selection", 71),
    ("place", 28),
    ("fingerprint", 34),
    ("authentication", 104),
    ("event", 182),
    ("finding", 186),
    ("attestation", 298),
    ("release", 148),
    ("trust", 2716),
    ("oci", 1372),
    ("template", 613),
    ("archive", 1283),
    ("protocol", 270),
    ("syntax", 783),
    ("lockfile", 321),
    ("config", 1343),
    ("jobs", 106),
    ("prove", 61),
    ("http", 1833),
    ("disk", 1264),
    ("credentials", 1648),
    ("blob", 447),
    ("configuration", 479),
    ("source", 2355),
    ("store", 4328),
    ("outcome", 603),
    ("publish", 1936),
    ("push", 149),
    ("mirror", 952),
    ("examine", 365),
    ("inventory", 44),
    ("prune", 344),
    ("install", 1071),
    ("lock", 1166),
    ("verify", 813),
    ("doctor", 742),
    ("copy", 1443),
    ("site", 486),
    ("serve", 3367),
    ("build", 24),
    ("cli", 9878),
    ("lib", 57),
    ("main", 7),
    ("oci_push", 23),
];

/// The most lines of code in a file of a journey. Its reader follows it from top to bottom.
const JOURNEY: usize = 700;

/// The most lines of code in any other file.
const FILE: usize = 400;

/// The rooms whose files are journeys.
const JOURNEYS: [&str; 11] = [
    "copy", "doctor", "examine", "install", "lock", "mirror", "publish", "push", "serve", "site",
    "verify",
];

/// Lines of code: without blank lines, comments, docs, tests in the file, and files of tests.
fn code(path: &Path) -> usize {
    let is_test = |part: &str| {
        let stem = part.strip_suffix(".rs").unwrap_or(part);
        stem.split('_')
            .any(|word| ["test", "tests"].contains(&word))
    };
    let mut parts = path
        .components()
        .map(|part| part.as_os_str().to_str().unwrap());
    if parts.any(is_test) {
        return 0;
    }
    let text = fs::read_to_string(path).unwrap();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is_end = |pair: &[&str]| {
        pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{')
    };
    let end = lines.windows(2).position(is_end).unwrap_or(lines.len());
    let is_code = |line: &&&str| !line.is_empty() && !line.starts_with("//");
    lines[..end].iter().filter(is_code).count()
}

fn room(path: &Path) -> String {
    let first = path.components().nth(1).unwrap();
    let name = first.as_os_str().to_str().unwrap();
    name.strip_suffix(".rs").unwrap_or(name).to_owned()
}

#[test]
fn rooms_keep_their_budgets() {
    let mut rooms: BTreeMap<String, usize> = BTreeMap::new();
    for path in rust_files(Path::new("src")) {
        *rooms.entry(room(&path)).or_default() += code(&path);
    }
    let budgets = BTreeMap::from(BUDGETS);
    let over: Vec<String> = rooms
        .iter()
        .filter(|(room, lines)| **lines > budgets.get(room.as_str()).copied().unwrap_or(0))
        .map(|(room, lines)| format!("(\"{room}\", {lines}),"))
        .collect();
    assert!(over.is_empty(), "over budget:\n{}", over.join("\n"));
}

#[test]
fn files_keep_their_limits() {
    for path in rust_files(Path::new("src")) {
        let most = match JOURNEYS.contains(&room(&path).as_str()) {
            true => JOURNEY,
            false => FILE,
        };
        let lines = code(&path);
        assert!(
            lines <= most,
            "{} has {lines} lines, at most {most} are good",
            path.display()
        );
    }
}
