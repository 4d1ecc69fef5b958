//! Pinning on first use: what a trust file becomes when keys that were seen for the first time are written into it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::address::ProviderAddr;

use super::policy::Settings;
use super::rule::Fingerprint;
use super::{Error, TrustFile};

/// The first line of a table. Only at the start of a line is it one.
const TABLE: &str = "[[provider]]";

/// The text of a trust file with keys pinned for a provider; `None` if it names keys for that provider already. Nothing of the text is
/// changed or lost: a table is added, before others that would match the provider first.
///
/// # Errors
/// Text that is no trust file.
pub fn pin(
    text: &str,
    provider: &ProviderAddr,
    fingerprints: &BTreeSet<Fingerprint>,
) -> Result<Option<String>, Error> {
    let file = TrustFile::parse(text)?;
    let entry = file.settings_for(provider);
    if entry.as_ref().is_some_and(|entry| entry.has_keys) {
        return Ok(None);
    }
    let table = table(provider, fingerprints, entry.as_ref());
    let before = entry.and_then(|_| first_table(text));
    Ok(Some(
        match before.and_then(|at| text.split_at_checked(at)) {
            Some((head, tail)) => format!("{head}{table}\n{tail}"),
            None if text.trim().is_empty() => table,
            None => format!("{}\n\n{table}", text.trim_end()),
        },
    ))
}

fn table(
    provider: &ProviderAddr,
    fingerprints: &BTreeSet<Fingerprint>,
    inherited: Option<&Settings>,
) -> String {
    let keys: Vec<String> = fingerprints
        .iter()
        .map(|key| format!("\"{key}\""))
        .collect();
    let mut table = format!(
        "{TABLE}\nmatch = \"{provider}\"\nkeys = [{}]\n",
        keys.join(", ")
    );
    for (name, word) in inherited.into_iter().flat_map(|settings| &settings.said) {
        // Writing into a string cannot fail.
        let _written = writeln!(table, "{name} = \"{word}\"");
    }
    table
}

fn first_table(text: &str) -> Option<usize> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with(TABLE) {
            return Some(at);
        }
        at += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "C874011F0AB405110D02105534365D9472D7468F";

    fn pinned(text: &str) -> Option<String> {
        let provider = "registry.opentofu.org/acme/demo".parse().unwrap();
        let pinned = pin(text, &provider, &BTreeSet::from([KEY.parse().unwrap()])).unwrap();
        if let Some(text) = &pinned {
            // What was pinned stays: the second time there is nothing to do.
            assert_eq!(pin(text, &provider, &BTreeSet::new()).unwrap(), None);
        }
        pinned
    }

    fn own(settings: &str) -> String {
        format!(
            "[[provider]]\nmatch = \"registry.opentofu.org/acme/demo\"\nkeys = [\"{KEY}\"]\n{settings}"
        )
    }

    #[test]
    fn a_new_file_and_one_with_other_tables() {
        assert_eq!(pinned(""), Some(own("")));
        let other = "# ours\n[[provider]]\nmatch = \"registry.opentofu.org/other/*\"\n";
        assert_eq!(pinned(other), Some(format!("{other}\n{}", own(""))));
    }

    #[test]
    fn a_table_without_keys_is_preceded_and_its_settings_kept() {
        let all = "# ours\n[[provider]]\nmatch = \"registry.opentofu.org/*/*\"\nunsigned = \"allow\"\nweak = \"warn\"\n";
        let (comment, tables) = all.split_once('\n').unwrap();
        let expected = format!(
            "{comment}\n{}\n{tables}",
            own("unsigned = \"allow\"\nweak = \"warn\"\n")
        );
        assert_eq!(pinned(all), Some(expected));
    }

    #[test]
    fn keys_that_are_named_stay_as_they_are() {
        let named =
            "[[provider]]\nmatch = \"registry.opentofu.org/acme/*\"\nkeys = [\"acme.asc\"]\n";
        assert_eq!(pinned(named), None);
    }
}
