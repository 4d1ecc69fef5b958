//! Warnings about keys in a trust file that its author probably did not intend.

use std::time::SystemTime;

use tfoci::trust::rule::Expired;
use tfoci::trust::{KeyDescription, TrustEntry};

use super::document::Warning;
use super::keys::{DescribedFile, Status, status};
use crate::cli::date::date;

/// The warnings about the keys in the key files of an entry.
pub(super) fn of_keys(
    entry: &TrustEntry,
    files: &[DescribedFile],
    now: SystemTime,
) -> Vec<Warning> {
    let mut found = Vec::new();
    for (place, file) in files.iter().enumerate() {
        for key in &file.keys {
            let mut earlier = files.iter().take(place);
            if let Some(first) = earlier.find(|first| has(first, key)) {
                let key = &key.fingerprint;
                let (first, second) = (&first.name, &file.name);
                found.push(format!("the key {key} is in both {first} and {second}"));
            }
            found.extend(of_key(key, &file.name, entry.expired, now));
        }
    }
    let line = entry.line;
    let warning = |message| Warning { line, message };
    found.into_iter().map(warning).collect()
}

fn has(file: &DescribedFile, key: &KeyDescription) -> bool {
    let mut keys = file.keys.iter();
    keys.any(|one| one.fingerprint == key.fingerprint)
}

/// The warning about a key that is revoked, cannot sign or has expired; `None` for a usable key.
pub(super) fn of_key(
    key: &KeyDescription,
    file: &str,
    expired: Expired,
    now: SystemTime,
) -> Option<String> {
    let what = match status(key, now) {
        Status::Usable => return None,
        Status::Revoked => "is revoked: signatures by it are refused".to_owned(),
        Status::CannotSign => "may not sign: signatures by it are refused".to_owned(),
        Status::Expired => {
            let end = key.expires.map(date).unwrap_or_default();
            let then = match expired {
                Expired::Warn => "accepted with a note",
                Expired::Refuse => "refused",
            };
            format!("expired on {end}: signatures by it are {then}")
        }
    };
    Some(format!("the key {} in {file} {what}", key.fingerprint))
}
