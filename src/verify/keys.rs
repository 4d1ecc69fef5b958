//! The keys that signed what a store has.

use std::cmp::Ordering;
use std::time::{Duration, SystemTime};

use crate::authentication::Note;
use crate::error::{counted, printable};
use crate::finding::{Code, Finding};
use crate::prove::compare;
use crate::release::Release;
use crate::trust::{KeyDescription, Rule, Verified};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// How long before it expires a key is a finding: long enough for its owner to renew it, and for an operator to mirror that.
const SOON: Duration = Duration::from_secs(30 * DAY.as_secs());

/// The findings about the key that signed a release. They are the same for all versions that it signed.
pub(super) fn findings<L>(
    release: &Verified<Release<L>>,
    rule: Option<&Rule>,
    now: SystemTime,
) -> Vec<Finding> {
    let Some(signer) = release.signer() else {
        return Vec::new();
    };
    let key = &signer.fingerprint;
    let named = format!("the key {key} ({signer})");
    let expiry = expiry(signer, now).map(|(code, when)| (code, format!("{named} {when}")));
    let mut findings = Vec::from_iter(expiry);
    let notes = &release.authentication().notes;
    let is_weak = |note: &&Note| {
        matches!(
            note,
            Note::WeakKey | Note::WeakSelfSignature | Note::WeakDocument
        )
    };
    for note in notes.iter().filter(is_weak) {
        findings.push((Code::KeyWeak, format!("{named}: {note}")));
    }
    let copies = rule.map(|rule| rule.keys.as_slice()).unwrap_or_default();
    let newer = copies.iter().find(|copy| {
        let stored = release.keys.first().map(|ring| &ring.bytes);
        let order = stored.and_then(|stored| compare(&copy.bytes, stored, key, now));
        order == Some(Ordering::Greater)
    });
    if let Some(copy) = newer {
        let name = printable(&copy.name);
        findings.push((
            Code::KeyOutdated,
            format!("{named} was renewed: the copy in {name} is newer than the stored one"),
        ));
    }
    let findings = findings.into_iter();
    findings
        .map(|(code, message)| Finding::new(code, message))
        .collect()
}

/// What to say of a key that has expired or soon will; `None` for any other.
pub fn expiry(key: &KeyDescription, now: SystemTime) -> Option<(Code, String)> {
    match key.expires?.duration_since(now) {
        Ok(left) if left < SOON => Some((Code::KeyExpires, format!("expires in {}", days(left)))),
        Ok(_) => None,
        Err(over) => {
            let ago = days(over.duration());
            Some((Code::KeyExpired, format!("expired {ago} ago")))
        }
    }
}

fn days(time: Duration) -> String {
    let days = time.as_secs() / DAY.as_secs();
    counted(usize::try_from(days).unwrap_or(usize::MAX), "day")
}
