//! Finds the word that a misspelt one probably means.

use std::cmp::Reverse;

/// The most changes between a word and its misspelling. With three, short words would resemble each other.
const MOST_CHANGES: usize = 2;

/// The candidate that differs from a text in at most two characters. Upper and lower case do not differ, and two neighbours that are swapped are one
/// change: that is the most likely mistake.
pub fn nearest<'a>(text: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let text = text.to_lowercase();
    // The text can be much longer than any word.
    let is_near = |one: &&str| text.len().abs_diff(one.len()) <= 2 * MOST_CHANGES;
    let near = candidates.into_iter().filter(is_near).map(|one| {
        let (swaps, changes) = (
            strsim::osa_distance(&text, one),
            strsim::levenshtein(&text, one),
        );
        (swaps, Reverse(changes), one)
    });
    // If every character is another one, the words have nothing in common.
    let is_alike = |found: &(usize, _, &str)| found.0 <= MOST_CHANGES && found.0 < found.2.len();
    near.filter(is_alike).min().map(|(.., one)| one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_mistakes_are_near() {
        let words = [
            "origin",
            "oci-layout",
            "host",
            "to",
            "linux_arm64",
            "linux_amd64",
        ];
        for (text, meant) in [
            ("orign", Some("origin")),
            ("Origin", Some("origin")),
            ("oci-layuot", Some("oci-layout")),
            ("linux_adm64", Some("linux_amd64")),
            ("oci_layout", Some("oci-layout")),
            ("hosts", Some("host")),
            ("registry.example.net", None),
            ("tto", Some("to")),
            ("xy", None),
            ("", None),
        ] {
            assert_eq!(nearest(text, words), meant, "{text}");
        }
    }
}
