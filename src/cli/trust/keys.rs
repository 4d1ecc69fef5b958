//! Pinned keys, as people and programs read them.

use std::collections::{BTreeSet, HashMap};
use std::time::SystemTime;

use serde::Serialize;

use tfoci::error::printable;
use tfoci::fingerprint::Fingerprint;
use tfoci::release::KeyRing;
use tfoci::trust::KeyDescription;
use tfoci::trust::rule::Expired;

use crate::cli::date::date;
use crate::cli::printer::Printer;

/// A pinned key.
#[derive(Clone, Serialize)]
pub(super) struct Key {
    fingerprint: Fingerprint,
    /// The file that has the key; `None` if only its fingerprint is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    algorithm: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Status>,
    /// The comment behind the fingerprint in the trust file.
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<String>,
    /// As people read it.
    #[serde(skip)]
    text: String,
}

/// Whether signatures by a key are accepted, and if not, why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    Usable,
    Expired,
    Revoked,
    CannotSign,
}

/// The keys of one file, or of one option.
pub(super) struct DescribedFile {
    pub(super) name: String,
    pub(super) keys: Vec<KeyDescription>,
}

/// The keys of files, with their names.
pub(super) fn described(rings: &[KeyRing], keys: Vec<Vec<KeyDescription>>) -> Vec<DescribedFile> {
    let files = rings.iter().zip(keys);
    let file = |(ring, keys): (&KeyRing, _)| DescribedFile {
        name: printable(&ring.name),
        keys,
    };
    files.map(file).collect()
}

/// The keys that fingerprints and files pin: first those of the fingerprints.
pub(super) fn pinned(pins: &[Fingerprint], files: &[DescribedFile], now: SystemTime) -> Vec<Key> {
    let mut found = of_fingerprints(pins, files, now);
    found.extend(keys(files).map(|(name, key)| Key::described(name, key, now)));
    once(found)
}

/// The keys that fingerprints pin, with what the files say about them.
pub(super) fn of_fingerprints(
    pins: &[Fingerprint],
    files: &[DescribedFile],
    now: SystemTime,
) -> Vec<Key> {
    let found = pins.iter().map(|pin| {
        let known = keys(files).find(|(_, key)| key.fingerprint == *pin);
        match known {
            Some((name, key)) => Key::described(name, key, now),
            None => Key::named(pin),
        }
    });
    once(found.collect())
}

/// The keys of all files, each with the name of its file.
fn keys(files: &[DescribedFile]) -> impl Iterator<Item = (&str, &KeyDescription)> {
    files.iter().flat_map(|file| {
        let keys = file.keys.iter();
        keys.map(|key| (file.name.as_str(), key))
    })
}

/// Keeps the first of several keys with the same fingerprint.
fn once(mut keys: Vec<Key>) -> Vec<Key> {
    let mut seen = BTreeSet::new();
    keys.retain(|key| seen.insert(key.fingerprint.clone()));
    keys
}

/// The keys of which one has to sign, by their key ids.
pub(super) fn signers(keys: &[Key], expired: Expired) -> String {
    // Fits on a line.
    const NAMED: usize = 3;
    let can_sign = |key: &&Key| match key.status {
        None | Some(Status::Usable) => true,
        Some(Status::Expired) => expired == Expired::Warn,
        Some(Status::Revoked | Status::CannotSign) => false,
    };
    let ids: Vec<&str> = keys.iter().filter(can_sign).map(Key::id).collect();
    match ids.as_slice() {
        [] => "a pinned key, and none that can sign is pinned".to_owned(),
        [one] => (*one).to_owned(),
        ids if ids.len() <= NAMED => ids.join(" or "),
        ids => format!("one of {} keys", ids.len()),
    }
}

impl Key {
    /// The end of the fingerprint, as clients show it.
    fn id(&self) -> &str {
        self.fingerprint.key_id()
    }

    /// A key that is known by its fingerprint only.
    fn named(fingerprint: &Fingerprint) -> Self {
        Self {
            fingerprint: fingerprint.clone(),
            file: None,
            user_id: None,
            algorithm: None,
            expires: None,
            status: None,
            comment: None,
            text: "only the fingerprint: the key itself has to come from the origin or the store; `push` needs `--key FILE`".to_owned(),
        }
    }

    fn described(file: &str, key: &KeyDescription, now: SystemTime) -> Self {
        let status = status(key, now);
        let end = key.expires.map(date);
        let expiry = match (status, &end) {
            (Status::Revoked, _) => ", revoked".to_owned(),
            (Status::CannotSign, _) => ", may not sign".to_owned(),
            (Status::Expired, Some(end)) => format!(", expired {end}"),
            (_, Some(end)) => format!(", expires {end}"),
            (_, None) => ", does not expire".to_owned(),
        };
        Self {
            fingerprint: key.fingerprint.clone(),
            file: Some(file.to_owned()),
            user_id: key.user_id.clone(),
            algorithm: Some(key.algorithm.clone()),
            expires: end,
            status: Some(status),
            comment: None,
            text: format!("{key}{expiry}   {file}"),
        }
    }

    /// The key, with the comment that the trust file has about its fingerprint.
    pub(super) fn with_comment(self, comments: &HashMap<Fingerprint, String>) -> Self {
        let comment = comments.get(&self.fingerprint).cloned();
        Self { comment, ..self }
    }

    /// Prints a line of the result, and one for the comment.
    pub(super) fn print(&self, printer: &Printer) {
        printer.result(&format!("key       {}   {}", self.fingerprint, self.text));
        if let Some(comment) = &self.comment {
            printer.result(&format!("          # {comment}"));
        }
    }
}

/// Whether signatures by this key are accepted now.
pub(super) fn status(key: &KeyDescription, now: SystemTime) -> Status {
    if key.is_revoked {
        Status::Revoked
    } else if !key.can_sign {
        Status::CannotSign
    } else if key.expires.is_some_and(|end| end <= now) {
        Status::Expired
    } else {
        Status::Usable
    }
}
