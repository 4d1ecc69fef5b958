//! Finds the word that a misspelt one probably means.

/// The most changes of single characters between a word and its misspelling. With three, short words would resemble each other.
const MOST_CHANGES: usize = 2;
/// The least length of a beginning that stands for a word.
const LEAST_BEGINNING: usize = 3;

/// The candidate that is nearest to a text, if it differs in at most two characters; otherwise the only one that begins with the text. Upper
/// and lower case do not differ.
pub fn nearest<'a>(text: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let text = text.to_lowercase();
    let near = candidates.iter().filter_map(|candidate| {
        // The text can be much longer than any word.
        let is_near = text.len().abs_diff(candidate.len()) <= 2 * MOST_CHANGES;
        let changes = is_near.then(|| strsim::levenshtein(&text, candidate))?;
        // If every character is another one, the words have nothing in common.
        let is_alike = changes <= MOST_CHANGES && changes < candidate.chars().count();
        is_alike.then(|| (!is_swapped(&text, candidate), changes, *candidate))
    });
    let nearest = near.min_by_key(|(is_other, changes, _)| (*is_other, *changes));
    let begins = || only_one_with(&text, candidates);
    nearest.map(|(_, _, candidate)| candidate).or_else(begins)
}

/// Whether two neighbouring characters of a word are swapped, which is the most likely mistake.
fn is_swapped(text: &str, word: &str) -> bool {
    let pairs = text.chars().zip(word.chars()).enumerate();
    let other: Vec<(usize, (char, char))> = pairs.filter(|(_, (a, b))| a != b).collect();
    let [(first, (a, b)), (second, (c, d))] = other[..] else {
        return false;
    };
    text.len() == word.len() && first + 1 == second && (a, b) == (d, c)
}

/// The only candidate that begins with a text.
fn only_one_with<'a>(text: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let mut longer = candidates.iter().filter(|one| one.starts_with(text));
    let (first, second) = (longer.next(), longer.next());
    first
        .filter(|_| second.is_none() && text.len() >= LEAST_BEGINNING)
        .copied()
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
            ("ori", Some("origin")),
            ("OCI-", Some("oci-layout")),
            ("registry.example.net", None),
            ("tto", Some("to")),
            ("xy", None),
            ("", None),
        ] {
            assert_eq!(nearest(text, &words), meant, "{text}");
        }
    }
}
