//! Pinned keys and rules, as people and programs read them.

use std::collections::{BTreeSet, HashMap};
use std::time::SystemTime;

use serde::Serialize;
use serde_json::{Value, json};

use tfoci::error::printable;
use tfoci::fingerprint::Fingerprint;
use tfoci::release::KeyRing;
use tfoci::trust::rule::{Expired, Unsigned, Weak};
use tfoci::trust::{self, Deadline, KeyDescription, Rule};

use crate::cli::printer::Printer;
use tfoci::date::date;

/// A pinned key.
#[derive(Clone, Serialize)]
pub(super) struct Key {
    pub(super) fingerprint: Fingerprint,
    /// The file that has the key; `None` if only its fingerprint is known.
    file: Option<String>,
    user_id: Option<String>,
    algorithm: Option<String>,
    expires: Option<String>,
    status: Option<Status>,
    /// The comment behind the fingerprint in the trust file.
    comment: Option<String>,
    /// As people read it.
    #[serde(skip)]
    text: String,
}

/// Whether signatures by a key are accepted, and if not, why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Usable,
    Expired,
    Revoked,
    CannotSign,
}

pub(super) struct KeyOfFile {
    pub(super) file: String,
    pub(super) key: KeyDescription,
}

/// The rules of an entry, besides its keys.
#[derive(Serialize, PartialEq, Eq)]
pub(super) struct Rules {
    pub(super) unsigned: Unsigned,
    pub(super) expired: Expired,
    pub(super) weak: Weak,
}

impl Rules {
    pub(super) fn of(rule: &Rule) -> Self {
        Self {
            unsigned: rule.for_unsigned(),
            expired: rule.expired,
            weak: rule.weak,
        }
    }

    /// Prints the rules in the words of the trust file.
    pub(super) fn print(&self, printer: &Printer) {
        let words = json!(self);
        for name in ["unsigned", "expired", "weak"] {
            let word = words.get(name).and_then(Value::as_str).unwrap_or_default();
            printer.result(&format!("{name:9} {word}"));
        }
    }
}

/// The keys of files. What one file says about a key, such as its revocation, counts for all.
pub(super) fn of_files(rings: &[KeyRing], now: SystemTime) -> Result<Vec<KeyOfFile>, trust::Error> {
    let described = trust::describe(rings, now, &Deadline::default())?;
    let keys = rings.iter().zip(described).flat_map(|(ring, keys)| {
        let file = printable(&ring.name);
        keys.into_iter().map(move |key| KeyOfFile {
            file: file.clone(),
            key,
        })
    });
    Ok(keys.collect())
}

impl KeyOfFile {
    /// Whether signatures by this key are accepted now, in words, too.
    fn status(&self, now: SystemTime) -> (Status, String) {
        let key = &self.key;
        let end = key.expires.map(date).unwrap_or_default();
        match key.expires {
            _ if key.is_revoked => (Status::Revoked, "revoked".to_owned()),
            _ if !key.can_sign => (Status::CannotSign, "may not sign".to_owned()),
            Some(at) if at <= now => (Status::Expired, format!("expired {end}")),
            Some(_) => (Status::Usable, format!("expires {end}")),
            None => (Status::Usable, "does not expire".to_owned()),
        }
    }

    /// The warning about a key that is revoked, cannot sign or has expired; `None` for a usable key.
    pub(super) fn warning(&self, now: SystemTime) -> Option<String> {
        let (status, words) = self.status(now);
        let Self { file, key } = self;
        let text = format!("the key {} in {file}: {words}", key.fingerprint);
        (status != Status::Usable).then_some(text)
    }
}

/// The keys that fingerprints pin, with what the files say about them; `are_pinned` says whether the keys of the files are pinned too. `comments`
/// stand behind fingerprints in the trust file.
pub(super) fn pinned(
    pins: &[Fingerprint],
    files: &[KeyOfFile],
    are_pinned: bool,
    comments: &HashMap<Fingerprint, String>,
    now: SystemTime,
) -> Vec<Key> {
    let of_files = files.iter().filter(|_| are_pinned);
    let of_files = of_files.map(|known| &known.key.fingerprint);
    let mut seen = BTreeSet::new();
    let keys = pins.iter().chain(of_files);
    let keys = keys.filter(|key| seen.insert(*key)).map(|key| {
        let known = files.iter().find(|one| one.key.fingerprint == *key);
        Key::new(key, known, comments.get(key), now)
    });
    keys.collect()
}

impl Key {
    /// A key, and what a file says about it, if one has it.
    fn new(
        fingerprint: &Fingerprint,
        known: Option<&KeyOfFile>,
        comment: Option<&String>,
        now: SystemTime,
    ) -> Self {
        let key = known.map(|known| &known.key);
        let (status, words) = known.map(|known| known.status(now)).unzip();
        let text = match (known, words) {
            (Some(KeyOfFile { file, key }), Some(words)) => format!("{key}, {words}   {file}"),
            _ => "only the fingerprint; `push` needs `--key FILE`".to_owned(),
        };
        Self {
            fingerprint: fingerprint.clone(),
            file: known.map(|known| known.file.clone()),
            user_id: key.and_then(|key| key.user_id.clone()),
            algorithm: key.map(|key| key.algorithm.clone()),
            expires: key.and_then(|key| key.expires).map(date),
            status,
            comment: comment.cloned(),
            text,
        }
    }

    /// Prints a line of the result, and one for the comment.
    pub(super) fn print(&self, printer: &Printer) {
        printer.result(&format!("key       {}   {}", self.fingerprint, self.text));
        if let Some(comment) = &self.comment {
            printer.result(&format!("          # {comment}"));
        }
    }
}
