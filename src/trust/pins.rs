//! Pinning on first use: what a trust file becomes when keys that were seen for the first time are written into it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;

use serde::Deserialize;
use serde::de::IgnoredAny;
use toml::Spanned;

use crate::address::ProviderAddr;

use super::policy::Settings;
use super::rule::Fingerprint;
use super::{Error, TrustFile};

/// The setting that is never inherited: pinned means signed.
const UNSIGNED: &str = "unsigned";

/// Where in the text what stands.
#[derive(Deserialize)]
struct Places {
    #[serde(default)]
    provider: Vec<Spanned<Table>>,
}

#[derive(Deserialize)]
struct Table {
    keys: Option<Spanned<IgnoredAny>>,
}

/// The text of a trust file with `keys` pinned for a provider; `None` if it names others already. `earlier` are those that were pinned
/// in this way before, and are now among `keys`: their list is replaced. Nothing else of the text is changed or lost: a table is added,
/// before the one that matches the provider first.
///
/// # Errors
/// Text that is no trust file, and [`Error::NoPlace`].
pub fn pin(
    text: &str,
    provider: &ProviderAddr,
    earlier: &BTreeSet<Fingerprint>,
    keys: &BTreeSet<Fingerprint>,
) -> Result<Option<String>, Error> {
    let entry = TrustFile::parse(text)?.settings_for(provider);
    let places: Places = toml::from_str(text).map_err(|e| Error::TrustFile(Box::new(e)))?;
    let is_named = |entry: &Settings| entry.has_files || !entry.pins.is_empty();
    let pinned = match entry.as_ref().filter(|entry| is_named(entry)) {
        None => {
            let first = entry
                .as_ref()
                .and_then(|entry| places.provider.get(entry.place));
            with_table(text, &table(provider, keys, entry.as_ref()), first)
        }
        Some(entry) if entry.has_files || entry.pins != *earlier => return Ok(None),
        Some(entry) => with_list(text, &list(keys), &places, entry.place),
    };
    // Whatever TOML allows, what was written has to say what it should.
    let holds = |text: &String| {
        let now = TrustFile::parse(text).ok()?.settings_for(provider)?;
        let mut said = entry.map_or_else(Vec::new, |entry| entry.said);
        said.retain(|(name, _)| *name != UNSIGNED);
        (now.pins == *keys && !now.has_files && now.said == said).then_some(())
    };
    match pinned {
        Some(text) if holds(&text).is_some() => Ok(Some(text)),
        _ => Err(Error::NoPlace),
    }
}

fn list(keys: &BTreeSet<Fingerprint>) -> String {
    let keys: Vec<String> = keys.iter().map(|key| format!("\"{key}\"")).collect();
    format!("[{}]", keys.join(", "))
}

fn table(
    provider: &ProviderAddr,
    keys: &BTreeSet<Fingerprint>,
    inherited: Option<&Settings>,
) -> String {
    let keys = list(keys);
    let mut table =
        format!("[[provider]]\nmatch = \"{provider}\"\nkeys = {keys}\n{UNSIGNED} = \"refuse\"\n");
    let inherited = inherited.into_iter().flat_map(|settings| &settings.said);
    for (name, word) in inherited.filter(|(name, _)| *name != UNSIGNED) {
        // Writing into a string cannot fail.
        let _written = writeln!(table, "{name} = \"{word}\"");
    }
    table
}

/// Adds a table at the end, or before one that would come first.
fn with_table(text: &str, table: &str, first: Option<&Spanned<Table>>) -> Option<String> {
    let Some(first) = first else {
        let text = text.trim_end();
        return Some(match text {
            "" => table.to_owned(),
            text => format!("{text}\n\n{table}"),
        });
    };
    let head = text.get(..first.span().start)?;
    // The byte order mark of some editors has to stay first.
    let line = head.rfind('\n').map(|at| at + 1);
    let line = line.unwrap_or(head.len() - head.trim_start_matches('\u{feff}').len());
    let (head, tail) = text.split_at_checked(line)?;
    Some(format!("{head}{table}\n{tail}"))
}

/// Replaces the list of keys of a table.
fn with_list(text: &str, list: &str, places: &Places, table: usize) -> Option<String> {
    let Range { start, end } = places.provider.get(table)?.get_ref().keys.as_ref()?.span();
    Some(format!("{}{list}{}", text.get(..start)?, text.get(end..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "C874011F0AB405110D02105534365D9472D7468F";
    const OTHER: &str = "E56B60758C6D6E7630CD2A9F21FA22C0E0E7ABE9";

    fn provider() -> ProviderAddr {
        "registry.opentofu.org/acme/demo".parse().unwrap()
    }

    fn keys<const N: usize>(keys: [&str; N]) -> BTreeSet<Fingerprint> {
        keys.map(|key| key.parse().unwrap()).into()
    }

    fn pinned(text: &str) -> Option<String> {
        let pinned = pin(text, &provider(), &keys([]), &keys([KEY])).unwrap();
        if let Some(text) = &pinned {
            // What was pinned stays: the second time there is nothing to do.
            let again = pin(text, &provider(), &keys([]), &keys([OTHER]));
            assert_eq!(again.unwrap(), None);
        }
        pinned
    }

    fn own(settings: &str) -> String {
        format!(
            "[[provider]]\nmatch = \"registry.opentofu.org/acme/demo\"\nkeys = [\"{KEY}\"]\nunsigned = \"refuse\"\n{settings}"
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
        for (before, header) in [
            ("# ours\n", "[[provider]]"),
            (
                "# \"\"\"\n[[provider]]\nmatch = \"a/b/c\"\n",
                "[[provider]]",
            ),
            ("", "[[ provider ]]"),
            ("\n", "  [[\tprovider]] # [[provider]]"),
            ("", "[[\"provider\"]]"),
            ("\u{feff}", "[[provider]]"),
            (
                "[[provider]]\nmatch = \"a/b/c\"\nkeys = [\"\"\"\n[[provider]]\n\"\"\"]\n",
                "[[provider]]",
            ),
        ] {
            let table = format!(
                "{header}\nmatch = \"registry.opentofu.org/*/*\"\nunsigned = \"allow\"\nweak = \"warn\"\n"
            );
            let own = own("weak = \"warn\"\n");
            let expected = format!("{before}{own}\n{table}");
            assert_eq!(pinned(&format!("{before}{table}")), Some(expected));
        }
    }

    #[test]
    fn keys_that_are_named_stay_as_they_are() {
        for named in ["acme.asc", OTHER] {
            let named = format!(
                "[[provider]]\nmatch = \"registry.opentofu.org/acme/*\"\nkeys = [\"{named}\"]\n"
            );
            assert_eq!(pinned(&named), None);
        }
    }

    #[test]
    fn a_key_joins_those_that_were_pinned_before() {
        let text = format!("# ours\n{}\n# more\n", own("weak = \"warn\"\n"));
        let both = keys([KEY, OTHER]);
        let joined = pin(&text, &provider(), &keys([KEY]), &both).unwrap();
        let list = format!("[\"{KEY}\", \"{OTHER}\"]");
        let expected = text.replace(&format!("[\"{KEY}\"]"), &list);
        assert_eq!(joined, Some(expected));
        // Those that somebody else wrote stay.
        let named = text.replace(KEY, OTHER);
        let stays = pin(&named, &provider(), &keys([KEY]), &both).unwrap();
        assert_eq!(stays, None);
        // Somebody took them out again.
        let gone = pin("", &provider(), &keys([KEY]), &both).unwrap();
        assert_eq!(gone.unwrap(), table(&provider(), &both, None));
    }

    #[test]
    fn a_form_that_cannot_be_added_to_is_refused() {
        for text in [
            "provider = []\n",
            "provider = [{ match = \"a.example/*/*\" }]\n",
            "provider = [{ match = \"registry.opentofu.org/*/*\" }]\n",
            "provider = [\n  { match = \"a.example/*/*\" },\n  { match = \"registry.opentofu.org/*/*\" },\n]\n",
        ] {
            let refused = pin(text, &provider(), &keys([]), &keys([KEY]));
            assert!(matches!(refused, Err(Error::NoPlace)), "{text}");
        }
    }
}
