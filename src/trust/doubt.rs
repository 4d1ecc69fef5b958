//! Entries of a trust file that are never used.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::address::ProviderPattern;

use super::TrustEntry;

/// A doubt about an entry of a trust file: it probably does not do what its author meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Doubt {
    /// The line of the entry, from 1.
    pub line: usize,
    /// What is doubtful.
    pub message: String,
}

/// The doubts about all entries, in their order.
pub fn doubts(entries: &[TrustEntry]) -> Vec<Doubt> {
    let mut lines: BTreeMap<&ProviderPattern, usize> = BTreeMap::new();
    let mut doubts = Vec::new();
    for entry in entries {
        let covering = entry.pattern.covering().into_iter();
        let earlier = covering.filter_map(|by| Some((*lines.get(&by)?, by)));
        let pattern = &entry.pattern;
        let shadowed = earlier.min().map(|(line, by)| {
            format!("the entry for {pattern} is never used, because the entry for {by} in line {line} matches first")
        });
        let line = entry.line;
        doubts.extend(shadowed.map(|message| Doubt { line, message }));
        lines.entry(&entry.pattern).or_insert(entry.line);
    }
    doubts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trust::TrustFile;

    #[test]
    fn the_earliest_entry_that_matches_is_named() {
        let entries = [
            "*/*/*",
            "a.example/*/*",
            "a.example/*/*",
            "b.example/acme/demo",
        ];
        let text =
            entries.map(|pattern| format!("[[provider]]\nmatch = '{pattern}'\nweak = 'warn'\n"));
        for (skipped, expected) in [(0, &[(5, 2), (8, 2), (11, 2)][..]), (1, &[(5, 2)])] {
            let file = TrustFile::parse(&text[skipped..].concat()).expect("a trust file");
            let found = doubts(&file.entries);
            let lines: Vec<usize> = found.iter().map(|doubt| doubt.line).collect();
            let expected_lines: Vec<usize> = expected.iter().map(|(line, _)| *line).collect();
            assert_eq!(lines, expected_lines);
            for (doubt, (_, by)) in found.iter().zip(expected) {
                let by = format!("in line {by} matches first");
                assert!(doubt.message.ends_with(&by), "{}", doubt.message);
            }
        }
    }
}
