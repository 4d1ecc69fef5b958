//! Trust on first use: adds the keys of a new provider to a trust file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, Value, value};

use crate::address::ProviderAddr;
use crate::toml;
use crate::version::Version;

use super::rule::{Expired, Fingerprint, Weak};
use super::{Error, KeyDescription, TrustEntry, TrustFile};

/// The byte order mark that some editors write. It has to stay the first character.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The characters of a line end.
const LINE_END: [char; 2] = ['\r', '\n'];

/// The version with which a key was seen for the first time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstSeen {
    /// The key.
    pub key: KeyDescription,
    /// The version that it signed.
    pub version: Version,
}

/// The comment beside the key: `Acme Inc <x@y>, RSA 4096, first seen with 1.2.0`. It is one line, whatever the user id contains.
impl fmt::Display for FirstSeen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, first seen with {}", self.key, self.version)
    }
}

/// New keys of a provider.
pub type NewKeys = BTreeMap<Fingerprint, FirstSeen>;

/// Pins `keys` for a provider in the text of a trust file; `None` if the file already has other keys for it. `earlier` are the
/// keys that an earlier call pinned and that are now among `keys`: their list is replaced. Otherwise a table is added before the first
/// one that matches the provider. Among tables for single providers, it is added in the order of their addresses. The rest of the text stays
/// the same, byte for byte.
///
/// # Errors
/// The text is not a trust file, or [`Error::NoPlace`] if the rest of the text would change.
pub fn pin(
    text: &str,
    provider: &ProviderAddr,
    earlier: &BTreeSet<Fingerprint>,
    keys: &NewKeys,
) -> Result<Option<String>, Error> {
    let file = TrustFile::parse(text)?;
    let found = file.entry_for(provider);
    match found {
        Some((place, entry)) if entry.has_keys() => {
            let pins: BTreeSet<&Fingerprint> = entry.pins.iter().collect();
            if !entry.files.is_empty() || !pins.into_iter().eq(earlier) {
                return Ok(None);
            }
            edit(text, |file| replace_keys(file, place, list(keys)))
        }
        found => {
            let place = place(&file, provider, found.map(|(place, _)| place));
            let table = table(provider, keys, found.map(|(_, entry)| entry));
            edit(text, |file| add(file, table, place))
        }
    }
    .map(Some)
}

/// The index of the table before which a new table is added; `None` for the end. The tables for single providers that directly precede the
/// table `before`, or the end, are in the order of their addresses if nothing else changed it.
fn place(file: &TrustFile, provider: &ProviderAddr, before: Option<usize>) -> Option<usize> {
    let (mut place, mut found) = (file.entries.len(), before);
    let preceding = file.entries.iter().enumerate();
    let preceding = preceding.take(before.unwrap_or(place)).rev();
    for (index, entry) in preceding {
        let Ok(address) = entry.pattern.to_string().parse::<ProviderAddr>() else {
            break;
        };
        place = index;
        if address > *provider {
            found = Some(place);
        }
    }
    found
}

/// Applies a change to the tables of a text. `toml_edit` keeps comments, order and formatting. It drops the byte order mark and
/// carriage returns, which this function restores, and it writes the header of every `[[provider]]` table as that of the first. So a
/// text that `toml_edit` would not write back unchanged is refused.
fn edit(text: &str, change: impl FnOnce(&mut DocumentMut) -> Option<()>) -> Result<String, Error> {
    let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let (mark, _) = text.split_at(text.len() - body.len());
    let line_end = if body.contains("\r\n") { "\r\n" } else { "\n" };
    let content = body.trim_end_matches(LINE_END);
    let end = match body.strip_prefix(content) {
        Some(end) if !body.is_empty() => end,
        _ => line_end,
    };
    let written = |file: &DocumentMut| {
        let text = file.to_string();
        text.trim_end_matches(LINE_END).replace('\n', line_end)
    };

    let parsed = toml::parse_to_edit(&content.replace("\r\n", "\n"));
    let mut file = parsed.map_err(|error| Error::TrustFile(Box::new(error)))?;
    if written(&file) != content {
        return Err(Error::NoPlace);
    }
    change(&mut file).ok_or(Error::NoPlace)?;
    Ok(format!("{mark}{}{end}", written(&file)))
}

/// Replaces the list of keys of a table, and keeps the white space and comments around the list.
fn replace_keys(file: &mut DocumentMut, place: usize, keys: Array) -> Option<()> {
    let table = tables(file)?.get_mut(place)?;
    let list = table.get_mut("keys")?.as_array_mut()?;
    let decor = list.decor().clone();
    *list = keys;
    *list.decor_mut() = decor;
    Some(())
}

/// Adds a table before the one at `place`, or at the end.
fn add(file: &mut DocumentMut, mut table: Table, place: Option<usize>) -> Option<()> {
    let Some(place) = place else {
        // The text after the last table, which can only be comments.
        let comments = file.trailing().as_str().unwrap_or_default().to_owned();
        let gap = match comments.as_str() {
            "" if file.is_empty() => "",
            "" => "\n",
            _ => "\n\n",
        };
        table.decor_mut().set_prefix(comments + gap);
        file.set_trailing("");
        tables(file)?.push(table);
        return Some(());
    };
    let tables = tables(file)?;
    let next = tables.get_mut(place)?.decor_mut();
    let before = next.prefix().and_then(|text| text.as_str());
    let before = before.unwrap_or_default().to_owned();
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    let (comments, indent) = before.split_at_checked(line)?;
    let (above, own) = comments.split_at_checked(own_comment(comments, place))?;
    next.set_prefix(format!("\n{own}{indent}"));
    // A comment about the next table stays apart from the new one.
    let above = if above.is_empty() && !own.is_empty() {
        "\n"
    } else {
        above
    };
    table.decor_mut().set_prefix(above);
    tables.insert(place, table);
    Some(())
}

/// Where the comment about the table at `place` begins in the text before its header: after the last blank line. At the beginning of the
/// file, a comment without a blank line may be about the file.
fn own_comment(comments: &str, place: usize) -> usize {
    let mut begin = (place > 0).then_some(0);
    let mut at = 0;
    for line in comments.split_inclusive('\n') {
        at += line.len();
        if line.trim().is_empty() {
            begin = Some(at);
        }
    }
    begin.unwrap_or(at)
}

/// The `[[provider]]` tables; `None` if they are written as one list of inline tables.
fn tables(file: &mut DocumentMut) -> Option<&mut ArrayOfTables> {
    file.entry("provider")
        .or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()))
        .as_array_of_tables_mut()
}

/// The keys, each on a line of its own with a comment.
fn list(keys: &NewKeys) -> Array {
    let mut list = Array::new();
    let mut comment = String::new();
    for (key, seen) in keys {
        let key = Value::from(key.to_string());
        list.push_formatted(key.decorated(format!("{comment}\n  "), ""));
        comment = format!(" # {seen}");
    }
    list.set_trailing_comma(true);
    list.set_trailing(comment + "\n");
    list
}

/// A table that pins keys. It takes precedence over the table that matched before, so it copies that table's other settings, except
/// `unsigned`: a pinned provider must be signed.
fn table(provider: &ProviderAddr, keys: &NewKeys, inherited: Option<&TrustEntry>) -> Table {
    let mut table = Table::new();
    table.insert("match", value(provider.to_string()));
    table.insert("keys", value(list(keys)));
    table.insert("unsigned", value("refuse"));
    if inherited.is_some_and(|entry| entry.expired == Expired::Refuse) {
        table.insert("expired", value(Expired::Refuse.as_str()));
    }
    if inherited.is_some_and(|entry| entry.weak == Weak::Warn) {
        table.insert("weak", value(Weak::Warn.as_str()));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "C874011F0AB405110D02105534365D9472D7468F";
    const OTHER: &str = "E56B60758C6D6E7630CD2A9F21FA22C0E0E7ABE9";

    fn provider() -> ProviderAddr {
        "registry.opentofu.org/acme/demo".parse().unwrap()
    }

    fn pins<const N: usize>(keys: [&str; N]) -> BTreeSet<Fingerprint> {
        keys.map(|key| key.parse().unwrap()).into()
    }

    fn seen(key: &str, user_id: &str) -> (Fingerprint, FirstSeen) {
        let fingerprint: Fingerprint = key.parse().unwrap();
        let key = KeyDescription {
            fingerprint: fingerprint.clone(),
            user_id: Some(user_id.to_owned()),
            algorithm: "Ed25519".to_owned(),
            expires: None,
            is_revoked: false,
            can_sign: true,
        };
        let version = "1.2.0".parse().unwrap();
        (fingerprint, FirstSeen { key, version })
    }

    fn keys<const N: usize>(keys: [&str; N]) -> NewKeys {
        keys.map(|key| seen(key, "Acme <a@acme.example>")).into()
    }

    /// The list as it is written.
    fn listed<const N: usize>(keys: [&str; N]) -> String {
        let comment = "# Acme <a@acme.example>, Ed25519, first seen with 1.2.0";
        let lines = keys.map(|key| format!("  \"{key}\", {comment}\n"));
        format!("[\n{}]", lines.concat())
    }

    fn pinned(text: &str) -> Option<String> {
        let pinned = pin(text, &provider(), &pins([]), &keys([KEY])).unwrap();
        if let Some(text) = &pinned {
            // The pinned keys stay: there is nothing to do the second time.
            let again = pin(text, &provider(), &pins([]), &keys([OTHER]));
            assert_eq!(again.unwrap(), None);
        }
        pinned
    }

    fn own(settings: &str) -> String {
        format!(
            "[[provider]]\nmatch = \"registry.opentofu.org/acme/demo\"\nkeys = {}\nunsigned = \"refuse\"\n{settings}",
            listed([KEY])
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
        // The new header is spelled as the ones that are there.
        for (before, spelling, header) in [
            ("# ours\n", "[[provider]]", "[[provider]]"),
            (
                "# \"\"\"\n[[provider]]\nmatch = \"a/b/c\"\n",
                "[[provider]]",
                "[[provider]]",
            ),
            ("", "[[ provider ]]", "[[ provider ]]"),
            ("\n", "[[\tprovider]]", "  [[\tprovider]] # [[provider]]"),
            ("", "[[\"provider\"]]", "[[\"provider\"]]"),
            ("\u{feff}", "[[provider]]", "[[provider]]"),
            (
                "[[provider]]\nmatch = \"a/b/c\"\nkeys = [\"\"\"\n[[provider]]\n\"\"\"]\n",
                "[[provider]]",
                "[[provider]]",
            ),
        ] {
            let table = format!(
                "{header}\nmatch = \"registry.opentofu.org/*/*\"\nunsigned = \"allow\"\nweak = \"warn\"\n"
            );
            let own = own("weak = \"warn\"\n").replace("[[provider]]", spelling);
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
        let joined = pin(&text, &provider(), &pins([KEY]), &both).unwrap();
        let list = listed([KEY, OTHER]);
        assert_eq!(joined, Some(text.replace(&listed([KEY]), &list)));
        // Keys that the user wrote stay.
        let named = text.replace(KEY, OTHER);
        let stays = pin(&named, &provider(), &pins([KEY]), &both).unwrap();
        assert_eq!(stays, None);
        // The user removed the keys.
        let gone = pin("", &provider(), &pins([KEY]), &both).unwrap();
        assert_eq!(gone.unwrap(), own("").replace(&listed([KEY]), &list));
    }

    /// Comments, order, spacing, quotes, line ends and the end of the file.
    #[test]
    fn every_other_byte_stays() {
        let text = format!(
            "\u{feff}# ours\n\n  [[provider]]   # first\n  match = 'a.example/*/*'\nkeys=[ 'x.asc', # theirs\n  \"{OTHER}\",]\n\n# why\n[[provider]]\n\tweak  =  \"\"\"warn\"\"\" # now\n\
             match = \"registry.opentofu.org/acme/*\"\n\n\n# last\n\n[[provider]]\nmatch = \"b.example/*/*\"\n# end \t"
        );
        let is_kept = |before: &str, after: &str, added: &str| {
            let (head, tail) = after.split_once(added).unwrap();
            format!("{head}{tail}") == before
        };
        for text in [
            text.clone(),
            format!("{text}\n\n \n"),
            text.replace("acme/*", "other/*"),
            text.replace("acme/*", "other/*") + "\n",
        ] {
            let added = match text.contains("acme/*") {
                true => own("weak = \"warn\"\n") + "\n",
                false => format!("\n\n{}", own("").trim_end()),
            };
            let after = pinned(&text).unwrap();
            assert!(is_kept(&text, &after, &added), "{after}");
            let windows = |text: &str| text.replace('\n', "\r\n");
            assert_eq!(pinned(&windows(&text)), Some(windows(&after)));

            let grown = pin(&after, &provider(), &pins([KEY]), &keys([KEY, OTHER]));
            let grown_by_hand = after.replace(&listed([KEY]), &listed([KEY, OTHER]));
            assert_eq!(grown.unwrap(), Some(grown_by_hand));
        }
    }

    #[test]
    fn text_that_would_change_elsewhere_is_refused() {
        let table = "[[provider]]\nmatch = \"a.example/*/*\"\n";
        for text in [
            format!("{table}{}", table.replace('\n', "\r\n")),
            format!("{table}{}", table.replace("provider", " provider ")),
        ] {
            let refused = pin(&text, &provider(), &pins([]), &keys([KEY]));
            assert!(matches!(refused, Err(Error::NoPlace)), "{text}");
        }
    }

    #[test]
    fn a_form_that_cannot_be_added_to_is_refused() {
        for text in [
            "provider = []\n",
            "provider = [{ match = \"a.example/*/*\" }]\n",
            "provider = [{ match = \"registry.opentofu.org/*/*\" }]\n",
            "provider = [\n  { match = \"a.example/*/*\" },\n  { match = \"registry.opentofu.org/*/*\" },\n]\n",
        ] {
            let refused = pin(text, &provider(), &pins([]), &keys([KEY]));
            assert!(matches!(refused, Err(Error::NoPlace)), "{text}");
        }
    }
}
