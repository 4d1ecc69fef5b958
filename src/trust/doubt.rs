//! Entries of a trust file that have no effect, or not the one that they seem to have.

use std::collections::BTreeMap;
use std::fmt;

use crate::address::ProviderPattern;

use super::TrustFile;

/// A doubt about an entry of a trust file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// The line of the entry, from 1.
    pub line: usize,
    /// The providers that the entry is for.
    pub pattern: ProviderPattern,
    /// Why the entry probably does not do what its author meant.
    pub kind: DoubtKind,
}

/// What is doubtful about an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DoubtKind {
    /// An earlier entry matches all of its providers, so it is never used.
    Shadowed {
        /// The pattern of the earlier entry.
        by: ProviderPattern,
        /// The line of the earlier entry.
        line: usize,
    },
    /// It has neither keys nor other settings.
    Empty,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pattern = &self.pattern;
        match &self.kind {
            DoubtKind::Shadowed { by, line } => write!(
                f,
                "the entry for {pattern} is never used, because the entry for {by} in line {line} matches first"
            ),
            DoubtKind::Empty => write!(
                f,
                "the entry for {pattern} has neither keys nor rules: a signature by any key satisfies it"
            ),
        }
    }
}

/// The doubts about all entries, in their order.
pub fn doubts(file: &TrustFile) -> Vec<Doubt> {
    let mut lines: BTreeMap<&ProviderPattern, usize> = BTreeMap::new();
    let mut doubts = Vec::new();
    for entry in &file.entries {
        let covering = entry.pattern.covering().into_iter();
        let earlier = covering.filter_map(|by| Some((*lines.get(&by)?, by)));
        let shadowed = earlier
            .min()
            .map(|(line, by)| DoubtKind::Shadowed { by, line });
        let is_empty = !entry.has_keys() && !entry.has_rules;
        let kinds = shadowed
            .into_iter()
            .chain(is_empty.then_some(DoubtKind::Empty));
        doubts.extend(kinds.map(|kind| Doubt {
            line: entry.line,
            pattern: entry.pattern.clone(),
            kind,
        }));
        lines.entry(&entry.pattern).or_insert(entry.line);
    }
    doubts
}

#[cfg(test)]
mod tests {
    use super::*;

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
        for (skipped, expected) in [(0, vec![(5, 2), (8, 2), (11, 2)]), (1, vec![(5, 2)])] {
            let file = TrustFile::parse(&text[skipped..].concat()).expect("a trust file");
            let found = doubts(&file).into_iter().map(|doubt| match doubt.kind {
                DoubtKind::Shadowed { line, .. } => (doubt.line, line),
                other => panic!("{other:?}"),
            });
            assert_eq!(found.collect::<Vec<_>>(), expected);
        }
    }
}
