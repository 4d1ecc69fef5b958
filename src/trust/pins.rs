//! Trust on first use: adds the keys of a new provider to a trust file.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;

use toml_edit::{InlineTable, Value};

use crate::address::ProviderAddr;
use crate::fingerprint::Fingerprint;
use crate::version::Version;

use super::lines::lines;
use super::rule::{Expired, Weak};
use super::{Error, KeyDescription, TrustEntry, TrustFile};

/// The header of a table.
const HEADER: &str = "[[provider]]";

/// The version with which a key was seen for the first time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstSeen {
    /// Whose key it is, and its kind.
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
/// one that matches the provider, or at the end. The rest of the text stays the same, byte for byte.
///
/// # Errors
/// The text is not a trust file, or [`Error::NoPlace`] if it has its tables in a form to which none can be added.
pub fn pin(
    text: &str,
    provider: &ProviderAddr,
    earlier: &BTreeSet<Fingerprint>,
    keys: &NewKeys,
) -> Result<Option<String>, Error> {
    let file = TrustFile::parse(text)?;
    let places = lines(text, "provider");
    let found = file.entry_for(provider);
    let (at, new) = match found {
        Some((place, entry)) if entry.has_keys() => {
            let pins: BTreeSet<&Fingerprint> = entry.rule.pins.iter().collect();
            let mut files = entry.files.iter();
            if files.any(|file| file.copy_of.is_none()) || !pins.into_iter().eq(earlier) {
                return Ok(None);
            }
            let place = places.get(place).filter(|place| place.header.is_some());
            let at = place.and_then(|place| place.list.clone());
            (at.ok_or(Error::NoPlace)?, list(keys))
        }
        found => {
            let table = table(provider, keys, found.map(|(_, entry)| entry));
            match found {
                None => at_end(text, &table),
                Some((place, _)) => {
                    let header = places.get(place).and_then(|place| place.header);
                    before(text, header.ok_or(Error::NoPlace)?, &table)
                }
            }
        }
    };
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let (head, rest) = text.split_at_checked(at.start).ok_or(Error::NoPlace)?;
    let tail = rest.get(at.len()..).ok_or(Error::NoPlace)?;
    let pinned = [head, &new.replace('\n', line_end), tail].concat();
    // What looks like a place may be in the middle of something else.
    let written = TrustFile::parse(&pinned).map_err(|_| Error::NoPlace)?;
    let added = usize::from(new.contains(HEADER));
    let is_pinned = |(_, entry): (_, &TrustEntry)| entry.rule.pins.iter().eq(keys.keys());
    let is_whole = written.entries.len() == file.entries.len() + added;
    match is_whole && written.entry_for(provider).is_some_and(is_pinned) {
        true => Ok(Some(pinned)),
        false => Err(Error::NoPlace),
    }
}

/// The end of the text, and what is written there.
fn at_end(text: &str, table: &str) -> (Range<usize>, String) {
    let gap = match text.ends_with('\n') {
        _ if text.is_empty() => "",
        true => "\n",
        false => "\n\n",
    };
    (text.len()..text.len(), format!("{gap}{table}"))
}

/// The begin of a table whose header is at this byte, and what is written there. The comments directly above it belong to it.
fn before(text: &str, header: usize, table: &str) -> (Range<usize>, String) {
    let above = text.get(..header).unwrap_or_default();
    let line = above.rfind('\n').map_or(0, |end| end + 1);
    let above = above.get(..line).unwrap_or_default();
    let lines = above.split_inclusive('\n').rev();
    let comments = lines.take_while(|line| line.trim_start().starts_with('#'));
    let at = line - comments.map(str::len).sum::<usize>();
    (at..at, format!("{table}\n"))
}

/// The keys, each on a line of its own with a comment.
fn list(keys: &NewKeys) -> String {
    let lines = keys
        .iter()
        .map(|(key, seen)| format!("  \"{key}\", # {seen}\n"));
    format!("[\n{}]", lines.collect::<String>())
}

/// A table that pins keys. It takes precedence over the table that matched before, so it copies that table's other settings, except
/// `unsigned`: a pinned provider must be signed.
fn table(provider: &ProviderAddr, keys: &NewKeys, inherited: Option<&TrustEntry>) -> String {
    let keys = list(keys);
    let mut table =
        format!("{HEADER}\nmatch = \"{provider}\"\nkeys = {keys}\nunsigned = \"refuse\"\n");
    if inherited.is_some_and(|entry| entry.rule.expired == Expired::Refuse) {
        table += "expired = \"refuse\"\n";
    }
    if inherited.is_some_and(|entry| entry.rule.weak == Weak::Warn) {
        table += "weak = \"warn\"\n";
    }
    if let Some((file, id)) = inherited.and_then(|entry| entry.attestation.as_ref()) {
        let key = Value::from(file.path.to_string_lossy().into_owned());
        let required = match id {
            Some(id) => InlineTable::from_iter([("key", key), ("id", id.into())]).into(),
            None => key,
        };
        table += &format!("require_attestation = {required}\n");
    }
    table
}
