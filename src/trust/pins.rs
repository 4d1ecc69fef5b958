//! Trust on first use: adds the keys of a new provider to a trust file.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, Value, value};

use crate::address::{ProviderAddr, ProviderPattern};
use crate::fingerprint::Fingerprint;
use crate::toml;
use crate::version::Version;

use super::rule::{Expired, Weak};
use super::{Error, KeyDescription, TrustEntry, TrustFile};

/// The byte order mark that some editors write. It has to stay the first character.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The fewest providers whose key is pinned for their namespace. Fewer say little about the others.
const MANY: usize = 3;

/// The characters of a line end.
const LINE_END: [char; 2] = ['\r', '\n'];

/// The version with which a key was seen for the first time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstSeen {
    /// Whose key it is, and of which kind.
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
            let mut files = entry.files.iter();
            if files.any(|file| file.copy_of.is_none()) || !pins.into_iter().eq(earlier) {
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

/// Replaces the tables that [`pin`] wrote for the providers of a namespace by one for all of it. Returns the key. `None` if they are few, any has no
/// key or another one, the file has other tables for the namespace, or anything else was written into or between these.
pub fn unite(
    text: &str,
    namespace: &str,
    pinned: &BTreeMap<&ProviderAddr, &NewKeys>,
) -> Option<(String, Fingerprint)> {
    let (first, keys) = pinned.first_key_value()?;
    let key = keys.keys().next()?;
    let has_it = |keys: &&NewKeys| keys.keys().eq([key]);
    let is_one = pinned.len() >= MANY && pinned.values().all(has_it);
    let pattern: ProviderPattern = namespace.parse().ok().filter(|_| is_one)?;
    let entries = TrustFile::parse(text).ok()?.entries.into_iter();
    let others = entries.filter(|entry| entry.pattern.intersection(&pattern).is_some());
    let is_alone = others.count() == pinned.len();
    let tables = pinned.iter().map(|(one, keys)| table(one, keys, None));
    let tables: Vec<_> = tables.map(|one| format!("[[provider]]\n{one}")).collect();
    let (before, after) = text.split_once(tables.join("\n").trim_end())?;
    let is_whole = after.trim().is_empty() || after.starts_with("\n\n");
    let one = tables.first()?.trim_end();
    let one = one.replacen(&first.to_string(), namespace, 1);
    (is_alone && is_whole).then(|| (format!("{before}{one}{after}"), key.clone()))
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
        table.insert("expired", value("refuse"));
    }
    if inherited.is_some_and(|entry| entry.weak == Weak::Warn) {
        table.insert("weak", value("warn"));
    }
    table
}
